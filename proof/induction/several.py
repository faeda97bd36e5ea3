"""Several resources: a token wants some of any number of keys, all of them or none. Two tokens may have one key in
common and differ in another. Some are fenced: then each key has a fence of its own, and an acquire takes a block of
numbers (page warm), within the window of a master's clock, whose speed is within the drift of real time.

A SET that a master grants has found each of its keys vacant, and sets them all in one step. From then on each key has a
life of its own: an extension prolongs what it finds, a top-up leaves what is there and sets the rest, an error ends a
script half-way. So a master may have a part of the keys, and no answer about a part counts. A line of waiters does not
occur: its scripts write neither a lock key nor a fence, and whoever is called from it asks as any other client does.
"""
from induct import *


def build(m):
    Node, Token, Round, Key, Quorum = (m.sort(name, size) for name, size in
                                       [("Node", 2), ("Token", 2), ("Round", 2), ("Key", 2), ("Quorum", 2)])
    S = m.state
    member = m.constant("member", Quorum, Node, Bool)    # a quorum has this master
    of = m.constant("of", Round, Token)                  # the token that a round acquires or extends
    first = m.constant("first", Round, Bool)             # it is the acquire
    wants = m.constant("wants", Token, Key, Bool)        # this key is among those of the token
    fenced = m.constant("fenced", Token, Bool)
    ballot = m.constant("ballot", Round, Time)           # the first number of its block
    block = m.constant("block", Token, Time)             # the numbers that follow it
    trust = m.constant("trust", Token, Time)             # longest real time for which a client relies on a round
    life = m.constant("life", Token, Time)               # shortest real life of a key
    guard = m.constant("guard", Time)                    # D
    ahead, back = m.constant("ahead", Time), m.constant("back", Time)     # the window, by a master's clock
    kept = m.constant("kept", Time)                      # the life of a fence, by a master's clock
    m.variable("begun", Round, Bool)
    m.variable("start", Round, Time)
    m.variable("has", Node, Key, Bool)                   # this key is at this master
    m.variable("key", Node, Key, Token)                  # of this token
    m.variable("ends", Node, Key, Time)                  # until then
    m.variable("ran", Token, Node, Bool)                 # something of the token may have set keys there
    m.variable("boot", Node, Time)
    m.variable("ack", Round, Node, Bool)                 # the master has answered the round, and its answer counts
    m.variable("missing", Round, Node, Bool)             # it has answered that it lacks one of the keys
    m.variable("over", Token, Bool)
    m.variable("held", Token, Bool)
    m.variable("deadline", Token, Time)                  # one, for all of its keys
    m.variable("won_in", Token, Round)
    m.variable("won_by", Token, Quorum)
    m.variable("shows", Node, Time)                      # what the clock of a master shows
    m.variable("booted", Node, Time)                     # what it showed at the master's last start
    m.variable("fence", Node, Key, Time)
    m.variable("fenced_at", Node, Key, Time)             # what it showed when the fence was set
    m.variable("lost", Node, Key, Time)                  # and when the last fence was set that the master has forgotten
    m.variable("won", Round, Bool)                       # history: the acquires that were won, and by which quorum
    m.variable("history", Round, Quorum)
    r, s, r0 = Consts("r s r0", Round)
    n, n0 = Consts("n n0", Node)
    k, k0 = Consts("k k0", Key)
    t, u, t0 = Consts("t u t0", Token)
    q, p, q0 = Consts("q p q0", Quorum)
    d0 = Real("d0")
    part = Function("part", Key, Bool)                   # of the keys, those that a command gets to
    shown = Function("shown", Node, Time)                # what clocks show next
    end = lambda r: ballot(r) + block(of(r))
    share = lambda t, u: Exists([k], And(wants(t, k), wants(u, k)))

    m.assume("meet", "any two quorums have a master in common", m.rule(
        "quorums", "any two quorums meet", ForAll([q, p], Exists([n], And(member(q, n), member(p, n)))),
        without=ForAll([q], Exists([n], member(q, n))), breaks=["goal/G1", "goal/G11", "goal/one taken"]))
    m.assume("spans", "a key and the guard outlive the trust",
             ForAll([t], And(0 < trust(t), trust(t) <= life(t), trust(t) <= guard)))
    m.assume("window", "a fence is kept for longer than the window is wide, and a block has no number below its first",
             And(guard > 0, ahead > 0, back > 0, kept > ahead + back, ForAll([t], block(t) >= 0)))

    m.reads("acquire.lua", "if holder and not ours[i] and not kept then")
    m.reads("acquire.lua", "if stored and tonumber(stored) > tonumber(fence) then fence = stored end")
    m.reads("acquire.lua", "for i = locks + 1, #KEYS do redis.call('SET', KEYS[i], ballot, 'PX', ARGV[7]) end")
    m.reads("acquire.lua", "if not ours[i] then redis.call('SET', KEYS[i], ARGV[1], 'PX', ARGV[2]) end")
    m.reads("extend.lua", "worst = math.min(worst, taken and -1 or 0)")
    m.reads("release_all.lua", "if values[i] == ARGV[1] then redis.call('DEL', KEYS[i])")
    m.reads("release_all.lua", "if p > tonumber(values[i] or '0') then")
    m.reads("lock/extend.rs", "Reply::Int(1) => Answer::Held,")
    m.reads("quorum/lease.rs", "if !self.reported().contains(node) {")
    m.reads("quorum/lease.rs", "if held_until.is_some_and(|until| now >= until) || !self.membership.can_spare(gone) {")
    m.reads("lock/extend.rs", "session.push(PendingReply::TopUp { attempt: self.id, may_repeat }, set);")
    m.reads("waitlist.lua", "local list, due, waiter, lives = KEYS[#KEYS - 1], KEYS[#KEYS]")
    m.writes("waitlist.lua", "list", "due")

    m.starts(ForAll([r], And(Not(S.begun(r)), Not(S.won(r)))), ForAll([t], Not(S.held(t))),
             ForAll([r, n], And(Not(S.ack(r, n)), Not(S.missing(r, n)))), ForAll([n], S.boot(n) <= S.now),
             ForAll([n, k], And(S.booted(n) <= S.fenced_at(n, k), S.fenced_at(n, k) <= S.shows(n),
                                S.lost(n, k) <= S.booted(n))),
             ForAll([n], Implies(S.now >= S.boot(n) + guard, S.shows(n) > S.booted(n) + ahead + back)),
             ForAll([n, k], Implies(S.has(n, k), S.ran(S.key(n, k), n))))
    token = of(r0)
    votes = m.rule("guard", "a master votes a guard after its start", S.boot(n0) + guard <= S.now,
                   breaks=["grant/pair", "grant/order", "extend/pair"])
    fits = lambda k: Or(Not(S.has(n0, k)), S.key(n0, k) == token)
    vacant = m.rule("all vacant", "a SET is granted only if all its keys are vacant",
                    ForAll([k], Implies(wants(token, k), fits(k))),
                    without=Exists([k], And(wants(token, k), fits(k))),
                    breaks=["grant/stays", "grant/pair", "grant/order", "goal/whole"])
    # A top-up finds keys of its own token and leaves them the life that they have.
    alone = m.rule("not a top-up", "the answer to a top-up does not count", Not(S.ran(token, n0)),
                   breaks=["grant/stays", "goal/whole"])
    lets_in = [
        m.rule("every fence", "a ballot is above the fence of each key",
               ForAll([k], Implies(And(fenced(token), wants(token, k)), ballot(r0) > S.fence(n0, k))),
               without=Implies(fenced(token), Exists([k], And(wants(token, k), ballot(r0) > S.fence(n0, k)))),
               breaks=["grant/fence", "grant/order"]),
        Implies(fenced(token), And(ballot(r0) >= S.shows(n0) - back, end(r0) <= S.shows(n0) + ahead))]
    raised = m.rule("each fence", "a grant raises the fence of each key",
                    lambda x, k: And(x == n0, fenced(token), wants(token, k)),
                    without=lambda x, k: And(x == n0, fenced(token), wants(token, k), part(k)), breaks=["grant/fence"])
    overwrites = m.rule("vacant", "a SET leaves a key of another token", lambda k: Not(S.has(n0, k)),
                        without=lambda k: BoolVal(True), breaks=["set_uncounted/stays"])
    whole = m.rule("all there", "an extension counts only if all keys are there",
                   ForAll([k], Implies(wants(token, k), And(S.has(n0, k), S.key(n0, k) == token))),
                   without=Exists([k], And(wants(token, k), S.has(n0, k), S.key(n0, k) == token)),
                   breaks=["extend/stays", "extend/pair", "goal/prolonged"])
    answered = m.rule("one answer", "the first answer of a master to a round is its only one",
                      Not(Or(S.ack(r0, n0), S.missing(r0, n0))), breaks=["extend/once", "lack/once"])
    longest = m.rule("no shorter", "an extension shortens no life", lambda old: If(old < d0, d0, old),
                     without=lambda old: d0, breaks=["extend_uncounted/stays", "extend_late/stays"])
    own = lambda x, k, t: And(x == n0, wants(t, k), S.has(x, k), S.key(x, k) == t)
    changed = lambda variable, where, value: to(
        variable, lambda x, k: If(where(x, k), value(x, k), getattr(S, variable)(x, k)))
    sets = lambda where, t: [changed("has", where, lambda x, k: BoolVal(True)),
                             changed("key", where, lambda x, k: t), changed("ends", where, lambda x, k: d0),
                             to("ran", t, n0, True)]

    m.action("tick", "time goes by, by the clock of each master, too", ["world"],
             [d0 > S.now, ForAll([n], And(shown(n) >= S.shows(n), Implies(
                 d0 >= S.boot(n) + guard, shown(n) > S.booted(n) + ahead + back)))],
             to("now", d0), to("shows", lambda z: shown(z)))
    m.action("begin", "a client begins a round: its clock starts before the first byte",
             ["lock/attempt.rs:attempt", "lock/extend.rs:send_extension"],
             [Not(S.begun(r0)), ForAll([n], Not(S.ack(r0, n)))], to("begun", r0, True), to("start", r0, S.now))
    m.action("grant", "a master that votes sets all keys of an acquire in one step, and raises their fences",
             ["acquire.lua", "lock/acquire.rs:answer"],
             [S.begun(r0), first(r0), vacant, alone, *lets_in, votes, d0 >= S.now + life(token)],
             *sets(lambda x, k: And(x == n0, wants(token, k), Not(S.has(x, k))), token),
             changed("fence", raised, lambda x, k: end(r0)), changed("fenced_at", raised, lambda x, k: S.shows(n0)),
             to("ack", r0, n0, True))
    m.action("set_uncounted",
             "a top-up, a SET whose answer counts for nothing, or one that an error has ended half-way",
             ["acquire.lua", "top_up.lua", "lock/extend.rs:top_up"], [d0 >= S.now],
             *sets(lambda x, k: And(x == n0, wants(t0, k), part(k), overwrites(k)), t0))
    m.action("raise_fence", "a top-up, a release or a rollback raises a fence, to no number beyond the window",
             ["acquire.lua", "release_all.lua", "lock/extend.rs:topped_up"],
             [m.rule("fences rise", "a fence only rises", d0 > S.fence(n0, k0), breaks=["raise_fence/fence"]),
              d0 <= S.shows(n0) + ahead], to("fence", n0, k0, d0), to("fenced_at", n0, k0, S.shows(n0)))
    m.action("extend", "a master that votes prolongs all keys of a token, none of whose lives is shortened",
             ["extend.lua", "lock/extend.rs:answer"],
             [S.begun(r0), Not(first(r0)), answered, whole, votes, d0 >= S.now + life(token)],
             changed("ends", lambda x, k: own(x, k, token), lambda x, k: longest(S.ends(x, k))),
             to("ack", r0, n0, True))
    m.action("extend_late", "the same at a master that warms up, or later than the round", ["extend.lua"],
             [Not(first(r0)), whole, d0 >= S.now],
             changed("ends", lambda x, k: own(x, k, token), lambda x, k: longest(S.ends(x, k))))
    m.action("lack", "a master that lacks one of the keys prolongs the others, and answers that the lock is not there",
             ["extend.lua", "lock/extend.rs:report", "quorum/lease.rs:record"],
             [S.begun(r0), Not(first(r0)), answered,
              Exists([k], And(wants(token, k), Not(And(S.has(n0, k), S.key(n0, k) == token))))],
             changed("ends", lambda x, k: own(x, k, token), lambda x, k: longest(S.ends(x, k))),
             to("missing", r0, n0, True))
    m.action("extend_uncounted", "a master prolongs those keys that it finds, and its answer counts for nothing",
             ["extend.lua"], [],
             changed("ends", lambda x, k: And(own(x, k, t0), part(k)), lambda x, k: longest(S.ends(x, k))))
    m.action("expire", "the life of a key is over", ["world"], [S.has(n0, k0), S.now >= S.ends(n0, k0)],
             to("has", n0, k0, False))
    m.action("fence_expires", "the life of a fence is over: the master may let in anything above any other number",
             ["master/fencing.rs"], [S.shows(n0) >= S.fenced_at(n0, k0) + kept], to("fence", n0, k0, d0),
             to("lost", n0, k0, S.fenced_at(n0, k0)))
    everywhere = lambda x, k: x == n0
    m.action("restart", "a master comes back without keys and fences", ["world"], [], to("boot", n0, S.now),
             to("booted", n0, S.shows(n0)), changed("has", everywhere, lambda x, k: BoolVal(False)),
             changed("fence", everywhere, lambda x, k: d0), changed("fenced_at", everywhere, lambda x, k: S.shows(n0)),
             changed("lost", everywhere, lambda x, k: S.shows(n0)))
    quorum = m.rule("counts a quorum", "a win counts the answers of a quorum",
                    ForAll([n], Implies(member(q0, n), S.ack(r0, n))),
                    breaks=["win/witness", "win/history", "win_extension/witness", "goal/G11", "goal/one lost",
                            "goal/one taken"])
    m.action("win", "a client counts a quorum of grants before the deadline",
             ["lock/acquire.rs:judge_acquire", "quorum/tally.rs:verdict", "quorum/validity.rs:deadline"],
             [first(r0), quorum, Not(S.over(token)), Not(S.held(token)), S.now < S.start(r0) + trust(token),
              d0 <= S.start(r0) + trust(token)],
             to("held", token, True), to("deadline", token, d0), to("won_in", token, r0),
             to("won_by", token, q0), to("won", r0, True), to("history", r0, q0))
    m.action("win_extension", "a client counts a quorum that has all keys, before the old deadline",
             ["lock/extend.rs:judge_extension", "quorum/lease.rs:progress"],
             [Not(first(r0)), quorum, S.held(token), Not(S.over(token)), S.now < S.deadline(token),
              d0 <= S.start(r0) + trust(token)],
             to("deadline", token, d0), to("won_in", token, r0), to("won_by", token, q0))
    m.action("give_up", "a client gives a token up, with all of its keys: a release, a rollback",
             ["lock/release.rs:begin_release", "lock/acquire.rs:roll_back"], [], to("over", t0, True))
    compared = m.rule("compare", "a release compares the token under each key", lambda k: S.key(n0, k) == t0,
                      without=lambda k: BoolVal(True), breaks=["release/stays"])
    m.action("release", "a master deletes each key of the token, at any time after that; or those up to an error",
             ["release.lua", "release_all.lua"], [S.over(t0)],
             changed("has", lambda x, k: And(x == n0, wants(t0, k), part(k), compared(k)), lambda x, k: BoolVal(False)))

    until = lambda x, r: x.start(r) + trust(of(r))
    live = lambda x, r: And(Not(x.over(of(r))), x.now < until(x, r))
    granted = lambda x, r, n: And(first(r), fenced(of(r)), x.ack(r, n))
    m.conjunct("past", "what was answered had begun before, and no round, start or fence is of the future",
               lambda x: And(
        ForAll([r, n], Implies(x.ack(r, n), And(x.begun(r), x.start(r) <= x.now))),
        ForAll([n], x.boot(n) <= x.now), ForAll([r], Implies(x.begun(r), x.start(r) <= x.now)),
        ForAll([n, k], And(x.lost(n, k) <= x.fenced_at(n, k), x.booted(n) <= x.fenced_at(n, k),
                           x.fenced_at(n, k) <= x.shows(n)))))
    m.conjunct("woken", "a master that votes has been up for longer than the window, by its own clock",
               lambda x: ForAll([n], Implies(x.now >= x.boot(n) + guard, x.shows(n) > x.booted(n) + ahead + back)))
    m.conjunct("set", "a key is under a token only where something of it has run", lambda x: ForAll(
        [n, k], Implies(x.has(n, k), x.ran(x.key(n, k), n))))
    m.conjunct("stays",
               "where an answer counts and its round is trusted, each key of the token is there and outlives the "
               "trust, or the master has restarted so lately that it votes only after the trust is over",
               lambda x: ForAll(
                   [r, n, k], Implies(And(x.ack(r, n), live(x, r), wants(of(r), k)), Or(
                       And(x.has(n, k), x.key(n, k) == of(r), x.ends(n, k) >= until(x, r)),
                       x.boot(n) + guard >= until(x, r)))))
    m.conjunct("once", "no master has confirmed a round for which it lacked one of the keys", lambda x: ForAll(
        [r, n], Implies(x.missing(r, n), And(Not(x.ack(r, n)), Not(first(r))))))
    m.conjunct("pair", "no master's answers count for two trusted tokens that want a key in common", lambda x: ForAll(
        [r, s, n, k], Implies(And(x.ack(r, n), x.ack(s, n), live(x, r), live(x, s), wants(of(r), k), wants(of(s), k)),
                              of(r) == of(s))))
    m.conjunct("witness",
               "a hold rests on the answers of a quorum to one round of its token, its deadline on that round",
               lambda x: ForAll([t], Implies(x.held(t), And(
                   of(x.won_in(t)) == t, x.deadline(t) <= x.start(x.won_in(t)) + trust(t),
                   ForAll([n], Implies(member(x.won_by(t), n), x.ack(x.won_in(t), n)))))))
    m.conjunct("fence",
               "the fence of each key is at least the end of each block that it let in, but for what is forgotten",
               lambda x: ForAll([r, n, k], Implies(And(granted(x, r, n), wants(of(r), k)), Or(
                   end(r) <= x.fence(n, k), end(r) <= x.lost(n, k) + ahead))))
    m.conjunct("forgotten", "what a master has forgotten is of before its start, or was kept for its time",
               lambda x: ForAll([n, k], Or(x.lost(n, k) <= x.booted(n), x.shows(n) >= x.lost(n, k) + kept)))
    m.conjunct("let in", "a block that is not above the fence of a key was let in when that was set, or before",
               lambda x: ForAll([r, n, k], Implies(
                   And(granted(x, r, n), wants(of(r), k), end(r) <= x.fence(n, k)),
                   end(r) <= x.fenced_at(n, k) + ahead)))
    m.conjunct("order",
               "of two tokens with a key in common that a master has answered, the trusted one has the greater numbers",
               lambda x: ForAll([r, s, n, k], Implies(
                   And(granted(x, r, n), granted(x, s, n), of(r) != of(s), live(x, s), wants(of(r), k),
                       wants(of(s), k)), end(r) < ballot(s))))
    m.conjunct("ahead", "no block that was let in reaches beyond the window", lambda x: ForAll(
        [r, n], Implies(granted(x, r, n), end(r) <= x.shows(n) + ahead)))
    m.conjunct("history", "each acquire that was won has its quorum", lambda x: ForAll([r], Implies(x.won(r), And(
        first(r), ForAll([n], Implies(member(x.history(r), n), x.ack(r, n)))))))
    valid = lambda t: And(S.held(t), Not(S.over(t)), S.now < S.deadline(t))
    m.goal("G1", "two valid holders that want a key in common are one", [valid(t), valid(u), share(t, u)], t == u)
    m.goal("G11", "a fenced win has a greater number than every fenced win before it that wants one of its keys",
           [m.step("win"), S.won(s), of(s) != token, fenced(of(s)), fenced(token), share(of(s), token)],
           end(s) < ballot(r0))
    m.goal("G13", "each key of a valid hold is at each master of a quorum until the one deadline, but for a restart",
           [valid(t), member(S.won_by(t), n), wants(t, k)],
           Or(And(S.has(n, k), S.key(n, k) == t, S.ends(n, k) >= S.deadline(t)), S.boot(n) + guard >= S.deadline(t)))
    m.goal("whole", "a master that grants has set each key, for the whole life", [m.step("grant"), wants(token, k)],
           And(m.next.has(n0, k), m.next.key(n0, k) == token, m.next.ends(n0, k) >= S.now + life(token)))
    m.goal("prolonged", "a master that confirms an extension has each key, for the whole life",
           [m.step("extend"), wants(token, k)],
           And(m.next.has(n0, k), m.next.key(n0, k) == token, m.next.ends(n0, k) >= S.now + life(token)))
    m.goal("lacks", "a master that has answered a trusted round lacks one of its keys only after a restart",
           [m.step("lack"), S.ack(r, n0), of(r) == token, live(S, r)], S.boot(n0) + guard >= until(S, r))
    m.goal("one lost",
           "where one of the keys, whichever, is missing at a master of each quorum, no quorum confirms the extension",
           [ForAll([q], Exists([n], And(member(q, n), S.missing(r0, n)))), quorum], False)
    m.goal("one taken",
           "while a client holds one of the keys, no quorum has answered a trusted round of another that wants it, too",
           [valid(u), wants(u, k), quorum, live(S, r0), wants(token, k), token != u], False)
