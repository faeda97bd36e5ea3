"""What ended well stays closed: no other client wins within `min_hold` of the start of a win that ended well, or whose
process died. The keys live that long from their SET on; a release shortens their life to what is left and puts a mark
before the token, so that no extension, and no adoption, finds it any more.
"""
from induct import *


def build(m):
    Node, Token, Round, Quorum = (m.sort(name, size) for name, size in
                                  [("Node", 2), ("Token", 2), ("Round", 2), ("Quorum", 2)])
    S = m.state
    member = m.constant("member", Quorum, Node, Bool)    # a quorum has this master
    of = m.constant("of", Round, Token)                  # the token that a round acquires or extends
    first = m.constant("first", Round, Bool)             # it is the acquire
    trust = m.constant("trust", Token, Time)             # longest real time for which a client relies on a round
    min_hold = m.constant("min_hold", Token, Time)
    life = m.constant("life", Token, Time)               # shortest real life of a SET
    renewed = m.constant("renewed", Token, Time)         # shortest real life of an extension
    guard = m.constant("guard", Time)                    # D
    m.variable("begun", Round, Bool)
    m.variable("start", Round, Time)
    m.variable("has", Node, Bool)
    m.variable("key", Node, Token)
    m.variable("done", Node, Bool)                       # the mark is before the token under the key
    m.variable("ends", Node, Time)
    m.variable("boot", Node, Time)
    m.variable("ack", Round, Node, Bool)
    m.variable("over", Token, Bool)                      # its client relies on it no more
    m.variable("opened", Token, Bool)                    # and deletes its keys: an error, a rollback, force_release
    m.variable("held", Token, Bool)
    m.variable("deadline", Token, Time)
    m.variable("won_in", Token, Round)
    m.variable("won_by", Token, Quorum)
    m.variable("won", Token, Bool)                       # history: the acquire that was won, and its quorum
    m.variable("first_won_in", Token, Round)
    m.variable("first_won_by", Token, Quorum)
    m.variable("marked", Token, Node, Bool)              # a master has shortened it
    m.variable("ended", Token, Bool)                     # a quorum has, as its client knows
    m.variable("ended_by", Token, Quorum)
    m.variable("ended_at", Token, Time)
    r, s, r0 = Consts("r s r0", Round)
    n, n0 = Consts("n n0", Node)
    t, u, t0 = Consts("t u t0", Token)
    q, p, q0 = Consts("q p q0", Quorum)
    d0 = Real("d0")

    m.assume("meet", "any two quorums have a master in common", m.rule(
        "quorums", "any two quorums meet", ForAll([q, p], Exists([n], And(member(q, n), member(p, n)))),
        without=ForAll([q], Exists([n], member(q, n))), breaks=["goal/G1", "goal/G15", "goal/G16"]))
    m.assume("spans", "a key, an extension and the guard outlive the trust",
             ForAll([t],
                    And(0 < trust(t), trust(t) <= renewed(t), trust(t) <= life(t), trust(t) <= guard,
                        0 <= min_hold(t))))
    m.assume("life", "a key lives for min_hold", m.rule(
        "long keys", "the keys live for min_hold, and not for the ttl alone", ForAll([t], min_hold(t) <= life(t)),
        breaks=["grant/stays"]))
    m.assume("guard", "the guard is as long as min_hold", m.rule(
        "long guard", "min_hold is at most max_ttl, and so the guard is as long", ForAll([t], min_hold(t) <= guard),
        breaks=["restart/stays"]))

    m.reads("shorten.lua", "if value ~= ARGV[1] and value ~= done then")
    m.reads("shorten.lua", "local set = redis.pcall('SET', key, done, 'PX', ARGV[2])")
    m.reads("shared/request.rs", "self.ttl.saturating_add(self.lock_delay)")

    m.starts(ForAll([r], Not(S.begun(r))), ForAll([r, n], Not(S.ack(r, n))),
             ForAll([t], And(Not(S.held(t)), Not(S.won(t)), Not(S.ended(t)))), ForAll([t, n], Not(S.marked(t, n))),
             ForAll([n], S.boot(n) <= S.now), ForAll([r, s], Implies(And(first(r), first(s), of(r) == of(s)), r == s)),
             ForAll([t], Implies(S.opened(t), S.over(t))))
    token = of(r0)
    votes = m.rule("guard", "a master votes a guard after its start", S.boot(n0) + guard <= S.now,
                   breaks=["grant/pair", "extend/pair"])
    quorum = m.rule("counts a quorum", "a win counts the answers of a quorum",
                    ForAll([n], Implies(member(q0, n), S.ack(r0, n))),
                    breaks=["win/witness", "win_extension/witness", "goal/G15", "goal/G16"])
    vacant = m.rule("vacant", "a SET finds the key vacant", Not(S.has(n0)),
                    breaks=["grant/stays", "grant/pair", "set_uncounted/stays"])
    longer = m.rule("no shorter", "an extension shortens no life", d0 >= S.ends(n0),
                    breaks=["extend/stays", "extend_uncounted/stays"])
    not_behind = m.rule("nothing behind", "nothing of a token is set behind its release",
                        lambda t: Not(S.marked(t, n0)), without=lambda t: BoolVal(True),
                        breaks=["grant/mark", "set_uncounted/mark"])
    closes = lambda at: ForAll([r], Implies(And(first(r), of(r) == t0, S.begun(r)), at >= S.start(r) + min_hold(t0)))

    m.action("tick", "time goes by", ["world"], [d0 > S.now], to("now", d0))
    m.action("begin", "a client begins a round: its clock starts before the first byte",
             ["lock/attempt.rs:attempt", "lock/extend.rs:send_extension"],
             [Not(S.begun(r0)), ForAll([n], Not(S.ack(r0, n)))], to("begun", r0, True), to("start", r0, S.now))
    m.action("grant", "a master that votes executes the SET of an acquire, with the life of min_hold or of the ttl",
             ["acquire.lua", "shared/request.rs:life", "shared/at_least.rs:life"],
             [S.begun(r0), first(r0), not_behind(token), vacant, votes, d0 >= S.now + life(token)],
             to("has", n0, True), to("key", n0, token), to("done", n0, False), to("ends", n0, d0),
             to("ack", r0, n0, True))
    m.action("set_uncounted",
             "a top-up, or a SET whose answer counts for nothing; on each connection before the release",
             ["top_up.lua", "lock/extend.rs:top_up", "lock/staying.rs:life_at"],
             [not_behind(t0), vacant, d0 >= S.now],
             to("has", n0, True), to("key", n0, t0), to("done", n0, False), to("ends", n0, d0))
    m.action("extend", "a master that votes prolongs a key of this token by the life of an extension",
             ["extend.lua", "lock/staying.rs:renewed_life"],
             [S.begun(r0), Not(first(r0)), S.has(n0), S.key(n0) == token,
              m.rule("mark hides", "behind the mark an extension finds no token", Not(S.done(n0)),
                     breaks=["extend/ended"]),
              votes, d0 >= S.now + renewed(token), longer],
             to("ends", n0, d0), to("ack", r0, n0, True))
    m.action("extend_uncounted", "the same at a master that warms up, or later than the round", ["extend.lua"],
             [S.has(n0), longer], to("ends", n0, d0))
    m.action("expire", "the life of a key is over", ["world"], [S.has(n0), S.now >= S.ends(n0)], to("has", n0, False))
    m.action("restart", "a master comes back empty", ["world"], [], to("has", n0, False), to("boot", n0, S.now))
    m.action("win", "a client counts a quorum of grants before the deadline", ["lock/acquire.rs:judge_acquire"],
             [first(r0), quorum, Not(S.over(token)), Not(S.won(token)), S.now < S.start(r0) + trust(token),
              d0 <= S.start(r0) + trust(token)],
             to("held", token, True), to("deadline", token, d0), to("won_in", token, r0),
             to("won_by", token, q0), to("won", token, True), to("first_won_in", token, r0),
             to("first_won_by", token, q0))
    m.action("win_extension", "a client counts a quorum that holds the token, before the old deadline",
             ["lock/extend.rs:judge_extension"],
             [Not(first(r0)), quorum, S.held(token), Not(S.over(token)), S.now < S.deadline(token),
              d0 <= S.start(r0) + trust(token)],
             to("deadline", token, d0), to("won_in", token, r0), to("won_by", token, q0))
    m.action("ends_well", "the work has ended well and the client releases; or its process dies",
             ["lock/staying.rs:end_well", "lock/release.rs:begin_release"], [], to("over", t0, True))
    m.action("opens", "a guard is dropped, an attempt is rolled back, or an operator forces the release",
             ["lock/release.rs:give_back", "lock/acquire.rs:roll_back"], [], to("over", t0, True),
             to("opened", t0, True))
    m.action("release", "a master compares and deletes what was opened: with the mark where that is forced",
             ["release.lua", "release_all.lua"],
             [S.has(n0), S.key(n0) == t0,
              m.rule("opened", "a release deletes only what was opened", S.opened(t0),
                     breaks=["release/stays"])], to("has", n0, False))
    shortens = [S.has(n0), S.key(n0) == t0,
                m.rule("no longer held", "only what its client gave up is shortened", S.over(t0),
                       breaks=["shorten/stays", "shorten_in_part/stays"]),
                m.rule("drift of the rest", "what is left is sent with its drift", closes(d0),
                       breaks=["shorten/stays", "shorten_in_part/stays"])]
    m.action("shorten", "a master leaves a key what is left of min_hold, and puts the mark before its token",
             ["shorten.lua", "shared/at_least.rs:left", "master/ledger.rs:left"], shortens,
             to("ends", n0, d0), to("done", n0, True),
             to("marked", lambda x, z: Or(S.marked(x, z), And(x == t0, z == n0))))
    m.action("shorten_in_part", "a master without memory leaves a key what is left, and cannot put the mark: an error",
             ["shorten.lua"], shortens, to("ends", n0, d0))
    m.action("confirmed", "a quorum has answered that it has shortened the keys", ["lock/release.rs:judge_release"],
             [ForAll([n], Implies(member(q0, n), S.marked(t0, n))), Not(S.ended(t0))],
             to("ended", t0, True), to("ended_by", t0, q0), to("ended_at", t0, S.now))
    m.action("release_late", "once the time is over, the release that is still owed deletes",
             ["shorten.lua", "master/ledger.rs:left"],
             [S.has(n0), S.key(n0) == t0, S.over(t0),
              m.rule("late", "a release that is owed deletes only once the time is over", closes(S.now),
                     breaks=["release_late/stays"])], to("has", n0, False))

    live = lambda x, r: And(Not(x.over(of(r))), x.now < x.start(r) + trust(of(r)))
    # The acquire keeps others out until min_hold is over: if it was won, or may be, and was not opened.
    shut = lambda x, r: And(first(r), Or(x.won(of(r)), Not(x.over(of(r)))), Not(x.opened(of(r))),
                            x.now < x.start(r) + min_hold(of(r)))
    keeps_out = lambda x, r: Or(live(x, r), shut(x, r))
    outlives = lambda x, r, end: And(Implies(live(x, r), end >= x.start(r) + trust(of(r))),
                                     Implies(shut(x, r), end >= x.start(r) + min_hold(of(r))))
    m.conjunct("past",
               "what was answered had begun before, no round and no start is of the future, what was opened is over",
               lambda x: And(ForAll([r, n], Implies(x.ack(r, n), And(x.begun(r), x.start(r) <= x.now))),
                             ForAll([n], x.boot(n) <= x.now), ForAll([r], Implies(x.begun(r), x.start(r) <= x.now)),
                             ForAll([t], Implies(x.opened(t), x.over(t)))))
    m.conjunct("stays",
               "where an answer counts, and the round is trusted or its lock is to stay closed, the key is there for "
               "that long, or the master has restarted so lately that it votes only after that", lambda x: ForAll(
                   [r, n], Implies(And(x.ack(r, n), keeps_out(x, r)), Or(
                       And(x.has(n), x.key(n) == of(r), outlives(x, r, x.ends(n))),
                       outlives(x, r, x.boot(n) + guard)))))
    m.conjunct("pair", "no master's answers count for two tokens each of which is trusted or to stay closed",
               lambda x: ForAll(
        [r, s, n], Implies(And(x.ack(r, n), x.ack(s, n), keeps_out(x, r), keeps_out(x, s)), of(r) == of(s))))
    m.conjunct("witness", "a hold rests on the answers of a quorum to one round; so does each acquire that was won",
               lambda x: ForAll([t], And(
                   Implies(x.held(t), And(of(x.won_in(t)) == t, x.deadline(t) <= x.start(x.won_in(t)) + trust(t),
                                          ForAll([n], Implies(member(x.won_by(t), n), x.ack(x.won_in(t), n))))),
                   Implies(x.won(t), And(of(x.first_won_in(t)) == t, first(x.first_won_in(t)),
                                         ForAll([n],
                                                Implies(member(x.first_won_by(t), n), x.ack(x.first_won_in(t), n))))))))
    m.conjunct("one", "a token has one acquire", lambda x: ForAll(
        [r, s], Implies(And(first(r), first(s), of(r) == of(s)), r == s)))
    m.conjunct("mark", "where a master has put the mark, the token is behind it", lambda x: ForAll(
        [t, n], Implies(And(x.marked(t, n), x.has(n), x.key(n) == t), x.done(n))))
    m.conjunct("ended",
               "what has ended well is marked on a quorum, none of which has confirmed an extension begun since",
               lambda x: ForAll([t], Implies(x.ended(t), And(
                   x.ended_at(t) <= x.now, ForAll([n], Implies(member(x.ended_by(t), n), x.marked(t, n))),
                   ForAll([r, n],
                          Implies(And(of(r) == t, Not(first(r)), x.start(r) > x.ended_at(t), x.begun(r), x.ack(r, n)),
                                          Not(member(x.ended_by(t), n))))))))
    valid = lambda t: And(S.held(t), Not(S.over(t)), S.now < S.deadline(t))
    m.goal("G1", "two valid holders are one", [valid(t), valid(u)], t == u)
    m.goal("G15", "no other client wins within min_hold of the start of a win that ended well, or whose process died",
           [m.step("win"), S.won(t), t != token, Not(S.opened(t)), S.now < S.start(S.first_won_in(t)) + min_hold(t)],
           False)
    meet = [Exists([n], And(member(q0, n), member(S.ended_by(token), n)))] if m.keeps("quorums") else []
    m.goal("G16", "what has ended well on a quorum is adopted by no client",
           [Not(first(r0)), quorum, S.begun(r0), S.ended(token), S.start(r0) > S.ended_at(token), *meet], False)
