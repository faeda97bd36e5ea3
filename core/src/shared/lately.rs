//! What was noted lately, within bounds.

use crate::quorum::Instant;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The most names of each kind of which something is known: in one process, few are waited for at a time.
pub(crate) const MOST_REMEMBERED: usize = 1 << 12;

/// What was noted of names, each for so many seconds. Where there is no room, nothing more is noted.
#[derive(Default)]
pub(crate) struct Lately<V, const SECONDS: u64>(BTreeMap<Arc<str>, (Instant, V)>);

impl<V: Copy, const SECONDS: u64> Lately<V, SECONDS> {
    fn lasts(now: Instant, at: Instant) -> bool {
        now < at.after(Duration::from_secs(SECONDS))
    }

    /// Notes something of a name. Returns `false` if there is no room.
    pub(crate) fn note(&mut self, now: Instant, name: &Arc<str>, what: V) -> bool {
        if self.0.len() >= MOST_REMEMBERED {
            self.0.retain(|_, (at, _)| Self::lasts(now, *at));
        }
        let has_room = self.0.len() < MOST_REMEMBERED || self.0.contains_key(name);
        if has_room {
            self.0.insert(name.clone(), (now, what));
        }
        has_room
    }

    /// Returns what was noted of a name, and when.
    pub(crate) fn get(&self, now: Instant, name: &str) -> Option<(Instant, V)> {
        self.0.get(name).filter(|(at, _)| Self::lasts(now, *at)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn what_is_noted_lasts_from_the_last_time() {
        let (mut lately, name) = (Lately::<_, 1>::default(), Arc::from("r"));
        assert!(lately.note(at(0), &name, 1));
        assert_eq!((lately.get(at(999), "r"), lately.get(at(999), "s")), (Some((at(0), 1)), None));
        assert_eq!(lately.get(at(1_000), "r"), None);
        assert!(lately.note(at(500), &name, 2));
        assert_eq!(lately.get(at(1_499), "r"), Some((at(500), 2)));
    }

    #[test]
    fn no_more_is_noted_than_there_is_room_for() {
        let mut lately = Lately::<_, 1>::default();
        let mut note =
            |millis, number: usize| lately.note(at(millis), &number.to_string().into(), ());
        assert_eq!(
            (0..MOST_REMEMBERED + 5).filter(|number| note(0, *number)).count(),
            MOST_REMEMBERED
        );
        assert!(note(999, 0), "what is known is noted again");
        assert!(!note(999, MOST_REMEMBERED) && note(1_000, MOST_REMEMBERED));
        assert_eq!(lately.0.len(), 2);
    }
}
