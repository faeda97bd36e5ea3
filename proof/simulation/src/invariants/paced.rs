//! A client does not hurry: it writes a few dozen commands a second to a master for each of its callers
//! at most. A connection that takes little at a time may be behind its callers by up to a second.

use super::Verdict;
use crate::clock::Time;
use std::collections::BTreeMap;
use std::time::Duration;

const SECOND: Time = 1_000_000_000;

/// The most commands about resources in a second, and how many more for each request and guard: at least these. A
/// waiter asks twice in its longest pause, and listens or looks for each other question.
const MOST: usize = 40;
const EACH: usize = 40;

fn each(longest_pause: Duration) -> usize {
    let pauses = u128::from(3 * SECOND) / longest_pause.as_nanos().max(1);
    EACH.max(usize::try_from(pauses).unwrap_or(usize::MAX))
}

#[derive(Default)]
struct Second {
    began: Time,
    commands: usize,
    /// The most requests and guards that were open.
    open: usize,
    /// The same of the second before: what was for them may be written in this one.
    open_before: usize,
}

/// By client and master.
#[derive(Default)]
pub(crate) struct Paced(BTreeMap<(usize, usize), Second>);

impl Paced {
    /// Checks that a client writes one more command to a master, with so many requests and guards.
    pub(crate) fn writes(
        &mut self,
        at: (usize, usize),
        now: Time,
        (open, longest_pause): (usize, Duration),
    ) -> Verdict {
        let second = self.0.entry(at).or_default();
        if now >= second.began + SECOND {
            let is_next = now < second.began + 2 * SECOND;
            let open_before = if is_next { second.open } else { 0 };
            *second = Second { began: now, open_before, ..Second::default() };
        }
        second.commands += 1;
        second.open = second.open.max(open);
        match second.commands > MOST + each(longest_pause) * second.open.max(second.open_before) {
            false => Ok(()),
            true => {
                let Second { commands, open, .. } = second;
                Err(format!("{commands} commands in a second to a master, and {open} are open"))
            }
        }
    }
}

/// The most commands in a second of a client without callers, to a master.
const MOST_IDLE: usize = 20;

/// The same for clients without callers: each command counts.
#[derive(Default)]
pub(crate) struct Rests(BTreeMap<(usize, usize), (Time, usize)>);

impl Rests {
    /// Checks that a client without callers writes one more command to a master.
    pub(crate) fn writes(&mut self, at: (usize, usize), now: Time) -> Verdict {
        let (began, commands) = self.0.entry(at).or_insert((now, 0));
        if now >= *began + SECOND {
            (*began, *commands) = (now, 0);
        }
        *commands += 1;
        match *commands > MOST_IDLE {
            false => Ok(()),
            true => Err(format!("{commands} commands in a second to a master, and none is open")),
        }
    }
}

#[test]
fn a_client_without_callers_that_does_not_rest_is_found() {
    let mut rests = Rests::default();
    for _ in 0..MOST_IDLE {
        assert_eq!(rests.writes((0, 0), 5), Ok(()));
    }
    assert_eq!(rests.writes((0, 1), 5), Ok(()), "another master");
    assert!(rests.writes((0, 0), SECOND).is_err());
    assert_eq!(rests.writes((0, 0), SECOND + 5), Ok(()), "another second");
}

#[test]
fn a_client_that_hurries_is_found() {
    for (longest_pause, most) in [(250, MOST + EACH), (50, MOST + 60)] {
        let longest_pause = Duration::from_millis(longest_pause);
        let mut paced = Paced::default();
        let mut writes = |master, now, open| paced.writes((0, master), now, (open, longest_pause));
        for _ in 0..most {
            assert_eq!(writes(0, 5, 1), Ok(()));
        }
        assert!(writes(0, SECOND - 1, 1).is_err());
        assert_eq!(writes(1, SECOND - 1, 1), Ok(()), "another master");
        assert_eq!(writes(0, SECOND + 5, 0), Ok(()), "another second");
        for _ in 1..most {
            assert_eq!(writes(0, SECOND + 5, 0), Ok(()), "for the caller of the one before");
        }
        assert!(writes(0, SECOND + 5, 0).is_err());
        for _ in 0..MOST {
            assert_eq!(writes(0, 2 * SECOND + 5, 0), Ok(()), "for no caller");
        }
        assert!(writes(0, 2 * SECOND + 5, 0).is_err(), "that caller is gone");
    }
}
