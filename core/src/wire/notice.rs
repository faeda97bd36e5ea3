//! What is published on the channel of a read-write lock.

use super::Packer;
use super::resp::Command;
use std::time::Duration;

/// The script by which the release of a writer notifies those that wait: see there. It is sent with its source, as
/// most releases are.
pub const NOTIFY: &str = include_str!("scripts/notify.lua").trim_ascii_end();

const WRITERS: &str = "writers";
const READERS: &str = "readers ";

/// It is for none that waits already.
pub(crate) const UNDONE: &str = "undone";

/// About what a master spends on the acquire of a reader.
const COST_OF_READER: Duration = Duration::from_micros(25);

/// Readers that are let in within this time come in one batch.
const ONE_BATCH: Duration = Duration::from_millis(1);

/// To which waiters a message is addressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Notice {
    /// Writers, and whatever else excludes all others.
    Writers,
    /// Readers, which come in within this time, each at a moment of its own.
    Readers { within: Duration },
}

impl Notice {
    /// Returns `None` for a message of another kind of lock.
    pub(crate) fn in_message(message: &str) -> Option<Self> {
        if message == WRITERS {
            return Some(Self::Writers);
        }
        let listeners: u32 = message.strip_prefix(READERS)?.parse().ok()?;
        let within = COST_OF_READER.saturating_mul(listeners);
        let within = if within < ONE_BATCH { Duration::ZERO } else { within };
        Some(Self::Readers { within })
    }
}

impl Packer {
    /// Notifies writers that wait for `key`, and readers if none of them comes first, or readers alone.
    pub(crate) fn notify(&mut self, channels: &str, key: &str, hint: &str, writers: bool) -> &[u8] {
        let command = Command::new(&mut self.room, 6).arg("EVAL").arg(NOTIFY).number(1);
        let command = command.arg(hint).parts(&[channels.as_bytes(), key.as_bytes()]);
        command.arg(if writers { WRITERS } else { UNDONE }).done()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_says_which_waiters_may_have_it_and_how_far_they_spread() {
        let readers = |micros| Some(Notice::Readers { within: Duration::from_micros(micros) });
        assert_eq!(Notice::in_message("writers"), Some(Notice::Writers));
        assert_eq!(Notice::in_message("readers 1"), readers(0));
        assert_eq!(Notice::in_message("readers 39"), readers(0));
        assert_eq!(Notice::in_message("readers 1000"), readers(25_000));
        for other in ["", "readers", "readers x", "called", "3", UNDONE] {
            assert_eq!(Notice::in_message(other), None, "{other}");
        }
    }
}
