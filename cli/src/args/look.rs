//! The arguments of the commands that look at locks, and of the one that takes them away.

use super::duration::pause;
use std::time::Duration;

/// Which locks to inspect.
#[derive(Debug, clap::Args)]
pub(crate) struct InspectArgs {
    /// What is locked.
    #[arg(required = true, value_name = "RESOURCE")]
    pub(crate) resources: Vec<String>,
    /// Show who has which of so many permits of the resource, 1 to 64, instead of the lock on it.
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
    /// Do not ask.
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// Which locks to list.
#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// How the names of the resources begin. Default: all of them.
    #[arg(value_name = "PREFIX")]
    prefix: Option<String>,
    /// Also what is not held: keys that are left over on a few masters, or on their way.
    #[arg(short, long)]
    pub(crate) all: bool,
}

impl ListArgs {
    pub(crate) fn prefix(&self) -> &str {
        self.prefix.as_deref().unwrap_or_default()
    }
}

/// Which locks to list, and how often.
#[derive(Debug, clap::Args)]
pub(crate) struct WatchArgs {
    #[command(flatten)]
    pub(crate) list: ListArgs,
    /// The pause between two looks.
    #[arg(short, long, value_name = "DURATION", value_parser = pause, default_value = "2s")]
    pub(crate) interval: Duration,
}
