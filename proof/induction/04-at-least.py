"""What ended well stays closed: nobody wins within `at_least` of the start of a win that ended well, or whose process
died. The keys live that long from their SET on; a release shortens their life to what is left, and marks them: no
extension, and so no adoption, finds what has ended well. G15, beside G1."""
from induct import *


def build(mut):
    y = Sys()
    Node, Tok, Round, Q = (y.sort(k, n) for k, n in [("Node", 2), ("Tok", 2), ("Round", 2), ("Q", 2)])
    S, T = y.S, y.T
    member = Function("member", Q, Node, B)
    tok, first = Function("tok", Round, Tok), Function("first", Round, B)
    V, L, AL, RL = (Function(k, Tok, Re) for k in ("V", "L", "AL", "RL"))  # trust; life of a SET; at_least; life of an extension
    D = Real("D")
    for v in [("begun", Round, B), ("start", Round, Re), ("has", Node, B), ("key", Node, Tok), ("done", Node, B), ("ends", Node, Re),
              ("boot", Node, Re), ("ack", Round, Node, B), ("over", Tok, B), ("opened", Tok, B), ("held", Tok, B), ("dl", Tok, Re),
              ("wr", Tok, Round), ("wq", Tok, Q), ("won", Tok, B), ("marked", Tok, Node, B), ("ended", Tok, B), ("endq", Tok, Q), ("endat", Tok, Re), ("wonr", Tok, Round), ("wonq", Tok, Q)]:
        y.var(*v)
    r, s, r0 = Consts("r s r0", Round); n, n0 = Consts("n n0", Node); t, u, t0 = Consts("t u t0", Tok)
    q, p, q0 = Consts("q p q0", Q); d0 = Real("d0")
    y.axioms = [ForAll([t], And(0 < V(t), V(t) <= RL(t), V(t) <= L(t), V(t) <= D, 0 <= AL(t), AL(t) <= L(t), AL(t) <= D)),
                ForAll([q, p], Exists([n], And(member(q, n), member(p, n))))]
    if mut == "alguard": y.axioms[0] = ForAll([t], And(0 < V(t), V(t) <= RL(t), V(t) <= L(t), V(t) <= D, 0 <= AL(t), AL(t) <= L(t)))
    if mut == "allife": y.axioms[0] = ForAll([t], And(0 < V(t), V(t) <= RL(t), V(t) <= L(t), V(t) <= D, 0 <= AL(t), AL(t) <= D))
    if mut == "quorum": y.axioms[1] = ForAll([q], Exists([n], member(q, n)))
    a = tok(r0)
    live = lambda x, r: And(Not(x.over(tok(r))), x.now < x.start(r) + V(tok(r)))
    # Closed: the acquire that won, until at_least is over, unless it was opened (an error, a rollback, a force_release).
    shut = lambda x, r: And(first(r), x.won(tok(r)), Not(x.opened(tok(r))), x.now < x.start(r) + AL(tok(r)))
    pend = lambda x, r: And(first(r), Not(x.opened(tok(r))), Not(x.over(tok(r))), x.now < x.start(r) + AL(tok(r)))
    holds = lambda x, r: Or(live(x, r), shut(x, r), pend(x, r))
    until = lambda x, r, d: And(Implies(live(x, r), d >= x.start(r) + V(tok(r))),
                                Implies(Or(shut(x, r), pend(x, r)), d >= x.start(r) + AL(tok(r))))
    voting = BoolVal(True) if mut == "guard" else S.boot(n0) + D <= S.now
    quorum = ForAll([n], Implies(member(q0, n), S.ack(r0, n)))
    y.first = [ForAll([r], Not(S.begun(r))), ForAll([r, n], Not(S.ack(r, n))), ForAll([t], And(Not(S.held(t)), Not(S.won(t)), Not(S.ended(t)))),
               ForAll([t, n], Not(S.marked(t, n))),
               ForAll([n], S.boot(n) <= S.now), ForAll([r, s], Implies(And(first(r), first(s), tok(r) == tok(s)), r == s)),
               ForAll([t], Implies(S.opened(t), S.over(t)))]
    y.act("tick", "driver: time", [d0 > S.now], ("now", (), d0))
    y.act("begin", "attempt.rs, extend.rs", [Not(S.begun(r0)), ForAll([n], Not(S.ack(r0, n)))], ("begun", (r0,), True), ("start", (r0,), S.now))
    y.act("grant", "SET NX PX max(ttl, at_least) and drift, at a master that votes: request.rs:life, at_least.rs:life",
          [S.begun(r0), first(r0), Not(S.marked(a, n0)), BoolVal(True) if mut == "nx" else Not(S.has(n0)), voting, d0 >= S.now + L(a)],
          ("has", (n0,), True), ("key", (n0,), a), ("done", (n0,), False), ("ends", (n0,), d0), ("ack", (r0, n0), True))
    y.act("set_uncounted", "top-ups (at_least.rs:life_at), warming masters; on each connection before the release", [Not(S.marked(t0, n0)), Not(S.has(n0)), d0 >= S.now],
          ("has", (n0,), True), ("key", (n0,), t0), ("done", (n0,), False), ("ends", (n0,), d0))
    y.act("extend", "extend.lua with the life of an extension (renewed_life); never shortened",
          [S.begun(r0), Not(first(r0)), S.has(n0), S.key(n0) == a, *([] if mut == "unmarked" else [Not(S.done(n0))]), voting, d0 >= S.now + RL(a)] + ([] if mut == "shortens" else [d0 >= S.ends(n0)]),
          ("ends", (n0,), d0), ("ack", (r0, n0), True))
    y.act("extend_uncounted", "extend.lua, warming or late", [S.has(n0), d0 >= S.ends(n0)], ("ends", (n0,), d0))
    y.act("expire", "Redis", [S.has(n0), S.now >= S.ends(n0)], ("has", (n0,), False))
    y.act("restart", "a master comes back empty", [], ("has", (n0,), False), ("boot", (n0,), S.now))
    y.act("win", "acquire.rs:judge_acquire", [first(r0), quorum, Not(S.over(a)), Not(S.opened(a)), Not(S.won(a)), S.now < S.start(r0) + V(a)],
          ("held", (a,), True), ("dl", (a,), S.start(r0) + V(a)), ("wr", (a,), r0), ("wq", (a,), q0), ("won", (a,), True), ("wonr", (a,), r0), ("wonq", (a,), q0))
    y.act("win_extension", "extend.rs:judge_extension", [Not(first(r0)), quorum, S.held(a), Not(S.over(a)), S.now < S.dl(a)],
          ("dl", (a,), S.start(r0) + V(a)), ("wr", (a,), r0), ("wq", (a,), q0))
    y.act("ends_well", "at_least.rs:handle_finish; or the process dies", [], ("over", (t0,), True))
    y.act("opens", "release.rs:begin_release without ends_well, acquire.rs:roll_back", [], ("over", (t0,), True), ("opened", (t0,), True))
    y.act("release", "release.lua: compare and delete, what was opened", [S.has(n0), S.key(n0) == t0, Not(S.done(n0)), S.opened(t0)], ("has", (n0,), False))
    left = [] if mut == "nodrift" else [ForAll([r], Implies(And(first(r), tok(r) == t0, S.begun(r)), d0 >= S.start(r) + AL(t0)))]
    y.act("shorten", "shorten.lua: what is left of at_least and the drift of that: at_least.rs:left",
          [S.has(n0), S.key(n0) == t0] + ([] if mut == "shortenheld" else [S.over(t0)]) + left, ("ends", (n0,), d0), ("done", (n0,), True), ("marked", lambda x, z: Or(S.marked(x, z), And(x == t0, z == n0))))
    y.act("confirmed", "release.rs:judge_release: a quorum has shortened it", [ForAll([n], Implies(member(q0, n), S.marked(t0, n))), Not(S.ended(t0))],
          ("ended", (t0,), True), ("endq", (t0,), q0), ("endat", (t0,), S.now))
    y.act("release_late", "at_least.rs: once the time is over, the owed release deletes",
          [S.has(n0), S.key(n0) == t0, S.over(t0), ForAll([r], Implies(And(first(r), tok(r) == t0, S.begun(r)), S.now >= S.start(r) + AL(t0)))],
          ("has", (n0,), False))
    y.inv("past", "who was answered, asked before; an acquire that was not begun has no answers", lambda x: And(
          ForAll([r, n], Implies(x.ack(r, n), And(x.begun(r), x.start(r) <= x.now))), ForAll([n], x.boot(n) <= x.now),
          ForAll([r], Implies(x.begun(r), x.start(r) <= x.now)), ForAll([t], Implies(x.opened(t), x.over(t)))))
    y.inv("stays", "where an answer counts, and the round is trusted or the lock is to stay closed, the key is there for that long, or "
          "the master has restarted so lately that it does not vote before that",
          lambda x: ForAll([r, n], Implies(And(x.ack(r, n), holds(x, r)), Or(
              And(x.has(n), x.key(n) == tok(r), until(x, r, x.ends(n))), until(x, r, x.boot(n) + D)))))
    y.inv("pair", "no master's answers count for two tokens of which each is trusted or to stay closed",
          lambda x: ForAll([r, s, n], Implies(And(x.ack(r, n), x.ack(s, n), holds(x, r), holds(x, s)), tok(r) == tok(s))))
    y.inv("witness", "a hold rests on a quorum's answers to one round; so does each win of history",
          lambda x: ForAll([t], And(Implies(x.held(t), And(tok(x.wr(t)) == t, x.dl(t) <= x.start(x.wr(t)) + V(t),
              ForAll([n], Implies(member(x.wq(t), n), x.ack(x.wr(t), n))))),
              Implies(x.won(t), And(tok(x.wonr(t)) == t, first(x.wonr(t)), ForAll([n], Implies(member(x.wonq(t), n), x.ack(x.wonr(t), n))))))))
    y.inv("one", "one acquire for each token", lambda x: ForAll([r, s], Implies(And(first(r), first(s), tok(r) == tok(s)), r == s)))
    y.inv("mark", "where it was shortened its token is under no key any more, but behind the mark",
          lambda x: ForAll([t, n], Implies(And(x.marked(t, n), x.has(n), x.key(n) == t), x.done(n))))
    y.inv("ended", "what has ended well is marked on a quorum, none of which has confirmed an extension begun since",
          lambda x: ForAll([t], Implies(x.ended(t), And(x.endat(t) <= x.now, ForAll([n], Implies(member(x.endq(t), n), x.marked(t, n))),
              ForAll([r, n], Implies(And(tok(r) == t, Not(first(r)), x.start(r) > x.endat(t), x.begun(r), x.ack(r, n)), Not(member(x.endq(t), n))))))))
    valid = lambda t: And(S.held(t), Not(S.over(t)), S.now < S.dl(t))
    y.goal("G1", "two valid holders are one", [valid(t), valid(u)], t == u)
    y.goal("G15", "no other acquire wins within at_least of the start of one that ended well, or whose process died",
           [y.acts["win"][1], S.won(t), t != a, Not(S.opened(t)), S.now < S.start(S.wonr(t)) + AL(t)], BoolVal(False))
    y.goal("G16", "what has ended well on a quorum is adopted by nobody",
           [Not(first(r0)), quorum, S.begun(r0), S.ended(a), S.start(r0) > S.endat(a),
            *([] if mut == "quorum" else [Exists([n], And(member(q0, n), member(S.endq(a), n)))])], BoolVal(False))
    return y


MUTANTS = {
    "quorum": ("quorums need not meet", ["goal/G1", "goal/G15", "goal/G16"]),
    "guard": ("no restart guard", ["grant/pair"]),
    "alguard": ("at_least may be longer than the guard", ["restart/stays"]),
    "allife": ("the keys live for the ttl alone", ["grant/stays"]),
    "nodrift": ("a release shortens to less than what is left", ["shorten/stays"]),
    "shortenheld": ("a hold is shortened before it is over", ["shorten/stays"]),
    "shortens": ("an extension may shorten", ["extend/stays"]),
    "unmarked": ("the token stays under the key of what has ended well", ["extend/ended"]),
    "nx": ("a SET without NX", ["grant/stays", "grant/pair"]),
}
if __name__ == "__main__":
    main("04-at-least", build, MUTANTS)
