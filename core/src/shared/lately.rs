//! What was noted lately, within bounds.

use crate::quorum::Instant;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The most names of which something is known.
const MOST: usize = 1 << 12;

/// What was noted of names, each for `lasting`. Where there is no room, nothing more is noted.
pub(crate) struct Lately<V = ()> {
    noted: BTreeMap<Arc<str>, (Instant, V)>,
    lasting: Duration,
}

impl<V: Copy> Lately<V> {
    pub(crate) const fn new(lasting: Duration) -> Self {
        Self { noted: BTreeMap::new(), lasting }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.noted.is_empty()
    }

    /// Notes something of a name. Returns `false` if there is no room.
    pub(crate) fn note(&mut self, now: Instant, name: &Arc<str>, what: V) -> bool {
        if self.noted.len() >= MOST {
            let lasting = self.lasting;
            self.noted.retain(|_, (at, _)| now < at.after(lasting));
        }
        let has_room = self.noted.len() < MOST || self.noted.contains_key(name);
        if has_room {
            self.noted.insert(name.clone(), (now, what));
        }
        has_room
    }

    /// Returns what was noted of a name, and when.
    pub(crate) fn get(&self, now: Instant, name: &str) -> Option<(Instant, V)> {
        self.noted.get(name).filter(|(at, _)| now < at.after(self.lasting)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn what_is_noted_lasts_from_the_last_time() {
        let (mut lately, name) = (Lately::new(SECOND), Arc::from("r"));
        assert!(lately.note(at(0), &name, 1));
        assert_eq!((lately.get(at(999), "r"), lately.get(at(999), "s")), (Some((at(0), 1)), None));
        assert_eq!(lately.get(at(1_000), "r"), None);
        assert!(lately.note(at(500), &name, 2));
        assert_eq!(lately.get(at(1_499), "r"), Some((at(500), 2)));
        assert!(!lately.is_empty());
    }

    #[test]
    fn no_more_is_noted_than_there_is_room_for() {
        let mut lately = Lately::new(SECOND);
        let mut note =
            |millis, number: usize| lately.note(at(millis), &number.to_string().into(), ());
        assert_eq!((0..MOST + 5).filter(|number| note(0, *number)).count(), MOST);
        assert!(note(999, 0), "what is known is noted again");
        assert!(!note(999, MOST) && note(1_000, MOST));
        assert_eq!(lately.noted.len(), 2);
    }
}
