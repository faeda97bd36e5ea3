//! The reason why a command was ended without its lock, main fact first.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::millis;
use quorumlock::Lost;
use quorumlock::error::LossReason;
use quorumlock::report::Escaped;
use std::time::Duration;

/// Why a lock could no longer be relied on, and after what time.
pub(super) struct Loss {
    pub(super) reason: Reason,
    pub(super) held_for: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// A quorum of masters no longer has our key.
    QuorumGone,
    /// This process did not run when it was time to extend.
    HeldUp,
    /// Too few masters confirmed an extension.
    Unextended,
    /// No extension goes beyond `max_hold`.
    MaxHold,
    /// The client has ended; in its own words.
    Other(String),
}

impl From<&Lost> for Loss {
    fn from(lost: &Lost) -> Self {
        let reason = match &lost.reason {
            LossReason::QuorumGone(_) => Reason::QuorumGone,
            LossReason::Lapsed if lost.at_max_hold => Reason::MaxHold,
            // Whatever else keeps a lock from being extended shows well before the deadline.
            LossReason::Lapsed => Reason::HeldUp,
            _ => Reason::Other(lost.to_string()),
        };
        Self { reason, held_for: lost.held_for }
    }
}

impl Loss {
    /// Creates the failure of a command that ended like this.
    pub(super) fn into_failure(self, resource: &str, command: Exit) -> Failure {
        let shown = Escaped(resource);
        let lost = |why: &str| format!("lost {shown:?}: {why}");
        // The name in the output of `--json`, and a line.
        let (name, line) = match self.reason {
            Reason::QuorumGone => {
                ("quorum_gone", lost("masters had forgotten it, or it was taken away"))
            }
            Reason::HeldUp => {
                let why =
                    "it was not extended in time, because this process was held up or stopped";
                ("held_up", lost(why))
            }
            Reason::Unextended => {
                ("unextended", format!("too few masters extended {shown:?} in time"))
            }
            Reason::MaxHold => ("max_hold", format!("max_hold reached for {shown:?}")),
            Reason::Other(line) => ("closed", line),
        };
        let message = format!("{line}; the command {}", command.described());
        let failure = Failure::new(Exit::LOST, message)
            .with("resource", resource)
            .with("reason", name)
            .with("held_for_ms", millis(self.held_for));
        match command.by_signal() {
            Some(signal) => failure.with("command_signal", signal),
            None => failure.with("command_exit", command.code),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_loss_has_one_line_with_the_fact_in_front() {
        for (reason, line, name) in [
            (
                Reason::QuorumGone,
                "lost \"r\": masters had forgotten it, or it was taken away",
                "quorum_gone",
            ),
            (
                Reason::HeldUp,
                "lost \"r\": it was not extended in time, because this process was held up or stopped",
                "held_up",
            ),
            (Reason::Unextended, "too few masters extended \"r\" in time", "unextended"),
            (Reason::MaxHold, "max_hold reached for \"r\"", "max_hold"),
        ] {
            let loss = Loss { reason, held_for: Duration::from_millis(1_500) };
            let failure = loss.into_failure("r", Exit::signal(15));
            let shown = format!("{line}; the command was ended by signal 15");
            assert_eq!(failure.to_string(), shown);
            assert!(shown.len() <= 120, "{shown}");
            let value = failure.to_json();
            assert_eq!((&value["error"], &value["reason"]), (&"lost".into(), &name.into()));
            assert_eq!(
                (&value["held_for_ms"], &value["command_signal"]),
                (&1500.into(), &15.into())
            );
        }
    }
}
