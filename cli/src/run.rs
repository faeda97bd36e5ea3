//! `quorumlock run`: acquires, runs a command, keeps the lock alive, releases.
//!
//! The command has a process group of its own. A separate process, the [`watchdog`], kills that
//! group at the deadline and when this process is gone. So the promise holds even if this process
//! is stopped or killed.

mod child;
mod elect;
mod environment;
mod label;
mod limits;
mod loss;
mod metrics_file;
mod program;
mod reap;
mod signals;
mod supervise;
mod terminal;
mod waiting;
mod watchdog;

use crate::args::{MastersArgs, OnWanted, RunArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::settings;
use environment::Variable;
use loss::{Loss, Reason};
use program::Program;
use quorumlock::kind::{All, Exclusive, Held, Kind, Numbered};
use quorumlock::report::Escaped;
use quorumlock::{Acquire, AcquireError, AcquireFuture, Config, ExtendError, Guard, Permit};
use quorumlock::{ReadGuard, Redlock, Released, WriteGuard};
use signals::Signals;
use std::collections::HashSet;
use std::ffi::OsString;
use std::future::Future;
use std::process::ExitCode;
use std::time::Duration;
use supervise::{Ended, Supervisor};

pub(crate) use elect::elect;

/// Runs as a helper if this process was started by another `quorumlock` process and not by a user.
pub(crate) fn helper(arguments: &[OsString]) -> Option<ExitCode> {
    if watchdog::is_watchdog(arguments) {
        return Some(watchdog::watch());
    }
    match arguments.get(1)?.to_str()? {
        child::SHIM => Some(child::become_command(arguments.get(2..)?)),
        _ => None,
    }
}

/// Runs the command, from the arguments to the exit code.
pub(crate) async fn run(
    mut args: RunArgs,
    masters: MastersArgs,
    output: Output,
) -> Result<Exit, Failure> {
    // A lock that is named twice is one lock.
    let mut seen = HashSet::new();
    args.resources.retain(|resource| seen.insert(resource.clone()));
    let for_one = [
        ("--permits", args.permits.is_some()),
        ("--shared", args.shared),
        ("--exclusive", args.exclusive),
        ("--fair", args.fair),
    ];
    if let Some((option, _)) = for_one.iter().find(|(_, is_given)| *is_given)
        && args.resources.len() > 1
    {
        return Err(Failure::usage(format!("{option} is for one RESOURCE: name one")));
    }
    let program = Program::find(&args.command)?;
    let (file, all) = (args.metrics_file.take(), args.resources.join(","));
    metrics_file::recorded(file, &all, output, found(&args, &program, masters, output)).await
}

/// Runs a program that was found.
async fn found(
    args: &RunArgs,
    program: &Program,
    masters: MastersArgs,
    output: Output,
) -> Result<Exit, Failure> {
    let mut signals = Signals::new().map_err(|error| Failure::system("signals", &error))?;
    let config = with_options(settings::settings(masters)?, args);
    let connecting = settings::connected(settings::builder(config), output);
    let redlock = match unless_ended(connecting, &mut signals).await {
        Ok(connected) => connected?,
        Err(exit) => return Ok(exit),
    };
    let run = Run { args, program, redlock: &redlock, output };
    let ended = if args.exclusive && args.fenced {
        run.under(run.write().fenced(), token, &mut signals).await
    } else if args.exclusive {
        run.under(run.write(), |_: &WriteGuard| None, &mut signals).await
    } else if args.fenced {
        run.under(run.lock().fenced(), token, &mut signals).await
    } else if let Some(permits) = args.permits {
        let number = |guard: &Permit| Some(environment::slot(guard.slot()));
        run.under(run.permit(permits), number, &mut signals).await
    } else if args.shared {
        run.under(run.read(), |_: &ReadGuard| None, &mut signals).await
    } else {
        run.under(run.lock(), |_: &Guard| None, &mut signals).await
    };
    if let Err(owed) = redlock.shutdown().await {
        output.note(&owed.to_string());
    }
    ended
}

fn token<K: Numbered>(guard: &Guard<K>) -> Option<Variable> {
    Some(environment::token(guard.fencing_token().as_u64()))
}

/// Overrides all other settings with those on the command line.
fn with_options(mut config: Config, args: &RunArgs) -> Config {
    config.ttl = args.ttl.or(config.ttl);
    config.acquire_timeout = args.timeout.or(config.acquire_timeout);
    config.lock_delay = args.lock_delay.or(config.lock_delay);
    config.max_hold = args.max_hold.or(config.max_hold);
    config.fair = args.fair.then_some(true).or(config.fair);
    let label = args.label.clone().or(config.label);
    config.label = Some(label.unwrap_or_else(label::label));
    config
}

/// Does the work unless a signal that ends this process comes first.
async fn unless_ended<T>(work: impl Future<Output = T>, signals: &mut Signals) -> Result<T, Exit> {
    tokio::select! {
        done = work => Ok(done),
        signal = signals.ending() => {
            Output::end_line();
            Err(Exit::Signal(signal as i32))
        }
    }
}

struct Run<'a> {
    args: &'a RunArgs,
    program: &'a Program,
    redlock: &'a Redlock,
    output: Output,
}

impl Run<'_> {
    /// Waits in turn if the configuration says so, as `--fair` does.
    fn lock(&self) -> Acquire<All> {
        self.exclusive(self.redlock.acquire_all(&self.args.resources))
    }

    fn permit(&self, permits: u8) -> Acquire<Permit> {
        self.exclusive(self.redlock.semaphore(self.resource(), permits.into()).acquire())
    }

    fn read(&self) -> Acquire<ReadGuard> {
        self.with_options(self.redlock.rw_lock(self.resource()).read())
    }

    fn write(&self) -> Acquire<WriteGuard> {
        self.with_options(self.redlock.rw_lock(self.resource()).write())
    }

    /// Returns the resource of a lock that is for one.
    fn resource(&self) -> &str {
        self.args.resources.first().map_or("", String::as_str)
    }

    fn exclusive<G: Exclusive>(&self, acquire: Acquire<G>) -> Acquire<G> {
        self.with_options(acquire).min_hold(self.args.min_hold.unwrap_or_default())
    }

    fn with_options<G: Held>(&self, acquire: Acquire<G>) -> Acquire<G> {
        let acquire = match (self.args.no_wait, self.args.no_timeout) {
            (true, _) => acquire.timeout(Duration::ZERO),
            (_, true) => acquire.no_timeout(),
            _ => acquire,
        };
        match self.args.keep_alive_forever {
            true => acquire.keep_alive_forever(),
            false => acquire.keep_alive(),
        }
    }

    async fn under<K: Kind, G: Held<Guard = Guard<K>, Kind = K, Error = AcquireError>>(
        &self,
        acquire: Acquire<G>,
        number: impl Fn(&Guard<K>) -> Option<Variable>,
        signals: &mut Signals,
    ) -> Result<Exit, Failure> {
        let acquire = acquire.into_future();
        let waiting = async {
            if self.args.no_wait {
                return acquire.await;
            }
            let looked_at = (self.looked_at(), self.args.shared);
            let all = self.args.resources.join(", ");
            waiting::beside(
                acquire,
                AcquireFuture::ahead,
                self.redlock,
                looked_at,
                &all,
                self.output,
            )
            .await
        };
        let guard = match unless_ended(waiting, signals).await {
            Ok(Ok(guard)) => guard,
            Ok(Err(error)) => return Err(self.not_acquired(error).await),
            Err(exit) => return Ok(exit),
        };
        self.output.note(&format!("acquired {:?}", Escaped(guard.resource())));
        let environment = environment::of(&self.args.resources, number(&guard), guard.remaining());
        let ended = {
            let (program, grace) = (self.program, self.args.grace);
            match Supervisor::start(&guard, program, &environment, grace, self.output) {
                Ok(supervisor) => {
                    let heeds = self.args.on_wanted == OnWanted::Term;
                    Ok(supervisor.heeding(heeds).await_end(signals).await)
                }
                Err(error) => Err(error),
            }
        };
        let ended = match ended {
            Ok(ended) => ended,
            Err(error) => {
                self.fail(guard).await;
                return Err(Failure::system("the command was not started", &error));
            }
        };
        self.give_up(guard, ended).await
    }

    /// Gives up the lock, and returns the result for the command.
    async fn give_up<K: Kind>(&self, guard: Guard<K>, ended: Ended) -> Result<Exit, Failure> {
        let mut lost = match ended.lost {
            Some(lost) => Some(lost),
            None => guard.check().err().map(|lost| Loss::from(&lost)),
        };
        if self.args.forget && lost.is_none() {
            // A full ttl from now on; a shorter time if too few masters confirm.
            match guard.extend().await {
                Ok(_) => {}
                Err(ExtendError::Lost(gone)) => lost = Some(Loss::from(&gone)),
                Err(short) => self.output.note(&short.to_string()),
            }
        }
        if ended.is_unreachable {
            self.output.warn(
                "a process of the command's group is still there after SIGKILL: the lock is left \
                 until its ttl is over",
            );
        }
        if let Some(lost) = lost {
            let failure = self.lost(lost, ended.exit).await;
            if ended.is_unreachable {
                guard.forget();
            } else {
                self.fail(guard).await;
            }
            return Err(failure);
        }
        let resource = guard.resource().to_owned();
        let note = |what: &str| self.output.note(&format!("{what} {:?}", Escaped(&resource)));
        if self.args.forget || ended.is_unreachable {
            note("left without a release:");
            guard.forget();
            return Ok(ended.exit);
        }
        if ended.exit.code() != 0 && self.args.min_hold.is_some() {
            self.fail(guard).await;
            note("released");
            return Ok(ended.exit);
        }
        match guard.release().await {
            Ok(Released::Unconfirmed(_)) => {
                self.output.note("no quorum has confirmed the release so far");
                Ok(ended.exit)
            }
            Ok(_) => {
                note("released");
                Ok(ended.exit)
            }
            Err(lost) => Err(self.lost(Loss::from(&lost), ended.exit).await),
        }
    }

    /// Gives up the lock after work that has failed, so that it opens at once.
    async fn fail<K: Kind>(&self, guard: Guard<K>) {
        match self.args.min_hold {
            // The shutdown waits for what a dropped guard owes.
            Some(_) => drop(guard),
            None => _ = guard.release().await,
        }
    }

    /// Returns the locks whose holder is of interest: none for a permit, which has many.
    fn looked_at(&self) -> &[String] {
        if self.args.permits.is_some() { &[] } else { &self.args.resources }
    }

    /// Creates the failure. If another client holds the lock, it names the holder of the first
    /// resource for which that is known.
    async fn not_acquired(&self, error: AcquireError) -> Failure {
        let (ahead, tries) = match &error {
            AcquireError::Contended(contended) => {
                let tries = (!self.args.no_wait).then_some((contended.waited, contended.attempts));
                (contended.ahead.map(usize::from), tries)
            }
            _ => (None, None),
        };
        let failure = Failure::from(error);
        if !failure.is_held() {
            return failure;
        }
        for resource in self.looked_at() {
            if let Ok(inspection) = self.redlock.inspect(resource.as_str()).await
                && let Some(holder) = inspection.holder()
                // Other readers keep no reader out: it is a writer that waits.
                && !(self.args.shared && holder.is_shared())
            {
                let held =
                    failure.held_by(resource, holder, ahead, tries).with_masters(&inspection);
                return held.held_is(self.args.conflict_exit_code);
            }
        }
        failure.held_is(self.args.conflict_exit_code)
    }

    /// Creates the failure of a command that lost its lock, with the masters' current reports.
    async fn lost(&self, loss: Loss, command: Exit) -> Failure {
        // Otherwise the holder that a quorum names may be this process.
        let is_gone = loss.reason == Reason::QuorumGone;
        let failure = loss.into_failure(&self.args.resources.join(","), command);
        let Some(resource) = self.looked_at().first() else { return failure };
        let Ok(inspection) = self.redlock.inspect(resource.as_str()).await else { return failure };
        let failure = failure.with_masters(&inspection);
        match inspection.holder() {
            Some(holder) if is_gone => failure.now_held_by(holder),
            _ => failure,
        }
    }
}
