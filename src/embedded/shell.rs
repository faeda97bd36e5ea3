//! The shell around a master's machine: its life, its clock, the tasks that move the bytes of its connections, and
//! what can go wrong with all of them.

use crate::run::either;
use quorumlock_embedded::{ClientId, Machine, Output};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

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

    /// Takes a connection on; returns `false` if the master does not run.
    pub(super) fn serve<S>(self: &Arc<Self>, stream: S) -> bool
    where
        S: AsyncRead + AsyncWrite + Send + 'static,
    {
        let mut state = self.state();
        let condition = *self.condition.borrow();
        if condition.is_running() {
            while state.tasks.try_join_next().is_some() {}
            let (link, answers) = unbounded_channel();
            let client = state.machine.open();
            state.links.insert(client, link);
            let (this, life) = (self.clone(), condition.life);
            let connection = async move {
                let (from, to) = tokio::io::split(stream);
                either(this.read(life, client, from), this.write(life, answers, to)).await;
                let mut state = this.state();
                if this.is(life) {
                    state.machine.close(client);
                    state.links.remove(&client);
                }
            };
            state.tasks.spawn_on(connection, &self.runtime);
        }
        condition.is_running()
    }

    async fn accept(self: Arc<Self>, life: u64) {
        // The listener stays with the state, so that it is gone as soon as the master is.
        let accept = |cx: &mut Context<'_>| match &self.state().listener {
            Some(listener) if self.is(life) => listener.poll_accept(cx).map(Some),
            _ => Poll::Ready(None),
        };
        while let Some(accepted) = poll_fn(accept).await {
            // An error concerns that one connection, or is due to too many files: others get their
            // turn.
            match accepted {
                Ok((stream, _)) => {
                    let _only_slower = stream.set_nodelay(true);
                    self.serve(stream);
                }
                Err(_) => sleep(Duration::from_millis(10)).await,
            }
        }
    }

    async fn read(&self, life: u64, client: ClientId, mut from: impl AsyncRead + Unpin) {
        let mut buffer = vec![0; 16 << 10];
        while self.until(life, Condition::reads).await {
            let read = from.read(&mut buffer).await.unwrap_or(0);
            // Bytes that arrived at the very moment of a pause wait until it ends.
            while self.until(life, Condition::reads).await
                && !self.receive(life, client, &buffer[..read])
            {}
            if read == 0 {
                return;
            }
        }
    }

    async fn write(
        &self,
        life: u64,
        mut answers: UnboundedReceiver<Answer>,
        mut to: impl AsyncWrite + Unpin,
    ) {
        while let Some((due, answer)) = answers.recv().await {
            if due > Instant::now() {
                sleep_until(due).await;
            }
            if !self.until(life, |condition| !condition.partitioned).await
                || to.write_all(&answer).await.is_err()
            {
                return;
            }
        }
        let _already_gone = to.shutdown().await;
    }

    /// Executes what has arrived; returns `false` if the master was paused in the meantime.
    fn receive(&self, life: u64, client: ClientId, bytes: &[u8]) -> bool {
        let mut state = self.state();
        let condition = *self.condition.borrow();
        if condition.life != life {
            return true;
        }
        if condition.reads() {
            let now = state.now();
            state.machine.receive(client, now, bytes);
            let due = Instant::now() + state.latency;
            while let Some(output) = state.machine.poll_output() {
                match output {
                    // If the connection has gone in the meantime, this answer has no receiver.
                    Output::Send(client, answer) => {
                        let _ = state.links.get(&client).map(|link| link.send((due, answer)));
                    }
                    Output::Close(client) => drop(state.links.remove(&client)),
                }
            }
        }
        condition.reads()
    }
}

impl State {
    fn now(&self) -> Duration {
        (self.clock)().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
    }
}

/// On Linux a bound socket that does not listen keeps the port. Other processes are not given it
/// and dials are refused, and yet we can listen on it as well. On other systems the port is free
/// between kill and restart.
pub(super) struct Port {
    pub(super) address: SocketAddr,
    _reservation: Option<TcpSocket>,
}

impl Port {
    pub(super) fn reserve() -> io::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
        // Only after the exclusive bind, so that only a socket that knows of the port can share it.
        socket.set_reuseaddr(true)?;
        let address = socket.local_addr()?;
        Ok(Self { address, _reservation: cfg!(target_os = "linux").then_some(socket) })
    }

    /// Listens on the port, within a runtime. Dials are refused again when the listener is dropped.
    fn listen(&self) -> io::Result<TcpListener> {
        let socket = TcpSocket::new_v4()?;
        // On Windows this would let others in; it is not needed there.
        socket.set_reuseaddr(cfg!(unix))?;
        socket.bind(self.address)?;
        socket.listen(BACKLOG)
    }
}

/// Connections that a paused master has not accepted yet.
const BACKLOG: u32 = 511;
