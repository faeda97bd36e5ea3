"""The numbers: the spans that the other pages assume, from the drift; and what is counted.

The other pages speak of real time. The code measures each span on the clock of a client or a master, so each lemma
says: however fast these clocks run, within the drift of each other, the span of one outlasts that of the other. No
lemma names the default of 1 % and 2 ms: each holds for every rate and every constant.
"""
from induct import *


def build(m):
    rate = m.constant("rate", Time)                      # the drift of a span: this part of it, and a constant
    constant = m.constant("constant", Time)
    grain = m.constant("grain", Time)                    # a key may end early by the grain of a master's clock
    client = m.constant("client", Time)                  # the speed of a client's clock: what it shows in a second
    master = m.constant("master", Time)
    other = m.constant("other", Time)                    # that of another client
    most = m.constant("most", Time)                      # the longest of max_ttl and the window, which D is made of
    most_there = m.constant("most_there", Time)          # the same for another client
    ttl, span, window = Reals("ttl span window")
    elapsed, age, uptime, since_read = Reals("elapsed age uptime since_read")
    real = {name: Real(name) for name in ("trust", "key", "guard", "kept_out", "rest", "note", "silence", "older",
                                          "wait", "up")}
    trust, key, guard, kept_out, rest, note, silence, older, wait, up = real.values()

    drift = lambda span: span * rate + constant
    of_ttl = m.rule("drift of the ttl", "the drift is taken off the ttl", lambda span: drift(span),
                    without=lambda span: RealVal(0), breaks=["goal/trust <= life"])
    of_guard = m.rule("drift of the guard", "the guard has its drift", lambda span: drift(span),
                      without=lambda span: RealVal(0), breaks=["goal/min_hold <= guard", "goal/window < guard"])
    of_life = m.rule("drift of a life", "a life that keeps others out has its drift", lambda span: drift(span),
                     without=lambda span: RealVal(0),
                     breaks=["goal/min_hold <= life", "goal/what is left", "goal/life <= wait"])
    of_silence = m.rule("drift of the silence", "a note has the drift of the longest silence", lambda span: drift(span),
                        without=lambda span: RealVal(0), breaks=["goal/trust + silence <= note"])
    of_age = m.rule("drift of the age", "the age of a shield has its drift", lambda span: drift(span),
                    without=lambda span: RealVal(0), breaks=["goal/age + trust <= guard"])
    quarantine = lambda most: most + of_guard(most)
    measures = lambda clock, real, span: real * clock == span        # this real time is that span on that clock

    close = lambda clock, another: clock <= another * (1 + rate)
    m.assume("drift", "the drift is a part of a span and a constant, which covers the grain of a master's clock",
             And(rate >= 0, rate < 1, constant >= 0, grain >= 0, grain * (1 + rate) <= constant))
    m.assume("clocks", "A2: no clock gains more than the rate on another", And(
        client > 0, master > 0, other > 0, *(close(clock, another) for clock in (client, master, other)
                                             for another in (client, master, other) if clock is not another)))
    m.assume("spans", "a guard is of some span", And(most > 0, most_there > 0))
    m.reads("quorum/validity.rs", "rate_ppm: 10_000, constant: Duration::from_millis(2)")
    m.reads("quorum/standing.rs", "longest.saturating_add(drift.of(longest))")
    m.reads("quorum/standing.rs", "max_ttl.max(window.width().saturating_add(GRAIN))")
    m.reads("quorum/standing.rs", "UPTIME_ROUNDS_UP: Duration = Duration::from_secs(1)")
    m.reads("quorum/agreement.rs",
            "quarantine.saturating_add(LONGEST_SILENCE).saturating_add(drift.of(LONGEST_SILENCE))")
    m.reads("quorum/agreement.rs", "rest.checked_sub(drift.of(rest))")
    m.reads("shared/at_least.rs", "left.saturating_add(self.drift.of(left))")
    m.reads("master/fencing.rs", "KEPT_LONGER: Duration = Duration::from_secs(1)")
    m.reads("master/ledger.rs", "ttl.saturating_add(settings.drift.of(ttl))")
    m.reads("master/session/departure.rs", "left + self.settings.drift.of(left)")

    trusted = [ttl > 0, measures(client, trust, ttl - of_ttl(ttl)), trust > 0]
    m.goal("trust <= life", "a key outlives the trust of a client in its round",
           [*trusted, key * master >= ttl - grain], trust <= key)
    m.goal("trust <= guard", "the guard of any client outlasts it, too",
           [*trusted, ttl <= most, measures(other, guard, quarantine(most))], trust <= guard)
    m.goal("min_hold <= life",
           "a key that is set with min_hold and its drift keeps others out for that long, by its client's clock",
           [span > 0, measures(client, kept_out, span), key * master >= span + of_life(span) - grain], kept_out <= key)
    m.goal("min_hold <= guard", "and so does the guard of any client, since min_hold is at most max_ttl",
           [span > 0, span <= most, measures(client, kept_out, span), measures(other, guard, quarantine(most))],
           kept_out <= guard)
    unused = span - elapsed * client
    m.goal("what is left", "a release that shortens a key to what is left, and the drift of it, leaves it for long "
           "enough; so does a client that takes back a note",
           [span > 0, elapsed >= 0, unused > 0, rest * master >= unused + of_life(unused) - grain],
           (elapsed + rest) * client >= span)
    m.goal("window < guard", "a guard is longer than the window, which a master measures",
           [window > 0, most >= window + RealVal("0.001"), measures(client, guard, quarantine(most))],
           guard * master > window)
    m.goal("window < fence", "a fence is kept for longer than the window: both by the master's clock",
           [window > 0, most >= window, key * master == quarantine(most) + 1], key * master > window)
    kept_by = [span > 0, measures(client, trust, span)]  # what a round excludes for: its trust, or the life that stays
    m.goal("trust + silence <= note", "a note outlives whatever is sent on it", [
        *kept_by, span + drift(span) <= quarantine(most), measures(client, silence, RealVal(15)),
        note * master >= quarantine(most) + 15 + of_silence(RealVal(15)) - grain], trust + silence <= note)
    left = quarantine(most_there) - ttl
    m.goal("age + trust <= guard", "a shield outlasts a round that begins at this age of its confirmation", [
        *kept_by, span + drift(span) <= ttl, age >= 0, age <= 15, age <= left - of_age(left),
        measures(client, older, age),
        measures(other, guard, quarantine(most_there))], older + trust <= guard)
    m.goal("life <= wait", "a debt is forgotten when the key must be gone", [
        ttl > 0, key * master <= ttl + grain, wait * client > ttl + of_life(ttl)], key <= wait)
    m.goal("the guard is over",
           "a master that votes by its uptime has been up for a guard by a clock of the same speed or less", [
        up >= 0, uptime >= 1, uptime <= up * master + 1, since_read >= 0,
        (uptime - m.rule("rounded up", "a second is taken off the uptime", RealVal(1), without=RealVal(0),
                         breaks=["goal/the guard is over"]))
        + since_read * client >= quarantine(most), master <= other, client <= other],
           (up + since_read) * other >= quarantine(most))
    # What is counted: masters of a list, of two majorities of it, of both.
    members, first, second, both, together = Reals("members first second both together")
    majority = m.rule("majority", "a quorum is more than half", lambda count: 2 * count > members,
                      without=lambda count: 2 * count >= members, breaks=["goal/majorities meet"])
    m.goal("majorities meet", "two majorities of one list have a master in common",
           [first + second == together + both, together <= members, majority(first), majority(second)], both > 0)
    shields, without_them = Reals("shields without_them")
    m.goal("a shield in each quorum",
           "a majority of a list has a shield in it if the list without the shields has no majority",
           [without_them == members - shields,
            m.rule("no majority apart", "another client has no majority without our shields",
                                                      Not(majority(without_them)),
                   breaks=["goal/a shield in each quorum"]),
            majority(first), first == second + both, second <= without_them, second >= 0], both > 0)
