//! `quorumlock elect`: a command that runs while this process leads.

use super::loss::Loss;
use super::program::Program;
use super::signals::Signals;
use super::supervise::{Ended, Supervisor, Work};
use super::{connected, environment, label, metrics_file, note_release, unless_ended, waiting};
use crate::args::{ElectArgs, MastersArgs};
use crate::failure::{Failure, Result};
use crate::output::Output;
use quorumlock::report::Escaped;
use quorumlock::{Config, Election, Leadership, Redlock};

/// Campaigns, and runs the command while it leads; again after each loss, until the command ends by
/// itself or a signal ends this process.
pub(crate) async fn elect(mut args: ElectArgs, masters: MastersArgs, output: Output) -> Result {
    let work = Work {
        program: Program::find(&args.command)?,
        resources: vec![args.name.clone()],
        grace: args.grace,
        heeds_others: false,
        is_shared: false,
        has_permit: false,
        output,
    };
    let file = args.metrics_file.take();
    let set = |mut config: Config| {
        config.ttl = args.ttl.or(config.ttl);
        config.lock_delay = args.lock_delay.or(config.lock_delay);
        config
    };
    let led = async |redlock: &Redlock, config: &Config, signals: &mut Signals| {
        let value = args.value.clone().or(config.label.clone()).unwrap_or_else(label::label);
        let election = redlock.election(args.name.as_str());
        let candidate = Candidate { name: &args.name, work: &work, redlock, election, value };
        candidate.lead(signals).await
    };
    metrics_file::recorded(file, &args.name, output, connected(masters, output, set, led)).await
}

struct Candidate<'a> {
    name: &'a String,
    work: &'a Work,
    redlock: &'a Redlock,
    election: Election,
    value: String,
}

impl Candidate<'_> {
    async fn lead(&self, signals: &mut Signals) -> Result {
        loop {
            let campaign = self.election.campaign(self.value.as_str());
            let waiting = waiting::beside(campaign, |_| None, self.redlock, self.work);
            let leadership = match unless_ended(waiting, signals).await {
                Ok(led) => led?,
                Err(exit) => return Ok(exit),
            };
            let term = leadership.term().as_u64();
            let output = self.work.output;
            output.note(&format!("leads {:?} in term {term}", Escaped(self.name)));
            match Supervisor::start(&leadership, self.work, Some(environment::token(term))) {
                Ok(supervisor) => {
                    let ended = supervisor.await_end(signals).await;
                    if let Some(end) = self.step_down(leadership, ended).await {
                        return end;
                    }
                }
                // The lead was over before the command could begin.
                Err(_) if leadership.check().is_err() => {}
                Err(error) => {
                    let _ = leadership.resign().await;
                    return Err(Failure::system("the command was not started", &error));
                }
            }
        }
    }

    /// Gives up the lead after the command has ended. Returns the result of all; `None` to campaign
    /// again, since the command was ended for a loss.
    async fn step_down(&self, leadership: Leadership, ended: Ended) -> Option<Result> {
        let failure = |loss: Loss| loss.into_failure(self.name, ended.exit);
        if ended.is_unreachable {
            // Neither released nor, after the shutdown that follows, extended.
            std::mem::forget(leadership);
            return Some(ended.lost.map_or(Ok(ended.exit), |loss| Err(failure(loss))));
        }
        match ended.lost {
            Some(loss) if !ended.was_asked => {
                drop(leadership);
                self.work.output.warn(&format!("{}; campaigns again", failure(loss)));
                None
            }
            Some(loss) => {
                let _ = leadership.resign().await;
                Some(Err(failure(loss)))
            }
            None => Some(match leadership.resign().await {
                Ok(released) => {
                    note_release(self.work.output, "resigned", self.name, &released);
                    Ok(ended.exit)
                }
                Err(lost) => Err(failure(Loss::from(&lost))),
            }),
        }
    }
}
