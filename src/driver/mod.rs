//! The driver, which moves the bytes: one tokio task that runs a [`Coordinator`].
//!
//! Each dial is a task of its own, since a TLS handshake in the loop would stall healthy nodes.
//! Everything else happens here: one FIFO per node by construction, and no lock.

mod callers;
mod catching_up;
pub(crate) mod clock;
mod dial;
mod guards;
mod handle;
mod holds;
pub(crate) mod inbox;
mod lease_state;
pub(crate) mod link;
mod process;
pub(crate) mod random;
mod request;
pub(crate) mod runtime;

use callers::Callers;
pub(crate) use guards::ReleaseOnDrop;
pub(crate) use handle::{Ended, Handle, Listening, WeakHandle};
use inbox::{Inbox, requests};
pub(crate) use lease_state::{IdleLocks, LeaseState};
pub(crate) use request::{
    AcquireResult, Acquirer, AdoptResult, Ahead, Caller, Extending, LockRequest, Own,
    ReleaseResult, Releasing, Request, Won,
};

use crate::address::Brought;
use crate::failure::{ConnectError, ShutdownError, Why};
use crate::lists::Resolved;
use crate::options::Options;
use crate::telemetry::Telemetry;
use catching_up::CatchingUp;
use clock::Clock;
use link::Link;
use process::Process;
use quorumlock_core::coordinator::{Action, Coordinator, Epoch};
use quorumlock_core::quorum::Instant;
use random::OsRandom;
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::runtime::Handle as Runtime;
use tokio::sync::oneshot;
use tokio::task::{self, JoinSet};
use tokio::time::Sleep;

/// Number of open rounds, or of answered callers, from which on the driver lets callers enqueue
/// once more before it writes, so that writes batch. A worker of a multi-thread runtime would
/// otherwise run the driver right after the first of those callers.
const BUSY: usize = 4;

/// Number of batches of requests after which the driver looks at what has arrived and at what is due, before it takes
/// more. Holds are extended while callers ask for others.
const BATCHES: usize = 4;

/// Longest sleep while a lock is held. tokio's timers stop while the machine sleeps, so the clock
/// that does not stop is read at least this often.
const LONGEST_SLEEP_WHILE_HOLDING: Duration = Duration::from_millis(250);

const LONGEST_SLEEP: Duration = Duration::from_secs(60);

/// The outcome of the first try to connect to every node.
pub(crate) type Connected = oneshot::Receiver<Result<(), ConnectError>>;

/// The settings of a client, which its handles and its driver share.
pub(crate) struct Setup {
    pub(crate) options: Options,
    pub(crate) masters: Resolved,
    /// That of the client's own thread.
    pub(crate) own_runtime: Option<Runtime>,
}

pub(crate) struct Driver {
    setup: Arc<Setup>,
    process: Process,
    machine: Coordinator,
    clock: Clock,
    inbox: Inbox,
    callers: Callers,
    links: Vec<Option<Link>>,
    /// Dials, and renewals of credentials.
    dials: JoinSet<Brought>,
    dialing: HashMap<task::Id, (usize, Epoch)>,
    buffer: Box<[u8]>,
    sleep: Pin<Box<Sleep>>,
    wakes_at: Instant,
    /// The driver went to sleep with nothing due before this.
    rests_until: Instant,
    /// Read as each turn of the loop begins, and again whenever something has arrived or many
    /// callers have asked. Events stamped with it came no later.
    now: Instant,
    catching_up: CatchingUp,
    /// Fires once the runtime has asked the kernel what has arrived.
    caught_up: Pin<Box<Sleep>>,
    yielded: bool,
    ends_at: Option<Instant>,
    ended: Ended,
}

impl Driver {
    /// Creates a driver, and the first handle of it. It notifies `Connected` when every node has answered or failed.
    pub(crate) fn begin(setup: Arc<Setup>, clock: Clock) -> (Handle, Self, Connected) {
        let (masters, membership) = &setup.masters;
        let logins = masters.iter().map(|master| (master.name.clone(), master.login.clone()));
        let settings = setup.options.settings(*membership, masters);
        let random = Box::new(OsRandom::new());
        let mut machine = Coordinator::new(clock.now(), settings, logins, random);
        let idle_locks = Arc::<IdleLocks>::default();
        machine.use_shelf(idle_locks.clone());
        let (requests, inbox) = requests();
        let (reply, connected) = oneshot::channel();
        let (ended, names) = (Ended::default(), masters.iter().map(|master| &master.name));
        let telemetry = Telemetry::new(names);
        let outlet = telemetry.outlet.clone();
        let callers = Callers {
            setup: setup.clone(),
            clock,
            connecting: Some(reply),
            in_use: false,
            waiting: callers::Waiting::default(),
            unready: Vec::new(),
            holds: holds::Holds::default(),
            idle_locks: idle_locks.clone(),
            closers: Vec::new(),
            closing: false,
            broken: None,
            telemetry,
        };
        let driver = Self {
            process: Process::of_this(),
            machine,
            clock,
            inbox,
            callers,
            links: masters.iter().map(|_| None).collect(),
            dials: JoinSet::new(),
            dialing: HashMap::new(),
            buffer: vec![0; 16 * 1024].into(),
            sleep: Box::pin(tokio::time::sleep(Duration::ZERO)),
            wakes_at: Instant::default(),
            rests_until: Instant::default(),
            now: clock.now(),
            catching_up: CatchingUp::No,
            caught_up: Box::pin(tokio::time::sleep(Duration::ZERO)),
            yielded: false,
            ends_at: None,
            ended: ended.clone(),
            setup,
        };
        (Handle::new(requests, clock, ended, outlet, idle_locks), driver, connected)
    }

    /// Takes requests of callers. Once all callers have gone, the driver pays what is owed and
    /// ends. Returns how many batches they were: there may be more behind [`BATCHES`].
    fn take_requests(&mut self, cx: &mut Context<'_>) -> usize {
        for batch in 0..BATCHES {
            let Poll::Ready(count) = self.inbox.poll(cx) else { return batch };
            if batch > 0 {
                self.now = self.clock.now();
            }
            let now = self.now;
            if count == 0 {
                if self.ends_at.is_none() {
                    self.machine.handle_shutdown(now);
                    self.end_soon(now);
                }
                return 0;
            }
            if self.inbox.has_fenced() {
                self.machine.handle_wall_clock(now, self.clock.wall_us());
            }
            for request in self.inbox.others.drain() {
                self.callers.take(&mut self.machine, now, request);
            }
            for asked in self.inbox.acquires.drain() {
                self.callers.acquire(&mut self.machine, now, asked);
            }
            if self.callers.closing {
                self.end_soon(now);
            }
        }
        BATCHES
    }

    /// Pays what is owed, but no longer than there may be anything to delete.
    fn end_soon(&mut self, now: Instant) {
        let options = &self.setup.options;
        // Long enough for the masters to answer that this client is gone.
        let answered = self.machine.longest_life().max(options.operation_timeout);
        // Without a caller, a handshake in flight may still note something that must then be taken back.
        let most = if self.callers.in_use { answered } else { Duration::MAX };
        let linger = options.linger().min(most);
        self.ends_at.get_or_insert(now.after(linger));
    }

    /// Reads all that has arrived. Returns `true` when [`Driver::act`] does.
    fn read(&mut self, cx: &mut Context<'_>) -> bool {
        let mut acted = false;
        for node in 0..self.links.len() {
            while let Some(link) = &mut self.links[node] {
                let epoch = link.epoch;
                match link.poll_read(cx, &mut self.buffer) {
                    Poll::Pending => break,
                    Poll::Ready(Ok(bytes)) => {
                        self.now = self.clock.now();
                        self.machine.handle_bytes(self.now, node, epoch, bytes);
                    }
                    Poll::Ready(Err(cause)) => {
                        self.links[node] = None;
                        self.now = self.clock.now();
                        self.machine.handle_closed(self.now, node, epoch, &cause);
                    }
                }
                acted |= self.act();
            }
        }
        acted
    }

    fn write(&mut self, cx: &mut Context<'_>) {
        for node in 0..self.links.len() {
            while let Some(link) = &mut self.links[node] {
                let (epoch, bytes) = self.machine.transmit(node);
                match link.poll_write(cx, epoch, bytes) {
                    Poll::Pending => break,
                    Poll::Ready(Ok(len)) => {
                        self.machine.handle_written(self.now, node, epoch, len);
                    }
                    Poll::Ready(Err(cause)) => {
                        // A stream that fails may have passed on some of it before (TLS does,
                        // record by record). So all that was offered may have left.
                        let offered = bytes.len();
                        self.now = self.clock.now();
                        self.machine.handle_written(self.now, node, epoch, offered);
                        self.links[node] = None;
                        self.machine.handle_closed(self.now, node, epoch, &cause);
                    }
                }
            }
        }
    }

    /// Dials and closes as the machine asks. Returns `true` if it asked: a new dial must be polled
    /// once, and the end of a connection may have left something to write to the nodes before it.
    fn act(&mut self) -> bool {
        let (mut acted, within) = (false, self.setup.options.connect_timeout);
        while let Some(action) = self.machine.poll_action() {
            acted = true;
            match action {
                Action::Dial { node, epoch } => self.bring(node, epoch, Some(within)),
                Action::Renew { node, epoch } => self.bring(node, epoch, None),
                Action::Close { node, epoch } => {
                    self.links[node].take_if(|link| link.epoch == epoch);
                }
            }
        }
        acted
    }

    /// Lets time pass in the machine. Work that is due since the last sleep is seen at the next.
    fn expire(&mut self) {
        let now = self.now;
        if now >= self.rests_until && self.machine.poll_timeout().is_some_and(|at| at <= now) {
            self.machine.handle_timeout(now);
        }
    }

    /// Sleeps until something is due. Returns `true` if something already is.
    fn sleep(&mut self, cx: &mut Context<'_>) -> bool {
        let now = self.now;
        // A guard may have a lock that the machine takes for idle.
        let holds = self.callers.holds.len() > 0 || self.machine.idle_holds() > 0;
        let most = if holds { LONGEST_SLEEP_WHILE_HOLDING } else { LONGEST_SLEEP };
        let unready = self.callers.unready.iter().map(|waiter| waiter.until);
        let ends = self.ends_at.into_iter().chain(unready);
        let due = match self.catching_up {
            CatchingUp::No => self.machine.due_at(),
            CatchingUp::Parks | CatchingUp::Reads => self.machine.poll_timeout(),
        };
        let next = due.into_iter().chain(ends).min();
        let until = next.map_or(now.after(most), |at| at.min(now.after(most)));
        self.rests_until = until;
        // A timer that fires early costs one turn of the loop; moving it each time would cost more.
        if until <= now {
            return true;
        }
        if until < self.wakes_at || self.wakes_at <= now {
            self.wakes_at = until;
            let rest = until.since(self.clock.now());
            self.sleep.as_mut().reset(tokio::time::Instant::now() + rest);
        }
        if self.sleep.as_mut().poll(cx).is_ready() {
            self.wakes_at = Instant::default();
            return true;
        }
        false
    }

    /// Checks whether all that is owed is paid, or the time for it has passed.
    fn has_ended(&self) -> bool {
        let ended = |at| self.machine.masters().is_drained() || self.clock.now() >= at;
        self.callers.why() != Why::Ended || self.ends_at.is_some_and(ended)
    }
}

impl Future for Driver {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        if !this.process.is_this() {
            return Poll::Ready(());
        }
        this.machine.begin_turn();
        this.callers.telemetry.begin_turn(&mut this.machine);
        loop {
            this.now = this.clock.now();
            this.has_parked(cx);
            let batches = this.take_requests(cx);
            this.take_dials(cx);
            let mut acted = this.read(cx) | (batches == BATCHES);
            // After reading: what has arrived is handled before it is considered late.
            this.expire();
            acted |= this.catch_up(cx);
            acted |= this.act();
            let decided = this.machine.decided();
            this.callers.answer(&mut this.machine);
            let busy = decided.max(this.machine.open_rounds()) >= BUSY;
            if (batches > 0 || decided > 0) && !this.yielded && busy {
                this.yielded = true;
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            this.write(cx);
            acted |= this.act();
            acted |= this.callers.answer(&mut this.machine);
            this.callers.end_turn(&this.machine);
            if this.has_ended() {
                return Poll::Ready(());
            }
            if !acted && !this.sleep(cx) && !this.has_parked(cx) {
                this.yielded = false;
                return Poll::Pending;
            }
        }
    }
}

impl Drop for Driver {
    /// Ends all holds. The runtime is gone, or everything is paid, or nothing can be relied on: the
    /// driver no longer extends or releases locks.
    fn drop(&mut self) {
        if !self.process.is_this() {
            // The sockets, and what the kernel notifies of them, are the parent's.
            std::mem::forget((std::mem::take(&mut self.links), std::mem::take(&mut self.dials)));
        }
        let owed = self.machine.masters().debts();
        let outcome = if owed == 0 { Ok(()) } else { Err(ShutdownError { owed }) };
        let _ = self.ended.set((outcome, self.callers.why()));
        self.callers.end_holds(self.clock.now());
    }
}

#[cfg(test)]
#[cfg(feature = "embedded")]
mod tests;
