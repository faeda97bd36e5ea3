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
    /// The user's code instead of [`Self::Held`].
    HeldAs(u8),
    /// The exit code of the command under the lock.
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
            Self::HeldAs(code) => (code, "held"),
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
    pub(crate) fn described(self) -> String {
        match self {
            Self::Signal(signal) => format!("was ended by signal {signal}"),
            other => format!("ended with code {}", other.code()),
        }
    }
}

/// A code, what it means, and the commands that may end with it.
type Row = (&'static str, &'static str, &'static [&'static str]);

const RUNNERS: &[&str] = &["run", "elect"];
const ALL: &[&str] =
    &["run", "elect", "inspect", "list", "watch", "ask", "force-release", "doctor"];

const ROWS: [Row; 15] = [
    ("1", "a failure was found, or by --deadlocks a possible deadlock", &["doctor"]),
    ("1", "no process was reached", &["ask"]),
    ("1", "answered with no, or not confirmed", &["force-release"]),
    ("3", "--may-stop: a list of masters, or a lock, would lose its quorum", &["doctor"]),
    ("4", "--may-stop or --deadlocks: not known", &["doctor"]),
    ("111", "held by another client", &["run"]),
    (
        "112",
        "no quorum: too few masters could vote",
        &["run", "inspect", "list", "ask", "force-release"],
    ),
    ("112", "all masters are fit, and some must wait until they vote", &["doctor"]),
    ("113", "the lock was lost while the command ran, which was ended", RUNNERS),
    ("114", "the command line is wrong", ALL),
    ("115", "the configuration is wrong, or masters cannot be used with it", ALL),
    ("116", "the operating system refused something", ALL),
    ("126", "the command cannot be executed", RUNNERS),
    ("127", "the command was not found", RUNNERS),
    ("128+n", "ended by signal n", RUNNERS),
];

/// Returns the exit codes of a command with their meanings; without one, all of them.
pub(crate) fn codes(command: Option<&str>) -> Vec<(&'static str, String)> {
    let is_its = |(.., of): &&Row| command.is_none_or(|command| of.contains(&command));
    let shown = |(code, text, of): &Row| match (command, of) {
        (None, [only]) => (*code, format!("{only}: {text}")),
        _ => (*code, (*text).to_owned()),
    };
    ROWS.iter().filter(is_its).map(shown).collect()
}

/// Returns the same as `--help` shows it.
pub(crate) fn table(command: Option<&str>) -> String {
    let rows = codes(command).into_iter().map(|(code, text)| format!("\n  {code:5}  {text}"));
    rows.fold("Exit codes:".to_owned(), |table, row| table + &row)
}

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
    fn each_code_stands_in_the_help_and_in_the_manual() {
        let manual =
            std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/cli.md"))
                .unwrap();
        let has = |exit: Exit| codes(None).iter().any(|(code, _)| *code == exit.code().to_string());
        for exit in LISTED {
            let row = format!("\n| {} | `{}` |", exit.code(), exit.name());
            assert!(has(exit), "{exit:?}");
            assert_eq!(manual.matches(&row).count(), 1, "{exit:?}: {row}");
        }
        assert!(table(None).lines().all(|line| line.len() <= 80), "the help would break it");
        assert!([Exit::Failed, Exit::MayNotStop, Exit::NotKnown].into_iter().all(has));
        for command in ALL {
            let codes = codes(Some(command));
            let mut distinct = codes.clone();
            distinct.dedup_by_key(|(code, _)| *code);
            assert_eq!(codes, distinct, "{command}: each code has one meaning there");
        }
    }

    #[test]
    fn a_signal_is_128_and_its_number() {
        assert_eq!([1, 9, 15, 300].map(|signal| Exit::Signal(signal).code()), [129, 137, 143, 255]);
    }
}
