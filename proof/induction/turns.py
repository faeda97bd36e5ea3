"""Turns: stamps, tickets, places, kept keys and withdrawals of clients that wait in turn. A waiter that is stored at a
quorum is served before all that come later.

A try is an attempt from a place (ask.lua with a token); a SET is the first attempt of a client. The clocks of masters
may show anything: a place may end at any time here. What is kept for a waiter ends by time.
"""
from induct import *


def build(m):
    Node, Waiter, Try, Quorum = (m.sort(name, size) for name, size in
                                 [("Node", 2), ("Waiter", 2), ("Try", 2), ("Quorum", 2)])
    S = m.state
    member = m.constant("member", Quorum, Node, Bool)    # a quorum has this master
    by = m.constant("by", Try, Waiter)                   # the client that tries
    in_turn = m.constant("in_turn", Try, Bool)           # from its place, or by a plain SET
    guard = m.constant("guard", Time)                    # D
    place_life, kept_life = m.constant("place_life", Time), m.constant("kept_life", Time)
    m.variable("boot", Node, Time)
    m.variable("has", Node, Bool)                        # a token is under the key
    m.variable("kept", Node, Bool)                       # the key is kept for a waiter
    m.variable("kept_for", Node, Waiter)
    m.variable("kept_until", Node, Time)
    m.variable("asked_since", Node, Bool)                # that waiter has asked there since it is kept
    m.variable("stands", Node, Waiter, Bool)             # a waiter is in the queue of a master
    m.variable("score", Node, Waiter, Time)              # by this number
    m.variable("lives_until", Node, Waiter, Time)        # at the latest
    m.variable("voted", Node, Waiter, Bool)              # its stamp there was given by a master that voted
    m.variable("come", Waiter, Bool)                     # it has sent its first command
    m.variable("counted", Waiter, Node, Bool)            # the client counts the stamp of this master
    m.variable("stamp", Waiter, Node, Time)
    m.variable("has_ticket", Waiter, Bool)
    m.variable("ticket", Waiter, Time)
    m.variable("ticket_by", Waiter, Quorum)
    m.variable("stored", Waiter, Bool)                   # a quorum has its ticket
    m.variable("stored_by", Waiter, Quorum)
    m.variable("later", Waiter, Waiter, Bool)            # the first came after the second was stored
    m.variable("lives", Waiter, Bool)                    # its place lives, as SAFETY.md means it
    m.variable("shut", Waiter,
               Bool)                     # each master of its quorum was held or kept since it was stored
    m.variable("ack", Try, Node, Bool)                   # the master has granted a try or a SET, and its answer counts
    m.variable("heard", Waiter, Time)                    # when the last round began that a quorum has answered
    m.variable("unable", Waiter, Bool)                   # so many masters cannot grant that no quorum is left
    m.variable("out", Waiter, Bool)                      # it has withdrawn, at this time
    m.variable("out_at", Waiter, Time)
    m.variable("won", Waiter, Bool)
    m.variable("left", Node, Waiter, Bool)               # it has left the queue of a master
    n, n0 = Consts("n n0", Node)
    w, x, w0, w1 = Consts("w x w0 w1", Waiter)
    q, p, q0 = Consts("q p q0", Quorum)
    i, i0 = Consts("i i0", Try)
    d0, d1 = Real("d0"), Real("d1")

    m.assume("meet", "any two quorums have a master in common", m.rule(
        "quorums", "any two quorums meet", ForAll([q, p], Exists([n], And(member(q, n), member(p, n)))),
        without=ForAll([q], Exists([n], member(q, n))), breaks=["take_ticket/order", "goal/G18", "goal/G18 first"]))
    m.assume("lives", "the guard, the life of a place and that of a kept key are spans",
             And(guard > 0, place_life > 0, kept_life > 0))
    m.assume("kept", "a key is kept for at least as long as a short place lives: 4 s and 3 s", m.rule(
        "kept longer", "a key is kept for at least as long as a short place lives", kept_life >= place_life,
        breaks=["leave/outlasts", "release/outlasts", "keep/outlasts"]))

    m.reads("ask.lua", "stamp = math.max(us, last and last + 1 or 0)")
    m.reads("ask.lua", "local stamp = ticket or redis.call('ZSCORE', queue, waiter)")
    m.reads("ask.lua", "elseif head ~= waiter then")
    m.reads("ask.lua", "if token ~= '' and why ~= 0 and head and holder ~= 'quorumlock:next:' .. head then")
    m.reads("leave.lua", "local freed = ours or leaves and waiter ~= '' and holder == 'quorumlock:next:' .. waiter")
    m.reads("leave.lua", "if freed or ARGV[3] == 'hold' and (not holder or kept) then")
    m.reads("acquire.lua", "local kept = won and holder and string.sub(holder, 1, 16) == 'quorumlock:next:'")
    m.reads("waiting/in_turn/look.rs", "match session.part_of_question(command.len(), cx.now) {")
    m.reads("master/session/standing.rs",
            "(Ok(()), Some(remaining)) => Part::Uncounted(Refusal::WarmingUp { remaining }),")
    m.reads("waiting/in_turn/turn.rs",
            "Event::Silent if now >= self.stored_until => return Event::Unheard")
    m.reads("waiting/in_turn/turn.rs", "_ => self.stored_until = self.asked_at.after(self.place.lives)")
    m.reads("leave.lua", "return type(ends) == 'string' and tonumber(ends) > soon")

    m.starts(ForAll([w], And(Not(S.come(w)), Not(S.has_ticket(w)), Not(S.stored(w)), Not(S.lives(w)), Not(S.shut(w)))),
             ForAll([w], And(Not(S.out(w)), Not(S.won(w)))), ForAll([n], And(S.boot(n) <= S.now, Not(S.kept(n)))),
             ForAll([w, n], And(Not(S.counted(w, n)), Not(S.stands(n, w)), Not(S.left(n, w)))),
             ForAll([w, x], Not(S.later(w, x))), ForAll([i, n], Not(S.ack(i, n))))
    # A place lives while each master of its quorum has it, or has restarted so lately that it does not vote.
    there = lambda w, at: ForAll([n], Implies(member(S.stored_by(w), n), Or(S.stands(n, w), S.boot(n) + guard > at)))
    votes = m.rule("guard", "a master votes a guard after its start", S.boot(n0) + guard <= S.now,
                   breaks=["stamp/behind", "stamp/voted", "grant_turn/refused", "grant_set/not set"])
    here = m.rule("nothing behind", "nothing of a waiter comes behind its withdrawal", lambda w: Not(S.left(n0, w)),
                  without=lambda w: BoolVal(True), breaks=["stamp/gone", "store/gone", "grant_turn/gone"])
    # What opens a master that votes ends the promise about first attempts for the waiters that are stored there.
    opens = lambda z: And(S.shut(z), Not(And(member(S.stored_by(z), n0), S.boot(n0) + guard <= S.now)))
    place_ends = lambda z: And(S.lives(z), Not(And(z == w0, member(S.stored_by(z), n0), S.boot(n0) + guard <= S.now)))
    # One that is far back asks for a long life.
    asks = [to("lives_until", n0, w0, d1),
            to("asked_since", lambda z: Or(S.asked_since(z), And(z == n0, S.kept_for(z) == w0)))]
    cut = m.rule("cut places", "where a key is kept for a waiter, its place is cut to the life of a short one",
                 lambda w: If(S.lives_until(n0, w) > S.now + place_life, S.now + place_life, S.lives_until(n0, w)),
                 without=lambda w: S.lives_until(n0, w), breaks=["leave/outlasts", "release/outlasts", "keep/outlasts"])
    keep = [to("lives_until", n0, w0, cut(w0)), to("kept_for", n0, w0), to("kept_until", n0, S.now + kept_life), to("asked_since", n0, False)]

    m.action("tick", "time goes by; a place lives on if each master whose guard ends has it again by then", ["world"],
             [d0 > S.now], to("now", d0), to("lives", lambda z: And(S.lives(z), there(z, d0))),
             to("shut", lambda z: And(S.shut(z), ForAll([n], Implies(
                 member(S.stored_by(z), n), Or(S.has(n), S.kept(n), S.boot(n) + guard > d0))))))
    m.action("come", "a client sends its first command for the resource", ["lock/attempt.rs:attempt"],
             [Not(S.come(w0))], to("come", w0, True), to("heard", w0, S.now))
    m.action("stamp", "a master stamps a waiter that it does not know behind all that are there", ["ask.lua"],
             [S.come(w0), Not(S.has_ticket(w0)), Not(S.stands(n0, w0)), here(w0),
              m.rule("behind all", "a stamp is above all that are in the queue",
                     ForAll([x], Implies(S.stands(n0, x), d0 > S.score(n0, x))), breaks=["stamp/behind"])],
             *asks, to("stands", n0, w0, True), to("score", n0, w0, d0), to("voted", n0, w0, votes))
    m.action("answer", "a client counts the stamp of a master that voted when it gave it",
             ["waiting/in_turn/look.rs:learn_place", "lock/attempt.rs:attempt"],
             [S.come(w0), Not(S.has_ticket(w0)), S.stands(n0, w0), votes,
              m.rule("fresh stamp", "a stamp that was given while the master warmed up never counts", S.voted(n0, w0),
                     breaks=["answer/behind"])],
             to("counted", w0, n0, True), to("stamp", w0, n0, S.score(n0, w0)))
    enough = lambda: And(S.counted(w0, n), S.stamp(w0, n) <= d0)
    m.action("take_ticket", "a client takes a number that the stamps of a quorum do not exceed, once",
             ["quorum/turns.rs:ticket", "waiting/in_turn/turn.rs:take_ticket"],
             [S.come(w0), m.rule("one ticket", "a ticket is taken once", Not(S.has_ticket(w0)),
                                 breaks=["take_ticket/place", "take_ticket/by ticket", "take_ticket/behind",
                                         "take_ticket/order"]),
              m.rule("quorum of stamps", "the stamps of a quorum do not exceed it",
                     ForAll([n], Implies(member(q0, n), enough())),
                     without=Exists([n], And(member(q0, n), enough())),
                     breaks=["take_ticket/tickets", "take_ticket/order"])],
             to("has_ticket", w0, True), to("ticket", w0, d0), to("ticket_by", w0, q0))
    m.action("store", "a look stores the ticket at a master",
             ["ask.lua", "waiting/in_turn/look.rs:look_where_it_stands"],
             [S.has_ticket(w0), here(w0)],
             *asks, to("stands", n0, w0, True), to("score", n0, w0, S.ticket(w0)))
    m.action("be_stored", "a quorum has the ticket: the promise begins, against all that come later", ["world"],
             [S.has_ticket(w0), Not(S.stored(w0)),
              ForAll([n], Implies(member(q0, n), And(S.stands(n, w0), S.score(n, w0) == S.ticket(w0))))],
             to("stored", w0, True), to("stored_by", w0, q0), to("lives", w0, True),
             to("later", lambda x, z: If(z == w0, Not(S.come(x)), S.later(x, z))),
             to("shut", w0, ForAll([n], Implies(member(q0, n), Or(S.has(n), S.kept(n))))))
    m.action("place_expires", "the life of a place is over, by this master's clock, which may show anything",
             ["ask.lua", "leave.lua"], [S.stands(n0, w0)], to("stands", n0, w0, False), to("lives", place_ends))
    m.action("hear", "a quorum has answered a look or a try that began at this time", ["waiting/in_turn/turn.rs:hears"],
             [S.come(w0), Not(S.out(w0)), d0 >= S.heard(w0), d0 <= S.now], to("heard", w0, d0))
    m.action("cannot", "so many masters answer that they cannot grant that no quorum is left", ["quorum/turns.rs:combined"],
             [S.come(w0), Not(S.out(w0))], to("unable", w0, True))
    m.action("withdraw",
             "a waiter that cannot win, or that no quorum has answered for the life of a place, gives up its place",
             ["waiting/in_turn/turn.rs:hears", "waiting/in_turn/leave.rs:withdraw_from_turn"],
             [S.come(w0), Not(S.out(w0)),
              m.rule("silence costs nothing", "a waiter keeps its place through a short silence",
                                                 Or(S.unable(w0), S.now >= S.heard(w0) + place_life),
                     breaks=["withdraw/stays"])],
             to("out", w0, True), to("out_at", w0, S.now))
    m.action("win", "a quorum has granted a try", ["lock/acquire.rs:judge_acquire"],
             [in_turn(i0), ForAll([n], Implies(member(q0, n), S.ack(i0, n)))], to("won", by(i0), True))
    others = Exists([x], And(S.stands(n0, x), x != w0))
    passes = And(S.kept(n0), S.kept_for(n0) == w0, others)
    m.action("leave",
             "a master takes a waiter that withdraws or has won out of its queue, behind all that it has sent; what "
             "was "
             "kept for it is kept for the next", ["leave.lua", "waiting/in_turn/leave.rs:leave_turn"],
             [Or(S.out(w0), S.won(w0)), Implies(others, And(S.stands(n0, w1), w1 != w0))],
             *m.rule("winners leave", "a winner leaves the queue", [to("stands", n0, w0, False)], without=[],
                     breaks=["leave/gone"]),
             to("left", n0, w0, True), to("lives", place_ends),
             to("kept", n0, And(S.kept(n0), Or(S.kept_for(n0) != w0, others))),
             to("kept_for", n0, If(passes, w1, S.kept_for(n0))),
             to("kept_until", n0, If(passes, S.now + kept_life, S.kept_until(n0))),
             to("lives_until", n0, w1, If(passes, cut(w1), S.lives_until(n0, w1))),
             to("asked_since", n0, And(Not(passes), S.asked_since(n0))))
    waiter = by(i0)
    m.action("grant_turn", "a master that votes grants a try to the first of its queue, where no token is", ["ask.lua"],
             [in_turn(i0), S.has_ticket(waiter), here(waiter), Not(S.has(n0)), votes,
              m.rule("first of the queue", "a try is granted to the first of the queue", ForAll([x], Implies(
                  And(S.stands(n0, x), x != waiter), S.ticket(waiter) <= S.score(n0, x))),
                     breaks=["grant_turn/refused"])],
             to("stands", n0, waiter, True), to("score", n0, waiter, S.ticket(waiter)),
             to("lives_until", n0, waiter, S.now + place_life), to("has", n0, True), to("kept", n0, False),
             to("ack", i0, n0, True))
    m.action("grant_set", "a master that votes executes a first attempt, which a token and a kept key refuse",
             ["acquire.lua"],
             [Not(in_turn(i0)), S.come(waiter), Not(S.has(n0)), votes,
              m.rule("kept refuses", "a kept key refuses a first attempt", Not(S.kept(n0)),
                     breaks=["grant_set/not set"])],
             to("has", n0, True), to("kept", n0, False), to("ack", i0, n0, True))
    m.action("set_uncounted", "a top-up takes over what is kept; so may whatever is sent to a master that warms up",
             ["top_up.lua", "lock/top_up.rs:top_up"], [Not(S.has(n0))], to("has", n0, True), to("kept", n0, False))
    some_waiter = Exists([x], S.stands(n0, x))
    m.action("release", "a release, a rollback or a withdrawal deletes the key, and keeps it for the first waiter",
             ["leave.lua"],
             [S.has(n0), Implies(some_waiter, S.stands(n0, w0))], *keep, to("has", n0, False),
             to("kept", n0,
                m.rule("kept for the next", "a release keeps the key for the first waiter", some_waiter, without=False,
                       breaks=["release/shut"])))
    m.action("keep", "a try that is refused keeps what is vacant, once for each waiter that is first", ["ask.lua"],
             [Not(S.has(n0)), S.stands(n0, w0), Or(Not(S.kept(n0)), S.kept_for(n0) != w0)], *keep, to("kept", n0, True))
    m.action("open", "the life of a key is over, or a plain client has released it, which keeps nothing",
             ["release.lua"],
             [Not(S.kept(n0))], to("has", n0, False), to("kept", n0, False), to("shut", opens))
    m.action("kept_ends", "the time is over for which the key was kept", ["world"],
             [S.kept(n0), S.now >= S.kept_until(n0)],
             to("kept", n0, False), to("shut", opens))
    m.action("restart", "a master comes back empty: no key, no queue", ["world"], [], to("boot", n0, S.now),
             to("has", n0, False), to("kept", n0, False), to("stands", lambda z, x: And(z != n0, S.stands(z, x))))

    fair = lambda y, w, n: And(y.lives(w), member(y.stored_by(w), n))
    m.conjunct("past", "no start is of the future", lambda y: ForAll([n], y.boot(n) <= y.now))
    m.conjunct("stages",
               "a place that is promised for is stored and has a ticket, and a waiter with any of these has come",
               lambda y: And(
                   ForAll([w, x], Implies(y.later(x, w), And(y.stored(w), y.has_ticket(w)))),
                   ForAll([w], Implies(Or(y.lives(w), y.stored(w)), And(y.stored(w), y.has_ticket(w)))),
                   ForAll([w, n], Implies(Or(y.counted(w, n), y.stands(n, w), y.has_ticket(w)), y.come(w)))))
    m.conjunct("place",
               "a place that lives is at each master of its quorum with its ticket, or the master does not vote",
               lambda y: ForAll([w, n], Implies(fair(y, w, n), Or(
                   And(y.stands(n, w), y.score(n, w) == y.ticket(w)), y.boot(n) + guard > y.now))))
    m.conjunct("by ticket", "a stored waiter stands at those masters by its ticket", lambda y: ForAll([w, n], Implies(
        And(y.stored(w), member(y.stored_by(w), n), y.stands(n, w)), y.score(n, w) == y.ticket(w))))
    m.conjunct("behind", "a later waiter is stamped behind it at each of those masters that votes", lambda y: ForAll(
        [w, x, n], Implies(And(fair(y, w, n), y.later(x, w)), And(
            Implies(y.counted(x, n), y.stamp(x, n) > y.ticket(w)),
            Implies(And(y.stands(n, x), y.voted(n, x), Not(y.has_ticket(x))), y.score(n, x) > y.ticket(w))))))
    m.conjunct("voted", "a master that gave a stamp as a voter votes", lambda y: ForAll([x, n], Implies(
        And(y.stands(n, x), y.voted(n, x), Not(y.has_ticket(x))), y.boot(n) + guard <= y.now)))
    m.conjunct("tickets", "a ticket is not below the stamps of a quorum", lambda y: ForAll([x, n], Implies(
        And(y.has_ticket(x), member(y.ticket_by(x), n)), And(y.counted(x, n), y.stamp(x, n) <= y.ticket(x)))))
    m.conjunct("order", "a later waiter has the greater ticket", lambda y: ForAll([w, x], Implies(
        And(y.lives(w), y.later(x, w), y.has_ticket(x)), y.ticket(x) > y.ticket(w))))
    m.conjunct("refused", "no master of its quorum has granted a try to a later waiter",
               lambda y: ForAll([w, i, n], Implies(
        And(fair(y, w, n), y.later(by(i), w), in_turn(i)), Not(y.ack(i, n)))))
    m.conjunct("shut", "where all of its masters are shut, each has a token or is kept, or does not vote",
               lambda y: ForAll(
        [w, n], Implies(And(fair(y, w, n), y.shut(w)), Or(y.has(n), y.kept(n), y.boot(n) + guard > y.now))))
    m.conjunct("not set", "and none has granted a first attempt to a later client", lambda y: ForAll([w, i, n], Implies(
        And(fair(y, w, n), y.shut(w), y.later(by(i), w), Not(in_turn(i))), Not(y.ack(i, n)))))
    m.conjunct("came", "a client that was granted something has come",
               lambda y: ForAll([i, n], Implies(y.ack(i, n), y.come(by(i)))))
    m.conjunct("outlasts", "a key is kept for a waiter that is silent since until its place there is over",
               lambda y: ForAll([n], Implies(And(y.kept(n), Not(y.asked_since(n)), y.stands(n, y.kept_for(n))),
                                             y.lives_until(n, y.kept_for(n)) <= y.kept_until(n))))
    m.conjunct("stays", "a waiter that has withdrawn could not win, or no quorum had answered for the life of a place",
               lambda y: ForAll([w],
                                Implies(y.out(w),
                                        And(y.come(w), Or(y.unable(w), y.out_at(w) >= y.heard(w) + place_life)))))
    m.conjunct("gone", "a waiter stands at no master that it has left",
               lambda y: ForAll([n, w], Implies(y.left(n, w), Not(y.stands(n, w)))))
    wins = ForAll([n], Implies(member(q0, n), S.ack(i0, n)))
    meet = [Exists([n], And(member(q0, n), member(S.stored_by(w), n)))] if m.keeps("quorums") else []
    passed = [S.lives(w), S.later(by(i0), w), *meet]
    other = Const("other", Quorum)
    m.goal("G18",
           "while the place of a waiter that is stored at a quorum lives, no later one wins by a try, without "
           "exception",
           [wins, in_turn(i0), *passed], False)
    shut = m.rule("shut where stored", "the masters that are shut are those that store the place", S.shut(w),
                  without=ForAll([n], Implies(member(other, n), Or(S.has(n), S.kept(n)))), breaks=["goal/G18 first"])
    m.goal("G18 first",
           "nor by its first attempt, while each master of that quorum was held or kept since the place was stored",
           [wins, Not(in_turn(i0)), shut, *passed], False)
    m.goal("G18 dead",
           "a first waiter that is silent since a key was kept for it opens no master before its place is over",
           [S.kept(n), Not(S.asked_since(n)), S.stands(n, S.kept_for(n)), S.now >= S.kept_until(n)],
           S.lives_until(n, S.kept_for(n)) <= S.now)
    m.goal("G18 keeps",
           "a waiter that could win, and whose last answered round began less than the life of a place ago, has "
           "not withdrawn",
           [S.come(w), Not(S.unable(w)), S.now < S.heard(w) + place_life, S.out(w), S.out_at(w) <= S.now], False)
