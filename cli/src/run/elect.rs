//! `quorumlock elect`: a command that runs while this process leads.

use super::loss::Loss;
use super::program::Program;
use super::signals::Signals;
use super::supervise::{Ended, Supervisor};
use super::{environment, label, metrics_file, unless_ended, waiting};
use crate::args::{ElectArgs, MastersArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::settings;
use quorumlock::report::Escaped;
use quorumlock::{Election, Leadership, Redlock, Released};
use std::slice;

/// Campaigns, and runs the command while it leads; again after each loss, until the command ends by
/// itself or a signal ends this process.
pub(crate) async fn elect(
    mut args: ElectArgs,
    masters: MastersArgs,
    output: Output,
) -> Result<Exit, Failure> {
    let program = Program::find(&args.command)?;
    let (file, name) = (args.metrics_file.take(), args.name.clone());
    metrics_file::recorded(file, &name, output, found(args, program, masters, output)).await
}

/// Campaigns for a program that was found.
async fn found(
    args: ElectArgs,
    program: Program,
    masters: MastersArgs,
    output: Output,
) -> Result<Exit, Failure> {
    let mut signals = Signals::new().map_err(|error| Failure::system("signals", &error))?;
    let mut config = settings::settings(masters)?;
    config.ttl = args.ttl.or(config.ttl);
    config.lock_delay = args.lock_delay.or(config.lock_delay);
    let value = args.value.clone().or(config.label.clone()).unwrap_or_else(label::label);
    let connecting = settings::connected(settings::builder(config), output);
    let redlock = match unless_ended(connecting, &mut signals).await {
        Ok(connected) => connected?,
        Err(exit) => return Ok(exit),
    };
    let election = redlock.election(args.name.as_str());
    let candidate = Candidate { args, program, redlock, election, value, output };
    let ended = candidate.lead(&mut signals).await;
    if let Err(owed) = candidate.redlock.shutdown().await {
        output.note(&owed.to_string());
    }
    ended
}

struct Candidate {
    args: ElectArgs,
    program: Program,
    redlock: Redlock,
    election: Election,
    value: String,
    output: Output,
}

impl Candidate {
    async fn lead(&self, signals: &mut Signals) -> Result<Exit, Failure> {
        loop {
            let campaign = self.election.campaign(self.value.as_str());
            let names = slice::from_ref(&self.args.name);
            let (redlock, all) = (&self.redlock, &self.args.name);
            let waiting =
                waiting::beside(campaign, |_| None, redlock, (names, false), all, self.output);
            let leadership = match unless_ended(waiting, signals).await {
                Ok(led) => led?,
                Err(exit) => return Ok(exit),
            };
            let term = leadership.term().as_u64();
            self.output.note(&format!("leads {:?} in term {term}", Escaped(&self.args.name)));
            let environment =
                environment::of(names, Some(environment::token(term)), leadership.remaining());
            let (program, grace) = (&self.program, self.args.grace);
            match Supervisor::start(&leadership, program, &environment, grace, self.output) {
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
    async fn step_down(
        &self,
        leadership: Leadership,
        ended: Ended,
    ) -> Option<Result<Exit, Failure>> {
        let failure = |loss: Loss| loss.into_failure(&self.args.name, ended.exit);
        if ended.is_unreachable {
            self.output.warn(
                "a process of the command's group is still there after SIGKILL: the lead is left \
                 until its ttl is over",
            );
            // Neither released nor, after the shutdown that follows, extended.
            std::mem::forget(leadership);
            return Some(ended.lost.map_or(Ok(ended.exit), |loss| Err(failure(loss))));
        }
        match ended.lost {
            Some(loss) if !ended.was_asked => {
                drop(leadership);
                self.output.warn(&format!("{}; campaigns again", failure(loss)));
                None
            }
            Some(loss) => {
                let _ = leadership.resign().await;
                Some(Err(failure(loss)))
            }
            None => Some(match leadership.resign().await {
                Ok(Released::Unconfirmed(_)) => {
                    self.output.note("no quorum has confirmed the resignation so far");
                    Ok(ended.exit)
                }
                Ok(_) => {
                    self.output.note(&format!("resigned {:?}", Escaped(&self.args.name)));
                    Ok(ended.exit)
                }
                Err(lost) => Err(failure(Loss::from(&lost))),
            }),
        }
    }
}
