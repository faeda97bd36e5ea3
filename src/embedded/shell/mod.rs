//! The shell around a master's machine: its life, its clock, and what can go wrong with both.

mod connection;

use super::port::Port;
use quorumlock_embedded::{ClientId, Machine, Output};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime};
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

pub(super) type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// The condition of a master, which its connections' tasks watch.
#[derive(Clone, Copy, Default)]
pub(super) struct Condition {
    /// Counts starts and stops: odd while the master runs. A task of another life has no say.
    life: u64,
    pub(super) paused: bool,
    pub(super) partitioned: bool,
}

impl Condition {
    const fn is_running(&self) -> bool {
        self.life % 2 == 1
    }

    const fn reads(&self) -> bool {
        !self.paused && !self.partitioned
    }
}

/// An answer, and when it may arrive.
type Answer = (Instant, Vec<u8>);

pub(super) struct State {
    machine: Machine,
    clock: Clock,
    pub(super) latency: Duration,
    listener: Option<TcpListener>,
    links: BTreeMap<ClientId, UnboundedSender<Answer>>,
    tasks: JoinSet<()>,
}

pub(super) struct Shell {
    state: Mutex<State>,
    /// Changes only while the state is locked, so that a change is final when its caller returns.
    condition: watch::Sender<Condition>,
    runtime: Handle,
}

impl Shell {
    /// Creates a master that does not run yet.
    pub(super) fn new() -> io::Result<Arc<Self>> {
        let runtime = Handle::try_current().map_err(io::Error::other)?;
        let seed = getrandom::u64().map_err(io::Error::other)?;
        let state = State {
            machine: Machine::new(seed, Duration::ZERO),
            clock: Arc::new(SystemTime::now),
            latency: Duration::ZERO,
            listener: None,
            links: BTreeMap::new(),
            tasks: JoinSet::new(),
        };
        let condition = watch::Sender::default();
        Ok(Arc::new(Self { state: Mutex::new(state), condition, runtime }))
    }

    /// Starts a stopped master.
    pub(super) fn start(self: &Arc<Self>, keep: bool, port: Option<&Port>) -> io::Result<()> {
        let mut state = self.state();
        let entered = self.runtime.enter();
        state.listener = port.map(Port::listen).transpose()?;
        drop(entered);
        let now = state.now();
        state.machine.restart(keep, now);
        self.condition.send_modify(|condition| condition.life += 1);
        if port.is_some() {
            let life = self.condition.borrow().life;
            state.tasks.spawn_on(self.clone().accept(life), &self.runtime);
        }
        Ok(())
    }

    /// Stops a running master, with all its connections.
    pub(super) fn stop(&self) {
        let mut state = self.state();
        if !self.condition.borrow().is_running() {
            return;
        }
        self.condition.send_modify(|condition| {
            condition.life += 1;
            condition.paused = false;
        });
        state.listener = None;
        state.links.clear();
        // Which ends the tasks.
        state.tasks = JoinSet::new();
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut Condition)) {
        let _state = self.state();
        self.condition.send_modify(change);
    }

    /// Sets the clock. The step from one clock to the other does not count as uptime of the
    /// machine.
    pub(super) fn set_clock(&self, clock: Clock) {
        let mut state = self.state();
        let uptime = state.machine.uptime(state.now());
        state.clock = clock;
        let now = state.now();
        state.machine.set_uptime(uptime, now);
    }

    /// Changes the machine, whether it runs or not.
    pub(super) fn adjust<T>(&self, adjust: impl FnOnce(&mut Machine, Duration) -> T) -> T {
        let mut state = self.state();
        let now = state.now();
        adjust(&mut state.machine, now)
    }

    /// Looks into a running master.
    pub(super) fn look<T>(&self, look: impl FnOnce(&Machine, Duration) -> T) -> Option<T> {
        let state = self.state();
        let running = self.condition.borrow().is_running();
        running.then(|| look(&state.machine, state.now()))
    }

    /// Waits for a condition; returns `false` if this life has ended.
    async fn until(&self, life: u64, holds: impl Fn(&Condition) -> bool) -> bool {
        let mut condition = self.condition.subscribe();
        let changed = condition.wait_for(|now| now.life != life || holds(now)).await;
        changed.is_ok_and(|now| now.life == life)
    }

    fn is(&self, life: u64) -> bool {
        self.condition.borrow().life == life
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl State {
    fn now(&self) -> Duration {
        (self.clock)().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
    }

    fn distribute(&mut self) {
        let due = Instant::now() + self.latency;
        while let Some(output) = self.machine.poll_output() {
            match output {
                // If the connection has gone in the meantime, this answer has no receiver.
                Output::Send(client, answer) => {
                    let _ = self.links.get(&client).map(|link| link.send((due, answer)));
                }
                Output::Close(client) => drop(self.links.remove(&client)),
            }
        }
    }
}
