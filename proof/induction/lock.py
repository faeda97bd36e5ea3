"""The lock: one list of masters, any number of clients. Acquires whose SETs arrive ever so late, top-ups, extensions,
releases, masters that restart empty, and keys that stay after a loss.

A round is an acquire or an extension of one token, asked of all masters. `trust` is the longest real time for which a
client relies on a round, counted from before its first byte: the ttl less the drift. `closed` is the time for which its
keys keep others out: the same, or longer with a lock-delay. The page lemmas.py shows that these spans have the relations
that are assumed here.
"""
from induct import *


def build(m):
    Node, Token, Round, Quorum = (m.sort(name, size) for name, size in
                                  [("Node", 2), ("Token", 2), ("Round", 3), ("Quorum", 2)])
    S = m.state
    member = m.constant("member", Quorum, Node, Bool)    # a quorum has this master
    of = m.constant("of", Round, Token)                  # the token that a round acquires or extends
    first = m.constant("first", Round, Bool)             # it is the acquire
    trust = m.constant("trust", Token, Time)
    closed = m.constant("closed", Token, Time)
    life = m.constant("life", Token, Time)               # shortest real life of a key of this token
    delayed = m.constant("delayed", Token, Bool)         # it has a lock-delay
    guard = m.constant("guard", Time)                    # D: a master that has restarted does not vote for so long
    m.variable("begun", Round, Bool)
    m.variable("start", Round, Time)                     # when it began, before the first byte
    m.variable("has", Node, Bool)                        # a key is there
    m.variable("key", Node, Token)                       # of this token
    m.variable("ends", Node, Time)                       # until then
    m.variable("boot", Node, Time)                       # the last start of a master, which is empty then
    m.variable("ack", Round, Node, Bool)                 # the master has answered the round, and its answer counts
    m.variable("over", Token, Bool)                      # its client has given it up: nothing of it counts any more
    m.variable("held", Token, Bool)                      # it was won
    m.variable("lost", Token, Bool)                      # and its client knows that it was lost
    m.variable("deadline", Token, Time)
    m.variable("won_in", Token, Round)                   # the round, and the quorum, on which the deadline rests
    m.variable("won_by", Token, Quorum)
    r, s, r0 = Consts("r s r0", Round)
    n, n0 = Consts("n n0", Node)
    t, u, t0 = Consts("t u t0", Token)
    q, p, q0 = Consts("q p q0", Quorum)
    d0 = Real("d0")

    m.assume("meet", "any two quorums have a master in common", m.rule(
        "quorums", "any two quorums meet", ForAll([q, p], Exists([n], And(member(q, n), member(p, n)))),
        without=ForAll([q], Exists([n], member(q, n))), breaks=["goal/G1", "goal/G12"]))
    m.assume("spans", "a client relies on a round for no longer than the keys keep others out",
             ForAll([t], And(0 < trust(t), trust(t) <= closed(t))))
    m.assume("drift", "a key lives for as long as it has to keep others out", m.rule(
        "drift", "the drift is taken off the ttl", ForAll([t], closed(t) <= life(t)), without=ForAll([t], 0 < life(t)),
        breaks=["grant/stays", "extend/stays"]))
    m.assume("guard", "so does the restart guard", m.rule(
        "long guard", "the guard is as long as a key keeps others out", ForAll([t], closed(t) <= guard),
        without=guard > 0, breaks=["restart/stays"]))

    m.reads("acquire.lua", "ours[i] = holder == ARGV[1]")
    m.reads("acquire.lua", "if life then return {0, life, fence, clock, longest} end")
    m.reads("extend.lua", "if redis.call('PTTL', key) < tonumber(ARGV[2]) then redis.call('PEXPIRE', key, ARGV[2]) end")
    m.reads("release.lua", "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end")
    m.reads("lock/release.rs", "if !attempt.is_delayed() {")
    m.reads("quorum/validity.rs", "validity(ttl, now.since(started), drift.of(ttl))")

    m.starts(ForAll([r], Not(S.begun(r))), ForAll([r, n], Not(S.ack(r, n))),
             ForAll([t], And(Not(S.held(t)), Not(S.lost(t)))),
             ForAll([t], Not(S.over(t))), ForAll([n], S.boot(n) <= S.now))
    votes = m.rule("guard", "a master votes a guard after its start", S.boot(n0) + guard <= S.now,
                   breaks=["grant/pair", "extend/pair"])
    token = of(r0)
    quorum = m.rule("counts a quorum", "a win counts the answers of a quorum",
                    ForAll([n], Implies(member(q0, n), S.ack(r0, n))),
                    breaks=["win/witness", "win_extension/witness", "goal/G12"])
    vacant = m.rule("vacant", "a SET finds the key vacant", Not(S.has(n0)),
                    breaks=["grant/stays", "grant/pair", "set_uncounted/stays"])
    longer = m.rule("no shorter", "an extension shortens no life", d0 >= S.ends(n0), breaks=["extend_uncounted/stays"])

    m.action("tick", "time goes by", ["world"], [d0 > S.now], to("now", d0))
    m.action("begin", "a client begins a round: its clock starts before the first byte",
             ["lock/attempt.rs:attempt", "lock/extend.rs:send_extension"],
             [Not(S.begun(r0)), ForAll([n], Not(S.ack(r0, n)))], to("begun", r0, True), to("start", r0, S.now))
    m.action("grant", "a master that votes executes the SET of an acquire, now or ever so late",
             ["acquire.lua", "lock/acquire.rs:answer"],
             [S.begun(r0), first(r0), vacant, votes, d0 >= S.now + life(token)],
             to("has", n0, True), to("key", n0, token), to("ends", n0, d0), to("ack", r0, n0, True))
    m.action("set_uncounted", "a top-up, or a SET whose answer counts for nothing",
             ["top_up.lua", "lock/extend.rs:top_up"],
             [S.begun(r0), vacant, d0 >= S.now], to("has", n0, True), to("key", n0, token), to("ends", n0, d0))
    prolongs = [S.has(n0), m.rule("own key", "an extension prolongs the key of its own token", S.key(n0) == token,
                                  breaks=["extend/stays", "extend/pair"])]
    m.action("extend", "a master that votes prolongs a key, whose life is never shortened",
             ["extend.lua", "lock/extend.rs:answer"],
             [S.begun(r0), Not(first(r0)), *prolongs, votes, d0 >= S.now + life(token), longer],
             to("ends", n0, d0), to("ack", r0, n0, True))
    m.action("extend_uncounted", "the same at a master that warms up, or later than the round",
             ["extend.lua"], [S.has(n0), longer], to("ends", n0, d0))
    m.action("expire", "the life of a key is over", ["world"], [S.has(n0), S.now >= S.ends(n0)], to("has", n0, False))
    m.action("restart", "a master comes back empty", ["world"], [], to("has", n0, False), to("boot", n0, S.now))
    m.action("win", "a client counts a quorum of grants before the deadline",
             ["lock/acquire.rs:judge_acquire", "quorum/tally.rs:verdict", "quorum/validity.rs:deadline"],
             [first(r0), quorum, Not(S.over(token)), Not(S.held(token)), S.now < S.start(r0) + trust(token),
              d0 <= S.start(r0) + trust(token)],
             to("held", token, True), to("deadline", token, d0), to("won_in", token, r0), to("won_by", token, q0))
    m.action("win_extension", "a client counts a quorum that holds the token, before the old deadline",
             ["lock/extend.rs:judge_extension", "quorum/lease.rs:progress"],
             [Not(first(r0)), quorum, S.held(token), Not(S.over(token)), Not(S.lost(token)), S.now < S.deadline(token),
              d0 <= m.rule("from the start", "the deadline counts from the start of the round", S.start(r0),
                           without=S.now, breaks=["win_extension/witness"]) + trust(token)],
             to("deadline", token, d0), to("won_in", token, r0), to("won_by", token, q0))
    m.action("loses", "a client finds its lock lost: the deadline has passed, or a quorum no longer has the token",
             ["lock/release.rs:lose"], [S.held(t0), Not(S.over(t0))], to("lost", t0, True))
    m.action("give_up", "a client gives a token up: a release, a rollback; not what was lost and stays closed",
             ["lock/release.rs:begin_release", "lock/acquire.rs:roll_back"],
             [m.rule("kept", "what was lost with a lock-delay is not released", Not(And(S.lost(t0), delayed(t0))),
                     breaks=["give_up/kept"])], to("over", t0, True))
    m.action("release", "a master compares and deletes, at any time after that",
             ["release.lua", "release_all.lua"],
             [S.has(n0), S.over(t0), m.rule("compare", "a release compares the token", S.key(n0) == t0,
                                            breaks=["release/stays"])], to("has", n0, False))

    until = lambda x, r: x.start(r) + closed(of(r))
    shut = lambda x, r: And(Not(x.over(of(r))), x.now < until(x, r))
    m.conjunct("past", "what was answered had begun before, and no round and no start is of the future", lambda x: And(
        ForAll([r, n], Implies(x.ack(r, n), And(x.begun(r), x.start(r) <= x.now))), ForAll([n], x.boot(n) <= x.now),
        ForAll([r], Implies(x.begun(r), x.start(r) <= x.now))))
    m.conjunct("stays",
               "where an answer counts and its round still keeps others out, the key is there for that long, or the "
               "master has restarted so lately that it votes only after that", lambda x: ForAll([r, n], Implies(
                   And(x.ack(r, n), shut(x, r)), Or(And(x.has(n), x.key(n) == of(r), x.ends(n) >= until(x, r)),
                                                    x.boot(n) + guard >= until(x, r)))))
    m.conjunct("pair", "no master's answers count for two tokens that both keep others out", lambda x: ForAll(
        [r, s, n], Implies(And(x.ack(r, n), x.ack(s, n), shut(x, r), shut(x, s)), of(r) == of(s))))
    m.conjunct("witness",
               "a hold rests on the answers of a quorum to one round of its token, its deadline on that round",
               lambda x: ForAll([t], Implies(x.held(t), And(
                   of(x.won_in(t)) == t, x.deadline(t) <= x.start(x.won_in(t)) + trust(t),
                   ForAll([n], Implies(member(x.won_by(t), n), x.ack(x.won_in(t), n)))))))
    m.conjunct("kept", "what was lost with a lock-delay is not given up; only what was held is lost", lambda x: ForAll(
        [t], Implies(x.lost(t), And(x.held(t), Implies(delayed(t), Not(x.over(t)))))))
    valid = lambda t: And(S.held(t), Not(S.over(t)), S.now < S.deadline(t))
    m.goal("G1", "two valid holders are one", [valid(t), valid(u)], t == u)
    m.goal("G12", "while the lock-delay of a lost lock lasts, no other client wins",
           [m.step("win"), S.lost(t), delayed(t), t != token, S.now < until(S, S.won_in(t))], False)
