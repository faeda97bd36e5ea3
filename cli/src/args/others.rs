//! The arguments of each command but `run`.

use super::{duration, pause};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

pub(crate) const ELECT_EXAMPLES: &str = "\
Examples:
  quorumlock elect scheduler --value 10.0.0.7:8080 -- /usr/local/bin/scheduler
  quorumlock inspect scheduler                       # the current leader's value";

pub(crate) const ELECT_ENVIRONMENT: &str = "\
The command gets QUORUMLOCK_RESOURCE, QUORUMLOCK_DEADLINE (when it began, in
milliseconds since 1970) and its term as QUORUMLOCK_FENCING_TOKEN. `elect` exits
with its exit code.";

/// How to run a command as the leader of an election.
#[derive(Debug, clap::Args)]
#[command(after_help = format!("{ELECT_EXAMPLES}\n\n{ELECT_ENVIRONMENT}\n"))]
pub(crate) struct ElectArgs {
    /// The election: all candidates name the same. It is a lock of that name.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// What to run while leading, and its arguments.
    #[arg(required = true, last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
    /// What others see of the leader, such as its address; never a secret. Default: the label in
    /// the settings, or host and process id.
    #[arg(id = "candidate", long = "value", value_name = "TEXT")]
    pub(crate) value: Option<String>,
    /// How long the other candidates stay out if this process is killed. Default: 10s.
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = duration)]
    pub(crate) ttl: Option<Duration>,
    /// How much longer than its ttl the lead stays taken if this process is killed or loses it.
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = duration)]
    pub(crate) lock_delay: Option<Duration>,
    /// The time from SIGTERM to SIGKILL when the lead is being lost; never more than a third of the
    /// ttl, and never beyond the deadline.
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = duration, default_value = "5s")]
    pub(crate) grace: Duration,
    /// Write metrics to this file, for node_exporter's textfile collector: at the start, after each
    /// change and at the end. Its name ends with .prom.
    #[arg(long, value_name = "PATH")]
    pub(crate) metrics_file: Option<PathBuf>,
}

/// Which locks to inspect.
#[derive(Debug, clap::Args)]
pub(crate) struct InspectArgs {
    /// What is locked.
    #[arg(required = true, value_name = "RESOURCE")]
    pub(crate) resources: Vec<String>,
    /// Show the holder of each of so many permits of the resource, 1 to 64, instead of the lock on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64))]
    pub(crate) permits: Option<u8>,
}

/// Which lock to take away.
#[derive(Debug, clap::Args)]
pub(crate) struct ForceReleaseArgs {
    /// What is locked.
    pub(crate) resource: String,
    /// Take away the permit of this slot, which `list` shows, instead of the lock.
    #[arg(long, value_name = "SLOT", value_parser = clap::value_parser!(u8).range(0..=63))]
    pub(crate) slot: Option<u8>,
    /// Do not ask for confirmation.
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// Which holder to ask.
#[derive(Debug, clap::Args)]
pub(crate) struct AskArgs {
    /// What is locked.
    pub(crate) resource: String,
    /// Ask the holder of the permit of this slot, which `list` shows, instead of the lock's.
    #[arg(long, value_name = "SLOT", value_parser = clap::value_parser!(u8).range(0..=63))]
    pub(crate) slot: Option<u8>,
}

/// Which locks to list.
#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// The beginning of the resources' names. Default: all resources.
    #[arg(value_name = "PREFIX", default_value_t, hide_default_value = true)]
    pub(crate) prefix: String,
    /// Also list what is not held: keys left over on a few masters, or just being set or deleted.
    #[arg(short, long)]
    pub(crate) all: bool,
}

/// Which locks to list, and how often.
#[derive(Debug, clap::Args)]
pub(crate) struct WatchArgs {
    #[command(flatten)]
    pub(crate) list: ListArgs,
    /// The pause between two looks.
    #[arg(short, long, value_name = "DURATION", allow_hyphen_values = true, value_parser = pause, default_value = "2s")]
    pub(crate) interval: Duration,
}

/// What to check of the masters.
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// Answer whether this master may be stopped now: whether the others leave every client its
    /// quorum, and every lock that is held a quorum of its keys. Exit code 0, 3 if not, 4 if that
    /// is not known. Implies --inspect-only.
    #[arg(long, value_name = "NODE")]
    pub(crate) may_stop: Option<String>,
    /// Look for clients that may wait for each other, as far as the masters know which clients wait:
    /// twice, a second apart. Exit code 1 if there are any, 4 if too few masters can be scanned.
    /// Implies --inspect-only.
    #[arg(long, conflicts_with = "may_stop")]
    pub(crate) deadlocks: bool,
    /// Set no key, and do not try the rights that locks need: for a user that only looks.
    #[arg(long)]
    pub(crate) inspect_only: bool,
}
