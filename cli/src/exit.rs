//! Every exit code of the command. `docs/cli.md` has the same table.

/// The end of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Success,
    /// `doctor` has found a failure, which time alone does not fix, or a possible deadlock; `ask` has reached no
    /// process; `force-release` was answered with no, or was not confirmed.
    Failed,
    /// `doctor --may-stop`: a list of masters, or a lock, would lose its quorum.
    MayNotStop,
    /// `doctor --may-stop`, `doctor --deadlocks`: the masters do not say enough.
    NotKnown,
    Held,
    NoQuorum,
    Lost,
    Usage,
    Configuration,
    System,
    NotExecutable,
    NotFound,
    /// The exit code of the command under the lock, or the user's code instead of [`Self::Held`].
    Code(u8),
    /// Ended by this signal, or the command under the lock was.
    Signal(i32),
}

impl Exit {
    /// Returns the exit code, and the name in the output of `--json`. Shells, `timeout`, `env` and
    /// sysexits.h all leave the codes between 110 and 119 alone.
    fn row(self) -> (u8, &'static str) {
        match self {
            Self::Success => (0, "ended"),
            Self::Failed => (1, "failed"),
            Self::MayNotStop => (3, "may_not_stop"),
            Self::NotKnown => (4, "not_known"),
            Self::Held => (111, "held"),
            Self::NoQuorum => (112, "no_quorum"),
            Self::Lost => (113, "lost"),
            Self::Usage => (114, "usage"),
            Self::Configuration => (115, "configuration"),
            Self::System => (116, "system"),
            Self::NotExecutable => (126, "not_executable"),
            Self::NotFound => (127, "not_found"),
            Self::Code(code) => (code, "ended"),
            Self::Signal(signal) => {
                (u8::try_from(signal.saturating_add(128)).unwrap_or(255), "signal")
            }
        }
    }

    pub(crate) fn code(self) -> u8 {
        self.row().0
    }

    pub(crate) fn name(self) -> &'static str {
        self.row().1
    }

    /// Describes the end of a command.
    #[cfg(unix)]
    pub(crate) fn described(self) -> String {
        match self {
            Self::Signal(signal) => format!("was ended by signal {signal}"),
            other => format!("ended with code {}", other.code()),
        }
    }
}

/// The exit codes as `--help` shows them.
pub(crate) const TABLE: &str = "\
Exit codes:
  1    doctor found a failure; ask reached no process; force-release: no, or not confirmed
  3    doctor --may-stop: a list of masters, or a lock, would lose its quorum
  4    doctor --may-stop or --deadlocks: not known
  111  held by another client
  112  no quorum: too few masters could vote (doctor: all are fit, and some must wait)
  113  the lock was lost while the command ran, which was ended
  114  the command line is wrong
  115  the configuration is wrong, or masters cannot be used with it
  116  the operating system refused something
  126  the command cannot be executed
  127  the command was not found
  128+n  ended by signal n";

#[cfg(test)]
mod tests {
    use super::*;

    /// Every exit that has a code of its own, where the table begins.
    const LISTED: [Exit; 8] = [
        Exit::Held,
        Exit::NoQuorum,
        Exit::Lost,
        Exit::Usage,
        Exit::Configuration,
        Exit::System,
        Exit::NotExecutable,
        Exit::NotFound,
    ];

    #[test]
    fn each_code_stands_once_in_the_help_and_in_the_manual() {
        let manual =
            std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/cli.md"))
                .unwrap();
        for exit in LISTED {
            let (shown, row) = (
                format!("\n  {}  ", exit.code()),
                format!("\n| {} | `{}` |", exit.code(), exit.name()),
            );
            assert_eq!(TABLE.matches(&shown).count(), 1, "{exit:?}");
            assert_eq!(manual.matches(&row).count(), 1, "{exit:?}: {row}");
        }
        assert!(TABLE.lines().all(|line| line.len() <= 100), "the help would break it");
        for exit in [Exit::Failed, Exit::MayNotStop, Exit::NotKnown] {
            assert_eq!(TABLE.matches(&format!("\n  {}  ", exit.code())).count(), 1, "{exit:?}");
        }
    }

    #[test]
    fn a_signal_is_128_and_its_number() {
        assert_eq!([1, 9, 15, 300].map(|signal| Exit::Signal(signal).code()), [129, 137, 143, 255]);
    }
}
