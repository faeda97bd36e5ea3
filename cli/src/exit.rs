//! Every exit code of the command. `docs/cli.md` has the same table.

/// The end of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Success,
    /// `doctor` has found a failure, which time alone does not fix; `force-release` was answered
    /// with no, or was not confirmed.
    Failed,
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
    /// Returns the exit code. Shells, `timeout`, `env` and sysexits.h all leave those between 110
    /// and 119 alone.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failed => 1,
            Self::Held => 111,
            Self::NoQuorum => 112,
            Self::Lost => 113,
            Self::Usage => 114,
            Self::Configuration => 115,
            Self::System => 116,
            Self::NotExecutable => 126,
            Self::NotFound => 127,
            Self::Code(code) => code,
            Self::Signal(signal) => u8::try_from(signal.saturating_add(128)).unwrap_or(255),
        }
    }

    /// Returns the name in the output of `--json`.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Success | Self::Code(_) => "ended",
            Self::Failed => "failed",
            Self::Held => "held",
            Self::NoQuorum => "no_quorum",
            Self::Lost => "lost",
            Self::Usage => "usage",
            Self::Configuration => "configuration",
            Self::System => "system",
            Self::NotExecutable => "not_executable",
            Self::NotFound => "not_found",
            Self::Signal(_) => "signal",
        }
    }

    /// Describes the end of a command.
    #[cfg(unix)]
    pub(crate) fn told(self) -> String {
        match self {
            Self::Signal(signal) => format!("was ended by signal {signal}"),
            other => format!("ended with code {}", other.code()),
        }
    }
}

/// The exit codes as `--help` shows them.
pub(crate) const TABLE: &str = "\
Exit codes:
  1    doctor found a failure; force-release was answered with no, or is not confirmed
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
    const TOLD: [Exit; 8] = [
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
        for exit in TOLD {
            let (shown, row) = (
                format!("\n  {}  ", exit.code()),
                format!("\n| {} | `{}` |", exit.code(), exit.name()),
            );
            assert_eq!(TABLE.matches(&shown).count(), 1, "{exit:?}");
            assert_eq!(manual.matches(&row).count(), 1, "{exit:?}: {row}");
        }
        assert!(TABLE.lines().all(|line| line.len() <= 100), "the help would break it");
        let failed = format!("\n  {}  ", Exit::Failed.code());
        assert_eq!(TABLE.matches(&failed).count(), 1);
    }

    #[test]
    fn a_signal_is_128_and_its_number() {
        assert_eq!([1, 9, 15, 300].map(|signal| Exit::Signal(signal).code()), [129, 137, 143, 255]);
    }
}
