"""What is owed: no key without an end, and no key of one who gave up that nobody owes a release for. The safe part of G3."""
from induct import *


def build(mut):
    y = Sys()
    Node, Tok = y.sort("Node", 2), y.sort("Tok", 2)
    S, T = y.S, y.T
    LM, LT = Reals("LM LT")                      # longest real life of a key; the life that a client waits for, in real time
    for v in [("has", Node, B), ("key", Node, Tok), ("ends", Node, Re), ("cur", Tok, Node, B), ("old", Tok, Node, B), ("open", Node, B),
              ("touched", Tok, Node, B), ("over", Tok, B), ("owed", Tok, Node, B), ("cert", Tok, Node, B), ("since", Tok, Node, Re)]:
        y.var(*v)
    n, n0 = Consts("n n0", Node); t, t0 = Consts("t t0", Tok); d0 = Real("d0")
    y.axioms = [LM > 0, LT >= LM]
    if mut == "nodrift": y.axioms = [LM > 0, LT > 0]
    y.first = [ForAll([n], Not(S.has(n))), ForAll([t, n], And(Not(S.cur(t, n)), Not(S.old(t, n)), Not(S.touched(t, n)), Not(S.owed(t, n)), Not(S.cert(t, n)))),
               ForAll([t], Not(S.over(t)))]
    y.act("tick", "Redis: by its end a key is gone", [d0 > S.now, ForAll([n], Implies(S.has(n), d0 < S.ends(n)))], ("now", (), d0))
    y.act("expire", "Redis", [S.has(n0)], ("has", (n0,), False))
    y.act("send", "attempt.rs, first_node.rs, extend.rs, extend.rs:top_up: a command that may set or prolong",
          [S.open(n0), Not(S.over(t0))], ("cur", (t0, n0), True), ("touched", (t0, n0), True))
    y.act("sets", "SET PX, acquire.lua, acquire_read.lua, ask.lua, top_up.lua: each with an end",
          [Or(S.cur(t0, n0), S.old(t0, n0)), Not(S.has(n0)), d0 > S.now] + ([] if mut == "noend" else [d0 <= S.now + LM]),
          ("has", (n0,), True), ("key", (n0,), t0), ("ends", (n0,), d0))
    y.act("prolongs", "extend.lua, extend_read.lua", [Or(S.cur(t0, n0), S.old(t0, n0)), S.has(n0), S.key(n0) == t0, d0 > S.now, d0 <= S.now + LM],
          ("ends", (n0,), d0))
    y.act("unsent", "dispatch.rs:strand: no byte of its only command was written",
          [S.cur(t0, n0), Not(S.old(t0, n0)), Not(And(S.has(n0), S.key(n0) == t0)), Not(S.over(t0))], ("cur", (t0, n0), False), ("touched", (t0, n0), False))
    y.act("give_up", "release.rs:owe: a debt for each node that was touched", [Not(S.over(t0))], ("over", (t0,), True),
          ("owed", lambda x, z: If(x == t0, S.touched(x, z) if mut != "granted" else And(S.touched(x, z), S.has(z), S.key(z) == x), S.owed(x, z))),
          *([("cert", lambda x, z: Or(S.cert(x, z), x == t0)), ("since", lambda x, z: If(x == t0, S.now, S.since(x, z)))] if mut == "fromsending" else []))
    y.act("breaks", "session/mod.rs:close: it becomes the predecessor", [S.open(n0)], ("open", (n0,), False),
          ("cur", lambda x, z: And(z != n0, S.cur(x, z))), ("old", lambda x, z: If(z == n0, Or(S.old(x, z), S.cur(x, z)), S.old(x, z))))
    y.act("opens", "handshake.rs:hand_over, then session/mod.rs:open: CLIENT KILL was answered, or the server has restarted",
          [Not(S.open(n0))], ("open", (n0,), True), *([] if mut == "nokill" else [("old", lambda x, z: And(z != n0, S.old(x, z)))]),
          ("since", lambda x, z: If(And(z == n0, S.owed(x, z), Not(S.cert(x, z))), S.now, S.since(x, z))),
          ("cert", lambda x, z: Or(S.cert(x, z), And(z == n0, S.owed(x, z)))))
    y.act("restart", "a master comes back empty; connections end", [], ("has", (n0,), False), ("open", (n0,), False),
          ("cur", lambda x, z: And(z != n0, S.cur(x, z))), ("old", lambda x, z: And(z != n0, S.old(x, z))))
    behind = [] if mut == "overtakes" else [("cur", (t0, n0), False)]
    gone = lambda x: And(S.has(x), Not(And(x == n0, S.key(x) == t0)))
    y.act("settled", "releases.rs:debt_answered: an integer, behind all that was sent there before", [S.open(n0), S.owed(t0, n0)],
          ("has", gone), ("owed", (t0, n0), False), *behind)
    y.act("unanswered", "it ran, and the answer was lost: the debt stays", [S.owed(t0, n0)], ("has", gone))
    y.act("refused", "ledger.rs:refused: an error, behind all that was sent before; forgotten a life after nothing can arrive any more",
          [S.open(n0), S.owed(t0, n0)], ("cur", (t0, n0), False), ("cert", (t0, n0), True),
          ("since", (t0, n0), If(S.cert(t0, n0), S.since(t0, n0), S.now)),
          ("owed", (t0, n0), BoolVal(False) if mut == "errorsettles" else Or(Not(S.cert(t0, n0)), S.now <= S.since(t0, n0) + LT)))
    y.inv("ends", "each key has an end, within the longest life from now", lambda x: ForAll([n], Implies(x.has(n), And(x.now < x.ends(n), x.ends(n) <= x.now + LM))))
    y.inv("touched", "where anything of a token is, or may arrive, was touched", lambda x: ForAll([t, n],
          Implies(Or(x.cur(t, n), x.old(t, n), And(x.has(n), x.key(n) == t)), x.touched(t, n))))
    y.inv("dead", "while a connection is open, its predecessor is dead; while there is none, nothing is on it; only who gave up owes",
          lambda x: ForAll([t, n], And(Implies(x.open(n), Not(x.old(t, n))), Implies(Not(x.open(n)), Not(x.cur(t, n))), Implies(x.owed(t, n), x.over(t)))))
    y.inv("certain", "from when that is certain nothing arrives, and what is there ends a life later",
          lambda x: ForAll([t, n], Implies(x.cert(t, n), And(x.over(t), x.since(t, n) <= x.now, Not(x.cur(t, n)), Not(x.old(t, n)),
              Implies(And(x.has(n), x.key(n) == t), x.ends(n) <= x.since(t, n) + LM)))))
    y.inv("owed", "who gave up owes a release wherever its key is, or may arrive", lambda x: ForAll([t, n],
          Implies(And(x.over(t), Or(x.cur(t, n), x.old(t, n), And(x.has(n), x.key(n) == t))), x.owed(t, n))))
    y.goal("G3", "a key that nobody owes a release for is of one who has not given up", [S.has(n), S.key(n) == t, Not(S.owed(t, n))], Not(S.over(t)))
    return y


MUTANTS = {
    "noend": ("a SET without an end", ["sets/ends"]),
    "granted": ("rolled back only where it was granted", ["give_up/owed"]),
    "nokill": ("a connection opens beside its predecessor", ["opens/dead", "opens/certain"]),
    "errorsettles": ("an error settles a debt", ["refused/owed"]),
    "overtakes": ("a release may overtake its SET", ["settled/owed"]),
    "fromsending": ("certain from when it was sent", ["give_up/certain"]),
    "nodrift": ("the life that is waited for has no drift", ["refused/owed"]),
}
if __name__ == "__main__":
    main("07-debts", build, MUTANTS)
