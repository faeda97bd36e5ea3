//! What this process leaves to others for a moment, whether or not it has heard of any.
//!
//! A client that polls is not heard of: its process has denied itself messages, or a master denies them, or it is of another
//! library. It meets a lock that is free only by chance, while one process takes that again in the same write in which it
//! releases it.

use crate::quorum::Instant;
use crate::shared::{Keys, Lately, MOST_REMEMBERED};
use crate::waiting::tuning::{CAPS_APART, SAID_AGAIN_AFTER};
use crate::wire::waitlist::KNOWN_FOR;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The keys that are left to others.
#[derive(Default)]
pub(super) struct Left {
    until: BTreeMap<Arc<str>, Instant>,
    /// None is left for longer.
    last: Instant,
    /// When a list last served others.
    shared: Lately<(), { KNOWN_FOR.as_secs() }>,
    /// Whether this process had a place in a list at its latest call of a first waiter.
    places: Lately<bool, { KNOWN_FOR.as_secs() }>,
}

/// Returns the next moment at which what was asked for when it `began` is left to others, once it is given back.
pub(crate) fn left_at(began: Instant, cap: Duration) -> Instant {
    let apart = cap.saturating_mul(CAPS_APART);
    began.in_steps_of(apart).after(apart)
}

impl Left {
    /// Notes that a list serves others: it did before this process, or this one has called the next.
    pub(super) fn share(&mut self, now: Instant, keys: &Keys) {
        for key in keys.iter() {
            self.shared.note(now, key, ());
            self.until.remove(key);
        }
    }

    /// Notes whether this process has a place in the list whose first waiter a release calls.
    pub(super) fn calls(&mut self, now: Instant, channel: &Arc<str>, has_place: bool) {
        self.places.note(now, channel, has_place);
    }

    /// Returns whether other processes wait in a list with so many waiters: each has one place at most.
    pub(super) fn are_others(&self, now: Instant, channel: &str, waiters: u64) -> bool {
        let has_place = self.places.get(now, channel).is_none_or(|(_, has_place)| has_place);
        waiters > u64::from(has_place)
    }

    /// Notes that a hold of these keys is over which was asked for when it `began`: if that was before such a moment, or
    /// soon after it, they are left to others, unless a list has served those of late.
    pub(super) fn note(&mut self, now: Instant, began: Instant, keys: &Keys, cap: Duration) {
        let moment = now.in_steps_of(cap.saturating_mul(CAPS_APART));
        // The first is not at zero, where time begins.
        if moment == Instant::default() || began > moment.after(cap) {
            return;
        }
        let is_shared = |at: Instant| now < at.after(SAID_AGAIN_AFTER);
        if keys.iter().all(|key| self.shared.get(now, key).is_some_and(|(at, ())| is_shared(at))) {
            return;
        }
        if now >= self.last {
            self.until.clear();
        }
        if self.until.len() < MOST_REMEMBERED {
            self.last = now.after(cap + cap / 8);
            self.until.extend(keys.iter().map(|key| (key.clone(), self.last)));
        }
    }

    /// Returns until when a key is left to others, if it is.
    pub(super) fn until(&self, now: Instant, key: &str) -> Option<Instant> {
        if self.is_over(now) {
            return None;
        }
        self.until.get(key).copied().filter(|until| now < *until)
    }

    /// Returns whether nothing is left to others.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        now >= self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAP: Duration = Duration::from_millis(250);
    const APART: u64 = 14_250;
    const LEFT: u64 = 281;

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    fn left(began: u64, ended: u64) -> Left {
        let mut left = Left::default();
        left.note(at(ended), at(began), &Keys::one("r".into()), CAP);
        left
    }

    #[test]
    fn what_is_held_at_such_a_moment_is_left_for_a_pause_once_it_is_given_back() {
        let until = |left: &Left, now| left.until(at(now), "r");
        let ends = |ended| at(ended).after(CAP + CAP / 8);
        for ended in [APART, APART + 3, 2 * APART - 1, 9 * APART] {
            let left = left(APART - 1, ended);
            assert_eq!(until(&left, ended), Some(ends(ended)), "{ended}");
            assert_eq!(until(&left, ended + LEFT), Some(ends(ended)));
            assert_eq!(until(&left, ended + LEFT + 1), None);
            assert_eq!(left.until(at(ended), "s"), None);
        }
    }

    #[test]
    fn what_is_taken_soon_after_such_a_moment_is_left_too() {
        for (began, ended) in [(APART, APART + 1), (APART + 250, 2 * APART - 1)] {
            assert!(left(began, ended).until(at(ended), "r").is_some(), "{began} to {ended}");
        }
    }

    #[test]
    fn what_is_taken_and_given_back_between_such_moments_is_not_left() {
        let after = APART + 251;
        for (began, ended) in [(1, APART - 1), (after, after + 1), (after, 2 * APART - 1)] {
            assert_eq!(left(began, ended).until(at(ended), "r"), None, "{began} to {ended}");
        }
    }

    #[test]
    fn what_a_list_has_served_of_late_is_not_left() {
        let keys = Keys::one("r".into());
        let is_left = |shared: u64| {
            let mut left = Left::default();
            left.share(at(shared), &keys);
            left.note(at(APART), at(APART - 1), &keys, CAP);
            left.until(at(APART), "r").is_some()
        };
        assert_eq!([1, APART - 1_000].map(is_left), [true; 2]);
        assert_eq!([APART - 999, APART].map(is_left), [false; 2]);
    }

    #[test]
    fn what_is_no_longer_left_is_forgotten_and_no_more_is_left_than_there_is_room_for() {
        let mut left = Left::default();
        let mut note = |now: u64, number: usize| {
            left.note(at(now), at(0), &Keys::one(number.to_string().into()), CAP);
            left.until.len()
        };
        assert_eq!(
            (0..MOST_REMEMBERED + 5).map(|number| note(APART, number)).max(),
            Some(MOST_REMEMBERED)
        );
        assert_eq!(
            [note(APART + LEFT, MOST_REMEMBERED), note(APART + LEFT + 1, MOST_REMEMBERED)],
            [MOST_REMEMBERED, 1]
        );
    }
}
