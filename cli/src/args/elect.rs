//! The arguments of `elect`.

use super::duration::duration;
use crate::exit::TABLE;
use std::ffi::OsString;
use std::time::Duration;

pub(crate) const ELECT_EXAMPLES: &str = "\
Examples:
  quorumlock elect scheduler --value 10.0.0.7:8080 -- /usr/local/bin/scheduler
  quorumlock inspect scheduler                       # who leads, by that value";

const ELECT_ENVIRONMENT: &str = "\
The command gets QUORUMLOCK_RESOURCE, QUORUMLOCK_DEADLINE (milliseconds since 1970, as it was
when the command began) and its term as QUORUMLOCK_FENCING_TOKEN in its environment. Its exit
code is ours.
";

/// How to run a command as the leader of an election.
#[derive(Debug, clap::Args)]
#[command(after_help = format!("{ELECT_EXAMPLES}\n\n{ELECT_ENVIRONMENT}\n{TABLE}"))]
pub(crate) struct ElectArgs {
    /// The election: all candidates name the same. It is a lock of that name.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// What to run while we lead, and its arguments.
    #[arg(required = true, last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
    /// What others see of the leader, such as its address; never a secret. Default: the label in
    /// the settings, or host and process id.
    #[arg(long, value_name = "TEXT")]
    pub(crate) value: Option<String>,
    /// How long we keep the others out if we are killed. Default: 10s.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) ttl: Option<Duration>,
    /// How much longer than that, if we are killed or lose the lead.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) lock_delay: Option<Duration>,
    /// The time from SIGTERM to SIGKILL when the lead is being lost; never more than a third of the
    /// ttl, and never beyond the deadline.
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "5s")]
    pub(crate) grace: Duration,
}
