//! What moves the bytes of a master's machine: connections, the clock, and all that can go wrong
//! between them.

use super::machine::{ClientId, Machine, Output};
use super::port::Port;
use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

pub(super) type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// What a connection's task waits for.
#[derive(Clone, Copy)]
pub(super) struct Condition {
    /// Counts starts and stops: odd while the master runs. A task of another life has no say.
    life: u64,
    pub(super) paused: bool,
    pub(super) cut_off: bool,
}

impl Condition {
    const fn is_running(&self) -> bool {
        self.life % 2 == 1
    }

    const fn reads(&self) -> bool {
        !self.paused && !self.cut_off
    }
}

/// An answer and when it may arrive.
type Answer = (Instant, Vec<u8>);

struct State {
    machine: Machine,
    clock: Clock,
    delay: Duration,
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
    /// A master that does not run yet.
    pub(super) fn new() -> io::Result<Arc<Self>> {
        let runtime = Handle::try_current().map_err(io::Error::other)?;
        let seed = getrandom::u64().map_err(io::Error::other)?;
        let state = State {
            machine: Machine::new(seed, Duration::ZERO),
            clock: Arc::new(SystemTime::now),
            delay: Duration::ZERO,
            listener: None,
            links: BTreeMap::new(),
            tasks: JoinSet::new(),
        };
        let condition = Condition { life: 0, paused: false, cut_off: false };
        let condition = watch::Sender::new(condition);
        Ok(Arc::new(Self { state: Mutex::new(state), condition, runtime }))
    }

    /// A stopped master starts.
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

    /// A running master stops, with all its connections.
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
        state.tasks.abort_all();
        while state.tasks.try_join_next().is_some() {}
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut Condition)) {
        let _state = self.state();
        self.condition.send_modify(change);
    }

    pub(super) fn slow(&self, by: Duration) {
        self.state().delay = by;
    }

    pub(super) fn set_clock(&self, clock: Clock) {
        self.state().clock = clock;
    }

    /// Looks into a running master.
    pub(super) fn look<T>(&self, look: impl FnOnce(&Machine, Duration) -> T) -> Option<T> {
        let state = self.state();
        let running = self.condition.borrow().is_running();
        running.then(|| look(&state.machine, state.now()))
    }

    /// Takes a connection on; `false` if the master does not run.
    pub(super) fn serve<S>(self: &Arc<Self>, stream: S) -> bool
    where
        S: AsyncRead + AsyncWrite + Send + 'static,
    {
        let mut state = self.state();
        let condition = *self.condition.borrow();
        if condition.is_running() {
            while state.tasks.try_join_next().is_some() {}
            let shell = self.clone();
            state.tasks.spawn_on(shell.connection(condition.life, stream), &self.runtime);
        }
        condition.is_running()
    }

    async fn accept(self: Arc<Self>, life: u64) {
        while let Some(accepted) = poll_fn(|cx| self.poll_accept(life, cx)).await {
            // An error is of that one connection, or of too many files: others get their turn.
            match accepted {
                Ok(stream) => drop(self.serve(undelayed(stream))),
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        }
    }

    /// The listener stays with the state, so that it is gone as soon as the master is.
    fn poll_accept(&self, life: u64, cx: &mut Context<'_>) -> Poll<Option<io::Result<TcpStream>>> {
        match &self.state().listener {
            Some(listener) if self.is(life) => {
                listener.poll_accept(cx).map(|accepted| Some(accepted.map(|(stream, _)| stream)))
            }
            _ => Poll::Ready(None),
        }
    }

    async fn connection(self: Arc<Self>, life: u64, stream: impl AsyncRead + AsyncWrite) {
        let Some((client, answers)) = self.open(life).await else { return };
        let (from, to) = tokio::io::split(stream);
        either(self.read(life, client, from), self.write(life, answers, to)).await;
        let mut state = self.state();
        if self.is(life) {
            state.machine.close(client);
            state.links.remove(&client);
        }
    }

    async fn open(&self, life: u64) -> Option<(ClientId, UnboundedReceiver<Answer>)> {
        while self.until(life, Condition::reads).await {
            let mut state = self.state();
            if self.is(life) && self.condition.borrow().reads() {
                let (link, answers) = unbounded_channel();
                let client = state.machine.open();
                state.links.insert(client, link);
                return Some((client, answers));
            }
        }
        None
    }

    async fn read(&self, life: u64, client: ClientId, mut from: impl AsyncRead + Unpin) {
        let mut buffer = vec![0; 16 << 10];
        while self.until(life, Condition::reads).await {
            let read = from.read(&mut buffer).await.unwrap_or(0);
            // What has arrived at the very moment of a pause waits for its end.
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
            if !self.until(life, |condition| !condition.cut_off).await
                || to.write_all(&answer).await.is_err()
            {
                return;
            }
        }
        let _already_gone = to.shutdown().await;
    }

    /// Executes what has arrived; `false` if the master was paused in the meantime.
    fn receive(&self, life: u64, client: ClientId, bytes: &[u8]) -> bool {
        let mut state = self.state();
        let condition = *self.condition.borrow();
        if condition.life != life {
            return true;
        }
        if condition.reads() {
            let now = state.now();
            state.machine.receive(client, now, bytes);
            state.distribute();
        }
        condition.reads()
    }

    /// Waits for a condition; `false` if this life has ended.
    async fn until(&self, life: u64, holds: impl Fn(&Condition) -> bool) -> bool {
        let mut condition = self.condition.subscribe();
        let changed = condition.wait_for(|now| now.life != life || holds(now)).await;
        changed.is_ok_and(|now| now.life == life)
    }

    fn is(&self, life: u64) -> bool {
        self.condition.borrow().life == life
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl State {
    fn now(&self) -> Duration {
        (self.clock)().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
    }

    fn distribute(&mut self) {
        let due = Instant::now() + self.delay;
        while let Some(output) = self.machine.poll_output() {
            match output {
                // If it has gone in the meantime, nobody waits for this.
                Output::Send(client, answer) => {
                    let _ = self.links.get(&client).map(|link| link.send((due, answer)));
                }
                Output::Close(client) => drop(self.links.remove(&client)),
            }
        }
    }
}

fn undelayed(stream: TcpStream) -> TcpStream {
    let _only_slower = stream.set_nodelay(true);
    stream
}

/// Until one of them ends.
async fn either(one: impl Future<Output = ()>, other: impl Future<Output = ()>) {
    let (mut one, mut other) = (pin!(one), pin!(other));
    poll_fn(|cx| {
        let ended = one.as_mut().poll(cx).is_ready() || other.as_mut().poll(cx).is_ready();
        if ended { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}
