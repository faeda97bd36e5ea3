"""The agreement: clients whose lists have none in common. Questions, notes, shields, waves of one round, and clients that shut
down and take their notes back. G9: two of them are both valid only if neither knew of the other when its round began; and both know
who have asked one master that remembers. A round's trust `V` is the time for which it must exclude: also that of keys that stay after
it (at_least, a lock-delay, a detached lock, a debt). A client that has no field of its own at a master, or is of an older version,
takes nothing back there."""
from induct import *


def build(mut):
    y = Sys()
    Node, Kind, Who, Ask, Round, Q = (y.sort(k, n) for k, n in [("Node", 2), ("Kind", 2), ("Who", 3), ("Ask", 2), ("Round", 2), ("Q", 2)])
    S, T = y.S, y.T
    member = Function("member", Q, Node, B)
    quorum = Function("quorum", Q, Kind, B)      # a majority of each list of this kind of client
    odds = Function("odds", Kind, Kind, B)       # no list in common
    settings = Function("settings", Who, Kind)   # of a client
    who, node = Function("who", Ask, Who), Function("node", Ask, Node)       # a question: of which client, to whom
    by = Function("by", Round, Who)
    kind, of = lambda a: settings(who(a)), lambda r: settings(by(r))
    V, G = Function("V", Round, Re), Function("G", Kind, Re)     # trust of a round; guard
    N = Function("N", Ask, Re)                   # life of the note: brief before a client's first round, and drifts are not compared
    L = Real("L")                                # longest silence, in real time
    for v in [("asked", Ask, Re), ("ran", Ask, Re), ("epoch", Ask, Re), ("sent", Ask, B), ("agreed", Ask, B), ("boot", Node, Re),
              ("note", Who, Node, B), ("stands", Who, Node, Re), ("quit", Who, B), ("begun", Round, B), ("start", Round, Re), ("knows", Round, Kind, B),
              ("heard", Round, Node, B), ("hq", Round, Node, Ask), ("shield", Round, Node, B), ("sq", Round, Node, Ask),
              ("wave", Round, Node, B), ("wq", Round, Node, Ask), ("wt", Round, Node, Re), ("ack", Round, Node, B), ("ranat", Round, Node, Re)]:
        y.var(*v)
    a, b, a0 = Consts("a b a0", Ask); n, n0 = Consts("n n0", Node); k, j = Consts("k j", Kind); c, c0, c1 = Consts("c c0 c1", Who); r, s, r0 = Consts("r s r0", Round)
    q, q0 = Consts("q q0", Q); d0 = Real("d0")
    y.axioms = [L > 0, ForAll([r], And(V(r) > 0, V(r) <= G(of(r)))), ForAll([a], N(a) > 0), ForAll([k, j], Implies(odds(k, j), And(odds(j, k), k != j))),
                ForAll([q, k], Implies(quorum(q, k), Exists([n], member(q, n))))]
    covers = lambda a, r: BoolVal(True) if mut == "brief" else N(a) >= V(r) + (0 if mut == "noteshort" else L)   # the note outlives the round
    readat = Function("readat", Ask, Re)
    kn, kd = Function("kn", Kind, B), Function("hd", Node, B)            # what the new round knows, and has heard
    hq, sq, sh = Function("hqn", Node, Ask), Function("sqn", Node, Ask), Function("shn", Node, B)
    fresh = lambda x, a, at: And(x.agreed(a), x.asked(a) >= at - L, x.ran(a) <= at) if mut != "fromanswer" else And(x.agreed(a), readat(a) >= at - L, x.ran(a) <= at)
    # asked + quarantine >= now + life: the other's guard, at least; a master that votes for us (its guard by the numbers of both).
    def shields(x, a, r, at, known):
        parts = [fresh(x, a, at), who(a) == by(r), covers(a, r)]
        parts.append(ForAll([j], Implies(And(known(j), odds(of(r), j)), And(
            BoolVal(True) if mut == "warmshields" else x.epoch(a) + G(of(r)) <= at,
            BoolVal(True) if mut in ("warmshields", "ownnumbers") else x.epoch(a) + G(j) <= at,
            BoolVal(True) if mut == "noage" else x.asked(a) + G(j) >= at + V(r)))))
        return And(parts)
    k0 = of(r0)
    open_ = Not(S.quit(by(r0)))
    apart = lambda j: ForAll([q], Implies(quorum(q, j), Exists([n], And(member(q, n), sh(n)))))
    y.first = [ForAll([a], And(Not(S.sent(a)), Not(S.agreed(a)))), ForAll([c, n], Not(S.note(c, n))), ForAll([c], Not(S.quit(c))), ForAll([n], S.boot(n) <= S.now),
               ForAll([r], Not(S.begun(r))), ForAll([r, n], And(Not(S.ack(r, n)), Not(S.wave(r, n)), Not(S.shield(r, n)), Not(S.heard(r, n))))]
    y.act("tick", "driver: time", [d0 > S.now], ("now", (), d0))
    y.act("ask", "confirmation.rs:ask_to_confirm: the time counts from when it is queued", [Not(S.sent(a0)), Not(S.agreed(a0))],
          ("sent", (a0,), True), ("asked", (a0,), S.now))
    alone = ForAll([c], Implies(odds(kind(a0), settings(c)), Not(S.note(c, node(a0)))))
    # A master does one thing after the other.
    y.act("agrees", "agree.lua: no note at odds stands here; ours is prolonged, never shortened",
          [S.sent(a0), Not(S.agreed(a0)), d0 >= S.now + N(a0), ForAll([b], Implies(And(S.agreed(b), node(b) == node(a0)), S.ran(b) < S.now))] + ([] if mut == "blindnote" else [alone])
          + ([] if mut == "shortened" else [Implies(S.note(who(a0), node(a0)), d0 >= S.stands(who(a0), node(a0)))]),
          ("agreed", (a0,), True), ("ran", (a0,), S.now), ("epoch", (a0,), S.boot(node(a0))),
          ("note", (who(a0), node(a0)), True), ("stands", (who(a0), node(a0)), d0))
    y.act("lapses", "agree.lua: a note whose time is over", [S.note(c0, n0), S.now >= S.stands(c0, n0)], ("note", (c0, n0), False))
    y.act("quits", "coordinator/mod.rs:handle_shutdown, handle_withdraw: nothing more is sent, but questions may be on their way", [], ("quit", (c0,), True))
    # c1 is another client only where the rule is taken back: one note for all of one list.
    y.act("takes_back", "withdraw.lua: a client's own note ends once what it has sent is over, at d0 or later",
          [S.note(c1, n0), d0 <= S.stands(c1, n0), c1 == c0 if mut != "oneofall" else settings(c1) == settings(c0)]
          + ([] if mut == "goeson" else [S.quit(c0)])
          + ([] if mut == "owing" else [ForAll([r], Implies(And(S.begun(r), by(r) == c0), Or(S.now >= S.start(r) + V(r), d0 >= S.start(r) + V(r))))]),
          ("stands", (c1, n0), d0))
    y.act("restart", "a master comes back empty; connections are cut", [S.boot(n0) < S.now], ("boot", (n0,), S.now), ("note", lambda x, z: And(z != n0, S.note(x, z))))
    # A round begins: what it knows of others; its shields keep each of them from every quorum (barrier.rs:barred).
    y.act("begin", "barrier.rs:is_held_up, barred; attempt.rs:attempt, extend.rs:extend_everywhere",
          [open_, Not(S.begun(r0)), ForAll([n], And(Not(S.ack(r0, n)), Not(S.wave(r0, n)))),
           ForAll([n], Implies(sh(n), And(node(sq(n)) == n, shields(S, sq(n), r0, S.now, kn)))),
           ForAll([n], Implies(kd(n), And(node(hq(n)) == n, who(hq(n)) == by(r0), covers(hq(n), r0), fresh(S, hq(n), S.now)))),
           ForAll([j], Implies(And(kn(j), odds(k0, j)), apart(j)))] if mut != "onetoofew" else
          [open_, Not(S.begun(r0)), ForAll([n], And(Not(S.ack(r0, n)), Not(S.wave(r0, n)))),
           ForAll([n], Implies(sh(n), And(node(sq(n)) == n, shields(S, sq(n), r0, S.now, kn)))), ForAll([n], Not(kd(n))),
           ForAll([j], Implies(And(kn(j), odds(k0, j)), Exists([n], sh(n))))],
          ("begun", (r0,), True), ("start", (r0,), S.now), ("knows", lambda x, z: If(x == r0, kn(z), S.knows(x, z))),
          ("shield", lambda x, z: If(x == r0, sh(z), S.shield(x, z))), ("sq", lambda x, z: If(x == r0, sq(z), S.sq(x, z))),
          ("heard", lambda x, z: If(x == r0, kd(z), S.heard(x, z))), ("hq", lambda x, z: If(x == r0, hq(z), S.hq(x, z))))
    y.act("send", "session/standing.rs:takes, part; first_node.rs:ask_the_others: any wave, while a confirmation is fresh",
          [open_, S.begun(r0), Not(S.wave(r0, n0)), who(a0) == by(r0), node(a0) == n0, covers(a0, r0)] +
          ([S.agreed(a0), S.ran(a0) <= S.now] if mut == "nolimit" else [fresh(S, a0, S.now)]),
          ("wave", (r0, n0), True), ("wq", (r0, n0), a0), ("wt", (r0, n0), S.now))
    y.act("grant", "the master executes it on that connection, so before it restarts again; it voted when it was sent (08-sent.py)",
          [S.wave(r0, n0), S.boot(n0) == S.epoch(S.wq(r0, n0)), Not(S.ack(r0, n0))] +
          ([] if mut == "noguard" else [S.epoch(S.wq(r0, n0)) + G(k0) <= S.wt(r0, n0)]),
          ("ack", (r0, n0), True), ("ranat", (r0, n0), S.now))
    live = lambda x, r: And(x.begun(r), x.now < x.start(r) + V(r))
    y.inv("past", "nothing is of the future", lambda x: And(ForAll([n], x.boot(n) <= x.now), ForAll([r], Implies(x.begun(r), x.start(r) <= x.now)),
          ForAll([a], Implies(x.agreed(a), And(x.sent(a), x.asked(a) <= x.ran(a), x.ran(a) <= x.now, x.epoch(a) <= x.ran(a), x.epoch(a) <= x.boot(node(a))))),
          ForAll([a], Implies(x.sent(a), x.asked(a) <= x.now))))
    y.inv("epochs", "what ran before a master's last start belongs to an earlier life of it", lambda x: ForAll([a],
          Implies(x.agreed(a), And(Implies(x.ran(a) < x.boot(node(a)), x.epoch(a) < x.boot(node(a))),
                                   Implies(x.epoch(a) < x.boot(node(a)), x.ran(a) <= x.boot(node(a)))))))
    y.inv("notes", "the note of what a master has agreed to stands for its life, unless the master restarts",
          lambda x: ForAll([a], Implies(And(x.agreed(a), x.epoch(a) == x.boot(node(a))),
              Or(x.now >= x.ran(a) + N(a), And(x.note(who(a), node(a)), x.stands(who(a), node(a)) >= x.ran(a) + N(a)), x.quit(who(a))))))
    rests = lambda x, a, r: And(x.begun(r), x.agreed(a), who(a) == by(r), x.asked(a) + N(a) >= x.start(r) + V(r))
    y.inv("kept", "a round's note stands for as long as the round is trusted, whatever its client has taken back",
          lambda x: ForAll([a, r], Implies(And(rests(x, a, r), x.epoch(a) == x.boot(node(a))),
              Or(x.now >= x.start(r) + V(r), And(x.note(by(r), node(a)), x.stands(by(r), node(a)) >= x.start(r) + V(r))))))
    after = lambda x, a, b: And(x.agreed(a), x.agreed(b), node(a) == node(b), odds(kind(a), kind(b)), x.epoch(a) == x.epoch(b), x.ran(a) < x.ran(b))
    y.inv("apart", "a master does one thing after the other", lambda x: ForAll([a, b], Implies(And(x.agreed(a), x.agreed(b), a != b, node(a) == node(b)), x.ran(a) != x.ran(b))))
    y.inv("exclusive", "a master that remembers agrees to one of two at odds only once the other's note is over, or its client has quit",
          lambda x: ForAll([a, b], Implies(after(x, a, b), Or(x.ran(b) >= x.ran(a) + N(a), x.quit(who(a))))))
    y.inv("excluded", "and only once each round that rests on that note is over",
          lambda x: ForAll([a, b, r], Implies(And(after(x, a, b), rests(x, a, r)), x.ran(b) >= x.start(r) + V(r))))
    y.inv("lives", "a master's lives follow each other", lambda x: ForAll([a, b], Implies(And(x.agreed(a), x.agreed(b), node(a) == node(b),
          x.epoch(a) < x.epoch(b)), x.ran(a) <= x.epoch(b))))
    y.inv("shields", "a shield was one when its round began", lambda x: ForAll([r, n], Implies(x.shield(r, n), And(x.begun(r), node(x.sq(r, n)) == n,
          shields(x, x.sq(r, n), r, x.start(r), lambda j: x.knows(r, j))))))
    y.inv("heards", "what a round had heard in time", lambda x: ForAll([r, n], Implies(x.heard(r, n), And(x.begun(r), node(x.hq(r, n)) == n,
          who(x.hq(r, n)) == by(r), covers(x.hq(r, n), r), fresh(x, x.hq(r, n), x.start(r))))))
    y.inv("waves", "what was sent, was sent on a fresh confirmation, after the round began", lambda x: ForAll([r, n], Implies(x.wave(r, n),
          And(x.begun(r), x.start(r) <= x.wt(r, n), x.wt(r, n) <= x.now, node(x.wq(r, n)) == n, who(x.wq(r, n)) == by(r), covers(x.wq(r, n), r), fresh(x, x.wq(r, n), x.wt(r, n))))))
    y.inv("grants", "a grant came from a master that voted, in the life that it was asked in", lambda x: ForAll([r, n], Implies(x.ack(r, n), And(
          x.wave(r, n), x.wt(r, n) <= x.ranat(r, n), x.ranat(r, n) <= x.now, x.epoch(x.wq(r, n)) + G(of(r)) <= x.wt(r, n),
          Implies(x.epoch(x.wq(r, n)) < x.boot(n), x.ranat(r, n) <= x.boot(n))))))
    y.inv("before", "a grant came before its master's next life", lambda x: ForAll([r, n, a], Implies(And(x.ack(r, n), x.agreed(a), node(a) == n,
          x.epoch(x.wq(r, n)) < x.epoch(a)), x.ranat(r, n) <= x.epoch(a))))
    y.inv("covers", "who knew of another had a shield in each quorum of it", lambda x: ForAll([r, j, q], Implies(And(x.begun(r), x.knows(r, j),
          odds(of(r), j), quorum(q, j)), Exists([n], And(member(q, n), x.shield(r, n))))))
    y.inv("kept_away", "a shield of a trusted round grants to no trusted round of one at odds that it knew of",
          lambda x: ForAll([r, s, n], Implies(And(x.shield(r, n), x.ack(s, n), odds(of(r), of(s)), x.knows(r, of(s)), live(x, r), live(x, s)), False)))
    wins = lambda r, q: And(quorum(q, of(r)), ForAll([n], Implies(member(q, n), S.ack(r, n))))
    q1 = Const("q1", Q)
    y.goal("G9", "two at odds are both valid only if neither knew of the other", [odds(of(r), of(s)), live(S, r), live(S, s), wins(r, q0), wins(s, q1),
           Or(S.knows(r, of(s)), S.knows(s, of(r)))], BoolVal(False))
    y.goal("G9-one", "one master that both had asked in time, and that has kept its memory, is enough: the later one was told",
           [odds(of(r), of(s)), live(S, r), live(S, s), S.heard(r, n), S.heard(s, n), S.epoch(S.hq(r, n)) == S.epoch(S.hq(s, n))], BoolVal(False))
    return y


MUTANTS = {
    "nolimit": ("no time limit for a confirmation", ["send/waves", "grant/kept_away"]),
    "fromanswer": ("a confirmation counts from its answer", ["begin/kept_away", "grant/kept_away", "goal/G9-one"]),
    "noteshort": ("a note lives for D alone", ["begin/kept_away", "grant/kept_away", "goal/G9-one"]),
    "shortened": ("a note may be shortened", ["agrees/notes"]),
    "brief": ("a round rests on a note that is shorter than it", ["begin/kept_away", "grant/kept_away", "goal/G9-one"]),
    "oneofall": ("a client takes back the note of all clients of its list", ["takes_back/notes", "takes_back/kept"]),
    "owing": ("a note is taken back while what was sent on it stands", ["takes_back/kept"]),
    "goeson": ("a client that goes on takes its note back", ["takes_back/notes"]),
    "blindnote": ("a note is made beside another", ["agrees/exclusive"]),
    "warmshields": ("masters that warm up are shields", ["begin/kept_away"]),
    "ownnumbers": ("a shield by its own numbers alone", ["begin/kept_away"]),
    "noage": ("shields without asked + D >= now + life", ["begin/kept_away", "grant/kept_away"]),
    "onetoofew": ("shields that leave the other a quorum", ["begin/covers"]),
    "noguard": ("no restart guard", ["grant/grants"]),
}
if __name__ == "__main__":
    main("06-agreement", build, MUTANTS)
