"""Debts: nothing is left behind. Each key has an end, and where a key may be of a token that was given up, its client
owes a release.

A connection that broke is a predecessor until it is known to be dead, and what was sent on it may arrive until then. A
debt is certain from when nothing of its token can arrive any more; an error settles it a life after that.
"""
from induct import *


def build(m):
    Node, Token = m.sort("Node", 2), m.sort("Token", 2)
    S = m.state
    longest = m.constant("longest", Time)                # longest real life of a key
    waited = m.constant("waited", Time)                  # shortest real time for which a client waits for its end
    m.variable("has", Node, Bool)
    m.variable("key", Node, Token)
    m.variable("ends", Node, Time)
    m.variable("current", Token, Node, Bool)             # something of a token may be on its way on the connection
    m.variable("old", Token, Node, Bool)                 # or on a predecessor of it
    m.variable("open", Node, Bool)                       # there is a connection that is open for votes
    m.variable("again", Token, Node, Bool)               # it was sent more than one command of a token
    m.variable("touched", Token, Node, Bool)             # a SET has left for this master
    m.variable("over", Token, Bool)                      # its client has given it up
    m.variable("owed", Token, Node, Bool)                # and owes a release there
    m.variable("certain", Token, Node, Bool)             # nothing of it can arrive there any more
    m.variable("since", Token, Node, Time)               # from this time on
    n, n0 = Consts("n n0", Node)
    t, t0 = Consts("t t0", Token)
    d0 = Real("d0")

    m.assume("lives", "a client waits for at least the longest life of a key", And(longest > 0, waited > 0, m.rule(
        "drift", "the life that a client waits for has its drift", waited >= longest, breaks=["refuse/owed"])))
    m.reads("master/ledger.rs", "debt.certain_from.get_or_insert(now);")
    m.reads("master/ledger.rs", "let certain_from = *debt.certain_from.get_or_insert(now);")

    m.starts(ForAll([n], Not(S.has(n))), ForAll([t], Not(S.over(t))), ForAll([t, n], Not(Or(
        S.current(t, n), S.old(t, n), S.again(t, n), S.touched(t, n), S.owed(t, n), S.certain(t, n)))))
    arrives = Or(S.current(t0, n0), S.old(t0, n0))
    there = And(S.has(n0), S.key(n0) == t0)
    ends = m.rule("an end", "a key is set and prolonged with an end", d0 <= S.now + longest,
                  breaks=["set/ends", "prolong/ends"])
    deleted = lambda z: And(S.has(z), Not(And(z == n0, S.key(z) == t0)))

    m.action("tick", "time goes by, and by its end a key is gone", ["world"],
             [d0 > S.now, ForAll([n], Implies(S.has(n), d0 < S.ends(n)))], to("now", d0))
    m.action("expire", "a key expires, or is deleted", ["world"], [S.has(n0)], to("has", n0, False))
    m.action("send", "a client sends a command that may set or prolong a key",
             ["lock/attempt.rs:attempt", "routing/first_node.rs", "lock/extend.rs:send_extension",
              "lock/extend.rs:top_up"],
             [S.open(n0), m.rule("nothing after", "nothing is sent for a token that was given up", Not(S.over(t0)),
                                 breaks=["send/certain", "send/owed"])],
             to("again", t0, n0, S.touched(t0, n0)), to("current", t0, n0, True), to("touched", t0, n0, True))
    m.action("set", "a master executes it, and the key has an end",
             ["acquire.lua", "acquire_read.lua", "top_up.lua"],
             [arrives, Not(S.has(n0)), d0 > S.now, ends],
             to("has", n0, True), to("key", n0, t0), to("ends", n0, d0))
    m.action("prolong", "a master prolongs a key", ["extend.lua", "extend_read.lua"],
             [arrives, there, d0 > S.now, ends], to("ends", n0, d0))
    m.action("unsent", "no byte of the only command was written when the connection broke",
             ["coordinator/dispatch.rs:strand"],
             [S.current(t0, n0), Not(S.old(t0, n0)), Not(there), Not(S.over(t0))],
             to("current", t0, n0, False), to("touched", t0, n0, False))
    # The client makes use of the answer once its attempt has lost; its connection may be another one by then.
    m.action("set_nothing", "nil answers a SET NX: it has set nothing, and no release is owed for it",
             ["lock/acquire.rs:roll_back", "lock/round.rs:refused"],
             [S.touched(t0, n0), Not(S.over(t0)),
              m.rule("sent once", "no proxy repeats a SET: its first copy would have set the key", Not(there),
                     breaks=["set_nothing/touched"]),
              m.rule("the only command", "nil answers the only command that could set this token there",
                     Not(S.again(t0, n0)), breaks=["set_nothing/touched"])],
             to("current", t0, n0, And(S.current(t0, n0), S.again(t0, n0))),
             to("old", t0, n0, And(S.old(t0, n0), S.again(t0, n0))), to("touched", t0, n0, False))
    owes = m.rule("every touched master", "a release is owed wherever a SET has left for", lambda z: S.touched(t0, z),
                  without=lambda z: And(S.touched(t0, z), S.has(z), S.key(z) == t0), breaks=["give_up/owed"])
    at_once = m.rule("not from the sending", "a debt is not certain because its release was sent", [], without=[
        to("certain", lambda x, z: Or(S.certain(x, z), x == t0)),
        to("since", lambda x, z: If(x == t0, S.now, S.since(x, z)))], breaks=["give_up/certain"])
    m.action("give_up", "a client owes a release to each master that its token has touched",
             ["lock/release.rs:owe", "lock/acquire.rs:roll_back"], [Not(S.over(t0))], to("over", t0, True),
             to("owed", lambda x, z: If(x == t0, owes(z), S.owed(x, z))), *at_once)
    m.action("break", "a connection breaks, and is a predecessor from then on", ["master/session/mod.rs:close"],
             [S.open(n0)], to("open", n0, False), to("current", lambda x, z: And(z != n0, S.current(x, z))),
             to("old", lambda x, z: If(z == n0, Or(S.old(x, z), S.current(x, z)), S.old(x, z))))
    m.action("reopen",
             "a connection opens once its predecessors are dead: CLIENT KILL was answered, or the server has restarted",
             ["master/session/handshake.rs:hand_over", "master/session/mod.rs:open", "master/ledger.rs:opened"],
             [Not(S.open(n0))], to("open", n0, True),
             *m.rule("predecessor killed", "a connection opens once its predecessor is dead",
                     [to("old", lambda x, z: And(z != n0, S.old(x, z)))], without=[],
                     breaks=["reopen/dead", "reopen/certain"]),
             to("since", lambda x, z: If(And(z == n0, S.owed(x, z), Not(S.certain(x, z))), S.now, S.since(x, z))),
             to("certain", lambda x, z: Or(S.certain(x, z), And(z == n0, S.owed(x, z)))))
    m.action("restart", "a master comes back empty, and its connections end", ["world"], [], to("has", n0, False),
             to("open", n0, False), to("current", lambda x, z: And(z != n0, S.current(x, z))),
             to("old", lambda x, z: And(z != n0, S.old(x, z))))
    m.action("settle", "an integer answers the release, behind all that was sent there before",
             ["master/session/releases.rs:debt_answered"],
             [S.open(n0), S.owed(t0, n0)], to("has", deleted), to("owed", t0, n0, False),
             *m.rule("behind its SET", "a release does not overtake its SET", [to("current", t0, n0, False)],
                     without=[], breaks=["settle/owed"]))
    m.action("unanswered", "a release ran, and its answer was lost: the debt stays", ["master/session/mod.rs:close"],
             [S.owed(t0, n0)], to("has", deleted))
    m.action("refuse", "an error answers the release: the debt is forgotten a life after nothing can arrive any more",
             ["master/ledger.rs:refused"], [S.open(n0), S.owed(t0, n0)], to("current", t0, n0, False),
             to("certain", t0, n0, True),
             to("since", t0, n0, If(S.certain(t0, n0), S.since(t0, n0), S.now)),
             to("owed", t0, n0, m.rule("errors settle nothing", "an error does not settle a debt",
                                       Or(Not(S.certain(t0, n0)), S.now <= S.since(t0, n0) + waited), without=False,
                                       breaks=["refuse/owed"])))

    may_arrive = lambda x, t, n: Or(x.current(t, n), x.old(t, n), And(x.has(n), x.key(n) == t))
    m.conjunct("ends", "each key has an end, within the longest life from now", lambda x: ForAll(
        [n], Implies(x.has(n), And(x.now < x.ends(n), x.ends(n) <= x.now + longest))))
    m.conjunct("touched", "where anything of a token is, or may arrive, a SET of it has left for", lambda x: ForAll(
        [t, n], Implies(may_arrive(x, t, n), x.touched(t, n))))
    m.conjunct("dead",
               "while a connection is open, its predecessors are dead; while there is none, nothing is on it; and "
               "only a "
               "token that was given up is owed", lambda x: ForAll([t, n], And(
                   Implies(x.open(n), Not(x.old(t, n))), Implies(Not(x.open(n)), Not(x.current(t, n))),
                   Implies(x.owed(t, n), x.over(t)))))
    m.conjunct("certain", "from when a debt is certain nothing of it arrives, and what is there ends a life later",
               lambda x: ForAll(
        [t, n], Implies(x.certain(t, n), And(
            x.over(t), x.since(t, n) <= x.now, Not(x.current(t, n)), Not(x.old(t, n)),
            Implies(And(x.has(n), x.key(n) == t), x.ends(n) <= x.since(t, n) + longest)))))
    m.conjunct("owed", "a client that has given a token up owes a release wherever its key is, or may arrive",
               lambda x: ForAll(
        [t, n], Implies(And(x.over(t), may_arrive(x, t, n)), x.owed(t, n))))
    m.goal("G3", "a key for which no client owes a release is of a token that was not given up",
           [S.has(n), S.key(n) == t, Not(S.owed(t, n))], Not(S.over(t)))
