//! The arguments of the commands that look at locks, and of the one that takes them away.

use super::pause;
use std::time::Duration;

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
