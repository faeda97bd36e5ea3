"""Lists and fences: any number of lists of masters, and a client wins by a quorum of each of its own. Fences that
expire, ballots within a window of the master's clock, a ttl for each lock, and the joint phase in which one list takes
over from another.

A fenced acquire has a block of numbers, of which a lock that is not kept warm has one. A master lets it in above its
fence and within the window of its own clock, and the fence becomes its end. Fences live by that clock, too, whose speed
is within the drift of real time. `lost` is what it showed as the last fence was set of those that the master has
forgotten: by a restart, or because the fence's life was over.
"""
from induct import *


def build(m):
    Node, Token, Round, List, Quorum = (m.sort(name, size) for name, size in
                                        [("Node", 2), ("Token", 2), ("Round", 3), ("MasterList", 2), ("Quorum", 2)])
    S = m.state
    member = m.constant("member", Quorum, Node, Bool)    # a quorum has this master
    list_of = m.constant("list_of", Quorum, List)        # the list of which it is a majority
    uses = m.constant("uses", Token, List, Bool)         # the client of a token has this list
    of = m.constant("of", Round, Token)                  # the token that a round acquires or extends
    first = m.constant("first", Round, Bool)             # it is the acquire
    ballot = m.constant("ballot", Round, Time)           # the first number of its block
    block = m.constant("block", Token, Time)             # the numbers that follow it
    fenced = m.constant("fenced", Token, Bool)
    trust = m.constant("trust", Token, Time)             # longest real time for which a client relies on a round
    life = m.constant("life", Token, Time)               # shortest real life of a key
    guard = m.constant("guard", Time)                    # D
    ahead, back = m.constant("ahead", Time), m.constant("back", Time)     # the window, by a master's clock
    kept = m.constant("kept", Time)                      # the life of a fence, by a master's clock
    apart = m.constant("apart", Time)                    # the most by which two masters' clocks differ
    phase = m.constant("phase", Time)                    # the joint phase without a process of the old list alone
    old_only, new_only = m.constant("old_only", Token, Bool), m.constant("new_only", Token, Bool)
    m.variable("begun", Round, Bool)
    m.variable("start", Round, Time)
    m.variable("has", Node, Bool)
    m.variable("key", Node, Token)
    m.variable("ends", Node, Time)
    m.variable("boot", Node, Time)
    m.variable("ack", Round, Node, Bool)
    m.variable("over", Token, Bool)
    m.variable("held", Token, Bool)
    m.variable("deadline", Token, Time)
    m.variable("won_in", Token, Round)
    m.variable("won_by", Token, List, Quorum)            # the quorum of each list
    m.variable("shows", Node, Time)                      # what the clock of a master shows
    m.variable("booted", Node, Time)                     # what it showed at the master's last start
    m.variable("fence", Node, Time)
    m.variable("fenced_at", Node, Time)                  # what it showed when the fence was set
    m.variable("lost", Node, Time)                       # and when the last fence was set that the master has forgotten
    m.variable("won", Round, Bool)                       # history: the acquires that were won, and by which quorums
    m.variable("history", Round, List, Quorum)
    m.variable("old_end", Time)                          # when the last process of the old list alone has ended
    m.variable("closed", Bool)                           # it has
    m.variable("closed_at", Node, Time)                  # what the clock of a master showed then
    r, s, r0 = Consts("r s r0", Round)
    n, n0, k = Consts("n n0 k", Node)
    t, u, t0 = Consts("t u t0", Token)
    q, p = Consts("q p", Quorum)
    each = Const("each", List)
    d0 = Real("d0")
    counted = Function("counted", List, Quorum)          # the quorums that a win counts
    shown = Function("shown", Node, Time)                # what clocks show next
    end = lambda r: ballot(r) + block(of(r))
    share = lambda t, u: Exists([each], And(uses(t, each), uses(u, each)))

    m.assume("meet", "two quorums of one list have a master in common", m.rule(
        "quorums", "two quorums of one list meet",
        ForAll([q, p], Implies(list_of(q) == list_of(p), Exists([n], And(member(q, n), member(p, n))))),
        without=ForAll([q], Exists([n], member(q, n))), breaks=["goal/G1", "goal/G11"]))
    m.assume("lists", "each client has a list, and each quorum a master", And(
        ForAll([t], Exists([each], uses(t, each))), ForAll([q], Exists([n], member(q, n)))))
    m.assume("drift", "a key outlives the trust", m.rule(
        "drift", "the drift is taken off the ttl", ForAll([t], And(0 < trust(t), trust(t) <= life(t))),
        without=ForAll([t], And(0 < trust(t), 0 < life(t))), breaks=["grant/stays", "extend/stays"]))
    m.assume("guard", "the guard outlasts the trust", m.rule(
        "long guard", "the guard is as long as the trust", ForAll([t], trust(t) <= guard), without=guard > 0,
        breaks=["restart/stays"]))
    m.assume("spans", "the guard and the window are spans, and a block has no number below its first",
             And(guard > 0, ahead > 0, back > 0, phase > 0, ForAll([t], block(t) >= 0)))
    m.assume("fences", "a fence is kept for longer than the window is wide", m.rule(
        "kept fences", "a fence outlives the window", kept > ahead + back, without=kept > 0, breaks=["grant/order"]))
    m.assume("only", "no client is of the old list alone and of the new one alone",
             ForAll([t], Implies(new_only(t), Not(old_only(t)))))

    m.reads("acquire.lua", "if first <= tonumber(fence) then return {-1, 0, fence, clock} end")
    m.reads("acquire.lua", "if p > now + ARGV[6] or (not won and first < now - ARGV[5]) then")
    m.reads("release_all.lua", "elseif p <= time[1] * 1000000 + time[2] + ARGV[3] then")
    m.reads("release_all.lua", "if p > tonumber(values[i] or '0') then")

    m.starts(ForAll([r], Not(S.begun(r))), ForAll([r, n], Not(S.ack(r, n))), ForAll([t], Not(S.held(t))),
             ForAll([r], Not(S.won(r))), Not(S.closed),
             ForAll([n], And(S.boot(n) <= S.now, S.booted(n) <= S.fenced_at(n), S.fenced_at(n) <= S.shows(n),
                             S.lost(n) <= S.booted(n),
                             Implies(S.now >= S.boot(n) + guard, S.shows(n) > S.booted(n) + ahead + back))),
             ForAll([n, k], S.shows(n) - S.shows(k) <= apart),
             ForAll([r, s], Implies(And(first(r), first(s), of(r) == of(s)), r == s)))
    token = of(r0)
    votes = m.rule("guard", "a master votes a guard after its start", S.boot(n0) + guard <= S.now,
                   breaks=["grant/pair", "grant/order", "extend/pair"])
    vacant = m.rule("vacant", "a SET finds the key vacant", Not(S.has(n0)),
                    breaks=["grant/stays", "grant/pair", "grant/order", "set_uncounted/stays"])
    longer = m.rule("no shorter", "an extension shortens no life", d0 >= S.ends(n0), breaks=["extend_uncounted/stays"])
    lets_in = Implies(fenced(token), And(
        m.rule("fence", "a ballot is above the fence", ballot(r0) > S.fence(n0), breaks=["grant/fence", "grant/order"]),
        m.rule("window", "a ballot is within the window of the master's clock", And(
            ballot(r0) >= S.shows(n0) - back, end(r0) <= S.shows(n0) + ahead),
               breaks=["grant/let in", "grant/order", "grant/ahead", "grant/phase"])))
    # While processes of the old list alone are in use, there is none of the new one alone; and some time between.
    in_phase = Implies(new_only(token), And(S.closed, S.now >= S.old_end + phase))
    majority = lambda each: And(list_of(counted(each)) == each,
                                ForAll([n], Implies(member(counted(each), n), S.ack(r0, n))))
    counts = m.rule("each list", "a win counts a quorum of each list",
                    ForAll([each], Implies(uses(token, each), majority(each))),
                    without=Exists([each], And(uses(token, each), majority(each))),
                    breaks=["win/witness", "win/history", "win/phase", "win_extension/witness", "goal/G11"])
    fills = lambda variable, at: to(variable,
                                    lambda key, side: If(key == at, counted(side), getattr(S, variable)(key, side)))

    m.action("tick", "time goes by, by the clock of each master, too", ["world"],
             [d0 > S.now, ForAll([n], And(
                 shown(n) >= S.shows(n),
                 m.rule("wide guard", "the guard is longer than the window",
                        Implies(d0 >= S.boot(n) + guard, shown(n) > S.booted(n) + ahead + back), breaks=["tick/woken"]),
                 m.rule("joint phase", "there is time between the lists",
                        Implies(And(S.closed, d0 >= S.old_end + phase), shown(n) > S.closed_at(n) + ahead + back + apart),
                        breaks=["tick/passed"]))),
              ForAll([n, k], shown(n) - shown(k) <= apart)],
             to("now", d0), to("shows", lambda z: shown(z)))
    m.action("begin", "a client begins a round: its clock starts before the first byte",
             ["lock/attempt.rs:attempt", "lock/extend.rs:send_extension"],
             [Not(S.begun(r0)), ForAll([n], Not(S.ack(r0, n)))], to("begun", r0, True), to("start", r0, S.now))
    m.action("grant", "a master that votes executes the SET of an acquire, now or ever so late, and raises its fence",
             ["acquire.lua", "lock/acquire.rs:answer"],
             [S.begun(r0), first(r0), vacant, lets_in, votes, in_phase, d0 >= S.now + life(token)],
             to("has", n0, True), to("key", n0, token), to("ends", n0, d0), to("ack", r0, n0, True),
             to("fence", n0, If(fenced(token), end(r0), S.fence(n0))),
             to("fenced_at", n0, If(fenced(token), S.shows(n0), S.fenced_at(n0))))
    m.action("set_uncounted", "a top-up, or a SET whose answer counts for nothing",
             ["acquire.lua", "top_up.lua", "lock/extend.rs:top_up"],
             [S.begun(r0), vacant, d0 >= S.now], to("has", n0, True), to("key", n0, token), to("ends", n0, d0))
    m.action("raise_fence",
             "a top-up, a release or a rollback raises a fence, to a number that is not beyond the window",
             ["acquire.lua", "release_all.lua", "lock/extend.rs:topped_up"],
             [m.rule("fences rise", "a fence only rises", d0 > S.fence(n0),
                     breaks=["raise_fence/fence"]), d0 <= S.shows(n0) + ahead], to("fence", n0, d0),
             to("fenced_at", n0, S.shows(n0)))
    m.action("extend", "a master that votes prolongs a key of this token, whose life is never shortened",
             ["extend.lua", "lock/extend.rs:answer"],
             [S.begun(r0), Not(first(r0)), S.has(n0), S.key(n0) == token, votes, d0 >= S.now + life(token),
              longer],
             to("ends", n0, d0), to("ack", r0, n0, True))
    m.action("extend_uncounted", "the same at a master that warms up, or later than the round",
             ["extend.lua"], [S.has(n0), longer], to("ends", n0, d0))
    m.action("expire", "the life of a key is over", ["world"], [S.has(n0), S.now >= S.ends(n0)], to("has", n0, False))
    m.action("fence_expires", "the life of a fence is over: the master may let in anything above any other number",
             ["master/fencing.rs"], [S.shows(n0) >= S.fenced_at(n0) + kept], to("fence", n0, d0),
             to("lost", n0, S.fenced_at(n0)))
    m.action("restart", "a master comes back empty", ["world"], [], to("has", n0, False), to("boot", n0, S.now),
             to("booted", n0, S.shows(n0)), to("fence", n0, d0), to("fenced_at", n0, S.shows(n0)),
             to("lost", n0, S.shows(n0)))
    m.action("win", "a client counts a quorum of each of its lists before the deadline",
             ["lock/acquire.rs:judge_acquire", "quorum/membership.rs:is_quorum", "quorum/validity.rs:deadline"],
             [first(r0), counts, Not(S.over(token)), Not(S.held(token)), S.now < S.start(r0) + trust(token),
              d0 <= S.start(r0) + trust(token), Implies(old_only(token), Not(S.closed)), in_phase],
             to("held", token, True), to("deadline", token, d0), to("won_in", token, r0),
             fills("won_by", token), to("won", r0, True), fills("history", r0))
    m.action("win_extension", "a client counts a quorum of each list that holds the token, before the old deadline",
             ["lock/extend.rs:judge_extension", "quorum/lease.rs:progress"],
             [Not(first(r0)), counts, S.held(token), Not(S.over(token)), S.now < S.deadline(token),
              d0 <= m.rule("from the start", "the deadline counts from the start of the round", S.start(r0),
                           without=S.now, breaks=["win_extension/witness"]) + trust(token)],
             to("deadline", token, d0), to("won_in", token, r0), fills("won_by", token))
    m.action("give_up", "a client gives a token up: a release, a rollback",
             ["lock/release.rs:begin_release", "lock/acquire.rs:roll_back"], [], to("over", t0, True))
    m.action("release", "a master compares and deletes, at any time after that", ["release.lua", "release_all.lua"],
             [S.has(n0), S.over(t0), m.rule("compare", "a release compares the token", S.key(n0) == t0,
                                            breaks=["release/stays"])],
             to("has", n0, False))
    m.action("old_ends", "the last process of the old list alone has ended (docs/replacing-a-master.md)", ["operator"],
             [Not(S.closed)], to("closed", True), to("old_end", S.now), to("closed_at", lambda z: S.shows(z)))

    until = lambda x, r: x.start(r) + trust(of(r))
    live = lambda x, r: And(Not(x.over(of(r))), x.now < until(x, r))
    granted = lambda x, r, n: And(first(r), x.ack(r, n), fenced(of(r)))
    by_quorums = lambda x, t, r, quorums: ForAll([each], Implies(uses(t, each), And(
        list_of(quorums(each)) == each, ForAll([n], Implies(member(quorums(each), n), x.ack(r, n))))))
    m.conjunct("past", "what was answered had begun before, and no round, start or fence is of the future",
               lambda x: And(
        ForAll([r, n], Implies(x.ack(r, n), And(x.begun(r), x.start(r) <= x.now))),
        ForAll([n], And(x.boot(n) <= x.now, x.fenced_at(n) <= x.shows(n), x.lost(n) <= x.fenced_at(n),
                        x.booted(n) <= x.fenced_at(n))),
        ForAll([r], Implies(x.begun(r), x.start(r) <= x.now))))
    m.conjunct("woken", "a master that votes has been up for longer than the window, by its own clock", lambda x: ForAll(
        [n], Implies(x.now >= x.boot(n) + guard, x.shows(n) > x.booted(n) + ahead + back)))
    m.conjunct("passed", "clocks are not far apart, and show that the joint phase is over once it is", lambda x: And(
        ForAll([n, k], And(x.shows(n) - x.shows(k) <= apart,
                           Implies(x.closed, x.closed_at(n) - x.closed_at(k) <= apart))),
        ForAll([n], Implies(x.closed, And(x.closed_at(n) <= x.shows(n), Implies(
            x.now >= x.old_end + phase, x.shows(n) > x.closed_at(n) + ahead + back + apart))))))
    m.conjunct("stays",
               "where an answer counts and its round is trusted, the key is there and outlives the trust, or the "
               "master has restarted so lately that it votes only after the trust is over", lambda x: ForAll(
                   [r, n], Implies(And(x.ack(r, n), live(x, r)), Or(
                       And(x.has(n), x.key(n) == of(r), x.ends(n) >= until(x, r)), x.boot(n) + guard >= until(x, r)))))
    m.conjunct("pair", "no master's answers count for two trusted tokens", lambda x: ForAll(
        [r, s, n], Implies(And(x.ack(r, n), x.ack(s, n), live(x, r), live(x, s)), of(r) == of(s))))
    m.conjunct("witness",
               "a hold rests on the answers to one round of a quorum of each list of its client, its deadline on "
               "that round", lambda x: ForAll([t], Implies(x.held(t), And(
                   of(x.won_in(t)) == t, x.deadline(t) <= x.start(x.won_in(t)) + trust(t),
                   by_quorums(x, t, x.won_in(t), lambda each: x.won_by(t, each))))))
    m.conjunct("fence",
               "a master's fence is at least each ballot that it has let in, but for those that it has forgotten",
               lambda x: ForAll([r, n], Implies(granted(x, r, n), Or(
                   end(r) <= x.fence(n), end(r) <= x.lost(n) + ahead))))
    m.conjunct("forgotten", "what a master has forgotten is of before its start, or was kept for its time",
               lambda x: ForAll([n], Or(x.lost(n) <= x.booted(n), x.shows(n) >= x.lost(n) + kept)))
    m.conjunct("let in", "a ballot that is not above the fence was let in when that was set, or before",
               lambda x: ForAll(
        [r, n], Implies(And(granted(x, r, n), end(r) <= x.fence(n)), end(r) <= x.fenced_at(n) + ahead)))
    m.conjunct("order", "of two tokens that a master has answered, the trusted one has the greater number",
               lambda x: ForAll(
        [r, s, n], Implies(And(granted(x, r, n), granted(x, s, n), of(r) != of(s), live(x, s)), end(r) < ballot(s))))
    m.conjunct("ahead", "no ballot that was let in is further ahead than the window", lambda x: ForAll(
        [r, n], Implies(granted(x, r, n), end(r) <= x.shows(n) + ahead)))
    m.conjunct("history", "each acquire that was won has its quorums", lambda x: ForAll([r], Implies(x.won(r), And(
        first(r), by_quorums(x, of(r), r, lambda each: x.history(r, each))))))
    m.conjunct("one", "a token has one acquire", lambda x: ForAll(
        [r, s], Implies(And(first(r), first(s), of(r) == of(s)), r == s)))
    m.conjunct("phase",
               "what a client of the old list alone has won, it had won by the end of the last of them; what one of "
               "the new list alone was granted, came a joint phase later", lambda x: And(
                   Implies(x.closed, x.old_end <= x.now),
                   ForAll([r], Implies(And(x.won(r), old_only(of(r)), fenced(of(r))), ForAll([each, n], Implies(
                       And(uses(of(r), each), member(x.history(r, each), n)),
                       end(r) <= If(x.closed, x.closed_at(n), x.shows(n)) + ahead)))),
                   ForAll([r, n], Implies(And(granted(x, r, n), new_only(of(r))), And(
                       x.closed, ballot(r) > x.closed_at(n) + ahead + apart)))))
    valid = lambda t: And(S.held(t), Not(S.over(t)), S.now < S.deadline(t))
    m.goal("G1", "two valid holders with a list in common are one: G10, too", [valid(t), valid(u), share(t, u)], t == u)
    m.goal("G11", "a win has a greater number than every win before it of a client with a list in common",
           [m.step("win"), S.won(s), of(s) != token, share(of(s), token), fenced(of(s)), fenced(token)],
           end(s) < ballot(r0))
    m.goal("carried", "a win of the new list alone has a greater number than every win of the old list alone",
           [m.step("win"), S.won(s), old_only(of(s)), new_only(token), fenced(of(s)), fenced(token)],
           end(s) < ballot(r0))
