"""Order: what a client may conclude from an answer. On one connection a master executes what was sent in its order, so
behind an answer nothing is on its way that was sent before. Between two connections there is no order: a connection
opens once each predecessor is dead.

The pages on hand-over, min_hold, debts and the agreement rest on this: *none late*, *marked*, *settle*, and a question
ahead of its votes.
"""
from induct import *


def build(m):
    Node, Link, Command = m.sort("Node", 2), m.sort("Link", 3), m.sort("Command", 3)
    S = m.state
    master = m.constant("master", Link, Node)            # a connection is to one master
    on = m.constant("on", Command, Link)                 # a command is sent on one connection
    m.variable("used", Link, Bool)                       # the client has made this connection
    m.variable("made", Link, Time)                       # the connections of a client are made one after the other
    m.variable("opened", Link, Bool)                     # it is or was open for commands
    m.variable("broken", Link, Bool)                     # the client sends nothing more on it
    m.variable("dead", Link, Bool)                       # the master executes nothing more of it
    m.variable("sent", Command, Bool)
    m.variable("place", Command, Time)                   # in the order in which they were sent
    m.variable("ran", Command, Bool)
    j, k, k0 = Consts("j k k0", Link)
    b, c, c0 = Consts("b c c0", Command)
    d0 = Real("d0")

    m.reads("master/session/handshake.rs", "(Some(theirs), Some(mine)) if theirs == mine => predecessor.client_id")

    m.starts(ForAll([k], And(Not(S.used(k)), Not(S.opened(k)), Not(S.broken(k)))),
             ForAll([c], And(Not(S.sent(c)), Not(S.ran(c)))))
    before = lambda k: And(S.used(k), k != k0, master(k) == master(k0))
    m.action("connect", "a client makes a connection, once those before it are broken",
             ["master/session/mod.rs:dial", "master/session/handshake.rs:connected"],
             [Not(S.used(k0)), ForAll([k], Implies(before(k), And(S.broken(k), S.made(k) < d0)))],
             to("used", k0, True), to("made", k0, d0))
    m.action("open",
             "a connection opens once its predecessors are dead: CLIENT KILL was answered, or the server is another",
             ["master/session/handshake.rs:hand_over", "master/session/mod.rs:open"],
             [S.used(k0), Not(S.broken(k0)), m.rule(
                 "predecessor dead", "a connection opens once its predecessors are dead",
                 ForAll([k], Implies(And(before(k), S.made(k) < S.made(k0)), S.dead(k))), breaks=["open/succession"])],
             to("opened", k0, True))
    m.action("send",
             "a client queues a command that may set, prolong or delete a key, behind all others of the connection",
             ["master/session/pipe.rs:push"],
             [Not(S.sent(c0)), S.opened(on(c0)), Not(S.broken(on(c0))), m.rule(
                 "one queue", "a command is queued behind all others of its connection",
                 ForAll([c], Implies(And(S.sent(c), on(c) == on(c0)), S.place(c) < d0)),
                 breaks=["send/places", "send/prefix"])],
             to("sent", c0, True), to("place", c0, d0))
    m.action("run", "a master executes the next command of a connection that is not dead", ["world"],
             [S.sent(c0), Not(S.ran(c0)), Not(S.dead(on(c0))), m.rule(
                 "in order", "a master executes the commands of a connection in their order", ForAll([c], Implies(
                     And(S.sent(c), on(c) == on(c0), S.place(c) < S.place(c0)), S.ran(c))), breaks=["run/prefix"])],
             to("ran", c0, True))
    m.action("break", "a client gives a connection up", ["master/session/mod.rs:close"], [], to("broken", k0, True))
    m.action("die", "a master has killed a connection, or ends with it", ["world"], [], to("dead", k0, True))
    m.conjunct("used", "what was sent, was sent on a connection that had opened, and that was made", lambda x: And(
        ForAll([c], Implies(x.sent(c), x.opened(on(c)))), ForAll([k], Implies(x.opened(k), x.used(k))),
        ForAll([c], Implies(x.ran(c), x.sent(c)))))
    m.conjunct("places", "two commands of a connection have different places", lambda x: ForAll(
        [b, c], Implies(And(x.sent(b), x.sent(c), b != c, on(b) == on(c)), x.place(b) != x.place(c))))
    m.conjunct("prefix", "what ran of a connection is all that was sent up to some command", lambda x: ForAll(
        [b, c], Implies(And(x.ran(c), x.sent(b), on(b) == on(c), x.place(b) < x.place(c)), x.ran(b))))
    m.conjunct("one after the other", "of two connections to a master, the one that was made first is broken",
               lambda x: ForAll([j, k], Implies(And(x.used(j), x.used(k), j != k, master(j) == master(k)), Or(
                   And(x.made(j) < x.made(k), x.broken(j)), And(x.made(k) < x.made(j), x.broken(k))))))
    m.conjunct("succession", "once a connection has opened, those before it are dead", lambda x: ForAll(
        [j, k], Implies(And(x.opened(k), x.used(j), master(j) == master(k), x.made(j) < x.made(k)), x.dead(j))))
    m.goal("behind an answer", "once a command has run, nothing is on its way that was sent there before it",
           [S.ran(c), S.sent(b), on(b) == on(c), S.place(b) < S.place(c)], S.ran(b))
    m.goal("behind a hand-over", "once a connection has opened, nothing runs any more that was sent before it",
           [m.step("run"), S.opened(k), master(k) == master(on(c0)), S.made(on(c0)) < S.made(k)], False)
