//! The command line: arguments, help, and the messages for arguments that are wrong.

mod duration;
mod elect;
mod look;
mod problem;
#[cfg(test)]
mod tests;

use crate::exit::TABLE;
use crate::style::Color;
use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use duration::duration;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

pub(crate) use elect::{ELECT_EXAMPLES, ElectArgs};
pub(crate) use look::{AskArgs, DoctorArgs, ForceReleaseArgs, InspectArgs, ListArgs, WatchArgs};

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
  quorumlock run --no-wait backup -- backup.sh       # not at all while another host does
  quorumlock run --timeout 5m --ttl 30s deploy -- make deploy
  quorumlock run --no-wait --min-hold 20s tick -- tick.sh # not again within 20 s
  quorumlock run --fair --no-timeout printer -- print.sh # first come, first served
  quorumlock run account:1 account:2 -- transfer     # both or none
  quorumlock run --permits 10 import -- import.sh    # ten at a time
  quorumlock run --shared table:7 -- read.sh         # with others that have --shared
  quorumlock run --exclusive table:7 -- write.sh     # before new ones with --shared";

const RUN_ENVIRONMENT: &str = "\
The command gets QUORUMLOCK_RESOURCE, QUORUMLOCK_DEADLINE (milliseconds since 1970, as it was
when the command began) and, with --fenced, QUORUMLOCK_FENCING_TOKEN in its environment; with
--permits, QUORUMLOCK_SLOT: 0 to N-1, unique among running commands. `run` exits with the
command's exit code.
";

/// Run programs under a distributed lock (Redlock over independent Redis masters), and inspect locks.
#[derive(Debug, Parser)]
#[command(name = "quorumlock", version, after_help = format!("{EXAMPLES}\n\n{TABLE}"))]
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
    pub(crate) color: Color,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The masters, and the sources of all other settings.
#[derive(Debug, clap::Args)]
pub(crate) struct MastersArgs {
    /// A master, such as redis://10.0.0.1:6379; once for each of them. Instead of QUORUMLOCK_NODES
    /// and of `nodes` in the file. Passwords belong there: every user can read a command line.
    #[arg(long, global = true, help_heading = "Everywhere", value_name = "URL")]
    pub(crate) node: Vec<String>,
    /// A master of the second list, while one list takes over from another.
    #[arg(long, global = true, help_heading = "Everywhere", value_name = "URL")]
    pub(crate) joint_with: Vec<String>,
    /// Fail if any master answers and cannot be used, even if the others are enough.
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub(crate) strict: bool,
    /// Accept a max_ttl above 24 h. Masters that have just started do not vote for that long.
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub(crate) allow_long_max_ttl: bool,
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
    /// Run a command while leading an election: campaign, run, campaign again after a loss, and
    /// resign when the command ends.
    Elect(Box<ElectArgs>),
    /// Show the holder of a lock, the masters that have its key, and when it expires.
    Inspect(InspectArgs),
    /// List the locks and permits that are held: by whom, when they expire, and how many clients
    /// wait.
    List(ListArgs),
    /// List locks continuously: a table on a terminal, otherwise a line for each change.
    Watch(WatchArgs),
    /// Ask the holder of a lock to give it back: what is kept warm and idle is released, and a command of
    /// `run --on-wanted term` is ended. It keeps the lock otherwise.
    Ask(AskArgs),
    /// Force a release. The current holder does not notice before its next extension or its
    /// deadline.
    ForceRelease(ForceReleaseArgs),
    /// Check that each master is usable and may vote, and suggest fixes.
    Doctor(DoctorArgs),
    /// Measure round trips, acquires and releases on the configured masters, for a second or so.
    Bench(BenchArgs),
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

/// What to measure.
#[derive(Debug, clap::Args)]
pub(crate) struct BenchArgs {
    /// Number of acquires and releases of each task.
    #[arg(long, default_value_t = 200)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) cycles: u32,
    /// Number of concurrent tasks, each with a resource of its own.
    #[arg(long, default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) tasks: u32,
    /// Ask for a fencing token with each lock. The fences expire half a minute later.
    #[arg(long)]
    pub(crate) fenced: bool,
}

/// How to run a command under a lock.
#[derive(Debug, clap::Args)]
#[command(after_help = format!("{RUN_EXAMPLES}\n\n{RUN_ENVIRONMENT}\n{TABLE}"))]
pub(crate) struct RunArgs {
    /// What to lock; several are locked together, all or none.
    #[arg(required = true, value_name = "RESOURCE")]
    pub(crate) resources: Vec<String>,
    /// What to run, and its arguments.
    #[arg(required = true, last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
    /// How long to wait while another client holds the lock or too few masters answer. Default: 10s.
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = duration, group = "waits")]
    pub(crate) timeout: Option<Duration>,
    /// Make one attempt.
    #[arg(short, long, group = "waits")]
    pub(crate) no_wait: bool,
    /// Wait until the lock is free, however long that takes.
    #[arg(long, group = "waits")]
    pub(crate) no_timeout: bool,
    /// Time to live of the lock, which is extended while the command runs: how long it remains if
    /// this process is killed. Default: 10s.
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = duration)]
    pub(crate) ttl: Option<Duration>,
    /// End the command once the lock has been held for this long. Default: 1h.
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = duration, group = "holds")]
    pub(crate) max_hold: Option<Duration>,
    /// Hold the lock for as long as the command runs.
    #[arg(long, group = "holds")]
    pub(crate) keep_alive_forever: bool,
    /// How much longer than its ttl the lock stays closed if this process is killed or loses it.
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = duration)]
    pub(crate) lock_delay: Option<Duration>,
    /// Holder name that inspect shows. Default: host and process id.
    #[arg(long, value_name = "TEXT")]
    pub(crate) label: Option<String>,
    /// Ask for a fencing token, and hand it to the command. Use it for every lock on the resource, or for none.
    #[arg(long)]
    pub(crate) fenced: bool,
    /// Queue fairly: waiters with this option are served in order of arrival. Use it for every lock
    /// on the resource.
    #[arg(long)]
    pub(crate) fair: bool,
    /// Take one of this many permits of the resource, 1 to 64, instead of the lock on it. Use the
    /// same number everywhere. Permits and the lock do not exclude each other.
    #[arg(long, value_name = "N", group = "ways", conflicts_with_all = ["fenced", "fair"])]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=64))]
    pub(crate) permits: Option<u8>,
    /// Share the lock with other holders that use this option: many readers. A lock without it excludes
    /// all of them.
    #[arg(long, group = "ways", conflicts_with_all = ["fenced", "fair", "min_hold"])]
    pub(crate) shared: bool,
    /// Hold the lock alone, as its writer: while it waits, no new reader (--shared) comes in.
    #[arg(long, group = "ways", conflicts_with_all = ["fair", "min_hold"])]
    pub(crate) exclusive: bool,
    /// Keep the lock closed for this long from its start if the command succeeds or this process is
    /// killed. A command that fails opens the lock at once. At most max_ttl.
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = duration, group = "leaves")]
    pub(crate) min_hold: Option<Duration>,
    /// Do not release at the end: the lock stays closed for another ttl.
    #[arg(long, group = "leaves")]
    pub(crate) forget: bool,
    /// The time from SIGTERM to SIGKILL when the lock is being lost; never more than a third of the
    /// ttl, and never beyond the deadline.
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = duration, default_value = "5s")]
    pub(crate) grace: Duration,
    /// What to do once another client waits for the lock and asks for it.
    #[arg(long, value_name = "WHAT", value_enum, default_value_t)]
    pub(crate) on_wanted: OnWanted,
    /// Write metrics to this file, for node_exporter's textfile collector: at the start, after each
    /// change and at the end. Its name ends with .prom.
    #[arg(long, value_name = "PATH")]
    pub(crate) metrics_file: Option<PathBuf>,
    /// Exit code if another client holds the lock. Default: 111. With 0, nothing is printed.
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

/// The reason why there are no arguments.
#[derive(Debug)]
pub(crate) enum Unparsed {
    /// Help or version were asked for; this is it.
    Shown(String),
    /// In one line.
    Wrong(String),
}

/// All arguments, the program's own name first.
pub(crate) fn parse(arguments: &[OsString]) -> Result<Args, Unparsed> {
    Args::try_parse_from(arguments).map_err(|error| {
        if error.use_stderr() {
            Unparsed::Wrong(problem::in_one_line(&error.to_string(), arguments))
        } else {
            Unparsed::Shown(error.to_string())
        }
    })
}

/// As completions and manual are made from.
pub(crate) fn definition() -> clap::Command {
    Args::command()
}
