//! `quorumlock elect`: a command that runs while this process leads.

use super::child::{self, TOKEN};
use super::loss::Loss;
use super::signals::Signals;
use super::supervise::{Ended, Supervisor, Work};
use super::{connected, label, metrics_file, note_release, unless_ended, waiting};
use crate::args::{ElectArgs, MastersArgs};
use crate::failure::{Failure, Result};
use crate::output::Output;
use quorumlock::report::Escaped;
use quorumlock::{Config, Leadership, Redlock};

/// Campaigns, and runs the command while it leads; again after each loss, until the command ends by
/// itself or a signal ends this process.
pub(crate) async fn elect(args: ElectArgs, masters: MastersArgs, output: Output) -> Result {
    let work = Work {
        program: child::find(&args.command[0])?,
        words: args.command,
        resources: vec![args.name],
        grace: args.grace,
        heeds_others: false,
        is_shared: false,
        has_permit: false,
        output,
    };
    let set = |mut config: Config| {
        config.ttl = args.ttl.or(config.ttl);
        config.lock_delay = args.lock_delay.or(config.lock_delay);
        config
    };
    let led = async |redlock: &Redlock, config: &Config, signals: &mut Signals| {
        let value = args.value.or_else(|| config.label.clone()).unwrap_or_else(label);
        lead(redlock, &work, &value, signals).await
    };
    let led = connected(masters, output, set, led);
    metrics_file::recorded(args.metrics_file, &work.resources[0], output, led).await
}

async fn lead(redlock: &Redlock, work: &Work, value: &str, signals: &mut Signals) -> Result {
    let name = &work.resources[0];
    let election = redlock.election(name);
    loop {
        let waiting = waiting::beside(election.campaign(value), |_| None, redlock, work);
        let leadership = match unless_ended(waiting, signals).await {
            Ok(led) => led?,
            Err(exit) => return Ok(exit),
        };
        let term = leadership.term().to_string();
        work.output.note(&format!("leads {:?} in term {term}", Escaped(name)));
        match Supervisor::start(&leadership, work, Some((TOKEN, term))).await {
            Ok(supervisor) => {
                let ended = supervisor.await_end(signals).await;
                if let Some(end) = step_down(leadership, work, ended).await {
                    return end;
                }
            }
            // The lead was over before the command could begin.
            Err(_) if leadership.check().is_err() => {}
            Err(error) => return Err(Failure::system("the command was not started", &error)),
        }
    }
}

/// Gives up the lead after the command has ended. Returns the result of all; `None` to campaign
/// again, since the command was ended for a loss. The shutdown waits for what a dropped lead owes.
async fn step_down(leadership: Leadership, work: &Work, ended: Ended) -> Option<Result> {
    let name = &work.resources[0];
    let failure = |loss: Loss| loss.into_failure(name, ended.exit);
    if ended.is_unreachable {
        // Neither released nor, after the shutdown that follows, extended.
        std::mem::forget(leadership);
        return Some(ended.lost.map_or(Ok(ended.exit), |loss| Err(failure(loss))));
    }
    match ended.lost {
        Some(loss) if !ended.was_asked => {
            work.output.warn(&format!("{}; campaigns again", failure(loss)));
            None
        }
        Some(loss) => Some(Err(failure(loss))),
        None => Some(match leadership.resign().await {
            Ok(released) => {
                note_release(work.output, "resigned", name, &released);
                Ok(ended.exit)
            }
            Err(lost) => Err(failure(Loss::from(&lost))),
        }),
    }
}
