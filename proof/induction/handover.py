"""Hand-over: a lock goes from process to process. The last extension, the value, the first extension elsewhere, and the
masters that may yet get a late SET or have forgotten what they granted.

A value names masters whose answers never count for its adoption: those where a SET may be on its way, and those that
were warming up at the last extension. What is adopted has then been held all along, and no other client has won in
between.
"""
from induct import *


def build(m):
    Node, Token, Round, Quorum = (m.sort(name, size) for name, size in
                                  [("Node", 3), ("Token", 2), ("Round", 3), ("Quorum", 2)])
    S = m.state
    member = m.constant("member", Quorum, Node, Bool)    # a quorum has this master
    of = m.constant("of", Round, Token)                  # the token that a round acquires or extends
    first = m.constant("first", Round, Bool)             # it is the acquire
    trust = m.constant("trust", Token, Time)             # longest real time for which a client relies on a round
    life = m.constant("life", Token, Time)               # shortest real life of a key
    guard = m.constant("guard", Time)                    # D
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
    m.variable("won_by", Token, Quorum)
    m.variable("late", Token, Node, Bool)                # a SET of this token is on its way to this master
    m.variable("leaving", Token, Bool)                   # its client has begun the last extension
    m.variable("left_at", Token, Time)                   # at this time
    m.variable("value", Token, Bool)                     # it is detached, and no client holds it
    m.variable("named", Token, Node, Bool)               # the value names this master as one that never counts
    m.variable("won", Token,
               Bool)                       # history: an acquire was won, in which round and by which quorum
    m.variable("first_won_in", Token, Round)
    m.variable("first_won_by", Token, Quorum)
    m.variable("followed", Token, Token, Bool)           # the second token was won before the first
    r, r0 = Consts("r r0", Round)
    s = Const("s", Round)
    n, n0 = Consts("n n0", Node)
    t, u, t0 = Consts("t u t0", Token)
    q, p, q0 = Consts("q p q0", Quorum)
    d0 = Real("d0")
    more = Function("more", Node, Bool)                  # masters that are named without need

    m.assume("meet", "any two quorums have a master in common", m.rule(
        "quorums", "any two quorums meet", ForAll([q, p], Exists([n], And(member(q, n), member(p, n)))),
        without=ForAll([q], Exists([n], member(q, n))),
        breaks=["win/followed", "adopt/followed", "goal/G1", "goal/G16"]))
    # The same for the quorum of a step, which a solver may not think of.
    meets = lambda *with_quorums: [Exists([n], And(member(q0, n), member(quorum, n))) if not bound else ForAll(
        bound, Exists([n], And(member(q0, n), member(quorum, n)))) for bound,
                                   quorum in with_quorums] if m.keeps("quorums") else []
    m.assume("spans", "a key outlives the trust, and so does the guard",
             ForAll([t], And(0 < trust(t), trust(t) <= life(t), trust(t) <= guard)))

    m.reads("lock/hand_over.rs", "unsettled.union(attempt.claim.unsettled).union(warming)")
    m.reads("quorum/lease.rs", "let held = self.held.difference(self.warming).difference(never);")

    m.starts(ForAll([r], Not(S.begun(r))), ForAll([r, n], Not(S.ack(r, n))),
             ForAll([t], And(Not(S.held(t)), Not(S.won(t)), Not(S.leaving(t)), Not(S.value(t)))),
             ForAll([n], And(S.boot(n) <= S.now, Not(S.has(n)))),
             ForAll([t, n], And(Not(S.late(t, n)), Not(S.named(t, n)))),
             ForAll([t, u], Not(S.followed(t, u))))
    token = of(r0)
    votes = m.rule("guard", "a master votes a guard after its start", S.boot(n0) + guard <= S.now,
                   breaks=["grant/pair", "extend/pair"])
    quorum = m.rule("counts a quorum", "a win counts the answers of a quorum",
                    ForAll([n], Implies(member(q0, n), S.ack(r0, n))),
                    breaks=["win/witness", "win/history", "win/followed", "win/gone", "win/unheard",
                            "win_extension/witness", "detach/witness", "adopt/witness", "adopt/followed",
                            "goal/G16"])
    vacant = m.rule("vacant", "a SET finds the key vacant", Not(S.has(n0)),
                    breaks=["grant/stays", "grant/pair", "set_uncounted/stays"])
    longer = m.rule("no shorter", "an extension shortens no life", d0 >= S.ends(n0), breaks=["extend_uncounted/stays"])

    m.action("tick", "time goes by", ["world"], [d0 > S.now], to("now", d0))
    m.action("begin", "a client begins a round: its clock starts before the first byte",
             ["lock/attempt.rs:attempt", "lock/extend.rs:send_extension"],
             [Not(S.begun(r0)), ForAll([n], Not(S.ack(r0, n)))], to("begun", r0, True), to("start", r0, S.now))
    m.action("send_set", "a client sends a SET or a top-up; nothing once its last extension has begun",
             ["lock/attempt.rs:attempt", "lock/extend.rs:top_up", "lock/purpose.rs:begin_change"],
             [m.rule("nothing after", "nothing is sent after the last extension",
                     And(Not(S.leaving(t0)), Not(S.value(t0))),
                     breaks=["send_set/sent before", "send_set/settled"])], to("late", t0, n0, True))
    m.action("grant", "a master that votes executes the SET of an acquire, now or ever so late",
             ["acquire.lua", "lock/acquire.rs:answer"],
             [S.begun(r0), first(r0), S.late(token, n0), vacant, votes, d0 >= S.now + life(token)],
             to("has", n0, True), to("key", n0, token), to("ends", n0, d0), to("ack", r0, n0, True))
    m.action("set_uncounted",
             "a top-up, a SET of a connection that was replaced, a SET whose answer counts for nothing",
             ["top_up.lua", "lock/extend.rs:top_up"], [S.late(t0, n0), vacant, d0 >= S.now],
             to("has", n0, True), to("key", n0, t0), to("ends", n0, d0))
    m.action("none_late", "all that was sent there has run, or its connection is dead",
             ["lock/hand_over.rs:unsettled", "master/session/mod.rs:may_yet_deliver"], [], to("late", t0, n0, False))
    m.action("extend", "a master that votes prolongs a key of this token", ["extend.lua", "lock/extend.rs:answer"],
             [S.begun(r0), Not(first(r0)), S.has(n0), S.key(n0) == token, votes, d0 >= S.now + life(token),
              longer],
             to("ends", n0, d0), to("ack", r0, n0, True))
    m.action("extend_uncounted", "the same at a master that warms up, or later than the round", ["extend.lua"],
             [S.has(n0), longer], to("ends", n0, d0))
    m.action("expire", "the life of a key is over", ["world"], [S.has(n0), S.now >= S.ends(n0)], to("has", n0, False))
    m.action("restart", "a master comes back empty, and what was on its way to it is lost", ["world"], [],
             to("has", n0, False), to("boot", n0, S.now), to("late", lambda x, z: And(z != n0, S.late(x, z))))
    trusted = d0 <= S.start(r0) + trust(token)           # a client may rely on it for less
    m.action("win", "a client counts a quorum of grants before the deadline", ["lock/acquire.rs:judge_acquire"],
             [first(r0), quorum, Not(S.over(token)), Not(S.won(token)), S.now < S.start(r0) + trust(token), trusted],
             to("held", token, True), to("won", token, True), to("first_won_by", token, q0),
             to("first_won_in", token, r0),
             to("deadline", token, d0), to("won_in", token, r0), to("won_by", token, q0),
             to("followed", lambda x, z: Or(S.followed(x, z), And(x == token, z != token, S.won(z)))))
    in_time = m.rule("in time", "an extension counts before the old deadline", S.now < S.deadline(token),
                     breaks=["win_extension/followed", "detach/gone", "detach/unheard", "goal/G5"])
    holds = [S.held(token), Not(S.value(token)), Not(S.over(token)), in_time, Not(first(r0))]
    rests_on_it = [to("deadline", token, d0), to("won_in", token, r0), to("won_by", token, q0)]
    m.action("win_extension", "a client counts a quorum that holds the token, before the old deadline",
             ["lock/extend.rs:judge_extension"], [*holds, quorum, Not(S.leaving(token)), trusted], *rests_on_it)
    m.action("leave", "a client begins the last extension of a hold",
             ["lock/purpose.rs:begin_change", "lock/extend.rs:send_extension"],
             [*holds, Not(S.begun(r0)), ForAll([n], Not(S.ack(r0, n))), Not(S.leaving(token))],
             to("begun", r0, True), to("start", r0, S.now), to("leaving", token, True), to("left_at", token, S.now))
    m.action("return", "too few masters have confirmed the last extension, and the hold is what it was",
             ["lock/purpose.rs:undo_change"], [S.leaving(t0), Not(S.value(t0))], to("leaving", t0, False))
    names = lambda z: Or(
        S.named(token, z), more(z),
        m.keeps("late is named") and S.late(token, z),
        m.keeps("warming is named") and And(S.has(z), S.key(z) == token, S.boot(z) + guard > S.start(r0)))
    m.rule("late is named", "a value names the masters that may yet get a SET", True, breaks=["detach/settled"])
    m.rule("warming is named", "a value names the masters that have the token and warm up at the last extension", True,
           breaks=["detach/old"])
    m.action("detach", "a quorum of the masters that the value does not name has confirmed the last extension",
             ["lock/hand_over.rs:detachable", "lock/hand_over.rs:unsettled"],
             [*holds, S.leaving(token), S.start(r0) == S.left_at(token), quorum, trusted,
              ForAll([n], Implies(member(q0, n), Not(names(n))))],
             to("value", token, True), *rests_on_it, to("named", lambda x, z: If(x == token, names(z), S.named(x, z))))
    not_named = ForAll([n], Implies(member(q0, n), Not(S.named(token, n))))
    adopts = [S.value(token), Not(S.over(token)), Not(first(r0)), S.start(r0) >= S.left_at(token), quorum,
              S.now < S.start(r0) + trust(token),
              m.rule("named never count", "a master that the value names does not count for the adoption", not_named,
                     breaks=["adopt/followed", "goal/G16"])]
    m.action("adopt", "another client counts a quorum of the other masters that holds the token",
             ["lock/hand_over.rs:adopt", "quorum/lease.rs:adopted"],
             [*adopts, trusted, *meets(([u], S.first_won_by(u)))],
             to("value", token, False), to("leaving", token, False), to("held", token, True), *rests_on_it)
    m.action("give_up", "a client gives a token up: a release, a rollback, a value that is dropped",
             ["lock/release.rs:begin_release", "lock/hand_over.rs:give_detached_back"], [], to("over", t0, True))
    m.action("release", "a master compares and deletes, at any time after that", ["release.lua", "release_all.lua"],
             [S.has(n0), S.key(n0) == t0, S.over(t0)], to("has", n0, False))

    until = lambda x, r: x.start(r) + trust(of(r))
    live = lambda x, r: And(Not(x.over(of(r))), x.now < until(x, r))
    unnamed = lambda x, t, u, n: And(x.followed(u, t), x.value(t), Not(x.over(t)), member(x.first_won_by(u), n),
                                     Not(x.named(t, n)))
    m.conjunct("past", "what was answered had begun before, and no round and no start is of the future", lambda x: And(
        ForAll([r, n], Implies(x.ack(r, n), And(x.begun(r), x.start(r) <= x.now))), ForAll([n], x.boot(n) <= x.now),
        ForAll([r], Implies(x.begun(r), x.start(r) <= x.now)),
        ForAll([t], Implies(x.leaving(t), x.left_at(t) <= x.now))))
    m.conjunct("stays",
               "where an answer counts and its round is trusted, the key is there and outlives the trust, or the "
               "master has restarted since the round began", lambda x: ForAll([r, n], Implies(
                   And(x.ack(r, n), live(x, r)), Or(And(x.has(n), x.key(n) == of(r), x.ends(n) >= until(x, r)),
                                                    x.boot(n) >= x.start(r)))))
    m.conjunct("pair", "no master's answers count for two trusted tokens", lambda x: ForAll(
        [r, s, n], Implies(And(x.ack(r, n), x.ack(s, n), live(x, r), live(x, s)), of(r) == of(s))))
    m.conjunct("witness",
               "a hold, and a value, rests on the answers of a quorum to one round, its deadline on that round",
               lambda x: ForAll([t], Implies(x.held(t), And(
                   x.won(t), of(x.won_in(t)) == t, x.deadline(t) <= x.start(x.won_in(t)) + trust(t),
                   ForAll([n], Implies(member(x.won_by(t), n), x.ack(x.won_in(t), n)))))))
    m.conjunct("stages", "a value is of a lock that was held and whose client has left", lambda x: ForAll([t], And(
        Implies(x.value(t), And(x.held(t), x.leaving(t))), Implies(x.leaving(t), x.held(t)),
        Implies(x.won(t), x.held(t)))))
    m.conjunct("sent before",
               "once a client leaves, what is on its way and what is there was sent since the master's last "
               "start, and before the last extension", lambda x: ForAll([t, n], Implies(
                   And(x.leaving(t), Or(x.late(t, n), And(x.has(n), x.key(n) == t))), x.boot(n) <= x.left_at(t))))
    m.conjunct("settled", "no SET is on its way to a master that the value does not name",
               lambda x: ForAll([t, n], Implies(And(x.value(t), Not(x.named(t, n))), Not(x.late(t, n)))))
    m.conjunct("last", "the trust in a value rests on its last extension",
               lambda x: ForAll([t], Implies(And(x.value(t), Not(x.over(t))), x.start(x.won_in(t)) == x.left_at(t))))
    m.conjunct("old",
               "a master that the value does not name, and that has the token, had started a whole guard before the "
               "last extension", lambda x: ForAll([t, n], Implies(
                   And(x.value(t), Not(x.named(t, n)), x.has(n), x.key(n) == t), x.boot(n) + guard <= x.left_at(t))))
    m.conjunct("history", "each acquire that was won has its round and its quorum",
               lambda x: ForAll([t], Implies(x.won(t), And(
        of(x.first_won_in(t)) == t, ForAll([n], Implies(member(x.first_won_by(t), n), x.ack(x.first_won_in(t), n)))))))
    m.conjunct("followed", "a token that was followed by a winner is over, or is a value", lambda x: ForAll(
        [t, u],
        Implies(x.followed(u, t), And(x.won(u), x.won(t), u != t, Or(x.over(t), x.value(t), x.now >= x.deadline(t))))))
    m.conjunct("gone",
               "of a value that was followed, no master of the follower's quorum that it does not name has the token "
               "any more", lambda x: ForAll([t, u, n], Implies(unnamed(x, t, u, n), Not(And(x.has(n), x.key(n) == t)))))
    m.conjunct("unheard", "nor does an answer of such a master to an extension of it still count", lambda x: ForAll(
        [t, u, n, r], Implies(And(unnamed(x, t, u, n), x.ack(r, n), of(r) == t), x.now >= x.start(r) + trust(t))))
    valid = lambda t: And(S.held(t), Not(S.value(t)), Not(S.over(t)), S.now < S.deadline(t))
    m.goal("G1", "two valid holders are one", [valid(t), valid(u)], t == u)
    m.goal("G16", "what is adopted was followed by no winner",
           [*adopts, *meets(((), S.first_won_by(u))), S.followed(u, token)],
           False)
    m.goal("G5", "what is extended was followed by no winner", [m.step("win_extension"), S.followed(u, token)], False)
