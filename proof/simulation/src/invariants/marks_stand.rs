//! On each master, the mark stands exactly while there are readers, and expires with the last of
//! them. A reader comes, goes and lives longer by its owner's commands alone.

use super::Verdict;
use crate::master::MARK;
use std::time::Duration;

/// What a master has for one resource.
#[derive(Clone, PartialEq, Eq, Default)]
pub(crate) struct Stood {
    pub(crate) value: Option<String>,
    pub(crate) remaining: Option<Duration>,
    /// The readers that have not expired, and how long each lives.
    pub(crate) readers: Vec<(String, Duration)>,
}

/// The grain of the server's time.
const GRAIN: Duration = Duration::from_millis(1);

impl Stood {
    pub(crate) fn left(&self, reader: &str) -> Option<Duration> {
        self.readers.iter().find_map(|(name, left)| (name == reader).then_some(*left))
    }

    pub(crate) fn is_marked(&self) -> bool {
        self.value.as_deref() == Some(MARK)
    }

    fn judge(&self, key: &str) -> Verdict {
        let is_marked = self.is_marked();
        let last = self.readers.iter().map(|(_, left)| *left).max();
        match (is_marked, last) {
            (false, None) => Ok(()),
            (false, Some(_)) => Err(format!("{key} has readers and {:?}", self.value)),
            // A reader in its last millisecond may be gone before the mark.
            (true, None) if self.remaining.is_some_and(|left| left <= GRAIN) => Ok(()),
            (true, None) => Err(format!("{key} has the mark and no reader")),
            (true, Some(last)) => match self.remaining {
                Some(left) if left.abs_diff(last) <= GRAIN => Ok(()),
                left => Err(format!("the mark of {key} has {left:?}, its last reader {last:?}")),
            },
        }
    }
}

/// Checks what one client's commands have made of a resource. `owns` a token: the client has drawn
/// it; `is_held`: it is valid, and was not given up.
pub(crate) fn marks_stand(
    key: &str,
    before: &Stood,
    after: &Stood,
    owns: impl Fn(&str) -> bool,
    is_held: impl Fn(&str) -> bool,
) -> Verdict {
    after.judge(key)?;
    for (reader, left) in before.readers.iter().chain(&after.readers) {
        let (was, is) = (before.left(reader), after.left(reader));
        if was == is {
            continue;
        }
        if !owns(reader) {
            return Err(format!("{reader} reads {key} for {is:?}, not by its owner ({left:?})"));
        }
        if is.is_none() && is_held(reader) {
            return Err(format!("{reader} no longer reads {key} while it is held"));
        }
        if is.is_some() && is < was {
            return Err(format!("{reader} reads {key} for {is:?}, and had {was:?}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stood(value: &str, left_ms: u64, readers: &[(&str, u64)]) -> Stood {
        let reader =
            |(reader, left): &(&str, u64)| ((*reader).to_owned(), Duration::from_millis(*left));
        Stood {
            value: Some(value.to_owned()).filter(|value| !value.is_empty()),
            remaining: Some(Duration::from_millis(left_ms)),
            readers: readers.iter().map(reader).collect(),
        }
    }

    fn judged(before: &Stood, after: &Stood, held: bool) -> Verdict {
        marks_stand("a", before, after, |reader| reader == "mine", |_| held)
    }

    #[test]
    fn a_mark_without_readers_and_readers_without_a_mark_are_found() {
        let none = Stood::default();
        assert_eq!(judged(&none, &stood(MARK, 50, &[("mine", 50)]), false), Ok(()));
        assert_eq!(judged(&none, &stood(MARK, 1, &[]), false), Ok(()), "in its last moment");
        for wrong in [
            stood(MARK, 50, &[]),
            stood("", 0, &[("mine", 50)]),
            stood("writer", 50, &[("mine", 50)]),
            stood(MARK, 40, &[("mine", 50)]),
            stood(MARK, 60, &[("mine", 50)]),
        ] {
            assert!(judged(&none, &wrong, false).is_err());
        }
    }

    #[test]
    fn a_reader_that_lives_shorter_than_before_is_found() {
        let (long, short) = (stood(MARK, 50, &[("mine", 50)]), stood(MARK, 30, &[("mine", 30)]));
        assert!(judged(&long, &short, false).is_err());
        assert_eq!(judged(&short, &long, false), Ok(()));
    }

    #[test]
    fn a_reader_that_another_client_changes_is_found() {
        let both = stood(MARK, 50, &[("mine", 20), ("theirs", 50)]);
        assert_eq!(judged(&both, &stood(MARK, 50, &[("theirs", 50)]), false), Ok(()));
        assert!(judged(&both, &stood(MARK, 50, &[("theirs", 50)]), true).is_err(), "it is held");
        assert!(judged(&both, &stood(MARK, 20, &[("mine", 20)]), false).is_err(), "not its owner");
        let longer = stood(MARK, 90, &[("mine", 20), ("theirs", 90)]);
        assert!(judged(&both, &longer, false).is_err(), "kept alive by another");
    }
}
