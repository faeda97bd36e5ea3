//! A network that misbehaves on command: a proxy in front of one server, on a port of 127.0.0.1. What
//! carries the bytes, [`Wires`], does so between other streams as well.
//!
//! A rule set on the [`Wires`] holds for all its connections, including later ones. A rule set on
//! one [`Link`] holds for that connection. By default nothing is lost: bytes that the proxy has
//! read are delivered, however late, even if their sender has closed the connection in the
//! meantime. It reads without bound, so a sender never notices a slow receiver.

mod lane;
mod link;

pub(crate) use lane::{Direction, Rules, Valve};
pub(crate) use link::{Cut, Link, Stream};

use super::port::ReservedPort;
use std::future::pending;
use std::io::Result;
use std::net::SocketAddr;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// The proxy. Its connections are cut when it is dropped. It lives on the runtime it was started
/// on.
#[derive(Debug)]
pub(crate) struct Proxy {
    port: Arc<ReservedPort>,
    target: SocketAddr,
    wires: Arc<Wires>,
    accepting: Mutex<Option<JoinHandle<()>>>,
}

/// The connections through a proxy, and the rules for all of them.
#[derive(Debug, Default)]
pub(crate) struct Wires {
    swallow_new: AtomicBool,
    state: Mutex<State>,
}

/// All behind one lock, so that no connection slips through between two rules.
#[derive(Debug, Default)]
struct State {
    links: Vec<Arc<Link>>,
    to_server: Rules,
    to_client: Rules,
}

impl Proxy {
    /// Starts one in front of `target`, which need not be up.
    pub(crate) fn start(target: SocketAddr) -> Self {
        let port = Arc::new(ReservedPort::new());
        let wires = Arc::new(Wires::default());
        let accepting = tokio::spawn(accept(port.listen(), target, Arc::clone(&wires)));
        Self { port, target, wires, accepting: Mutex::new(Some(accepting)) }
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        self.port.address()
    }

    /// Returns its address in the form that the client under test takes.
    pub(crate) fn url(&self) -> String {
        format!("redis://{}", self.addr())
    }

    /// Refuses new connections, as a port without a listener does, or accepts them again. In force
    /// on return; live connections go on.
    pub(crate) async fn refuse_new(&self, refuse: bool) {
        let before = self.accepting.lock().expect("no panic under the lock").take();
        if let Some(accepting) = before {
            accepting.abort();
            let _aborted = accepting.await;
        }
        if !refuse {
            let accepting =
                tokio::spawn(accept(self.port.listen(), self.target, Arc::clone(&self.wires)));
            *self.accepting.lock().expect("no panic under the lock") = Some(accepting);
        }
    }
}

impl Wires {
    /// Delays each byte by that much after its arrival from now on, in order.
    pub(crate) fn delay(&self, direction: Direction, delay: Duration) {
        self.change(direction, |rules| rules.delay = delay);
    }

    /// Delivers nothing until `let_go`: a black hole whose bytes arrive late.
    pub(crate) fn hold(&self, direction: Direction) {
        self.change(direction, |rules| rules.valve = Valve::Held);
    }

    /// Ends a hold (what was held is delivered at once) or a discard: a connection that has swallowed a
    /// byte stays silent.
    pub(crate) fn let_go(&self, direction: Direction) {
        self.change(direction, |rules| rules.valve = Valve::Open);
    }

    /// Swallows every byte and the end of the stream, including those still held or delayed.
    pub(crate) fn discard(&self, direction: Direction) {
        self.change(direction, |rules| rules.valve = Valve::Discarding);
    }

    /// Swallows everything, both ways, on the connections that exist: they look alive and are not.
    /// New connections work.
    pub(crate) fn half_open(&self) {
        for link in &self.state().links {
            link.discard(Direction::ToServer);
            link.discard(Direction::ToClient);
        }
    }

    /// Delivers `n` more bytes on each connection, then ends it as by [`Cut::Fin`]; `None` removes
    /// the rule.
    pub(crate) fn cut_after(&self, direction: Direction, n: impl Into<Option<u64>>) {
        let n = n.into();
        self.change(direction, |rules| rules.cut_after = n);
    }

    /// Sets whether bytes that wait (held, delayed) when their sender closes are delivered in time,
    /// which is the default, or lost.
    pub(crate) fn deliver_after_close(&self, deliver: bool) {
        for direction in [Direction::ToServer, Direction::ToClient] {
            self.change(direction, |rules| rules.deliver_after_close = deliver);
        }
    }

    /// Ends all live connections on both sides. Waiting bytes are lost.
    pub(crate) fn cut(&self, how: Cut) {
        self.state().links.iter().for_each(|link| link.cut(how));
    }

    /// Accepts new connections, but never answers on them or dials the server, for their whole
    /// life.
    pub(crate) fn swallow_new(&self, swallow: bool) {
        self.swallow_new.store(swallow, Ordering::SeqCst);
    }

    /// Carries a new connection, to a server that is being dialled.
    pub(crate) fn connect<S: Stream>(
        &self,
        client: impl Stream + 'static,
        server: impl Future<Output = Result<S>> + Send + 'static,
    ) {
        let link = {
            let mut state = self.state();
            let link = Arc::new(Link::new(state.to_server.clone(), state.to_client.clone()));
            state.links.push(Arc::clone(&link));
            link
        };
        if self.swallow_new.load(Ordering::SeqCst) {
            tokio::spawn(async move { link.run(client, pending::<Result<S>>()).await });
        } else {
            tokio::spawn(async move { link.run(client, server).await });
        }
    }

    /// Returns how many connections were ever accepted.
    pub(crate) fn connections(&self) -> usize {
        self.state().links.len()
    }

    /// Returns how many of them have not ended.
    pub(crate) fn live(&self) -> usize {
        self.state().links.iter().filter(|link| link.is_live()).count()
    }

    /// Returns the connection that was accepted as number `n`, counted from 0.
    pub(crate) fn link(&self, n: usize) -> Arc<Link> {
        let link = self.state().links.get(n).cloned();
        link.unwrap_or_else(|| panic!("no connection {n}: {} so far", self.connections()))
    }

    /// Returns the number of bytes read but not delivered yet, on live connections.
    pub(crate) fn waiting(&self, direction: Direction) -> u64 {
        self.state().links.iter().map(|link| link.waiting(direction)).sum()
    }

    /// Returns the number of bytes delivered on all connections since the start.
    pub(crate) fn delivered(&self, direction: Direction) -> u64 {
        self.state().links.iter().map(|link| link.delivered(direction)).sum()
    }

    /// Returns when the last byte was delivered in that direction.
    pub(crate) fn last_byte_delivered_at(&self, direction: Direction) -> Option<Instant> {
        let state = self.state();
        state.links.iter().filter_map(|link| link.last_byte_delivered_at(direction)).max()
    }

    fn change(&self, direction: Direction, change: impl Fn(&mut Rules)) {
        let mut state = self.state();
        change(match direction {
            Direction::ToServer => &mut state.to_server,
            Direction::ToClient => &mut state.to_client,
        });
        state.links.iter().for_each(|link| link.change(direction, &change));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic under the lock")
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        if let Some(accepting) = self.accepting.lock().ok().and_then(|mut task| task.take()) {
            accepting.abort();
        }
        self.cut(Cut::Reset);
    }
}

impl Deref for Proxy {
    type Target = Wires;

    fn deref(&self) -> &Wires {
        &self.wires
    }
}

async fn accept(listener: TcpListener, target: SocketAddr, wires: Arc<Wires>) {
    loop {
        let (client, _) = listener.accept().await.expect("to accept a connection");
        wires.connect(client, TcpStream::connect(target));
    }
}

/// Starts one proxy in front of each address.
pub(crate) fn in_front_of(targets: impl IntoIterator<Item = SocketAddr>) -> Vec<Proxy> {
    targets.into_iter().map(Proxy::start).collect()
}
