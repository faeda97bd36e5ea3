//! The command line: arguments, help, and the messages for arguments that are wrong.

mod others;
mod problem;
#[cfg(test)]
mod tests;

use crate::exit::{codes, table};
use clap::parser::ValueSource;
use clap::{ArgMatches, ColorChoice, CommandFactory, FromArgMatches, Id, Parser, Subcommand};
use clap_complete::Shell;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

pub(crate) use others::{AskArgs, DoctorArgs, ForceReleaseArgs, InspectArgs, ListArgs, WatchArgs};
pub(crate) use others::{ELECT_ENVIRONMENT, ELECT_EXAMPLES, ElectArgs};
pub(crate) use problem::in_one_line;

pub(crate) const EXAMPLES: &str = "\
Examples:
  quorumlock run nightly-report -- /usr/local/bin/report --mail
  quorumlock run --no-wait --ttl 30s backup -- sh -c 'dump | upload'
  quorumlock elect scheduler --value 10.0.0.7:8080 -- /usr/local/bin/scheduler
  quorumlock inspect nightly-report
  quorumlock list orders:
  quorumlock doctor --json";

pub(crate) const RUN_EXAMPLES: &str = "\
Examples:
  quorumlock run nightly-report -- /usr/local/bin/report --mail
  quorumlock run --no-wait backup -- backup.sh    # or not at all
  quorumlock run --timeout 5m --ttl 30s deploy -- make deploy
  quorumlock run -n --min-hold 20s tick -- tick   # not again within 20 s
  quorumlock run --fair printer -- print.sh       # first come, first served
  quorumlock run account:1 account:2 -- transfer  # both or none
  quorumlock run --permits 10 import -- import.sh # ten at a time
  quorumlock run --shared table:7 -- read.sh      # with others that have it
  quorumlock run --exclusive table:7 -- write.sh  # ahead of new --shared";

pub(crate) const RUN_ENVIRONMENT: &str = "\
The command gets QUORUMLOCK_RESOURCE, QUORUMLOCK_DEADLINE (when it began, in
milliseconds since 1970), QUORUMLOCK_FENCING_TOKEN with --fenced, and
QUORUMLOCK_SLOT with --permits (0 to N-1). `run` exits with its exit code.";

const MORE: &str = "More about each option: quorumlock man run | man -l -\n";

/// Run programs under a distributed lock (Redlock over independent Redis masters), and inspect locks.
#[derive(Debug, Parser)]
#[command(name = "quorumlock", version, after_help = format!("{EXAMPLES}\n\n{}", table(None)))]
#[command(arg_required_else_help = false, max_term_width = 100)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) masters: MastersArgs,
    /// Print results and errors as JSON, one line each.
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub(crate) json: bool,
    /// Also print progress on stderr.
    #[arg(short, long, global = true, help_heading = "Everywhere")]
    pub(crate) verbose: bool,
    /// When to print in colours.
    #[arg(long, global = true, help_heading = "Everywhere", value_name = "WHEN", value_enum)]
    #[arg(default_value_t, hide_possible_values = true)]
    pub(crate) color: ColorChoice,
    #[command(subcommand)]
    pub(crate) command: Command,
    /// The settings that options give, which are the ids of those options.
    #[arg(skip)]
    pub(crate) given: Vec<String>,
}

/// The masters, and the sources of all other settings.
#[derive(Debug, clap::Args)]
pub(crate) struct MastersArgs {
    /// A master, such as redis://10.0.0.1:6379; once for each.
    ///
    /// A master, such as redis://10.0.0.1:6379; once for each of them. Instead of QUORUMLOCK_NODES
    /// and of `nodes` in the file. Passwords belong there: every user can read a command line.
    #[arg(id = "nodes", long = "node", value_name = "URL")]
    #[arg(global = true, help_heading = "Everywhere")]
    pub(crate) node: Vec<String>,
    /// A master of the second list, if joint.
    ///
    /// A master of the second list, while one list takes over from another.
    #[arg(long, global = true, help_heading = "Everywhere", value_name = "URL")]
    pub(crate) joint_with: Vec<String>,
    /// Fail if any master cannot be used.
    ///
    /// Fail if any master answers and cannot be used, even if the others are enough.
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub(crate) strict: bool,
    /// Accept a max_ttl above 24 h.
    ///
    /// Masters that have just started do not vote for that long.
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub(crate) allow_long_max_ttl: bool,
    /// A TOML file with settings.
    ///
    /// A TOML file with settings. Default: the one that QUORUMLOCK_CONFIG names; if no masters are
    /// named either, ~/.config/quorumlock/config.toml or /etc/quorumlock/config.toml. Any setting
    /// can be given as an environment variable, too, such as QUORUMLOCK_KEY_PREFIX.
    #[arg(long, global = true, help_heading = "Everywhere", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// The command to run.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a command under a lock: acquire, run, keep the lock alive, release.
    Run(Box<RunArgs>),
    /// Run a command while leading an election.
    ///
    /// It campaigns, runs the command, campaigns again after a loss, and resigns when the command ends.
    Elect(Box<ElectArgs>),
    /// Show the holder of a lock, the masters that have its key, and when it expires.
    Inspect(InspectArgs),
    /// List the locks and permits that are held.
    ///
    /// It shows by whom, when they expire, and how many clients wait.
    List(ListArgs),
    /// List locks continuously: a table on a terminal, otherwise a line for each change.
    Watch(WatchArgs),
    /// Ask the holder of a lock to give it back.
    ///
    /// What is kept warm and idle is released, and a command of `run --on-wanted term` is ended. The holder
    /// keeps the lock otherwise.
    Ask(AskArgs),
    /// Take a lock away from its current holder.
    ///
    /// The holder does not notice before its next extension or its deadline.
    ForceRelease(ForceReleaseArgs),
    /// Check that each master is usable and may vote, and suggest fixes.
    Doctor(DoctorArgs),
    /// Print completions for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Print the manual page, or that of one command.
    Man {
        /// The command; without it, the page of all.
        command: Option<String>,
    },
}

/// How to run a command under a lock.
#[derive(Debug, clap::Args)]
#[command(after_help = format!("{RUN_EXAMPLES}\n\n{RUN_ENVIRONMENT}\n{MORE}"))]
pub(crate) struct RunArgs {
    /// What to lock; several are locked together, all or none.
    #[arg(required = true, value_name = "RESOURCE")]
    pub(crate) resources: Vec<String>,
    /// What to run, and its arguments.
    #[arg(required = true, last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
    /// Wait this long at most. Default: 10s
    ///
    /// How long to wait while another client holds the lock or too few masters answer. Default: 10s.
    #[arg(id = "acquire_timeout", long = "timeout", value_name = "DURATION")]
    #[arg(allow_hyphen_values = true, value_parser = duration, group = "waits")]
    pub(crate) timeout: Option<Duration>,
    /// Make one attempt.
    #[arg(short, long, group = "waits")]
    pub(crate) no_wait: bool,
    /// Wait until the lock is free.
    ///
    /// Wait until the lock is free, however long that takes.
    #[arg(long, group = "waits")]
    pub(crate) no_timeout: bool,
    /// Time to live. Default: 10s
    ///
    /// Time to live of the lock, which is extended while the command runs: how long it remains if
    /// this process is killed. Default: 10s.
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = duration)]
    pub(crate) ttl: Option<Duration>,
    /// End the command then. Default: 1h
    ///
    /// End the command once the lock has been held for this long. Default: 1h.
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = duration, group = "holds")]
    pub(crate) max_hold: Option<Duration>,
    /// Hold it while the command runs.
    ///
    /// Hold the lock for as long as the command runs, without an end.
    #[arg(long, group = "holds")]
    pub(crate) keep_alive_forever: bool,
    /// Keep a lost lock locked for longer.
    ///
    /// How much longer than its ttl the lock stays closed if this process is killed or loses it.
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = duration)]
    pub(crate) lock_delay: Option<Duration>,
    /// Holder's name. Default: host:pid
    ///
    /// Holder name that inspect shows. Default: host and process id.
    #[arg(long, value_name = "TEXT")]
    pub(crate) label: Option<String>,
    /// Give the command a fencing token.
    ///
    /// Ask for a fencing token, and hand it to the command. Use it for every lock on the resource, or for none.
    #[arg(long)]
    pub(crate) fenced: bool,
    /// Wait in turn with others that do.
    ///
    /// Queue fairly: waiters with this option are served in order of arrival. Use it for every lock
    /// on the resource.
    #[arg(long)]
    pub(crate) fair: bool,
    /// Take one of N permits, not the lock.
    ///
    /// Take one of this many permits of the resource, 1 to 64, instead of the lock on it. Use the
    /// same number everywhere. Permits and the lock do not exclude each other.
    #[arg(long, value_name = "N", group = "ways", conflicts_with = "fenced")]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=64))]
    pub(crate) permits: Option<u8>,
    /// Hold it with others that share it.
    ///
    /// Share the lock with other holders that use this option: many readers. A lock without it excludes
    /// all of them.
    #[arg(long, group = "ways", conflicts_with_all = ["fenced", "fair", "min_hold"])]
    pub(crate) shared: bool,
    /// Hold it alone, ahead of new --shared.
    ///
    /// Hold the lock alone, as its writer: while it waits, no new reader (--shared) comes in.
    #[arg(long, group = "ways", conflicts_with_all = ["fair", "min_hold"])]
    pub(crate) exclusive: bool,
    /// Locked this long unless it fails.
    ///
    /// Keep the lock closed for this long from its start if the command succeeds or this process is
    /// killed. A command that fails opens the lock at once. At most max_ttl.
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = duration, group = "leaves")]
    pub(crate) min_hold: Option<Duration>,
    /// Stay locked at the end, for a ttl.
    ///
    /// Do not release at the end: the lock stays closed for another ttl.
    #[arg(long, group = "leaves")]
    pub(crate) forget: bool,
    /// From SIGTERM to SIGKILL.
    ///
    /// The time from SIGTERM to SIGKILL when the lock is being lost; never more than a third of the
    /// ttl, and never beyond the deadline.
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = duration, default_value = "5s")]
    pub(crate) grace: Duration,
    /// If asked for it: ignore, or term.
    ///
    /// What to do once another client waits for the lock and asks for it: nothing (ignore), or send
    /// SIGTERM to the command, once (term). If it goes on, it keeps the lock.
    #[arg(long, value_name = "WHAT", value_enum, default_value_t)]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    pub(crate) on_wanted: OnWanted,
    /// Write metrics to this .prom file.
    ///
    /// Write metrics to this file, for node_exporter's textfile collector: at the start, after each
    /// change and at the end. Its name ends with .prom.
    #[arg(long, value_name = "PATH")]
    pub(crate) metrics_file: Option<PathBuf>,
    /// Exit code if it is held. Default: 111
    ///
    /// The exit code if another client holds the lock. With 0, nothing is printed.
    #[arg(short = 'E', long, value_name = "CODE")]
    pub(crate) conflict_exit_code: Option<u8>,
}

/// What follows once another client waits for a lock that a command has, and asks for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum OnWanted {
    /// Nothing.
    #[default]
    Ignore,
    /// Send SIGTERM to the command, once. If it goes on, it keeps the lock.
    Term,
}

/// What each command's help has in place of the options that all of them have.
const EVERYWHERE: &str = "\
Also --node, --joint-with, --config, --strict, --allow-long-max-ttl, --json,
--verbose and --color: see quorumlock --help.";

/// All arguments, the program's own name first. Help and version are an error that goes to stdout.
pub(crate) fn parse(arguments: &[OsString]) -> Result<Args, clap::Error> {
    let matches = shown().try_get_matches_from(arguments)?;
    Ok(Args { given: given(&matches), ..Args::from_arg_matches(&matches)? })
}

fn given(matches: &ArgMatches) -> Vec<String> {
    let is_typed = |id: &&Id| matches.value_source(id.as_str()) == Some(ValueSource::CommandLine);
    let own = matches.ids().filter(is_typed).map(ToString::to_string);
    own.chain(matches.subcommand().into_iter().flat_map(|(_, own)| given(own))).collect()
}

/// Returns an argument with its first sentence alone: the manual page has all of them.
fn brief(arg: clap::Arg) -> clap::Arg {
    arg.long_help(None::<&str>)
}

/// As it shows its help: that of a command has its own options and exit codes, and no others.
fn shown() -> clap::Command {
    let mut whole = Args::command().mut_args(brief).mut_subcommands(|command| {
        let name = command.get_name().to_owned();
        let long = command.get_long_about().map(ToString::to_string).unwrap_or_default();
        let details = long.split_once("\n\n").map(|(_, details)| format!("{details}\n\n"));
        let own = command.get_after_help().map(|text| format!("{text}\n"));
        let before = details.unwrap_or_default() + &own.unwrap_or_default();
        let command = command.long_about(None::<&str>).mut_args(brief);
        match codes(Some(&name)).is_empty() {
            true => command,
            false => command.after_help(format!("{before}{EVERYWHERE}\n\n{}", table(Some(&name)))),
        }
    });
    // Only now has each of them the options that all have.
    whole.build();
    whole.mut_subcommands(|command| {
        command.mut_args(|arg| {
            let is_everywhere = arg.is_global_set();
            arg.hide(is_everywhere)
        })
    })
}

/// Parses `10s`, `500ms`, `1m 30s`.
fn duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text)
        .map_err(|error| format!("{error}: write it like 10s, 500ms or \"1m 30s\""))
}

/// The shortest pause between two looks at all masters.
const SHORTEST_PAUSE: Duration = Duration::from_millis(100);

/// Parses the pause between two looks.
fn pause(text: &str) -> Result<Duration, String> {
    let pause = duration(text)?;
    let is_long_enough = pause >= SHORTEST_PAUSE;
    is_long_enough.then_some(pause).ok_or_else(|| "use at least 100ms".to_owned())
}
