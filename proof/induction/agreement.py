"""The agreement: clients whose lists of masters have none in common. Questions, notes, shields, waves of one round,
votes that count only behind an answer, and clients that shut down and take their notes back.

Of two such clients both are valid only if neither knew of the other when its round began, and both know of each other
if both had asked one master that remembers. `trust` is the time for which a round must exclude: also that of keys that
stay after it (min_hold, a lock-delay, a detached lock, a debt). A client that has no part of its own in a note, or is
of an older version, takes nothing back.
"""
from induct import *


def build(m):
    Node, Kind, Client, Ask, Round, Quorum = (m.sort(name, size) for name, size in [
        ("Node", 2), ("Kind", 2), ("Client", 3), ("Ask", 2), ("Round", 2), ("Quorum", 2)])
    S = m.state
    member = m.constant("member", Quorum, Node, Bool)    # a quorum has this master
    quorum = m.constant("quorum", Quorum, Kind, Bool)    # it is a majority of each list of clients of this kind
    odds = m.constant("odds", Kind, Kind, Bool)          # two kinds of clients have no list in common
    settings = m.constant("settings", Client, Kind)
    who = m.constant("who", Ask, Client)                 # the client that asks
    node = m.constant("node", Ask, Node)                 # the master that it asks
    by = m.constant("by", Round, Client)                 # the client of a round
    trust = m.constant("trust", Round, Time)             # longest real time for which a round must exclude
    guard = m.constant("guard", Kind, Time)              # D, by the numbers of a kind of clients
    note_life = m.constant("note_life", Ask,
                           Time)       # shortest real life of a note: brief before a client's first round
    silence = m.constant("silence", Time)                # L: longest real time for which a confirmation counts
    m.variable("sent", Ask, Bool)
    m.variable("asked", Ask, Time)                       # when a question was queued
    m.variable("agreed", Ask, Bool)                      # the master has executed it, and agrees
    m.variable("ran", Ask, Time)
    m.variable("epoch", Ask, Time)                       # the start of the master's life in which it ran
    m.variable("boot", Node, Time)
    m.variable("note", Client, Node, Bool)               # a client's part of a note stands at a master
    m.variable("stands", Client, Node, Time)             # until then
    m.variable("quit", Client, Bool)                     # a client sends nothing more
    m.variable("begun", Round, Bool)
    m.variable("start", Round, Time)
    m.variable("over", Round, Bool)                      # its client has given it up: it excludes no more
    m.variable("knows", Round, Kind, Bool)               # its client knew of clients of this kind when it began
    m.variable("heard", Round, Node, Bool)               # a master had answered it in time
    m.variable("heard_by", Round, Node, Ask)
    m.variable("shield", Round, Node, Bool)              # a master keeps the others away until it is over
    m.variable("shield_by", Round, Node, Ask)
    m.variable("wave", Round, Node, Bool)                # a command of the round was sent to a master
    m.variable("wave_by", Round, Node, Ask)              # on the strength of this question, ahead on the connection
    m.variable("wave_at", Round, Node, Time)
    m.variable("ack", Round, Node, Bool)                 # the master has granted it, and its answer counts
    m.variable("ran_at", Round, Node, Time)
    a, b, a0 = Consts("a b a0", Ask)
    n, n0 = Consts("n n0", Node)
    k, j = Consts("k j", Kind)
    c, c0, c1 = Consts("c c0 c1", Client)
    r, s, r0 = Consts("r s r0", Round)
    q, q0, q1 = Consts("q q0 q1", Quorum)
    d0 = Real("d0")
    kind, kind_of = lambda a: settings(who(a)), lambda r: settings(by(r))
    read_at = Function("read_at", Ask, Time)             # when an answer was read: any time
    # What a new round knows, has heard, and whose masters are its shields, by which questions.
    knows, hears, shielded = Function("new_knows", Kind, Bool), Function("new_hears", Node,
                                                                         Bool), Function("new_shield", Node, Bool)
    heard_by, shield_by = Function("new_heard_by", Node, Ask), Function("new_shield_by", Node, Ask)

    m.assume("spans", "a guard is as long as each round of its clients is trusted, and each span is one", And(
        silence > 0, ForAll([r], And(trust(r) > 0, trust(r) <= guard(kind_of(r)))), ForAll([a], note_life(a) > 0)))
    m.assume("odds", "clients are at odds both ways, and a quorum has a master", And(
        ForAll([k, j], Implies(odds(k, j), And(odds(j, k), k != j))),
        ForAll([q, k], Implies(quorum(q, k), Exists([n], member(q, n))))))

    m.reads("agree.lua", "if lists and left > 0 and not common then differ(")
    m.reads("agree.lua", "if life == 0 or #answer > 2 then return answer end")
    m.reads("agree.lua", "parts[mine] = math.max(parts[mine] or 0, now + life)")
    m.reads("withdraw.lua", "local keeps = math.min(ends_at(mine), now + tonumber(ARGV[2]))")
    m.reads("quorum/agreement.rs", "LONGEST_SILENCE: Duration = Duration::from_secs(15)")
    m.reads("quorum/agreement.rs", "now.since(asked) <= LONGEST_SILENCE")
    m.reads("quorum/agreement.rs", "left > list.len / 2")

    m.starts(ForAll([a], And(Not(S.sent(a)), Not(S.agreed(a)))), ForAll([c, n], Not(S.note(c, n))),
             ForAll([c], Not(S.quit(c))),
             ForAll([n], S.boot(n) <= S.now), ForAll([r], And(Not(S.begun(r)), Not(S.over(r)))),
             ForAll([r, n], And(Not(S.ack(r, n)), Not(S.wave(r, n)), Not(S.shield(r, n)), Not(S.heard(r, n)))))
    since = m.rule("from the question", "a confirmation counts from the question", lambda x, a: x.asked(a),
                   without=lambda x, a: read_at(a), breaks=["begin/kept away", "grant/kept away", "goal/G9 one"])
    longer = m.rule("with the silence", "a note outlives a round by the longest silence", silence, without=RealVal(0),
                    breaks=["begin/kept away", "grant/kept away", "goal/G9 one"])
    lasts = m.rule("lasting notes", "a round rests on notes that outlive it",
                   lambda a, r: note_life(a) >= trust(r) + longer,
                   without=lambda a, r: note_life(a) > 0, breaks=["begin/kept away", "grant/kept away", "goal/G9 one"])
    fresh = lambda x, a, at: And(x.agreed(a), since(x, a) >= at - silence, x.ran(a) <= at)
    up_for_us = lambda x, a, r, at: x.epoch(a) + guard(kind_of(r)) <= at
    up_for_them = m.rule("their guard",
                         "a shield has been up for the other's guard, too: guards are the greater of both",
                         lambda x, a, j, at: x.epoch(a) + guard(j) <= at, without=lambda x, a, j, at: BoolVal(True),
                         breaks=["begin/kept away"])
    outlasts = m.rule("lasting shields", "the other's guard, from our question on, outlasts our round",
                      lambda x, a, j, at, r: x.asked(a) + guard(j) >= at + trust(r),
                      without=lambda x, a, j, at, r: BoolVal(True), breaks=["begin/kept away", "grant/kept away"])
    shields = lambda x, a, r, at, known: And(
        fresh(x, a, at), who(a) == by(r), lasts(a, r), ForAll([j], Implies(And(known(j), odds(kind_of(r), j)), And(
            up_for_us(x, a, r, at), up_for_them(x, a, j, at), outlasts(x, a, j, at, r)))))
    in_time = lambda x, a, at: And(x.sent(a), x.asked(a) <= at, since(x, a) >= at - silence)

    m.action("tick", "time goes by", ["world"], [d0 > S.now], to("now", d0))
    m.action("ask", "a client queues a question: the time counts from here",
             ["master/session/confirmation.rs:ask_to_confirm"],
             [Not(S.sent(a0)), Not(S.agreed(a0))], to("sent", a0, True), to("asked", a0, S.now))
    alone = ForAll([c], Implies(odds(kind(a0), settings(c)), Not(S.note(c, node(a0)))))
    one_by_one = ForAll([b], Implies(And(S.agreed(b), node(b) == node(a0)), S.ran(b) < S.now))
    m.action("agree", "a master finds no note of a client at odds; the note is prolonged, never shortened",
             ["agree.lua"],
             [S.sent(a0), Not(S.agreed(a0)), d0 >= S.now + note_life(a0), one_by_one,
              m.rule("one side", "a note is not made while one at odds stands", alone,
                     breaks=["agree/exclusive", "agree/excluded"]),
              m.rule("no shorter", "a note is never shortened by a question", Implies(
                  S.note(who(a0), node(a0)), d0 >= S.stands(who(a0), node(a0))), breaks=["agree/notes", "agree/kept"])],
             to("agreed", a0, True), to("ran", a0, S.now), to("epoch", a0, S.boot(node(a0))),
             to("note", who(a0), node(a0), True),
             to("stands", who(a0), node(a0), d0))
    m.action("lapse", "the time of a note is over", ["agree.lua"], [S.note(c0, n0), S.now >= S.stands(c0, n0)],
             to("note", c0, n0, False))
    m.action("quit", "a client sends nothing more; its questions may still be on their way",
             ["coordinator/requests.rs:handle_withdraw", "master/session/departure.rs:withdraw"], [],
             to("quit", c0, True))
    m.action("take_back", "a client's part of a note ends once what it has sent is over",
             ["withdraw.lua", "master/departure.rs:take_notes_back"],
             [S.note(c1, n0), d0 <= S.stands(c1, n0),
              m.rule("own part", "a client takes back its own part of a note", c1 == c0,
                     without=settings(c1) == settings(c0), breaks=["take_back/notes", "take_back/kept"]),
              m.rule("only at the end", "a client that goes on takes nothing back", S.quit(c0),
                     breaks=["take_back/notes"]),
              m.rule("what stays", "a note stays for as long as what was sent on it", ForAll([r], Implies(
                  And(S.begun(r), by(r) == c0),
                  Or(S.over(r), S.now >= S.start(r) + trust(r), d0 >= S.start(r) + trust(r)))),
                     breaks=["take_back/kept"])],
             to("stands", c1, n0, d0))
    m.action("restart", "a master comes back empty, and its connections are cut", ["world"], [S.boot(n0) < S.now],
             to("boot", n0, S.now), to("note", lambda x, z: And(z != n0, S.note(x, z))))
    m.action("begin",
             "a client begins a round: its shields keep each kind of clients at odds that it knows of from every "
             "quorum",
             ["master/barrier.rs:is_held_up", "master/barrier.rs:barred", "quorum/agreement.rs:shields"],
             [m.rule("no more rounds", "a client that has quit begins no round", Not(S.quit(by(r0))),
                     breaks=["begin/kept", "begin/excluded", "begin/kept away"]),
              Not(S.begun(r0)), ForAll([n], And(Not(S.ack(r0, n)), Not(S.wave(r0, n)))),
              ForAll([n],
                     Implies(shielded(n), And(node(shield_by(n)) == n, shields(S, shield_by(n), r0, S.now, knows)))),
              ForAll([n],
                     Implies(hears(n), And(node(heard_by(n)) == n, who(heard_by(n)) == by(r0), lasts(heard_by(n), r0),
                                                fresh(S, heard_by(n), S.now)))),
              m.rule("in each quorum", "a shield is in each quorum of the other", ForAll([j], Implies(
                  And(knows(j), odds(kind_of(r0), j)),
                  ForAll([q], Implies(quorum(q, j), Exists([n], And(member(q, n), shielded(n))))))),
                  without=ForAll([j], Implies(And(knows(j), odds(kind_of(r0), j)), Exists([n], shielded(n)))),
                     breaks=["begin/covers"])],
             to("begun", r0, True), to("start", r0, S.now),
             to("knows", lambda x, z: If(x == r0, knows(z), S.knows(x, z))),
             to("shield", lambda x, z: If(x == r0, shielded(z), S.shield(x, z))),
             to("shield_by", lambda x, z: If(x == r0, shield_by(z), S.shield_by(x, z))),
             to("heard", lambda x, z: If(x == r0, hears(z), S.heard(x, z))),
             to("heard_by", lambda x, z: If(x == r0, heard_by(z), S.heard_by(x, z))))
    m.action("send",
             "a client sends a command of a round, in any wave, behind a question that is young enough, answered or "
             "not",
             ["master/session/standing.rs:takes", "master/session/confirmation.rs:confirmed", "routing/first_node.rs"],
             [Not(S.quit(by(r0))), S.begun(r0), Not(S.wave(r0, n0)), who(a0) == by(r0), node(a0) == n0, lasts(a0, r0),
              S.sent(a0),
              m.rule("young question", "a confirmation counts for a limited time", since(S, a0) >= S.now - silence,
                     breaks=["send/waves"])],
             to("wave", r0, n0, True), to("wave_by", r0, n0, a0), to("wave_at", r0, n0, S.now))
    question = S.wave_by(r0, n0)
    m.action("grant",
             "the master executes it on that connection, so in the life in which it executed the question; it voted "
             "when "
             "the command was sent (sent.py)",
             ["master/session/confirmation.rs:conditional_vote", "lock/acquire.rs:answer"],
             [S.wave(r0, n0), Not(S.ack(r0, n0)), S.boot(n0) == S.epoch(question),
              m.rule("behind the answer", "a vote counts only behind an answer that agrees", S.agreed(question),
                     breaks=["grant/grants", "grant/kept away"]),
              m.rule("guard", "a master votes a guard after its start",
                     S.epoch(question) + guard(kind_of(r0)) <= S.wave_at(r0, n0),
                     breaks=["grant/grants", "grant/kept away"])],
             to("ack", r0, n0, True), to("ran_at", r0, n0, S.now))

    m.action("give_up", "a client gives a round up: it sends a release",
             ["lock/release.rs:begin_release", "lock/acquire.rs:roll_back"], [S.begun(r0)], to("over", r0, True))
    wins = lambda r, q: And(quorum(q, kind_of(r)), ForAll([n], Implies(member(q, n), S.ack(r, n))))
    m.action("win", "a client counts a quorum of grants, or of confirmations of its lock",
             ["lock/acquire.rs:judge_acquire", "lock/extend.rs:judge_extension"],
             [S.begun(r0), wins(r0, q0), d0 <= S.start(r0) + trust(r0)])

    live = lambda x, r: And(x.begun(r), Not(x.over(r)), x.now < x.start(r) + trust(r))
    rests = lambda x, a, r: And(x.begun(r), x.agreed(a), who(a) == by(r),
                                x.asked(a) + note_life(a) >= x.start(r) + trust(r))
    after = lambda x, a, b: And(x.agreed(a), x.agreed(b), node(a) == node(b), odds(kind(a), kind(b)),
                                x.epoch(a) == x.epoch(b),
                                x.ran(a) < x.ran(b))
    m.conjunct("past", "nothing is of the future", lambda x: And(
        ForAll([n], x.boot(n) <= x.now), ForAll([r], Implies(x.begun(r), x.start(r) <= x.now)),
        ForAll([r], Implies(x.over(r), x.begun(r))),
        ForAll([a], Implies(x.sent(a), x.asked(a) <= x.now)),
        ForAll([a],
               Implies(x.agreed(a), And(x.sent(a), x.asked(a) <= x.ran(a), x.ran(a) <= x.now, x.epoch(a) <= x.ran(a),
                                             x.epoch(a) <= x.boot(node(a)))))))
    m.conjunct("epochs", "what ran before a master's last start belongs to an earlier life of it", lambda x: ForAll(
        [a], Implies(x.agreed(a), And(Implies(x.ran(a) < x.boot(node(a)), x.epoch(a) < x.boot(node(a))),
                                      Implies(x.epoch(a) < x.boot(node(a)), x.ran(a) <= x.boot(node(a)))))))
    m.conjunct("notes",
               "the note of what a master has agreed to stands for its life, unless the master restarts or the client "
               "quits", lambda x: ForAll([a], Implies(And(x.agreed(a), x.epoch(a) == x.boot(node(a))), Or(
                   x.now >= x.ran(a) + note_life(a), x.quit(who(a)),
                   And(x.note(who(a), node(a)), x.stands(who(a), node(a)) >= x.ran(a) + note_life(a))))))
    m.conjunct("kept",
               "the note of a round stands for as long as the round is trusted, whatever its client has taken back",
               lambda x: ForAll([a, r], Implies(And(rests(x, a, r), x.epoch(a) == x.boot(node(a))), Or(
                   x.over(r), x.now >= x.start(r) + trust(r),
                   And(x.note(by(r), node(a)), x.stands(by(r), node(a)) >= x.start(r) + trust(r))))))
    m.conjunct("apart", "a master does one thing after the other", lambda x: ForAll(
        [a, b], Implies(And(x.agreed(a), x.agreed(b), a != b, node(a) == node(b)), x.ran(a) != x.ran(b))))
    m.conjunct("exclusive",
               "a master that remembers agrees to one of two at odds only once the other's note is over, or its "
               "client has quit", lambda x: ForAll([a, b], Implies(
                   after(x, a, b), Or(x.ran(b) >= x.ran(a) + note_life(a), x.quit(who(a))))))
    m.conjunct("excluded", "and only once each round is over that rests on that note", lambda x: ForAll(
        [a, b, r], Implies(And(after(x, a, b), rests(x, a, r)),
                           Or(x.over(r), x.ran(b) >= x.start(r) + trust(r)))))
    m.conjunct("lives", "the lives of a master follow each other", lambda x: ForAll([a, b], Implies(
        And(x.agreed(a), x.agreed(b), node(a) == node(b), x.epoch(a) < x.epoch(b)), x.ran(a) <= x.epoch(b))))
    m.conjunct("shields", "a shield was one when its round began", lambda x: ForAll([r, n], Implies(x.shield(r, n), And(
        x.begun(r), node(x.shield_by(r, n)) == n,
        shields(x, x.shield_by(r, n), r, x.start(r), lambda j: x.knows(r, j))))))
    m.conjunct("heard", "what a round had heard, it had heard in time",
               lambda x: ForAll([r, n], Implies(x.heard(r, n), And(
        x.begun(r), node(x.heard_by(r, n)) == n, who(x.heard_by(r, n)) == by(r), lasts(x.heard_by(r, n), r),
        fresh(x, x.heard_by(r, n), x.start(r))))))
    m.conjunct("waves", "what was sent, was sent behind a young question, after its round began", lambda x: ForAll(
        [r, n], Implies(x.wave(r, n), And(
            x.begun(r), x.start(r) <= x.wave_at(r, n), x.wave_at(r, n) <= x.now, node(x.wave_by(r, n)) == n,
            who(x.wave_by(r, n)) == by(r), lasts(x.wave_by(r, n), r), in_time(x, x.wave_by(r, n), x.wave_at(r, n))))))
    m.conjunct("grants",
               "a grant came behind an answer that agreed, from a master that voted, in the life of that answer",
               lambda x: ForAll([r, n], Implies(x.ack(r, n), And(
                   x.wave(r, n), x.wave_at(r, n) <= x.ran_at(r, n), x.ran_at(r, n) <= x.now, x.agreed(x.wave_by(r, n)),
                   x.ran(x.wave_by(r, n)) <= x.ran_at(r, n),
                   x.epoch(x.wave_by(r, n)) + guard(kind_of(r)) <= x.wave_at(r, n),
                   Implies(x.epoch(x.wave_by(r, n)) < x.boot(n), x.ran_at(r, n) <= x.boot(n))))))
    m.conjunct("before", "a grant came before the next life of its master", lambda x: ForAll([r, n, a], Implies(And(
        x.ack(r, n), x.agreed(a), node(a) == n, x.epoch(x.wave_by(r, n)) < x.epoch(a)), x.ran_at(r, n) <= x.epoch(a))))
    m.conjunct("covers", "a client that knew of another had a shield in each quorum of it",
               lambda x: ForAll([r, j, q], Implies(
        And(x.begun(r), x.knows(r, j), odds(kind_of(r), j), quorum(q, j)),
                   Exists([n], And(member(q, n), x.shield(r, n))))))
    m.conjunct("kept away",
               "a shield of a trusted round grants to no trusted round of a client at odds that it knew of",
               lambda x: ForAll([r, s, n], Not(And(
                   x.shield(r, n), x.ack(s, n), odds(kind_of(r), kind_of(s)), x.knows(r, kind_of(s)), live(x, r),
                   live(x, s)))))
    both = [odds(kind_of(r), kind_of(s)), live(S, r), live(S, s)]
    m.goal("G9", "two clients at odds are both valid only if neither knew of the other",
           [*both, wins(r, q0), wins(s, q1), Or(S.knows(r, kind_of(s)), S.knows(s, kind_of(r)))], False)
    m.goal("G9 one",
           "one master that both had asked in time, and that has kept its memory, is enough: it did not agree to both",
           [*both, S.heard(r, n), S.heard(s, n), S.epoch(S.heard_by(r, n)) == S.epoch(S.heard_by(s, n))], False)
