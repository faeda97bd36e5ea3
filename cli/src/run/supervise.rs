//! The supervision of the running command: its lock, its signals, its end.

use super::child::{Group, Variable};
use super::limits::Limits;
use super::loss::{Loss, Reason};
use super::reap;
use super::signals::{Signals, ends};
use super::terminal::Terminal;
use super::watchdog::Watchdog;
use crate::exit::Exit;
use crate::output::Output;
use nix::sys::signal::{Signal, raise};
use quorumlock::error::LossReason;
use quorumlock::kind::Kind;
use quorumlock::report::{Escaped, Span};
use quorumlock::{Lease, Lost};
use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

/// A process that was killed and is still there after this time can't be reached. It belongs to
/// another user, or a parent outside the group does not reap it.
const UNREACHABLE_AFTER: Duration = Duration::from_secs(1);

/// The work under a lock.
pub(super) struct Work {
    /// The program to execute.
    pub(super) program: PathBuf,
    /// The name as it was called, and the arguments.
    pub(super) words: Vec<OsString>,
    pub(super) resources: Vec<String>,
    /// The most time from SIGTERM to SIGKILL.
    pub(super) grace: Duration,
    /// The command is to end once another client asks for the lock.
    pub(super) heeds_others: bool,
    /// Others may hold the lock, too: as its readers, or as holders of other permits.
    pub(super) is_shared: bool,
    pub(super) has_permit: bool,
    pub(super) output: Output,
}

impl Work {
    /// Returns the locks whose holder is of interest: none for a permit, which has many.
    pub(super) fn looked_at(&self) -> &[String] {
        if self.has_permit { &[] } else { &self.resources }
    }
}

/// The end of the command.
pub(super) struct Ended {
    pub(super) exit: Exit,
    /// The reason why the command was ended without a lock.
    pub(super) lost: Option<Loss>,
    /// A process of the group is still there, and may go on working.
    pub(super) is_unreachable: bool,
    /// A signal has asked this process to end.
    pub(super) was_asked: bool,
}

/// The progress of the group's end.
#[derive(Clone, Copy, Debug)]
enum Stage {
    Running,
    /// SIGTERM was sent, and SIGKILL follows at this time.
    Ending(Instant),
    /// SIGKILL was sent at this time.
    Killed(Instant),
}

/// One command under one lock.
pub(super) struct Supervisor<'a, K: Kind> {
    guard: &'a Lease<K>,
    output: Output,
    group: Group,
    watchdog: Option<Watchdog>,
    terminal: Terminal,
    limits: Limits,
    /// The last known deadline, on a clock that tokio has, too.
    deadline: Instant,
    began: Instant,
    stage: Stage,
    lost: Option<Loss>,
    was_asked: bool,
    /// The command is to end once another client asks for the lock.
    heeds_others: bool,
}

impl<'a, K: Kind> Supervisor<'a, K> {
    /// Starts the command. After an error, nothing was started.
    pub(super) async fn start(
        guard: &'a Lease<K>,
        work: &Work,
        number: Option<Variable>,
    ) -> io::Result<Self> {
        let limits = Limits::of(guard.remaining(), work.grace);
        reap::adopt();
        // Started first: the command is watched from its first moment on.
        let mut watchdog = Watchdog::start().await?;
        let remaining = guard.check().map_err(io::Error::other)?;
        watchdog.allow(remaining.saturating_sub(limits.watchdog_margin))?;
        let group = Group::start(work, number, remaining)?;
        let watched = watchdog.watch(group.pid);
        let mut this = Self {
            guard,
            output: work.output,
            group,
            watchdog: Some(watchdog),
            terminal: Terminal::open(),
            limits,
            deadline: Instant::now() + remaining,
            began: Instant::now(),
            stage: Stage::Running,
            lost: None,
            was_asked: false,
            heeds_others: work.heeds_others,
        };
        this.heed(watched).await;
        Ok(this)
    }

    /// Returns when no process of the group is left, or none that can be killed.
    pub(super) async fn await_end(mut self, signals: &mut Signals) -> Ended {
        loop {
            let status = self.group.status();
            // After its leader: if the leader has been reaped, its zombie hides no other.
            reap::adopted(self.group.pid);
            if let Some(status) = status {
                let is_gone = self.group.is_gone();
                let is_killed =
                    matches!(self.stage, Stage::Killed(at) if at.elapsed() > UNREACHABLE_AFTER);
                if is_gone || is_killed {
                    return self.end(status, !is_gone).await;
                }
                if matches!(self.stage, Stage::Running) {
                    // The processes that it left behind would work on without the lock.
                    self.terminate(Instant::now() + self.limits.grace);
                }
            } else if let Some(signal) = reap::stopped(self.group.pid) {
                self.stopped(signal);
            }
            let next = self.look_at_deadline().await;
            let guard = self.guard;
            tokio::select! {
                biased;
                lost = guard.lost(), if self.lost.is_none() => self.lose(&lost),
                () = guard.wanted(), if self.heeds_others => self.give_way(),
                signal = signals.next() => self.received(signal),
                () = tokio::time::sleep_until(next.into()) => {}
            }
        }
    }

    /// Asks the command to end, once, since another client waits for the lock: it may go on with it.
    fn give_way(&mut self) {
        self.heeds_others = false;
        if self.guard.is_wanted() && matches!(self.stage, Stage::Running) {
            let resource = Escaped(self.guard.resource());
            self.output.note(&format!("ending the command: another client waits for {resource:?}"));
            self.group.signal(Signal::SIGTERM);
            self.group.signal(Signal::SIGCONT);
        }
    }

    async fn end(mut self, status: ExitStatus, is_unreachable: bool) -> Ended {
        if is_unreachable {
            self.output.warn(
                "a process of the command's group is still there after SIGKILL: the lock is left \
                 until its ttl is over",
            );
        }
        self.dismiss_watchdog().await;
        let exit = status.code().map(Exit::of_command);
        let exit = exit.or_else(|| status.signal().map(Exit::signal)).unwrap_or(Exit::SYSTEM);
        Ended { exit, lost: self.lost.take(), is_unreachable, was_asked: self.was_asked }
    }

    /// Ends whatever must end by now. Returns when to look again.
    async fn look_at_deadline(&mut self) -> Instant {
        let now = Instant::now();
        if self.lost.is_none()
            && let Ok(remaining) = self.guard.check()
        {
            self.deadline = now + remaining;
            let allowed = remaining.saturating_sub(self.limits.watchdog_margin);
            if let Some(watchdog) = &mut self.watchdog {
                let written = watchdog.allow(allowed);
                self.heed(written).await;
            }
            if remaining <= self.limits.lead() {
                let (resource, left) = (Escaped(self.guard.resource()), Span(remaining));
                self.output.note(&format!("ending the command: {resource:?} expires in {left}"));
                self.lost = Some(self.loss(match self.guard.is_deadline_final() {
                    true => Reason::MaxHold,
                    false => Reason::Unextended,
                }));
                self.terminate(self.kill_by());
            }
        }
        if let Stage::Ending(kill_at) = self.stage
            && (kill_at <= now || self.lost.is_some() && self.kill_by() <= now)
        {
            self.kill();
        }
        let tick = now + self.limits.tick;
        match self.stage {
            Stage::Ending(kill_at) => tick.min(kill_at),
            Stage::Running if self.lost.is_none() => {
                let lead = self.deadline.checked_sub(self.limits.lead());
                lead.map_or(tick, |lead| tick.min(lead))
            }
            _ => tick,
        }
    }

    /// Returns the latest time for SIGKILL.
    fn kill_by(&self) -> Instant {
        self.deadline.checked_sub(self.limits.margin).unwrap_or(self.deadline)
    }

    fn loss(&self, reason: Reason) -> Loss {
        Loss { reason, held_for: self.began.elapsed() }
    }

    fn lose(&mut self, lost: &Lost) {
        self.output.note(&format!("ending the command: lost {:?}", Escaped(&lost.resource)));
        self.lost = Some(lost.into());
        match lost.reason {
            LossReason::QuorumGone(_) => {
                let kill_at = (Instant::now() + self.limits.grace).min(self.kill_by());
                self.terminate(kill_at);
            }
            // The deadline has passed: this process was held up itself.
            _ => self.kill(),
        }
    }

    /// Ends the group; a stopped process gets the signal, too. A kill that was due before that
    /// stays due.
    fn terminate(&mut self, kill_at: Instant) {
        match &mut self.stage {
            Stage::Running => {
                self.group.signal(Signal::SIGTERM);
                self.group.signal(Signal::SIGCONT);
                self.stage = Stage::Ending(kill_at);
            }
            Stage::Ending(before) => *before = kill_at.min(*before),
            Stage::Killed(_) => {}
        }
    }

    fn kill(&mut self) {
        let is_allowed = self.group.kill();
        if !matches!(self.stage, Stage::Killed(_)) {
            self.stage = Stage::Killed(Instant::now());
            if !is_allowed {
                self.output.warn("the command is another user's and cannot be killed: it goes on");
            }
        }
    }

    /// Handles a failed write to the watchdog. If the watchdog has killed, records why. Otherwise
    /// the command goes on without it, and is ended in time as long as this process lives.
    async fn heed(&mut self, written: io::Result<()>) {
        let Err(error) = written else { return };
        if self.dismiss_watchdog().await {
            self.kill();
            return;
        }
        let warning = "the watchdog is gone: if this process is stopped or killed, not all of the \
                       command's processes end in time";
        self.output.warn(&format!("{warning} ({error})"));
    }

    /// Ends the watchdog. Returns whether it has killed the group, and records why.
    async fn dismiss_watchdog(&mut self) -> bool {
        let Some(watchdog) = self.watchdog.take() else { return false };
        let has_killed = watchdog.dismiss().await;
        if has_killed && self.lost.is_none() {
            self.lost = Some(self.loss(Reason::HeldUp));
        }
        has_killed
    }

    /// Passes a signal on. Signals that end, and those that the terminal sends to a whole group, go
    /// to the whole group.
    fn received(&mut self, signal: Signal) {
        match signal {
            Signal::SIGCHLD => {}
            Signal::SIGTSTP => self.suspend(),
            Signal::SIGWINCH => self.group.signal(signal),
            signal if ends(signal) => {
                self.was_asked = true;
                self.group.signal(signal);
                self.group.signal(Signal::SIGCONT);
            }
            other => self.group.signal_leader(other),
        }
    }

    fn stopped(&mut self, signal: Signal) {
        match signal {
            Signal::SIGTTIN | Signal::SIGTTOU if self.terminal.hand_to(self.group.pid) => {
                self.group.signal(Signal::SIGCONT);
            }
            Signal::SIGTTIN | Signal::SIGTTOU | Signal::SIGTSTP => self.suspend(),
            // It was stopped on purpose; the lock stays with it.
            _ => {}
        }
    }

    /// Stops together with the command, so that the shell goes on. Meanwhile the lock is not kept
    /// alive, and the watchdog kills the command at the deadline.
    fn suspend(&mut self) {
        self.group.signal(Signal::SIGTSTP);
        let handed = self.terminal.take_back().is_some();
        // To this thread: another thread might take a signal to the process, and this one would go
        // on a bit.
        let _ = raise(Signal::SIGSTOP);
        // Execution continues here only after SIGCONT.
        if handed {
            self.terminal.hand_to(self.group.pid);
        }
        self.group.signal(Signal::SIGCONT);
    }
}
