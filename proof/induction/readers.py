"""Readers and writers: what is under a key while there are readers, each reader's own life, extensions and releases of
readers, a writer that becomes a reader, with restarts, top-ups and late SETs.

On a master a key has one token, a writer's, or the mark, under which a set has each reader and the end of its life.
Every script that reads the set takes out the readers whose lives are over: `purge`.
"""
from induct import *


def build(m):
    Node, Token, Round, Quorum = (m.sort(name, size) for name, size in
                                  [("Node", 2), ("Token", 3), ("Round", 3), ("Quorum", 2)])
    S = m.state
    member = m.constant("member", Quorum, Node, Bool)    # a quorum has this master
    of = m.constant("of", Round, Token)                  # the token that a round acquires or extends
    first = m.constant("first", Round, Bool)             # it is the acquire
    reads = m.constant("reads", Round, Bool)             # it asks for a reader
    born = m.constant("born", Token, Bool)               # this token is a reader's from the start
    trust = m.constant("trust", Token, Time)             # longest real time for which a client relies on a round
    life = m.constant("life", Token, Time)               # shortest real life of a key, or of a reader
    guard = m.constant("guard", Time)                    # D
    m.variable("begun", Round, Bool)
    m.variable("start", Round, Time)
    m.variable("has", Node, Bool)                        # a token is alone under the key
    m.variable("key", Node, Token)
    m.variable("ends", Node, Time)
    m.variable("mark", Node, Bool)                       # the mark is under the key
    m.variable("mark_ends", Node, Time)
    m.variable("among", Node, Token, Bool)               # a reader is in the set
    m.variable("reads_until", Node, Token, Time)         # until then
    m.variable("boot", Node, Time)
    m.variable("ack", Round, Node, Bool)
    m.variable("over", Token, Bool)
    m.variable("held", Token, Bool)
    m.variable("deadline", Token, Time)
    m.variable("won_in", Token, Round)
    m.variable("won_by", Token, Quorum)
    m.variable("asked", Token, Bool)                     # its writer is a reader from here on, as its client sees it
    m.variable("done", Token, Bool)                      # a master has made it a reader
    r, s, r0 = Consts("r s r0", Round)
    n, n0 = Consts("n n0", Node)
    t, u, t0 = Consts("t u t0", Token)
    q, p, q0 = Consts("q p q0", Quorum)
    d0, d1 = Reals("d0 d1")

    m.assume("meet", "any two quorums have a master in common", m.rule(
        "quorums", "any two quorums meet", ForAll([q, p], Exists([n], And(member(q, n), member(p, n)))),
        without=ForAll([q], Exists([n], member(q, n))), breaks=["goal/G1", "goal/G17"]))
    m.assume("drift", "a key and a reader outlive the trust", m.rule(
        "drift", "the drift is taken off the ttl", ForAll([t], And(0 < trust(t), trust(t) <= life(t))),
        without=ForAll([t], And(0 < trust(t), 0 < life(t))),
        breaks=["write/stays", "extend_write/stays", "read/stays", "extend_read/stays", "become_reader/stays"]))
    m.assume("guard", "the guard outlasts the trust", m.rule(
        "long guard", "the guard is as long as the trust", ForAll([t], trust(t) <= guard), without=guard > 0,
        breaks=["restart/stays"]))
    m.assume("readers", "each round of a reader from the start is a reader's; no acquire is a writer's that reads", And(
        ForAll([r], Implies(born(of(r)), reads(r))), ForAll([r], Implies(And(first(r), reads(r)), born(of(r))))))

    m.reads("acquire_read.lua", "if holder and holder ~= 'quorumlock:shared' then")
    m.reads("acquire_read.lua", "last = math.max(ends, holder and last or 0)")
    m.reads("acquire_read.lua", "redis.call('ZREMRANGEBYSCORE', readers, '-inf', holder and '(' .. now or '+inf')")
    m.reads("extend_read.lua", "redis.call('ZREMRANGEBYSCORE', readers, '-inf', alone and '+inf' or '(' .. now)")
    m.reads("extend_read.lua", "last = math.max(ends, not alone and last or 0)")
    m.reads("release_read.lua", "redis.call('SET', lock, holder, 'PXAT', last)")
    m.reads("release_read.lua", "redis.call('DEL', lock, readers)")

    m.starts(ForAll([r], Not(S.begun(r))), ForAll([r, n], Not(S.ack(r, n))),
             ForAll([t], And(Not(S.held(t)), Not(S.asked(t)), Not(S.done(t)))), ForAll([n, t], Not(S.among(n, t))),
             ForAll([n], And(S.boot(n) <= S.now, Not(S.has(n)), Not(S.mark(n)))))
    token = of(r0)
    votes = m.rule("guard", "a master votes a guard after its start", S.boot(n0) + guard <= S.now,
                   breaks=["write/pair", "extend_write/pair", "read/pair", "extend_read/pair", "become_reader/pair"])
    quorum = m.rule("counts a quorum", "a win counts the answers of a quorum",
                    ForAll([n], Implies(member(q0, n), S.ack(r0, n))), breaks=["win/witness", "win_extension/witness"])
    given_up = m.rule("own release", "a reader is released by its own client", S.over(t0),
                      breaks=["release_write/stays", "release_some/stays", "release_last/stays"])
    leases_end = m.rule("leases first", "the leases of a writer end before a master is asked to make it a reader",
                        S.asked(token), breaks=["become_reader/asked first", "become_reader_uncounted/asked first"])
    outlives = lambda but: ForAll([u], Implies(And(S.mark(n0), S.among(n0, u), u != but), d1 >= S.reads_until(n0, u)))
    last_reader = m.rule("last", "the mark lives as long as the last reader", outlives(token),
                         breaks=["read/mark", "read_uncounted/mark", "extend_read/mark", "extend_read_uncounted/mark"])
    lives = d0 >= S.now + life(token)
    counted = lambda counts: [to("ack", r0, n0, True)] if counts else []

    m.action("tick", "time goes by", ["world"], [d0 > S.now], to("now", d0))
    m.action("begin", "a client begins a round: its clock starts before the first byte",
             ["lock/attempt.rs:attempt", "lock/extend.rs:send_extension"],
             [Not(S.begun(r0)), ForAll([n], Not(S.ack(r0, n))),
              Implies(And(reads(r0), Not(born(token))), S.asked(token))],
             to("begun", r0, True), to("start", r0, S.now))
    # Writers.
    sees_mark = m.rule("writers look", "a writer's SET is refused by the mark", Not(S.mark(n0)),
                       breaks=["write/stays", "write/pair", "write_uncounted/stays"])
    mark_goes = [] if m.keeps("writers look") else [to("mark", n0, False)]
    for name, words, code, counts in [
            ("write", "a master that votes executes the SET of a writer, now or ever so late",
             ["acquire.lua", "lock/acquire.rs:answer"], True),
            ("write_uncounted", "a top-up of a writer, or a SET whose answer counts for nothing",
             ["lock/extend.rs:top_up"], False)]:
        m.action(name, words, code,
                 [S.begun(r0), Not(born(token)), Not(S.has(n0)), sees_mark, d0 >= S.now,
                  *([first(r0), Not(reads(r0)), votes, lives] if counts else [])],
                 to("has", n0, True), to("key", n0, token), to("ends", n0, d0), *counted(counts), *mark_goes)
    alone = And(S.has(n0), S.key(n0) == token)
    m.action("extend_write", "a master that votes prolongs a writer's key; to a writer the mark is taken",
             ["extend.lua"],
             [S.begun(r0), Not(first(r0)), Not(reads(r0)), votes, lives, d0 >= S.ends(n0),
              m.rule("mark is taken", "to a writer's extension the mark is taken", alone, without=Or(alone, S.mark(n0)),
                     breaks=["extend_write/stays", "extend_write/pair"])],
             to("ends", n0, d0), to("ack", r0, n0, True))
    m.action("extend_uncounted", "the same at a master that warms up, or later than the round", ["extend.lua"],
             [S.has(n0), d0 >= S.ends(n0)], to("ends", n0, d0))
    m.action("expire", "the life of a key is over", ["world"], [S.has(n0), S.now >= S.ends(n0)], to("has", n0, False))
    m.action("release_write", "a master deletes the key of a writer that has given up",
             ["release.lua", "release_read.lua"],
             [S.has(n0), given_up,
              m.rule("compare", "a release compares the token", S.key(n0) == t0,
                     breaks=["release_write/stays"])], to("has", n0, False))
    # Readers.
    sees_token = m.rule("readers look", "a reader is refused by a token", Not(S.has(n0)),
                        breaks=["read/stays", "read/pair", "read_uncounted/stays"])
    for name, words, counts in [
            ("read", "a master that votes lets a reader in, under the mark", True),
            ("read_uncounted", "the same for a top-up, also of a writer that has become a reader", False)]:
        m.action(name, words, ["acquire_read.lua"],
                 [S.begun(r0), Or(born(token), And(S.done(token), S.asked(token))), sees_token,
                  Implies(And(S.mark(n0), S.among(n0, token)), d0 >= S.reads_until(n0, token)), d1 >= d0, last_reader,
                  d0 >= S.now, *([first(r0), reads(r0), votes, lives] if counts else [])],
                 to("has", n0, False), to("mark", n0, True), to("mark_ends", n0, d1), to("reads_until", n0, token, d0),
                 # Readers without the mark do not count: the set begins anew.
                 to("among", lambda x, z: If(x == n0, Or(z == token, And(S.mark(n0), S.among(n0, z))), S.among(x, z))),
                 *counted(counts))
    for name, words, counts in [("extend_read", "a master that votes prolongs a reader", True),
                                ("extend_read_uncounted", "the same at a master that warms up, or later", False)]:
        m.action(name, words, ["extend_read.lua"],
                 [S.begun(r0), reads(r0), S.mark(n0), S.among(n0, token), d0 >= S.reads_until(n0, token), d1 >= d0,
                  last_reader, *([Not(first(r0)), votes, lives] if counts else [])],
                 to("mark_ends", n0, d1), to("reads_until", n0, token, d0), *counted(counts))
    in_one_step = m.rule("one step", "a master makes a writer a reader in one step",
                         [to("mark", n0, True), to("among", lambda x, z: If(x == n0, z == token, S.among(x, z)))],
                         without=[to("mark", n0, False), to("among", lambda x, z: And(x != n0, S.among(x, z)))],
                         breaks=["become_reader/stays", "become_reader_uncounted/stays"])
    for name, words, counts in [("become_reader", "a master that votes finds the token alone, and makes it a reader",
                                 True),
                                ("become_reader_uncounted", "the same at a master that warms up, or later", False)]:
        m.action(name, words, ["extend_read.lua", "lock/downgrade.rs:prepare_downgrade"],
                 [S.begun(r0), reads(r0), Not(born(token)), leases_end, alone, d0 >= S.ends(n0), d1 >= d0,
                  *([Not(first(r0)), votes, lives] if counts else [])],
                 to("has", n0, False), *in_one_step, to("mark_ends", n0, d1), to("reads_until", n0, token, d0),
                 to("done", token, True), *counted(counts))
    m.action("purge", "a script takes out a reader whose life is over",
             ["acquire_read.lua", "extend_read.lua", "release_read.lua"],
             [S.among(n0, t0), m.rule("purge", "a script takes out only readers whose lives are over",
                                      S.now >= S.reads_until(n0, t0),
                                      breaks=["purge/stays"])], to("among", n0, t0, False))
    m.action("mark_expires", "the life of the mark is over", ["world"], [S.mark(n0), S.now >= S.mark_ends(n0)],
             to("mark", n0, False))
    leaves = [S.mark(n0), S.among(n0, t0), given_up]
    m.action("release_some", "a reader leaves, others stay, and the mark is the last one's", ["release_read.lua"],
             [*leaves, m.rule("last stays", "a release leaves the mark the life of the last reader", outlives(t0),
                              breaks=["release_some/mark"])],
             to("among", n0, t0, False), to("mark_ends", n0, d1))
    m.action("release_last", "the last reader leaves, and the mark goes", ["release_read.lua"],
             [*leaves, m.rule("last goes", "a release deletes the mark only if no reader is left",
                              ForAll([u], Implies(S.among(n0, u), u == t0)), breaks=["release_last/stays"])],
             to("among", n0, t0, False), to("mark", n0, False))
    m.action("restart", "a master comes back empty", ["world"], [], to("has", n0, False), to("mark", n0, False),
             to("boot", n0, S.now), to("among", lambda x, z: And(x != n0, S.among(x, z))))
    # Clients.
    m.action("win", "a client counts a quorum of grants before the deadline", ["lock/acquire.rs:judge_acquire"],
             [first(r0), quorum, Not(S.over(token)), Not(S.held(token)), S.now < S.start(r0) + trust(token),
              d0 <= S.start(r0) + trust(token)],
             to("held", token, True), to("deadline", token, d0), to("won_in", token, r0),
             to("won_by", token, q0))
    m.action("win_extension", "a client counts a quorum that holds the token, before the old deadline",
             ["lock/extend.rs:judge_extension", "lock/downgrade.rs:become_reader"],
             [Not(first(r0)), quorum, S.held(token), Not(S.over(token)), S.now < S.deadline(token),
              d0 <= S.start(r0) + trust(token)],
             to("deadline", token, d0), to("won_in", token, r0), to("won_by", token, q0))
    m.action("downgrade", "a client ends the leases of its writer, and then asks for a reader",
             ["lock/downgrade.rs:prepare_downgrade", "driver/guards.rs:hand_on"],
             [S.held(t0), Not(born(t0)), Not(S.over(t0)), S.now < S.deadline(t0)], to("asked", t0, True))
    m.action("downgrade_undone", "each answer says that nothing was done, and the client is a writer again",
             ["lock/purpose.rs:undo_change"],
             [S.asked(t0),
              m.rule("done for good", "a writer that a master has made a reader stays one", Not(S.done(t0)),
                     breaks=["downgrade_undone/asked first"])],
             to("asked", t0, False))
    m.action("give_up", "a client gives a token up: a release, a rollback",
             ["lock/release.rs:begin_release", "lock/acquire.rs:roll_back"], [], to("over", t0, True))

    until = lambda x, r: x.start(r) + trust(of(r))
    live = lambda x, r: And(Not(x.over(of(r))), x.now < until(x, r))
    reader = lambda x, t: Or(born(t), x.done(t))
    m.conjunct("past", "what was answered had begun before, and no round and no start is of the future", lambda x: And(
        ForAll([r, n], Implies(x.ack(r, n), And(x.begun(r), x.start(r) <= x.now))), ForAll([n], x.boot(n) <= x.now),
        ForAll([r], Implies(x.begun(r), x.start(r) <= x.now))))
    m.conjunct("stays",
               "where an answer counts and its round is trusted, the token is there alone, or among the readers under "
               "the mark, until the trust is over, or the master has restarted so lately that it votes only after that",
               lambda x: ForAll([r, n], Implies(And(x.ack(r, n), live(x, r)), Or(
                   And(Not(born(of(r))), x.has(n), x.key(n) == of(r), x.ends(n) >= until(x, r)),
                   And(reader(x, of(r)), x.mark(n), x.among(n, of(r)), x.reads_until(n, of(r)) >= until(x, r)),
                   x.boot(n) + guard >= until(x, r)))))
    m.conjunct("token or mark", "a master has a token or the mark, not both",
               lambda x: ForAll([n], Not(And(x.has(n), x.mark(n)))))
    m.conjunct("mark", "the mark outlives each reader under it", lambda x: ForAll(
        [n, t], Implies(And(x.mark(n), x.among(n, t)), x.mark_ends(n) >= x.reads_until(n, t))))
    m.conjunct("alone", "no token of a reader from the start is alone",
               lambda x: ForAll([n], Implies(x.has(n), Not(born(x.key(n))))))
    m.conjunct("among", "a token among the readers is a reader's: from the start, or since a master has made it one",
               lambda x: ForAll([n, t], Implies(x.among(n, t), reader(x, t))))
    m.conjunct("asked first",
               "no master makes a writer a reader before its client asks for that, and it is no writer again "
               "after that", lambda x: And(ForAll([t], Implies(x.done(t), x.asked(t))),
                                           ForAll([r, n], Implies(And(x.ack(r, n), reads(r)), reader(x, of(r))))))
    m.conjunct("pair", "a master's answers count for two trusted tokens only if both are readers'", lambda x: ForAll(
        [r, s, n], Implies(And(x.ack(r, n), x.ack(s, n), live(x, r), live(x, s), of(r) != of(s)),
                           And(reader(x, of(r)), reader(x, of(s))))))
    m.conjunct("witness",
               "a hold rests on the answers of a quorum to one round of its token, its deadline on that round",
               lambda x: ForAll([t], Implies(x.held(t), And(
                   of(x.won_in(t)) == t, x.deadline(t) <= x.start(x.won_in(t)) + trust(t),
                   ForAll([n], Implies(member(x.won_by(t), n), x.ack(x.won_in(t), n)))))))
    valid = lambda t: And(S.held(t), Not(S.over(t)), S.now < S.deadline(t))
    writes = lambda t: And(Not(born(t)), Not(S.asked(t)))
    m.goal("G1", "two valid writers are one", [valid(t), valid(u), writes(t), writes(u)], t == u)
    m.goal("G17", "no writer is valid while a reader is", [valid(t), valid(u), writes(t), t != u], False)
