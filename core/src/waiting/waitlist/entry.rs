//! The entry of an acquire in the list of its key, and its pauses.

use crate::pace::Backoff;
use crate::quorum::Instant;
use crate::report::{Answer, NodeReport, Refusal};
use crate::shared::{Cx, Settings};
use crate::waiting::Contention;
use crate::waiting::rules::Wait;
use crate::waiting::tuning::{
    CERTAIN_AFTER, FRONT, LONGEST_PAUSE_CAPS, QUIET, QUIET_TRIPS, SILENCE_PER_PAUSE,
};
use crate::wire::Token;
use crate::wire::waitlist::{Found, LONGEST_QUIET, Listed, Sight};
use std::time::Duration;

/// Why a waiter in a list tries.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(in crate::waiting) enum Trial {
    /// A message has called it: others know that the key is free.
    Called,
    /// It has asked, and found the key free.
    FoundFree,
}

/// An acquire's entry in the list of its key.
pub(crate) struct Entry {
    pub(in crate::waiting) waiter: Token,
    /// The master of the list.
    pub(in crate::waiting) node: usize,
    /// Its place there, which it keeps when it has tried in vain.
    pub(in crate::waiting) stamp: Option<u64>,
    /// What the latest answer said of the holder.
    pub(super) sight: Sight,
    /// Since when it has seen that one, if it may not know of the list.
    pub(super) uncalled_since: Option<Instant>,
    /// Between its latest two answers, a client has taken the key past the list.
    pub(super) is_passed: bool,
    /// How often it has found in a row that the key is free at this master, and held elsewhere.
    pub(in crate::waiting) in_vain: u32,
    /// When it last tried as it was called, and which slot, if any.
    tried: Option<(Instant, u8)>,
    /// How many were ahead of it at the latest answer.
    pub(in crate::waiting) ahead: Option<usize>,
    /// When the question under way was asked.
    pub(in crate::waiting) asked_at: Option<Instant>,
    /// How long the latest answer took.
    pub(in crate::waiting) trip: Duration,
    /// It may stand in the list.
    pub(in crate::waiting) stands: bool,
    /// Why it tries, if it does.
    pub(in crate::waiting) trial: Option<Trial>,
    /// It watches a call: its next pause ends with the life of the key.
    pub(in crate::waiting) watches: bool,
    /// A question was repeated, since the master had forgotten the script.
    pub(in crate::waiting) is_repeated: bool,
}

fn quiet(trip: Duration) -> Duration {
    QUIET.max(trip.saturating_mul(QUIET_TRIPS)).min(LONGEST_QUIET)
}

impl Entry {
    pub(in crate::waiting) fn new(waiter: Token, node: usize) -> Self {
        Self {
            waiter,
            node,
            stamp: None,
            sight: Sight::default(),
            uncalled_since: None,
            is_passed: false,
            in_vain: 0,
            tried: None,
            ahead: None,
            asked_at: None,
            trip: Duration::ZERO,
            stands: false,
            trial: None,
            watches: false,
            is_repeated: false,
        }
    }

    /// Returns how its waiter waits, unless it tries.
    pub(in crate::waiting) const fn waits(&self) -> Wait {
        match self {
            Self { asked_at: Some(_), .. } => Wait::Asking,
            Self { trial: Some(_), .. } => Wait::Again,
            Self { ahead: Some(0), .. } => Wait::First,
            _ => Wait::Behind,
        }
    }

    pub(in crate::waiting) fn is(&self, waiter: &str) -> bool {
        waiter.as_bytes() == self.waiter.digits()
    }

    /// Returns how long only a waiter that was called tries.
    pub(in crate::waiting) fn quiet(&self) -> Duration {
        if self.lacks_key() { LONGEST_QUIET } else { quiet(self.trip) }
    }

    /// Returns whether a hold is known to lack its key at the master of the list.
    pub(in crate::waiting) const fn lacks_key(&self) -> bool {
        self.in_vain > CERTAIN_AFTER
    }

    /// Returns whether it tries when it is called. Where a hold is known to lack its key, it has just done so in vain, and
    /// others that ask call it again and again.
    pub(in crate::waiting) fn tries(&mut self, now: Instant, slot: u8) -> bool {
        let is_soon = |(at, other): (Instant, u8)| slot == other && now < at.after(LONGEST_QUIET);
        let rests = self.lacks_key() && self.tried.is_some_and(is_soon);
        if !rests {
            self.tried = Some((now, slot));
        }
        !rests
    }

    /// Notes what the master of the list has answered to an attempt that was lost. Returns whether the key is free there as
    /// a quorum holds it. For a call, a release may be under way, unless this was so before: then a waiter has called it.
    pub(in crate::waiting) fn finds_lacking(
        &mut self,
        trial: Option<Trial>,
        reports: &[NodeReport],
    ) -> bool {
        let is_free = match self.answer_of_list(reports) {
            Some(answer) if answer.finds_free() => {
                trial != Some(Trial::Called) || self.in_vain >= CERTAIN_AFTER
            }
            Some(Answer::Outstanding) => trial == Some(Trial::FoundFree),
            _ => false,
        };
        self.in_vain = self.in_vain.saturating_add(u32::from(is_free));
        is_free
    }

    /// Leaves the list if a hold is known to lack its key there, and another waiter was called: a question of any
    /// other would call this one to no effect.
    pub(in crate::waiting) fn steps_outside(
        &mut self,
        cx: &mut Cx,
        list: &str,
        found: Found,
    ) -> bool {
        let is_outside =
            self.lacks_key() && matches!(found, Found::OtherCalled(_) | Found::HasCalled(_));
        if is_outside {
            self.leave(cx, list);
        }
        is_outside
    }

    /// Takes its waiter out of the list.
    pub(in crate::waiting) fn leave(&mut self, cx: &mut Cx, list: &str) {
        if std::mem::take(&mut self.stands) {
            cx.masters.sessions[self.node].leave_waitlist(list, self.waiter);
        }
    }

    fn answer_of_list<'a>(&self, reports: &'a [NodeReport]) -> Option<&'a Answer> {
        reports.get(self.node).map(|report| &report.answer)
    }

    /// Returns how long it waits for the answer of a master whose answers take `trip`, and `longest` at most.
    pub(in crate::waiting) fn patience(&self, trip: Duration, longest: Duration) -> Duration {
        if self.is_in_front() { quiet(trip).min(longest) } else { longest }
    }

    /// Notes what an answer that took so long says of its place and of the holder.
    pub(in crate::waiting) fn answered(&mut self, now: Instant, trip: Duration, listed: &Listed) {
        // Not by the vote of one that was called since, and may try in vain.
        if matches!(listed.what, Found::Held(_))
            && !self.sight.is_called_and_holds_in(&listed.sight)
        {
            self.in_vain = self.in_vain.min(CERTAIN_AFTER + 2).saturating_sub(1);
        }
        let uncalled = listed.sight.uncalled();
        if self.sight.uncalled() != uncalled {
            self.uncalled_since = uncalled.map(|_| now);
            self.is_passed = self.stamp.is_some() && uncalled.is_some();
        }
        self.sight = listed.sight.clone();
        (self.trip, self.is_repeated) = (trip, false);
        (self.stamp, self.ahead) = (listed.stamp, Some(listed.ahead));
    }

    /// Returns whether a client may release the key without a call.
    pub(super) fn may_be_unaware(&self) -> bool {
        self.is_in_front() && self.sight.uncalled().is_some() || !self.sight.has_call()
    }

    /// Returns the longest pause of the first behind a holder that may release the key without a call. By then another
    /// client may have taken it, so the pause is a part of the time for which that one holds it.
    fn behind_uncalled(&self, now: Instant) -> Option<Duration> {
        let since = self.uncalled_since.filter(|_| self.ahead == Some(0))?;
        Some((now.since(since) / SILENCE_PER_PAUSE).max(QUIET))
    }

    /// Returns the pause until the next question, which is `as_in_front` for a waiter in front. Its own hold would live
    /// for `ttl`.
    pub(in crate::waiting) fn pause(
        &mut self,
        backoff: &Backoff,
        now: Instant,
        (as_in_front, ttl): (Duration, Duration),
        found: Found,
        random: u64,
    ) -> Duration {
        let Backoff { base, cap } = *backoff;
        let up_to = |span| Backoff { base: span, cap: span }.delay(0, None, random);
        let upper_half = |span: Duration| span / 2 + up_to(span) / 2;
        let jitter = up_to(base);
        let is_in_front = self.is_in_front();
        let watches = std::mem::take(&mut self.watches);
        let steps = u32::try_from(self.ahead.unwrap_or_default()).unwrap_or(u32::MAX);
        let window = cap.saturating_mul(steps) / FRONT as u32;
        let longest = cap.min(Duration::from_secs(1)).saturating_mul(LONGEST_PAUSE_CAPS);
        let window = window.min(longest);
        let spread = up_to(window.min(cap.saturating_mul(SILENCE_PER_PAUSE)));
        let by_place = if is_in_front { as_in_front } else { upper_half(window) };
        let behind_uncalled = self.behind_uncalled(now).map(upper_half);
        let by_place = behind_uncalled.map_or(by_place, |pause| pause.min(by_place));
        match found {
            Found::HasCalled(quiet) => quiet + jitter,
            Found::OtherCalled(quiet) if is_in_front || watches => quiet + jitter,
            Found::Held(Some(life)) if watches => by_place.min(life + jitter),
            // A holder that dies calls no waiter, nor does one that was called and dies, whose hold may live as long.
            Found::OtherCalled(quiet) => by_place.min(quiet + ttl + spread),
            Found::Held(Some(life)) => by_place.min(life + spread),
            _ => by_place,
        }
    }

    /// Returns whether others are before it, as its latest question was answered.
    pub(in crate::waiting) fn is_behind(&self) -> bool {
        let is_answered = self.asked_at.is_none() && self.trial.is_none();
        is_answered && self.ahead.is_some_and(|ahead| ahead > 0)
    }

    /// Returns whether it asks as often as if there were no list.
    pub(in crate::waiting) fn is_in_front(&self) -> bool {
        self.stamp.is_none() || self.ahead.is_none_or(|ahead| ahead < FRONT)
    }
}

impl Contention {
    /// Returns why it tries, if it does as the list says.
    pub(in crate::waiting) fn trial(&self) -> Option<Trial> {
        self.place.entry.as_ref()?.trial
    }

    /// Returns whether the key is free where the list is, as far as a lost attempt has shown, and held elsewhere. Its
    /// waiter pauses: it would find the key free there again.
    pub(crate) fn is_in_vain(&self, reports: &[NodeReport]) -> bool {
        let is_held = |answer: &Answer| matches!(answer, Answer::Refused(Refusal::Held { .. }));
        match self.trial() {
            Some(Trial::Called) => self.is_early_for(reports),
            Some(Trial::FoundFree) => !self.answer_of_list(reports).is_some_and(is_held),
            None => false,
        }
    }

    /// Returns whether it tried since the key is free where the list is, and not all masters had the key free yet:
    /// others refused before the master of the list answered, or that one granted.
    pub(in crate::waiting) fn is_early_for(&self, reports: &[NodeReport]) -> bool {
        let answer = self.answer_of_list(reports).filter(|_| self.trial().is_some());
        matches!(answer, Some(Answer::Granted | Answer::Outstanding))
    }

    /// Notes whether a lost attempt has found that a hold lacks its key at the master of the list.
    pub(in crate::waiting) fn finds_lacking(&mut self, reports: &[NodeReport]) -> bool {
        self.place.entry.as_mut().is_some_and(|entry| entry.finds_lacking(entry.trial, reports))
    }

    /// Returns whether a hold is known to lack its key at the master of the list.
    pub(in crate::waiting) fn lacks_key(&self) -> bool {
        self.place.entry.as_ref().is_some_and(|entry| entry.lacks_key())
    }

    pub(in crate::waiting) fn answer_of_list<'a>(
        &self,
        reports: &'a [NodeReport],
    ) -> Option<&'a Answer> {
        self.place.entry.as_ref()?.answer_of_list(reports)
    }

    /// Returns the pause until the next question, after this answer.
    pub(super) fn pause_in_waitlist(
        &mut self,
        now: Instant,
        settings: &Settings,
        (found, ttl): (Found, Duration),
        random: u64,
    ) -> Option<Duration> {
        let node = self.place.entry.as_ref()?.node;
        self.remaining = found.life().into_iter().map(|life| (node, life)).collect();
        let as_in_front = self.delay(now, settings, random);
        let entry = self.place.entry.as_mut()?;
        Some(entry.pause(&settings.backoff, now, (as_in_front, ttl), found, random))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_master_that_refuses_a_ballot_alone_has_the_key_free_and_the_hold_lacks_it_there() {
        let free = [Refusal::Stale, Refusal::Clock { shows_us: 1 }].map(Answer::Refused);
        let held = Answer::Refused(Refusal::Held { remaining: None });
        for (answer, in_vain) in
            free.into_iter().chain([Answer::Granted]).zip([1; 3]).chain([(held, 0)])
        {
            let mut entry = Entry::new(Token::new(1), 0);
            let report = NodeReport { node: "n1".into(), answer, latency: Duration::ZERO };
            let found = entry.finds_lacking(Some(Trial::FoundFree), &[report]);
            assert_eq!((found, entry.in_vain), (in_vain == 1, in_vain));
        }
    }

    #[test]
    fn where_a_hold_lacks_its_key_a_waiter_that_is_called_tries_once_a_second() {
        let at = |millis: u64| Instant::from_nanos(millis * 1_000_000);
        let mut entry = Entry::new(Token::new(1), 0);
        let calls = [(0, 0), (20, 0), (40, 1), (60, 0), (1_039, 0), (1_060, 0)];
        let mut tries = || calls.map(|(millis, slot)| entry.tries(at(millis), slot));
        assert_eq!(tries(), [true; 6], "a call is no trial in vain");
        entry.in_vain = CERTAIN_AFTER + 1;
        entry.tried = None;
        let mut tries = || calls.map(|(millis, slot)| entry.tries(at(millis), slot));
        assert_eq!(tries(), [true, false, true, true, false, true], "another slot may be free");
    }
}
