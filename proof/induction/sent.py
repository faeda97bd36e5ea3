"""When a vote counts: in the code a vote counts if the master voted, as far as the client knew, when the command was
sent; on the other pages, if it votes when the command runs. The second follows from the first.

A client estimates when a master has started, from the uptime that the master reports, and never moves the estimate
back.
"""
from induct import *


def build(m):
    Node, Command = m.sort("Node", 2), m.sort("Command", 2)
    S = m.state
    at = m.constant("at", Command, Node)
    guard = m.constant("guard", Time)                    # D
    second = m.constant("second", Time)                  # the grain of an uptime
    m.variable("boot", Node, Time)                       # the last start of a master, which has another run_id then
    m.variable("connected", Node, Bool)
    m.variable("life", Node, Time)                       # the start of the life that the connection is to
    m.variable("met", Node, Bool)                        # the client has met a life of this master
    m.variable("met_life", Node, Time)                   # this one, last
    m.variable("met_at", Node, Time)                     # at this time, first
    m.variable("judged", Node, Bool)                     # the client has judged the life that it is connected to
    m.variable("estimate", Node, Time)                   # the latest time at which it may have started
    m.variable("sent", Command, Bool)
    m.variable("votes", Command, Bool)                   # it was sent as a vote that counts
    m.variable("sent_to", Command, Time)                 # the start of the life that it was sent to
    m.variable("ran", Command, Bool)
    n, n0 = Consts("n n0", Node)
    c, c0 = Consts("c c0", Command)
    d0, uptime, asked, heard, question = Reals("d0 uptime asked heard question")

    m.assume("guard", "the guard is a span, and so is a second", And(guard > 0, second > 0))
    m.reads("quorum/standing.rs", "let ran = uptime.saturating_sub(UPTIME_ROUNDS_UP);")
    m.reads("master/session/standing.rs", "known_since.map_or(start, |since| start.min(Start::at(since)))")
    m.reads("master/session/standing.rs", "let replaced = if self.is_new() { just_now } else { reported };")
    m.reads("master/session/standing.rs", "self.start = self.start.max(Some(reported)).max(Some(replaced));")

    m.starts(ForAll([n], And(S.boot(n) <= S.now, Not(S.connected(n)), Not(S.judged(n)), Not(S.met(n)))),
             ForAll([c], And(Not(S.sent(c)), Not(S.ran(c)), Not(S.votes(c)))))
    m.action("tick", "time goes by", ["world"], [d0 > S.now], to("now", d0))
    m.action("restart", "a master comes back empty", ["world"], [S.boot(n0) < S.now], to("boot", n0, S.now))
    m.action("connect", "a connection is to one life of a master, which has to be judged",
             ["master/session/handshake.rs:connected"],
             [], to("connected", n0, True), to("life", n0, S.boot(n0)),
             *m.rule("judged anew", "each connection is judged anew", [to("judged", n0, False)], without=[],
                     breaks=["connect/never early"]))
    m.action("break", "a connection breaks", ["master/session/mod.rs:close"], [], to("connected", n0, False),
             to("judged", n0, False))
    # INFO ran at `asked`, and was read when it was `heard`. Uptime is the difference of two whole seconds: up to a
    # second too long.
    ran = m.rule("rounded up", "a second is taken off the uptime", If(uptime > second, uptime - second, 0),
                 without=uptime, breaks=["judge/never early"])
    read = m.rule("from the reading", "the uptime counts back from when it was read", heard, without=question,
                  breaks=["judge/never early"])
    known = And(S.met(n0), S.met_life(n0) == S.life(n0))
    no_later = If(And(known, S.met_at(n0) < read - ran), S.met_at(n0), read - ran)
    reported = If(And(S.met(n0), Not(known)), S.now, no_later)
    m.action("judge",
             "a client estimates the start: from the uptime, no later than it has met this process, from now on if the "
             "process is another; never earlier than before. It may be later: INFO may be denied",
             ["master/session/standing.rs:judge_standing", "quorum/standing.rs:reported"],
             [S.connected(n0), S.life(n0) <= asked, asked <= heard, heard <= S.now, question <= asked,
              uptime >= 0, uptime <= (asked - S.life(n0)) + second, d0 >= reported,
              Implies(S.met(n0), d0 >= S.estimate(n0))],
             to("estimate", n0, d0), to("judged", n0, True),
             to("met", n0, True), to("met_life", n0, S.life(n0)), to("met_at", n0, If(known, S.met_at(n0), S.now)))
    m.action("send", "a client sends a command; whether its vote counts is decided now",
             ["master/session/standing.rs:takes", "master/session/standing.rs:warming_up",
              "quorum/standing.rs:votes_from"],
             [S.connected(n0), Not(S.sent(c0)), at(c0) == n0, S.judged(n0)],
             to("sent", c0, True), to("votes", c0, S.estimate(n0) + guard <= S.now), to("sent_to", c0, S.life(n0)))
    m.action("run", "a master executes a command, on the connection on which it was sent, so in that life", ["world"],
             [S.sent(c0), Not(S.ran(c0)), m.rule("one life", "a connection does not outlive its master",
                                                 S.sent_to(c0) == S.boot(at(c0)),
                                                 breaks=["goal/lemma"])], to("ran", c0, True))
    m.conjunct("past", "no start is of the future, and only what is connected is judged", lambda x: ForAll([n], And(
        x.boot(n) <= x.now, Implies(x.connected(n), x.life(n) <= x.boot(n)),
        Implies(x.judged(n), And(x.connected(n), x.met(n))))))
    m.conjunct("met", "a life that was met had begun by then", lambda x: ForAll([n], Implies(
        x.met(n), And(x.met_life(n) <= x.met_at(n), x.met_at(n) <= x.now, x.met_life(n) <= x.boot(n)))))
    m.conjunct("never early", "the estimate of the start of the life that a client is connected to is never too early",
               lambda x: ForAll([n], Implies(x.judged(n), And(x.met_life(n) == x.life(n), x.estimate(n) >= x.life(n)))))
    m.conjunct("voted", "a command that counts was sent a guard after the start of the life that it was sent to",
               lambda x: ForAll([c], Implies(And(x.sent(c), x.votes(c)), x.sent_to(c) + guard <= x.now)))
    m.goal("lemma", "a command whose vote counts runs at a master that has been up for the guard",
           [m.step("run"), S.votes(c0)], S.boot(at(c0)) + guard <= S.now)
