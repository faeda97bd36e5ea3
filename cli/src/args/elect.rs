//! The arguments of `elect`.

use super::duration;
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
