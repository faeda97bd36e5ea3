"""Warm locks: a hold that was given back stays idle in its process, and goes to the next task there without the masters,
until its deadline or until its client gives it up; a message that asks for it may come from anyone, at any time. A fenced
acquire takes a block of numbers, of which each task gets the next. A master compares both ends: the first number with the
fence, which others may have left within the block, and the end with the window, as the fence will stand there.

What a task is given is its *turn* at a token: its guard, with all the leases of that guard. To the masters nothing of
this exists. So the invariant of the page `lock` is here again, and on it rest the conjuncts on tasks and numbers. The
window and the lives of fences are by the master's own clock, whose speed is within the drift of real time.
"""
from induct import *


def build(m):
    Node, Token, Round, Quorum, Turn = (m.sort(name, size) for name, size in
                                        [("Node", 2), ("Token", 2), ("Round", 3), ("Quorum", 2), ("Turn", 2)])
    S = m.state
    member = m.constant("member", Quorum, Node, Bool)    # a quorum has this master
    of = m.constant("of", Round, Token)                  # the token that a round acquires or extends
    first = m.constant("first", Round, Bool)             # it is the acquire
    ballot = m.constant("ballot", Round, Time)           # the first number of its block
    block = m.constant("block", Token, Time)             # the numbers that follow it
    turn_at = m.constant("turn_at", Turn, Token)         # a task's turn: at which token
    fenced = m.constant("fenced", Token, Bool)           # its acquire takes numbers
    trust = m.constant("trust", Token, Time)             # longest real time for which a client relies on a round
    life = m.constant("life", Token, Time)               # shortest real life of a key
    guard = m.constant("guard", Time)                    # D
    ahead, back = m.constant("ahead", Time), m.constant("back", Time)     # the window, by a master's clock
    kept = m.constant("kept", Time)                      # the life of a fence, by a master's clock
    m.variable("begun", Round, Bool)
    m.variable("start", Round, Time)
    m.variable("has", Node, Bool)
    m.variable("key", Node, Token)
    m.variable("ends", Node, Time)
    m.variable("boot", Node, Time)
    m.variable("ack", Round, Node, Bool)
    m.variable("over", Token, Bool)                      # its client has given it up
    m.variable("held", Token, Bool)
    m.variable("deadline", Token, Time)
    m.variable("won_in", Token, Round)                   # the round, and the quorum, on which the deadline rests
    m.variable("won_by", Token, Quorum)
    m.variable("first_won_in", Token, Round)             # history: the acquire that was won, and its quorum
    m.variable("first_won_by", Token, Quorum)
    m.variable("shows", Node, Time)                      # what the clock of a master shows
    m.variable("booted", Node, Time)                     # what it showed at the master's last start
    m.variable("fence", Node, Time)
    m.variable("fenced_at", Node, Time)                  # what it showed when the fence was set
    m.variable("lost", Node, Time)                       # and when the last fence was set that the master has forgotten
    m.variable("taken", Turn, Bool)                      # a task has had this turn, or has it
    m.variable("active", Turn, Bool)                     # its guard or a lease of it may say that it is valid
    m.variable("number", Turn, Time)                     # its fencing token
    m.variable("last", Token, Time)                      # the last number of the block that was given to a task
    r, s, r0 = Consts("r s r0", Round)
    n, n0 = Consts("n n0", Node)
    t, u, t0 = Consts("t u t0", Token)
    h, g, h0 = Consts("h g h0", Turn)
    q, p, q0 = Consts("q p q0", Quorum)
    d0 = Real("d0")
    shown = Function("shown", Node, Time)                # what clocks show next
    end = lambda r: ballot(r) + block(of(r))

    m.assume("meet", "any two quorums have a master in common", m.rule(
        "quorums", "any two quorums meet", ForAll([q, p], Exists([n], And(member(q, n), member(p, n)))),
        without=ForAll([q], Exists([n], member(q, n))), breaks=["win/above", "goal/G1"]))
    m.assume("spans", "a key and the guard outlive the trust", And(guard > 0, ahead > 0, back > 0, ForAll(
        [t], And(0 < trust(t), trust(t) <= life(t), trust(t) <= guard))))
    m.assume("fences", "a fence is kept for longer than the window is wide", m.rule(
        "kept fences", "a fence outlives the window", kept > ahead + back, without=kept > 0, breaks=["grant/order"]))
    m.assume("blocks", "a block has no number below its first", ForAll([t], block(t) >= 0))

    m.reads("acquire.lua", "local p, first = tonumber(ballot), tonumber(ARGV[8] or ballot)")
    m.reads("acquire.lua", "if first <= tonumber(fence) then return {-1, 0, fence, clock} end")
    m.reads("acquire.lua", "if p > now + ARGV[6] or (not won and first < now - ARGV[5]) then")
    m.reads("acquire.lua", "redis.call('SET', KEYS[i], ballot, 'PX', ARGV[7])")
    m.reads("wire/claim.rs", "self.number < self.last")

    m.starts(ForAll([r], Not(S.begun(r))), ForAll([r, n], Not(S.ack(r, n))), ForAll([t], Not(S.held(t))),
             ForAll([h], And(Not(S.taken(h)), Not(S.active(h)))),
             ForAll([n], And(S.boot(n) <= S.now, S.booted(n) <= S.fenced_at(n), S.fenced_at(n) <= S.shows(n),
                             S.lost(n) <= S.booted(n),
                             Implies(S.now >= S.boot(n) + guard, S.shows(n) > S.booted(n) + ahead + back))),
             ForAll([r, s], Implies(And(first(r), first(s), of(r) == of(s)), r == s)))
    token = of(r0)
    votes = m.rule("guard", "a master votes a guard after its start", S.boot(n0) + guard <= S.now,
                   breaks=["grant/pair", "grant/order", "extend/pair"])
    vacant = m.rule("vacant", "a SET finds the key vacant", Not(S.has(n0)),
                    breaks=["grant/stays", "grant/pair", "grant/order", "set_uncounted/stays"])
    quorum = m.rule("counts a quorum", "a win counts the answers of a quorum",
                    ForAll([n], Implies(member(q0, n), S.ack(r0, n))),
                    breaks=["win/witness", "win/above", "win_extension/witness"])
    lets_in = Implies(fenced(token), And(
        m.rule("fence", "the first number of a block, and not only its end, is above the fence", ballot(r0) > S.fence(n0),
               without=end(r0) > S.fence(n0), breaks=["grant/order"]),
        m.rule("block behind", "the first number of a block, and not only its end, is no further behind than the window",
               ballot(r0) >= S.shows(n0) - back, without=end(r0) >= S.shows(n0) - back, breaks=["grant/order"]),
        m.rule("block ahead", "the end of a block, and not its first number, is within the window",
               end(r0) <= S.shows(n0) + ahead, without=ballot(r0) <= S.shows(n0) + ahead, breaks=["grant/ahead", "grant/let in"])))

    m.action("tick", "time goes by, by the clock of each master, too", ["world"],
             [d0 > S.now, ForAll([n], And(shown(n) >= S.shows(n), m.rule(
                 "wide guard", "the guard is longer than the window",
                 Implies(d0 >= S.boot(n) + guard, shown(n) > S.booted(n) + ahead + back), breaks=["tick/woken"])))],
             to("now", d0), to("shows", lambda z: shown(z)))
    m.action("begin", "a client begins a round: its clock starts before the first byte",
             ["lock/attempt.rs:attempt", "lock/extend.rs:send_extension"],
             [Not(S.begun(r0)), ForAll([n], Not(S.ack(r0, n)))], to("begun", r0, True), to("start", r0, S.now))
    m.action("grant", "a master that votes executes the SET of an acquire, and its fence becomes the end of the block",
             ["acquire.lua", "lock/acquire.rs:answer"],
             [S.begun(r0), first(r0), vacant, lets_in, votes, d0 >= S.now + life(token)],
             to("has", n0, True), to("key", n0, token), to("ends", n0, d0), to("ack", r0, n0, True),
             to("fence", n0, If(fenced(token), m.rule("fence at the end", "the fence stands at the end of a block",
                                                      end(r0), without=ballot(r0), breaks=["grant/fence"]),
                                S.fence(n0))),
             to("fenced_at", n0, If(fenced(token), S.shows(n0), S.fenced_at(n0))))
    m.action("set_uncounted", "a top-up, or a SET whose answer counts for nothing",
             ["acquire.lua", "top_up.lua", "lock/extend.rs:top_up"],
             [vacant, d0 >= S.now], to("has", n0, True), to("key", n0, t0), to("ends", n0, d0))
    m.action("raise_fence", "a top-up, a release or a rollback raises a fence, to no number beyond the window",
             ["acquire.lua", "release_all.lua", "lock/extend.rs:topped_up"],
             [m.rule("fences rise", "a fence only rises", d0 > S.fence(n0), breaks=["raise_fence/fence"]),
              d0 <= S.shows(n0) + ahead], to("fence", n0, d0), to("fenced_at", n0, S.shows(n0)))
    m.action("fence_expires", "the life of a fence is over: the master may let in anything above any other number",
             ["master/fencing.rs"], [S.shows(n0) >= S.fenced_at(n0) + kept], to("fence", n0, d0),
             to("lost", n0, S.fenced_at(n0)))
    m.action("extend", "a master that votes prolongs a key of this token",
             ["extend.lua", "lock/extend.rs:answer"],
             [S.begun(r0), Not(first(r0)), S.has(n0), S.key(n0) == token, votes,
              d0 >= S.now + life(token), d0 >= S.ends(n0)], to("ends", n0, d0), to("ack", r0, n0, True))
    m.action("extend_uncounted", "the same at a master that warms up, or later than the round", ["extend.lua"],
             [S.has(n0), m.rule("no shorter", "an extension shortens no life", d0 >= S.ends(n0),
                                breaks=["extend_uncounted/stays"])], to("ends", n0, d0))
    m.action("expire", "the life of a key is over", ["world"], [S.has(n0), S.now >= S.ends(n0)], to("has", n0, False))
    m.action("restart", "a master comes back empty", ["world"], [], to("has", n0, False), to("boot", n0, S.now),
             to("booted", n0, S.shows(n0)), to("fence", n0, d0), to("fenced_at", n0, S.shows(n0)),
             to("lost", n0, S.shows(n0)))
    m.action("win", "a client counts a quorum of grants before the deadline", ["lock/acquire.rs:judge_acquire"],
             [first(r0), quorum, Not(S.over(token)), Not(S.held(token)), S.now < S.start(r0) + trust(token),
              d0 <= S.start(r0) + trust(token)],
             to("held", token, True), to("deadline", token, d0), to("won_in", token, r0),
             to("won_by", token, q0), to("first_won_in", token, r0), to("first_won_by", token, q0),
             to("last", token, ballot(r0)))
    m.action("win_extension", "a client counts a quorum that holds the token, before the old deadline",
             ["lock/extend.rs:judge_extension"],
             [Not(first(r0)), quorum, S.held(token), Not(S.over(token)), S.now < S.deadline(token),
              d0 <= S.start(r0) + trust(token)],
             to("deadline", token, d0), to("won_in", token, r0), to("won_by", token, q0))
    here = turn_at(h0)
    m.action("pass_on", "a task gets the hold: the one that was won for it, one that is idle, or one given back to it",
             ["lock/warm.rs:pass_on", "lock/acquire.rs:win"],
             [S.held(here), Not(S.over(here)), Not(S.taken(h0)),
              m.rule("in time", "a hold is passed on before its deadline", S.now < S.deadline(here),
                     breaks=["goal/G11"]),
              m.rule("one task", "the guard of the task before, and every lease of it, is over",
                     ForAll([g], Implies(turn_at(g) == here, Not(S.active(g)))), breaks=["pass_on/tasks"]),
              Implies(fenced(here), And(
                  m.rule("next number", "a task gets a number above that of the task before",
                         Or(d0 > S.last(here), And(d0 == S.last(here), ForAll([g], Implies(
                             turn_at(g) == here, Not(S.taken(g)))))),
                         without=d0 >= ballot(S.first_won_in(here)), breaks=["pass_on/tasks", "goal/G11"]),
                  m.rule("within the block", "no task gets a number beyond the block",
                         d0 <= end(S.first_won_in(here)), breaks=["pass_on/tasks"])))],
             to("taken", h0, True), to("active", h0, True), to("number", h0, d0), to("last", here, d0))
    m.action("give_back", "a guard is dropped: it is over, with all its leases, and the hold is idle",
             ["lock/warm.rs:leave_idle"], [], to("active", h0, False))
    m.action("give_up",
             "a client gives a token up: a release, a rollback, an idle hold whose time is over or that is asked for",
             ["lock/release.rs:begin_release", "lock/acquire.rs:roll_back", "lock/warm.rs:release_idle"], [],
             to("over", t0, True))
    m.action("release", "a master compares and deletes, at any time after that", ["release.lua", "release_all.lua"],
             [S.has(n0), S.over(t0), m.rule("compare", "a release compares the token", S.key(n0) == t0,
                                            breaks=["release/stays"])], to("has", n0, False))

    until = lambda x, r: x.start(r) + trust(of(r))
    live = lambda x, r: And(Not(x.over(of(r))), x.now < until(x, r))
    granted = lambda x, r, n: And(first(r), x.ack(r, n), fenced(of(r)))
    m.conjunct("past", "what was answered had begun before, and no round, start or fence is of the future", lambda x: And(
        ForAll([r, n], Implies(x.ack(r, n), And(x.begun(r), x.start(r) <= x.now))),
        ForAll([n], And(x.boot(n) <= x.now, x.booted(n) <= x.fenced_at(n), x.fenced_at(n) <= x.shows(n),
                        x.lost(n) <= x.fenced_at(n))),
        ForAll([r], Implies(x.begun(r), x.start(r) <= x.now))))
    m.conjunct("woken", "a master that votes has been up for longer than the window, by its own clock", lambda x: ForAll(
        [n], Implies(x.now >= x.boot(n) + guard, x.shows(n) > x.booted(n) + ahead + back)))
    m.conjunct("stays",
               "where an answer counts and its round is trusted, the key is there and outlives the trust, or the "
               "master has restarted so lately that it votes only after the trust is over", lambda x: ForAll(
                   [r, n], Implies(And(x.ack(r, n), live(x, r)), Or(
                       And(x.has(n), x.key(n) == of(r), x.ends(n) >= until(x, r)), x.boot(n) + guard >= until(x, r)))))
    m.conjunct("pair", "no master's answers count for two trusted tokens", lambda x: ForAll(
        [r, s, n], Implies(And(x.ack(r, n), x.ack(s, n), live(x, r), live(x, s)), of(r) == of(s))))
    m.conjunct("witness",
               "a hold rests on the answers of a quorum to one round of its token, and it was won by such a quorum",
               lambda x: ForAll([t], Implies(x.held(t), And(
                   of(x.won_in(t)) == t, x.deadline(t) <= x.start(x.won_in(t)) + trust(t),
                   ForAll([n], Implies(member(x.won_by(t), n), x.ack(x.won_in(t), n))),
                   of(x.first_won_in(t)) == t, first(x.first_won_in(t)),
                   ForAll([n], Implies(member(x.first_won_by(t), n), x.ack(x.first_won_in(t), n)))))))
    m.conjunct("fence",
               "a master's fence is at least the end of each block that it has let in, but for those that it has "
               "forgotten", lambda x: ForAll([r, n], Implies(granted(x, r, n), Or(
                   end(r) <= x.fence(n), end(r) <= x.lost(n) + ahead))))
    m.conjunct("forgotten", "what a master has forgotten is of before its start, or was kept for its time",
               lambda x: ForAll([n], Or(x.lost(n) <= x.booted(n), x.shows(n) >= x.lost(n) + kept)))
    m.conjunct("let in", "a block that is not above the fence was let in when that was set, or before", lambda x: ForAll(
        [r, n], Implies(And(granted(x, r, n), end(r) <= x.fence(n)), end(r) <= x.fenced_at(n) + ahead)))
    m.conjunct("order",
               "of two blocks that a master has let in, that of the token still trusted is wholly above the other",
               lambda x: ForAll([r, s, n], Implies(And(granted(x, r, n), granted(x, s, n), of(r) != of(s), live(x, s)),
                                                   end(r) < ballot(s))))
    m.conjunct("ahead", "no block that was let in reaches beyond the window", lambda x: ForAll(
        [r, n], Implies(granted(x, r, n), end(r) <= x.shows(n) + ahead)))
    m.conjunct("one", "a token has one acquire", lambda x: ForAll(
        [r, s], Implies(And(first(r), first(s), of(r) == of(s)), r == s)))
    m.conjunct("tasks", "of the turns at a token one at a time is active, and their numbers are of its block, in order",
               lambda x: And(
                   ForAll([h, g], Implies(And(x.active(h), x.active(g), turn_at(h) == turn_at(g)), h == g)),
                   ForAll([h], Implies(x.active(h), x.taken(h))),
                   ForAll([h], Implies(x.taken(h), And(x.held(turn_at(h)), Implies(fenced(turn_at(h)), And(
                       ballot(x.first_won_in(turn_at(h))) <= x.number(h), x.number(h) <= x.last(turn_at(h)),
                       x.number(h) <= end(x.first_won_in(turn_at(h)))))))),
                   ForAll([t], Implies(And(x.held(t), fenced(t)), ballot(x.first_won_in(t)) <= x.last(t)))))
    m.conjunct("above", "the block of a trusted hold is wholly above that of each other token that was won", lambda x: ForAll(
        [t, u], Implies(And(x.held(t), x.held(u), t != u, fenced(t), fenced(u), live(x, x.won_in(u))),
                        end(x.first_won_in(t)) < ballot(x.first_won_in(u)))))
    valid = lambda h: And(S.active(h), S.held(turn_at(h)), Not(S.over(turn_at(h))), S.now < S.deadline(turn_at(h)))
    m.goal("G1", "two tasks that hold are one, of whatever clients", [valid(h), valid(g)], h == g)
    m.goal("G11", "a task has a greater number than each task before it, of whatever clients",
           [m.step("pass_on"), S.taken(g), g != h0, fenced(turn_at(g)), fenced(here)], S.number(g) < d0)
