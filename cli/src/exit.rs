//! Every exit code of the command. `docs/cli.md` has the same table.

/// The end of the command: its exit code, and its name in the output of `--json`. Shells, `timeout`, `env` and
/// sysexits.h all leave the codes between 110 and 119 alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exit {
    pub(crate) code: u8,
    pub(crate) name: &'static str,
}

impl Exit {
    pub(crate) const SUCCESS: Self = Self::new(0, "ended");
    /// `doctor` has found a failure, which time alone does not fix, or a possible deadlock; `ask` has reached no
    /// process; `force-release` was answered with no, or was not confirmed.
    pub(crate) const FAILED: Self = Self::new(1, "failed");
    /// `doctor --may-stop`: a list of masters, or a lock, would lose its quorum.
    pub(crate) const MAY_NOT_STOP: Self = Self::new(3, "may_not_stop");
    /// `doctor --may-stop`, `doctor --deadlocks`: the masters do not say enough.
    pub(crate) const NOT_KNOWN: Self = Self::new(4, "not_known");
    pub(crate) const HELD: Self = Self::new(111, "held");
    pub(crate) const NO_QUORUM: Self = Self::new(112, "no_quorum");
    pub(crate) const LOST: Self = Self::new(113, "lost");
    pub(crate) const USAGE: Self = Self::new(114, "usage");
    pub(crate) const CONFIGURATION: Self = Self::new(115, "configuration");
    pub(crate) const SYSTEM: Self = Self::new(116, "system");
    pub(crate) const NOT_EXECUTABLE: Self = Self::new(126, "not_executable");
    pub(crate) const NOT_FOUND: Self = Self::new(127, "not_found");

    const fn new(code: u8, name: &'static str) -> Self {
        Self { code, name }
    }

    /// That of the command under the lock.
    pub(crate) fn of_command(code: i32) -> Self {
        Self::new(u8::try_from(code).unwrap_or(u8::MAX), "ended")
    }

    /// Ended by this signal, or the command under the lock was.
    pub(crate) fn signal(signal: i32) -> Self {
        Self::new(u8::try_from(signal.saturating_add(128)).unwrap_or(u8::MAX), "signal")
    }

    /// Returns the signal.
    pub(crate) fn by_signal(self) -> Option<u8> {
        self.code.checked_sub(128).filter(|_| self.name == "signal")
    }

    /// Describes the end of a command.
    pub(crate) fn described(self) -> String {
        match self.by_signal() {
            Some(signal) => format!("was ended by signal {signal}"),
            None => format!("ended with code {}", self.code),
        }
    }
}

/// A code, what it means, and the commands that may end with it.
type Row = (&'static str, &'static str, &'static [&'static str]);

const RUNNERS: &[&str] = &["run", "elect"];
const ASKING: &[&str] = &["run", "inspect", "list", "ask", "force-release"];
const ALL: &[&str] =
    &["run", "elect", "inspect", "list", "watch", "ask", "force-release", "doctor"];

const ROWS: [Row; 15] = [
    ("1", "a failure was found, or by --deadlocks a possible deadlock", &["doctor"]),
    ("1", "no process was reached", &["ask"]),
    ("1", "answered with no, or not confirmed", &["force-release"]),
    ("3", "--may-stop: a list of masters, or a lock, would lose its quorum", &["doctor"]),
    ("4", "--may-stop or --deadlocks: not known", &["doctor"]),
    ("111", "held by another client", &["run"]),
    ("112", "no quorum: too few masters could vote", ASKING),
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
        Exit::HELD,
        Exit::NO_QUORUM,
        Exit::LOST,
        Exit::USAGE,
        Exit::CONFIGURATION,
        Exit::SYSTEM,
        Exit::NOT_EXECUTABLE,
        Exit::NOT_FOUND,
    ];

    #[test]
    fn each_code_stands_in_the_help_and_in_the_manual() {
        let manual =
            std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/cli.md"))
                .unwrap();
        let has = |exit: Exit| codes(None).iter().any(|(code, _)| *code == exit.code.to_string());
        for exit in LISTED {
            let row = format!("\n| {} | `{}` |", exit.code, exit.name);
            assert!(has(exit), "{exit:?}");
            assert_eq!(manual.matches(&row).count(), 1, "{exit:?}: {row}");
        }
        assert!(table(None).lines().all(|line| line.len() <= 80), "the help would break it");
        assert!([Exit::FAILED, Exit::MAY_NOT_STOP, Exit::NOT_KNOWN].into_iter().all(has));
        for command in ALL {
            let codes = codes(Some(command));
            let mut distinct = codes.clone();
            distinct.dedup_by_key(|(code, _)| *code);
            assert_eq!(codes, distinct, "{command}: each code has one meaning there");
        }
    }

    #[test]
    fn a_signal_is_128_and_its_number() {
        assert_eq!([1, 9, 15, 300].map(|signal| Exit::signal(signal).code), [129, 137, 143, 255]);
    }
}
