//! `quorumlock run`: acquires, runs a command, keeps the lock alive, releases.
//!
//! The command has a process group of its own. A separate process, the [`watchdog`], kills that
//! group at the deadline and when this process is gone. So the promise holds even if this process
//! is stopped or killed.

mod child;
mod elect;
mod limits;
mod loss;
mod metrics_file;
mod reap;
mod signals;
mod supervise;
mod terminal;
mod waiting;
mod watchdog;

use crate::args::{MastersArgs, OnWanted, RunArgs};
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::inspect::in_queue;
use crate::output::Output;
use crate::settings;
use child::{SLOT, TOKEN, Variable};
use loss::{Loss, Reason};
use nix::unistd::gethostname;
use quorumlock::kind::{Exclusive, Held, Kind, Numbered};
use quorumlock::report::{Escaped, Span};
use quorumlock::{Acquire, AcquireError, AcquireFuture, Config, ExtendError, Guard, Permit};
use quorumlock::{ReadGuard, Redlock, Released, WriteGuard};
use signals::Signals;
use std::collections::HashSet;
use std::ffi::OsString;
use std::future::Future;
use std::process::ExitCode;
use std::time::Duration;
use supervise::{Ended, Supervisor, Work};

pub(crate) use elect::elect;

/// Runs as a helper if this process was started by another `quorumlock` process and not by a user.
pub(crate) fn helper(arguments: &[OsString]) -> Option<ExitCode> {
    if watchdog::is_watchdog(arguments) {
        return Some(watchdog::watch());
    }
    let (name, rest) = arguments.get(1..)?.split_first()?;
    (name == child::SHIM).then(|| child::become_command(rest))
}

/// Runs the command, from the arguments to the exit code.
pub(crate) async fn run(mut args: RunArgs, masters: MastersArgs, output: Output) -> Result {
    // A lock that is named twice is one lock.
    let mut seen = HashSet::new();
    args.resources.retain(|resource| seen.insert(resource.clone()));
    let is_for_one = args.permits.is_some() || args.shared || args.exclusive || args.fair;
    if is_for_one && args.resources.len() > 1 {
        let options = "--permits, --shared, --exclusive and --fair";
        return Err(Failure::usage(format!("{options} are for one RESOURCE: name one")));
    }
    let work = Work {
        program: child::find(&args.command[0])?,
        words: std::mem::take(&mut args.command),
        resources: std::mem::take(&mut args.resources),
        grace: args.grace,
        heeds_others: args.on_wanted == OnWanted::Term,
        is_shared: args.shared,
        has_permit: args.permits.is_some(),
        output,
    };
    let file = args.metrics_file.take();
    let locked = async |redlock: &Redlock, _: &Config, signals: &mut Signals| {
        Run { args: &args, work: &work, redlock }.locked(signals).await
    };
    let connected = connected(masters, output, |config| with_options(config, &args), locked);
    metrics_file::recorded(file, &work.resources.join(","), output, connected).await
}

/// Connects unless a signal comes first, does the work with that client, and waits until it owes nothing.
async fn connected(
    masters: MastersArgs,
    output: Output,
    with_options: impl FnOnce(Config) -> Config,
    work: impl AsyncFnOnce(&Redlock, &Config, &mut Signals) -> Result,
) -> Result {
    let mut signals = Signals::new().map_err(|error| Failure::system("signals", &error))?;
    let config = with_options(settings::settings(masters)?);
    let connecting = settings::connected(Redlock::builder().config(config.clone()), output);
    let redlock = match unless_ended(connecting, &mut signals).await {
        Ok(connected) => connected?,
        Err(exit) => return Ok(exit),
    };
    let ended = work(&redlock, &config, &mut signals).await;
    if let Err(owed) = redlock.shutdown().await {
        output.note(&owed.to_string());
    }
    ended
}

fn token<K: Numbered>(guard: &Guard<K>) -> Option<Variable> {
    Some((TOKEN, guard.fencing_token().to_string()))
}

/// Returns the host and the process id.
fn label() -> String {
    let host = gethostname().unwrap_or_default();
    format!("{}:{}", host.to_string_lossy(), std::process::id())
}

/// Overrides all other settings with those on the command line.
fn with_options(mut config: Config, args: &RunArgs) -> Config {
    config.ttl = args.ttl.or(config.ttl);
    config.acquire_timeout = args.timeout.or(config.acquire_timeout);
    config.lock_delay = args.lock_delay.or(config.lock_delay);
    config.max_hold = args.max_hold.or(config.max_hold);
    config.fair = args.fair.then_some(true).or(config.fair);
    config.label = args.label.clone().or(config.label).or_else(|| Some(label()));
    config
}

/// Does the work unless a signal that ends this process comes first.
async fn unless_ended<T>(work: impl Future<Output = T>, signals: &mut Signals) -> Result<T, Exit> {
    tokio::select! {
        done = work => Ok(done),
        signal = signals.ending() => {
            Output::end_line();
            Err(Exit::signal(signal as i32))
        }
    }
}

/// Says how a lock was given up.
fn note_release(output: Output, what: &str, resource: &str, released: &Released) {
    match released {
        Released::Unconfirmed(_) => output.note("no quorum has confirmed the release so far"),
        _ => output.note(&format!("{what} {:?}", Escaped(resource))),
    }
}

struct Run<'a> {
    args: &'a RunArgs,
    work: &'a Work,
    redlock: &'a Redlock,
}

impl Run<'_> {
    /// Runs the command under the lock of the kind that the options name. It waits in turn if the configuration says
    /// so, as with `--fair`.
    async fn locked(&self, signals: &mut Signals) -> Result {
        let (args, redlock, resources) = (self.args, self.redlock, &self.work.resources);
        // The resource of a lock that is for one.
        let name = resources.first().map_or("", String::as_str);
        let lock = || self.exclusive(redlock.acquire_all(resources));
        let write = || self.with_options(redlock.rw_lock(name).write());
        if args.exclusive && args.fenced {
            self.under(write().fenced(), token, signals).await
        } else if args.exclusive {
            self.under(write(), |_: &WriteGuard| None, signals).await
        } else if args.fenced {
            self.under(lock().fenced(), token, signals).await
        } else if let Some(permits) = args.permits {
            let number = |guard: &Permit| Some((SLOT, guard.slot().to_string()));
            let permit = redlock.semaphore(name, permits.into()).acquire();
            self.under(self.exclusive(permit), number, signals).await
        } else if args.shared {
            let read = self.with_options(redlock.rw_lock(name).read());
            self.under(read, |_: &ReadGuard| None, signals).await
        } else {
            self.under(lock(), |_: &Guard| None, signals).await
        }
    }

    fn exclusive<G: Exclusive>(&self, acquire: Acquire<G>) -> Acquire<G> {
        self.with_options(acquire).min_hold(self.args.min_hold.unwrap_or_default())
    }

    fn with_options<G: Held>(&self, acquire: Acquire<G>) -> Acquire<G> {
        let acquire = match (self.args.no_wait, self.args.no_timeout) {
            (true, _) => acquire.timeout(Duration::ZERO),
            (_, true) => acquire.timeout(Duration::MAX),
            _ => acquire,
        };
        match self.args.keep_alive_forever {
            true => acquire.keep_alive_for(Duration::MAX),
            false => acquire.keep_alive(),
        }
    }

    async fn under<K: Kind, G: Held<Guard = Guard<K>, Kind = K, Error = AcquireError>>(
        &self,
        acquire: Acquire<G>,
        number: impl Fn(&Guard<K>) -> Option<Variable>,
        signals: &mut Signals,
    ) -> Result {
        let acquire = acquire.into_future();
        let waiting = async {
            if self.args.no_wait {
                return acquire.await;
            }
            waiting::beside(acquire, AcquireFuture::ahead, self.redlock, self.work).await
        };
        let guard = match unless_ended(waiting, signals).await {
            Ok(Ok(guard)) => guard,
            Ok(Err(error)) => return Err(self.not_acquired(error).await),
            Err(exit) => return Ok(exit),
        };
        self.work.output.note(&format!("acquired {:?}", Escaped(guard.resource())));
        let ended = match Supervisor::start(&guard, self.work, number(&guard)).await {
            Ok(supervisor) => supervisor.await_end(signals).await,
            Err(error) => return Err(Failure::system("the command was not started", &error)),
        };
        self.give_up(guard, ended).await
    }

    /// Gives up the lock, and returns the result for the command. After an error, the guard is dropped.
    async fn give_up<K: Kind>(&self, guard: Guard<K>, ended: Ended) -> Result {
        let mut lost = ended.lost.or_else(|| Some(Loss::from(&guard.check().err()?)));
        if self.args.forget && lost.is_none() {
            // A full ttl from now on; a shorter time if too few masters confirm.
            match guard.extend().await {
                Ok(_) => {}
                Err(ExtendError::Lost(gone)) => lost = Some(Loss::from(&gone)),
                Err(short) => self.work.output.note(&short.to_string()),
            }
        }
        if let Some(lost) = lost {
            let failure = self.lost(lost, ended.exit).await;
            if ended.is_unreachable {
                guard.forget();
            }
            return Err(failure);
        }
        let resource = guard.resource().to_owned();
        let what = if self.args.forget || ended.is_unreachable {
            guard.forget();
            "left without a release:"
        } else if ended.exit.code != 0 && self.args.min_hold.is_some() {
            // At once. The shutdown waits for what a dropped guard owes.
            drop(guard);
            "released"
        } else {
            match guard.release().await {
                Ok(released) => note_release(self.work.output, "released", &resource, &released),
                Err(lost) => return Err(self.lost(Loss::from(&lost), ended.exit).await),
            }
            return Ok(ended.exit);
        };
        self.work.output.note(&format!("{what} {:?}", Escaped(&resource)));
        Ok(ended.exit)
    }

    /// Creates the failure. If another client holds the lock, it names the holder of the first
    /// resource for which that is known.
    async fn not_acquired(&self, error: AcquireError) -> Failure {
        let AcquireError::Contended(held) = &error else { return error.into() };
        let mut tail = in_queue(held.ahead.map(usize::from));
        if !self.args.no_wait {
            let s = if held.attempts == 1 { "" } else { "s" };
            tail += &format!(" (after {}, {} attempt{s})", Span(held.waited), held.attempts);
        }
        let mut failure = Failure::from(error);
        failure.exit.code = self.args.conflict_exit_code.unwrap_or(failure.exit.code);
        for resource in self.work.looked_at() {
            if let Ok(inspection) = self.redlock.inspect(resource.as_str()).await
                && let Some(holder) = inspection.holder()
                // Other readers keep no reader out: it is a writer that waits.
                && !(self.args.shared && holder.is_shared())
            {
                let line = format!("{:?} is {holder}{tail}", Escaped(resource));
                let failure = failure.with("resource", resource.as_str()).held_by(holder, line);
                return failure.with_masters(&inspection);
            }
        }
        failure
    }

    /// Creates the failure of a command that lost its lock, with the masters' current reports.
    async fn lost(&self, loss: Loss, command: Exit) -> Failure {
        // Otherwise the holder that a quorum names may be this process.
        let is_gone = loss.reason == Reason::QuorumGone;
        let failure = loss.into_failure(&self.work.resources.join(","), command);
        let Some(resource) = self.work.looked_at().first() else { return failure };
        let Ok(inspection) = self.redlock.inspect(resource.as_str()).await else { return failure };
        let failure = failure.with_masters(&inspection);
        match inspection.holder() {
            Some(holder) if is_gone => {
                let line = format!("{}; now {holder}", failure.message);
                failure.held_by(holder, line)
            }
            _ => failure,
        }
    }
}
