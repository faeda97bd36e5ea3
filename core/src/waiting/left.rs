//! What this process leaves to others for a moment, whether or not it has heard of any.
//!
//! A client that polls is not heard of: its process has denied itself messages, or a master denies them, or it is of another
//! library. It meets a lock that is free only by chance, while one process takes that again in the same write in which it
//! releases it.

use crate::quorum::Instant;
use crate::shared::{Keys, Lately};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// What is held at one moment in so many of the longest pause of a client that polls is left to others for one such pause,
/// once it is given back. So one that polls meets it in that time, and what one process alone wants loses 2 % at most.
const CAPS_APART: u32 = 51;

/// The most keys that are left at a time.
const MOST: usize = 1 << 12;

/// How long it is known that others have had a key: longer than such moments are apart.
const KNOWN_FOR: Duration = Duration::from_secs(60);

/// Whoever polls has had what was left to it, and has given it back, after so many caps. Others that have it later come
/// without that.
const CAPS_OF_A_TURN: u32 = 4;

/// The turn of others at a key: it is left to them until the first, and theirs until the second.
type Turn = (Instant, Instant);

/// The keys that are left to others.
pub(super) struct Left {
    turns: BTreeMap<Arc<str>, Turn>,
    /// No turn is later.
    last: Instant,
    /// The keys that others were seen to have, but in a turn.
    taken: Lately,
}

impl Default for Left {
    fn default() -> Self {
        Self { turns: BTreeMap::new(), last: Instant::default(), taken: Lately::new(KNOWN_FOR) }
    }
}

/// Returns when what was asked for when it `began` is left to others, once it is given back.
pub(crate) fn left_at(began: Instant, cap: Duration) -> Instant {
    let apart = cap.saturating_mul(CAPS_APART);
    began.in_steps_of(apart).after(apart)
}

impl Left {
    /// Notes that others have one of these keys.
    pub(super) fn refused(&mut self, now: Instant, keys: &Keys) {
        for key in keys.iter() {
            if self.turns.get(key).is_none_or(|(_, ends)| now >= *ends) {
                self.taken.note(now, key, ());
            }
        }
    }

    /// Notes that a hold of these keys is over which was asked for when it `began`: if that was before such a moment, they
    /// are left to others, unless those have had them since the moment before.
    pub(super) fn note(&mut self, now: Instant, began: Instant, keys: &Keys, cap: Duration) {
        if now < left_at(began, cap) {
            return;
        }
        let before = began.in_steps_of(cap.saturating_mul(CAPS_APART));
        if keys.iter().all(|key| self.taken.get(now, key).is_some_and(|(at, ())| at > before)) {
            return;
        }
        if now >= self.last {
            self.turns.clear();
        }
        if self.turns.len() < MOST {
            let turn = (now.after(cap), now.after(cap.saturating_mul(CAPS_OF_A_TURN)));
            self.last = turn.1;
            self.turns.extend(keys.iter().map(|key| (key.clone(), turn)));
        }
    }

    /// Returns until when a key is left to others, if it is.
    pub(super) fn until(&self, now: Instant, key: &str) -> Option<Instant> {
        if now >= self.last {
            return None;
        }
        self.turns.get(key).map(|(until, _)| *until).filter(|until| now < *until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAP: Duration = Duration::from_millis(250);
    const APART: u64 = 12_750;

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    fn left(began: u64, ended: u64) -> Left {
        let mut left = Left::default();
        left.note(at(ended), at(began), &Keys::one("r".into()), CAP);
        left
    }

    #[test]
    fn what_is_held_at_such_a_moment_is_left_for_a_cap_once_it_is_given_back() {
        let until = |left: &Left, now| left.until(at(now), "r");
        for ended in [APART, APART + 3, 2 * APART - 1, 9 * APART] {
            let left = left(APART - 1, ended);
            assert_eq!(until(&left, ended), Some(at(ended + 250)), "{ended}");
            assert_eq!(until(&left, ended + 249), Some(at(ended + 250)));
            assert_eq!(until(&left, ended + 250), None);
            assert_eq!(left.until(at(ended), "s"), None);
        }
    }

    #[test]
    fn what_is_taken_and_given_back_between_such_moments_is_not_left() {
        for (began, ended) in [(1, APART - 1), (APART, APART + 1), (APART, 2 * APART - 1)] {
            assert_eq!(left(began, ended).until(at(ended), "r"), None, "{began} to {ended}");
        }
    }

    #[test]
    fn what_others_have_had_since_their_last_turn_is_not_left() {
        let (keys, moment) = (Keys::one("r".into()), 2 * APART);
        let is_left = |taken: u64| {
            let mut left = left(1, APART + 2_000);
            left.refused(at(taken), &keys);
            left.note(at(moment), at(moment - 1), &keys, CAP);
            left.until(at(moment), "r").is_some()
        };
        assert_eq!([1, APART].map(is_left), [true; 2], "before");
        assert_eq!([APART + 2_000, APART + 2_999].map(is_left), [true; 2], "in their turn");
        assert_eq!([APART + 3_000, moment - 2].map(is_left), [false; 2]);
    }

    #[test]
    fn what_is_no_longer_left_is_forgotten_and_no_more_is_left_than_there_is_room_for() {
        let mut left = Left::default();
        let mut note = |now: u64, number: usize| {
            left.note(at(now), at(0), &Keys::one(number.to_string().into()), CAP);
            left.turns.len()
        };
        assert_eq!((0..MOST + 5).map(|number| note(APART, number)).max(), Some(MOST));
        assert_eq!([note(APART + 999, MOST), note(APART + 1_000, MOST)], [MOST, 1]);
    }
}
