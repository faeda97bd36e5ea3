"""Fair turns: stamps, tickets, places, kept keys, withdrawals. G18: a waiter that is stored at a quorum is served before all later
ones. The lives of a place and of a kept key are any two numbers; only the last goal compares them. A place may end early here, by
any clock of a master. A kept key ends by time, at its own."""
from induct import *


def build(mut):
    y = Sys()
    Node, W, Try, Q = (y.sort(k, n) for k, n in [("Node", 2), ("Waiter", 2), ("Try", 2), ("Q", 2)])
    S, T = y.S, y.T
    member = Function("member", Q, Node, B)
    by = Function("by", Try, W)                  # who tries
    turn = Function("turn", Try, B)              # by the script of those who wait (ask.lua), or by a plain SET
    D, P, K = Reals("D P K")                     # guard; life of a place, and of a kept key
    for v in [("boot", Node, Re), ("has", Node, B), ("kept", Node, B), ("inq", Node, W, B), ("score", Node, W, Re), ("stampv", Node, W, B),
              ("come", W, B), ("counted", W, Node, B), ("stamp", W, Node, Re), ("hast", W, B), ("ticket", W, Re), ("tq", W, Q),
              ("est", W, B), ("eq", W, Q), ("later", W, W, B), ("lives", W, B), ("shut", W, B), ("ack", Try, Node, B),
              ("ends", Node, W, Re), ("keptfor", Node, W), ("keptends", Node, Re), ("looked", Node, B),
              ("heard", W, Re), ("unable", W, B), ("out", W, B), ("outat", W, Re), ("won", W, B), ("left", Node, W, B)]:
        y.var(*v)
    n, n0 = Consts("n n0", Node); w, x, w0, w1 = Consts("w x w0 w1", W); q, p, q0 = Consts("q p q0", Q); i, i0 = Consts("i i0", Try); d0 = Real("d0")
    y.axioms = [D > 0, P > 0, K > 0, ForAll([q, p], Exists([n], And(member(q, n), member(p, n))))]
    if mut == "quorum": y.axioms[3] = ForAll([q], Exists([n], member(q, n)))
    votes = lambda n: BoolVal(True) if mut == "guard" else S.boot(n) + D <= S.now
    # W's place lives at each master of its quorum, or the master has restarted so lately that it does not vote.
    there = lambda w, gone, at: ForAll([n], Implies(member(S.eq(w), n), Or(And(S.inq(n, w), Not(gone(n, w))), S.boot(n) + D > at)))
    none = lambda n, w: BoolVal(False)
    y.first = [ForAll([w], And(Not(S.come(w)), Not(S.hast(w)), Not(S.est(w)), Not(S.lives(w)), Not(S.shut(w)))),
               ForAll([n], S.boot(n) <= S.now), ForAll([w, n], And(Not(S.counted(w, n)), Not(S.inq(n, w)))), ForAll([w, x], Not(S.later(w, x))),
               ForAll([n], Not(S.kept(n))), ForAll([w, n], And(Not(S.left(n, w)), Not(S.out(w)), Not(S.won(w)))),
               ForAll([i, n], Not(S.ack(i, n)))]
    # What opens a master's key ends the promise to those who stand there, as far as plain SETs go.
    opens = lambda x: And(S.shut(x), Not(And(member(S.eq(x), n0), S.boot(n0) + D <= S.now)))
    leaves = lambda x: And(S.lives(x), Not(And(x == w0, member(S.eq(x), n0), S.boot(n0) + D <= S.now)))
    lives_on = [("ends", (n0, w0), S.now + P), ("looked", lambda z: Or(S.looked(z), And(z == n0, S.keptfor(n0) == w0)))]
    keep = [("keptfor", (n0,), w0), ("keptends", (n0,), S.now + K), ("looked", (n0,), False)]
    y.act("tick", "driver: time. A master whose guard is over has the place again by then (a look each second), and is shut; or the promise ends",
          [d0 > S.now], ("now", (), d0), ("lives", lambda x: And(S.lives(x), there(x, none, d0))),
          ("shut", lambda x: And(S.shut(x), ForAll([n], Implies(member(S.eq(x), n), Or(S.has(n), S.kept(n), S.boot(n) + D > d0))))))
    y.act("comes", "turns/look.rs:look, attempt.rs: a client's first command for the resource", [Not(S.come(w0))], ("come", (w0,), True),
          ("heard", (w0,), S.now))
    above = ForAll([x], Implies(S.inq(n0, x), d0 > S.score(n0, x))) if mut != "clockalone" else BoolVal(True)
    y.act("stamps", "ask.lua: max(clock, last + 1) behind all who are there",
          [S.come(w0), Not(S.hast(w0)), Not(S.inq(n0, w0)), Not(S.left(n0, w0)), above], *lives_on,
          ("inq", (n0, w0), True), ("score", (n0, w0), d0), ("stampv", (n0, w0), votes(n0)))
    y.act("answers", "ask.lua: its stamp; look.rs:learn_place, of a master that votes",
          [S.come(w0), Not(S.hast(w0)), S.inq(n0, w0), votes(n0)] + ([] if mut == "warmstamp" else [S.stampv(n0, w0)]),
          ("counted", (w0, n0), True), ("stamp", (w0, n0), S.score(n0, w0)))
    few = Exists([n], And(member(q0, n), S.counted(w0, n), S.stamp(w0, n) <= d0)) if mut == "leaststamp" else \
        ForAll([n], Implies(member(q0, n), And(S.counted(w0, n), S.stamp(w0, n) <= d0)))
    y.act("ticket", "turns.rs:ticket: a number that the stamps of a quorum do not exceed", ([] if mut == "anew" else [Not(S.hast(w0))]) + [S.come(w0), few],
          ("hast", (w0,), True), ("ticket", (w0,), d0), ("tq", (w0,), q0))
    y.act("stores", "ask.lua with the ticket: a look, each second", [S.hast(w0), Not(S.left(n0, w0))], *lives_on, ("inq", (n0, w0), True),
          ("score", (n0, w0), S.ticket(w0)))
    y.act("is_stored", "a quorum has its ticket: from here on the promise holds, against all who come later",
          [S.hast(w0), Not(S.est(w0)), ForAll([n], Implies(member(q0, n), And(S.inq(n, w0), S.score(n, w0) == S.ticket(w0))))],
          ("est", (w0,), True), ("eq", (w0,), q0), ("lives", (w0,), True),
          ("later", lambda x, z: If(z == w0, Not(S.come(x)), S.later(x, z))),
          ("shut", (w0,), ForAll([n], Implies(member(q0, n), Or(S.has(n), S.kept(n))))))
    y.act("expires", "ask.lua, leave.lua: its life is over, by this master's clock, which may show anything", [S.inq(n0, w0)],
          ("inq", (n0, w0), False), ("lives", leaves))
    y.act("hears", "turn.rs:hears: a quorum has answered a look or a try", [S.come(w0), Not(S.out(w0))], ("heard", (w0,), S.now))
    y.act("cannot", "turns.rs:told: so many masters say that they cannot grant that no quorum is left", [S.come(w0), Not(S.out(w0))],
          ("unable", (w0,), True))
    y.act("withdraws", "turn.rs:hears (Unheard), turns.rs:told (Unable): silence for less than a place's life costs nothing",
          [S.come(w0), Not(S.out(w0))] + ([] if mut == "silence" else [Or(S.unable(w0), S.now >= S.heard(w0) + P)]),
          ("out", (w0,), True), ("outat", (w0,), S.now))
    y.act("wins", "turns/leave.rs:leave_turn_won: a try has a quorum", [turn(i0), ForAll([n], Implies(member(q0, n), S.ack(i0, n)))],
          ("won", (by(i0),), True))
    others = Exists([x], And(S.inq(n0, x), x != w0))
    passes = And(S.kept(n0), S.keptfor(n0) == w0, others)
    y.act("leaves", "leave.lua: of a waiter that withdraws, or wins; after all that it has sent there, so nothing of it comes later",
          [Or(S.out(w0), S.won(w0)), Implies(others, And(S.inq(n0, w1), w1 != w0))],
          ("inq", (n0, w0), S.inq(n0, w0) if mut == "winnerstays" else BoolVal(False)),
          ("left", (n0, w0), True), ("lives", leaves),
          # What was kept for it is kept for the next, if there is one.
          ("kept", (n0,), And(S.kept(n0), Or(S.keptfor(n0) != w0, others))),
          ("keptfor", (n0,), If(passes, w1, S.keptfor(n0))), ("keptends", (n0,), If(passes, S.now + K, S.keptends(n0))),
          ("looked", (n0,), And(Not(passes), S.looked(n0))))
    head = ForAll([x], Implies(And(S.inq(n0, x), x != by(i0)), S.ticket(by(i0)) <= S.score(n0, x))) if mut != "nohead" else BoolVal(True)
    y.act("try", "ask.lua with a token: the first waiter, where no token is; turns/turn.rs: only with a ticket",
          [turn(i0), S.hast(by(i0)), Not(S.left(n0, by(i0))), Not(S.has(n0)), head, votes(n0)],
          ("inq", (n0, by(i0)), True), ("score", (n0, by(i0)), S.ticket(by(i0))), ("ends", (n0, by(i0)), S.now + P), ("has", (n0,), True),
          ("kept", (n0,), False), ("ack", (i0, n0), True))
    y.act("set", "SET NX, acquire.lua: a first attempt; refused by a token and by a kept key",
          [Not(turn(i0)), S.come(by(i0)), Not(S.has(n0)), votes(n0)] + ([] if mut == "setoverkept" else [Not(S.kept(n0))]),
          ("has", (n0,), True), ("kept", (n0,), False), ("ack", (i0, n0), True))
    y.act("set_uncounted", "top-ups (top_up.lua takes over what is kept), SETs and tries at masters that are warming up, plain clients",
          [Not(S.has(n0))], ("has", (n0,), True), ("kept", (n0,), False))
    y.act("released", "leave.lua (release, rollback, withdrawal): kept for the first waiter, if there is one",
          [S.has(n0), Implies(Exists([x], S.inq(n0, x)), S.inq(n0, w0))], *keep, ("has", (n0,), False),
          ("kept", (n0,), BoolVal(False) if mut == "keepsnothing" else Exists([x], S.inq(n0, x))))
    y.act("keeps", "ask.lua: a refused try keeps what is vacant, once for each waiter that is first",
          [Not(S.has(n0)), S.inq(n0, w0), Or(Not(S.kept(n0)), S.keptfor(n0) != w0)], *keep, ("kept", (n0,), True))
    y.act("opened", "a key has expired; a plain client has released (release.lua keeps nothing)", [Not(S.kept(n0))],
          ("has", (n0,), False), ("kept", (n0,), False), ("shut", opens))
    y.act("kept_ends", "what was kept has expired", [S.kept(n0), S.now >= S.keptends(n0)], ("kept", (n0,), False), ("shut", opens))
    y.act("restart", "a master comes back empty: no key, no queue", [], ("boot", (n0,), S.now), ("has", (n0,), False), ("kept", (n0,), False),
          ("inq", lambda z, x: And(z != n0, S.inq(z, x))))

    y.inv("boot", "no start is of the future", lambda z: ForAll([n], z.boot(n) <= z.now))
    y.inv("later", "a place that is promised for has a ticket, and each waiter that stands or has a stamp has come",
          lambda z: And(ForAll([w, x], Implies(z.later(x, w), And(z.est(w), z.hast(w)))),
          ForAll([w], Implies(z.lives(w), And(z.est(w), z.hast(w)))), ForAll([w], Implies(z.est(w), z.hast(w))),
          ForAll([w, n], Implies(Or(z.counted(w, n), z.inq(n, w), z.hast(w)), z.come(w)))))
    y.inv("place", "a place that lives is at each master of its quorum with its ticket, or the master does not vote",
          lambda z: ForAll([w, n], Implies(And(z.lives(w), member(z.eq(w), n)),
                                           Or(And(z.inq(n, w), z.score(n, w) == z.ticket(w)), z.boot(n) + D > z.now))))
    y.inv("asticket", "what stands of a stored waiter at those masters is its ticket",
          lambda z: ForAll([w, n], Implies(And(z.est(w), member(z.eq(w), n), z.inq(n, w)), z.score(n, w) == z.ticket(w))))
    y.inv("behind", "a later waiter is stamped behind it at each master that votes",
          lambda z: ForAll([w, x, n], Implies(And(z.lives(w), z.later(x, w), member(z.eq(w), n)), And(
              Implies(z.counted(x, n), z.stamp(x, n) > z.ticket(w)),
              Implies(And(z.inq(n, x), z.stampv(n, x), Not(z.hast(x))), z.score(n, x) > z.ticket(w))))))
    y.inv("votedstamp", "a stamp that was given by a voting master is there since", lambda z: ForAll([x, n],
          Implies(And(z.inq(n, x), z.stampv(n, x), Not(z.hast(x))), z.boot(n) + D <= z.now)))
    y.inv("tickets", "a ticket is not below the stamps of a quorum",
          lambda z: ForAll([x, n], Implies(And(z.hast(x), member(z.tq(x), n)), And(z.counted(x, n), z.stamp(x, n) <= z.ticket(x)))))
    y.inv("order", "a later waiter has the greater ticket",
          lambda z: ForAll([w, x], Implies(And(z.lives(w), z.later(x, w), z.hast(x)), z.ticket(x) > z.ticket(w))))
    y.inv("refused", "no master of its quorum has granted a counted try to a later waiter",
          lambda z: ForAll([w, i, n], Implies(And(z.lives(w), z.later(by(i), w), turn(i), member(z.eq(w), n)), Not(z.ack(i, n)))))
    y.inv("isshut", "where all of its masters are shut, each has a token or is kept, or does not vote",
          lambda z: ForAll([w, n], Implies(And(z.lives(w), z.shut(w), member(z.eq(w), n)), Or(z.has(n), z.kept(n), z.boot(n) + D > z.now))))
    y.inv("notset", "where all of its masters are shut, none has granted a counted SET of a later client",
          lambda z: ForAll([w, i, n], Implies(And(z.lives(w), z.shut(w), z.later(by(i), w), Not(turn(i)), member(z.eq(w), n)), Not(z.ack(i, n)))))
    y.inv("cameto", "a client that was granted something has come", lambda z: ForAll([i, n], Implies(z.ack(i, n), z.come(by(i)))))
    y.inv("placelife", "a place lives from its last look for a place's life, at most",
          lambda z: ForAll([n, w], Implies(z.inq(n, w), z.ends(n, w) <= z.now + P)))
    long = BoolVal(True) if mut == "keptshort" else K >= P
    y.inv("outlasts", "if a key is kept for no less than a place lives, it is kept for a waiter that is silent since until its place there is over",
          lambda z: Implies(long, ForAll([n], Implies(And(z.kept(n), Not(z.looked(n)), z.inq(n, z.keptfor(n))), z.ends(n, z.keptfor(n)) <= z.keptends(n)))))
    y.inv("stays", "a waiter that has withdrawn could not win, or had heard no quorum for a place's life",
          lambda z: ForAll([w], Implies(z.out(w), And(z.come(w), Or(z.unable(w), z.outat(w) >= z.heard(w) + P)))))
    y.inv("gone", "a waiter that has won or withdrawn stands at no master that it has left", lambda z: ForAll([n, w], Implies(z.left(n, w), Not(z.inq(n, w)))))
    wins = ForAll([n], Implies(member(q0, n), S.ack(i0, n)))
    meet = [] if mut == "quorum" else [Exists([n], And(member(q0, n), member(S.eq(w), n)))]
    y.goal("G18-try", "while the place of a waiter that is stored at a quorum lives, no later one wins by a turn of its own, without exception",
           [wins, turn(i0), S.lives(w), S.later(by(i0), w)] + meet, BoolVal(False))
    y.goal("G18-set", "nor by its first SET, as long as each master of that quorum has been held or kept since the place was stored there",
           [wins, Not(turn(i0)), S.lives(w), S.shut(w), S.later(by(i0), w)] + meet, BoolVal(False))
    if mut == "asstated":                        # shut at one quorum, stored at another
        rq = Const("rq", Q)
        y.goal("stated", "nor by a SET, while a quorum is shut and it is stored at a quorum",
               [wins, Not(turn(i0)), S.lives(w), ForAll([n], Implies(member(rq, n), Or(S.has(n), S.kept(n)))), S.later(by(i0), w)] + meet, BoolVal(False))
    y.goal("G18-dead", "a first waiter that is silent since a key was kept for it opens no master before its place is over, if kept for long enough",
           [long, S.kept(n), Not(S.looked(n)), S.inq(n, S.keptfor(n)), S.now >= S.keptends(n)], S.ends(n, S.keptfor(n)) <= S.now)
    y.goal("G18-keeps", "a waiter that could win, and hears no quorum for less than a place's life, has not withdrawn",
           [S.come(w), Not(S.unable(w)), S.now < S.heard(w) + P, S.out(w), S.outat(w) <= S.now], BoolVal(False))
    return y


MUTANTS = {
    "quorum": ("quorums need not meet", ["goal/G18-try", "ticket/order"]),
    "guard": ("masters that restarted vote at once", ["try/refused", "answers/behind", "stamps/behind"]),
    "clockalone": ("stamps by the clock alone", ["stamps/behind"]),
    "leaststamp": ("the least stamp", ["ticket/tickets", "ticket/order"]),
    "nohead": ("a try that is not first is granted", ["try/refused"]),
    "setoverkept": ("a SET takes over what is kept", ["set/notset"]),
    "keepsnothing": ("nothing is kept", ["released/isshut"]),
    "warmstamp": ("a stamp given while warming up counts once the master votes", ["answers/behind"]),
    "keptshort": ("kept shorter than a place lives", ["released/outlasts", "keeps/outlasts"]),
    "silence": ("silence takes the place", ["withdraws/stays"]),
    "anew": ("a ticket taken anew", ["ticket/place", "ticket/asticket"]),
    "winnerstays": ("a winner stays in the queue", ["leaves/gone"]),
    "asstated": ("the key shut at one quorum, the place stored at another", ["goal/stated"]),
}
if __name__ == "__main__":
    main("05-turns", build, MUTANTS)
