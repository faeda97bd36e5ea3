//! `quorumlock run` and `elect` where there are no process groups.

use crate::args::{ElectArgs, MastersArgs, RunArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

/// Always fails: without process groups there is no guarantee that the command ends with its lock.
pub(crate) async fn run(_: RunArgs, _: MastersArgs, _: Output) -> Result<Exit, Failure> {
    Err(Failure::new(Exit::System, "run needs a Unix: there are no process groups here"))
}

/// Always fails, for the same reason.
pub(crate) async fn elect(_: ElectArgs, _: MastersArgs, _: Output) -> Result<Exit, Failure> {
    Err(Failure::new(Exit::System, "elect needs a Unix: there are no process groups here"))
}
