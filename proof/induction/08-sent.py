"""Two steps from the model to the code, and the numbers. A vote counts in the code if the master voted, as far as the client
knew, when the command was sent; in the proofs, when it ran. And: the spans that the proofs assume, from the drift."""
from induct import *


def build(mut):
    y = Sys()
    Node, Cmd = y.sort("Node", 2), y.sort("Cmd", 2)
    S, T = y.S, y.T
    at = Function("at", Cmd, Node)
    D = Real("D")
    for v in [("boot", Node, Re), ("conn", Node, B), ("life", Node, Re), ("est", Node, Re), ("judged", Node, B), ("sent", Cmd, B),
              ("votes", Cmd, B), ("clife", Cmd, Re), ("ran", Cmd, B), ("when", Cmd, Re)]:
        y.var(*v)
    n, n0 = Consts("n n0", Node); c, c0 = Consts("c c0", Cmd); d0, told = Reals("d0 told")
    up, asked, question = Reals("up asked question")
    y.axioms = [D > 0]
    y.first = [ForAll([n], And(S.boot(n) <= S.now, Not(S.conn(n)), Not(S.judged(n)))), ForAll([c], And(Not(S.sent(c)), Not(S.ran(c)), Not(S.votes(c))))]
    y.act("tick", "driver: time", [d0 > S.now], ("now", (), d0))
    y.act("restart", "a master comes back empty", [S.boot(n0) < S.now], ("boot", (n0,), S.now))
    y.act("connects", "handshake.rs:connected: a connection is to one life of a master", [], ("conn", (n0,), True), ("life", (n0,), S.boot(n0)),
          *([] if mut == "oldjudge" else [("judged", (n0,), False)]))
    y.act("breaks", "session/mod.rs:close", [], ("conn", (n0,), False), ("judged", (n0,), False))
    # INFO ran at `asked`, was read now; uptime is the difference of two whole seconds: at most a second too long.
    y.act("judges", "session/standing.rs:judge_standing, quorum/standing.rs:Start::told; never earlier than judged before",
          [S.conn(n0), S.life(n0) <= asked, asked <= S.now, question <= asked, up >= 0, up <= (asked - S.life(n0)) + 1,
           told == (question if mut == "fromquestion" else S.now) - (up if mut == "noround" else If(up > 1, up - 1, 0))],
          ("est", (n0,), If(And(S.judged(n0), S.est(n0) > told), S.est(n0), told)), ("judged", (n0,), True))
    y.act("send", "session/standing.rs:part, warming_up: whether it votes is decided when it is sent", [S.conn(n0), Not(S.sent(c0)), at(c0) == n0, S.judged(n0)],
          ("sent", (c0,), True), ("votes", (c0,), S.est(n0) + D <= S.now), ("clife", (c0,), S.life(n0)))
    y.act("runs", "the server executes it: on that connection, so in that life", [S.sent(c0), Not(S.ran(c0)), at(c0) == n0] +
          ([] if mut == "otherlife" else [S.clife(c0) == S.boot(n0)]), ("ran", (c0,), True), ("when", (c0,), S.now))
    y.inv("past", "no start is of the future", lambda x: And(ForAll([n], And(x.boot(n) <= x.now, Implies(x.conn(n), x.life(n) <= x.boot(n)), Implies(x.judged(n), x.conn(n))))))
    y.inv("never_early", "a client's estimate of the start of the master that it is connected to is never too early",
          lambda x: ForAll([n], Implies(x.judged(n), x.est(n) >= x.life(n))))
    y.inv("voted", "a command that was sent to a voter was sent a guard after the start of that life",
          lambda x: ForAll([c], Implies(And(x.sent(c), x.votes(c)), x.clife(c) + D <= x.now)))
    y.goal("lemma", "a command whose vote counts runs at a master that has been up for the guard", [y.acts["runs"][1], S.votes(c0)], S.boot(at(c0)) + D <= S.now)
    # The numbers: 1 % and 2 ms; each clock within 0.5 % of the right speed. Seconds; nominal spans to real ones.
    ttl, most, age, life = Reals("ttl most age keylife")
    f, g = Q(1005, 1000), Q(995, 1000)           # a fast clock measures too much: real = nominal / f at least; / g at most
    drift = lambda t: t / 100 + Q(2, 1000)
    V = (ttl - drift(ttl)) / g
    base = [ttl >= Q(1, 10), ttl <= most, most >= 2, life >= ttl]
    D_ = most + drift(most)
    y.goal("V<=L", "a key outlives the trust", base, V <= ttl / f)
    y.goal("V<=D", "the guard outlives the trust", base, V <= D_ / f)
    y.goal("N>=V+L", "a note outlives what is sent on it", base, V + 15 / g <= (D_ + 15 + drift(RealVal(15))) / f)
    slack = 0 if mut == "noslack" else drift(age)     # asked + quarantine >= now + life + drift(now - asked)
    y.goal("shield", "a shield: the other's guard, from our question on, outlives the trust of a round that begins at this age",
           base + [age >= 0, age <= 15, age + slack + life <= D_], age / g + V <= D_ / f)
    return y


MUTANTS = {
    "noround": ("uptime as it is told", ["judges/never_early"]),
    "fromquestion": ("counted from the question", ["judges/never_early"]),
    "oldjudge": ("the judgement of another life", ["connects/never_early"]),
    "otherlife": ("a command runs in a later life", ["goal/lemma"]),
    "noslack": ("the quarantine with its drift, nothing for the age", ["goal/shield"]),
}
if __name__ == "__main__":
    main("08-sent", build, MUTANTS)
