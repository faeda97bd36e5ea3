//! One connection through the proxy: two streams, and a lane each way.

use super::lane::{Direction, Lane, Rules, Valve};
use socket2::SockRef;
use std::io::Result;
use std::net::Shutdown;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, split};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::Instant;

/// The way in which the proxy ends a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// As if the other side had closed it: end of stream.
    Fin,
    /// As if the other side did not know the connection: connection reset.
    Reset,
}

/// One connection, for tests that treat it differently from the others.
#[derive(Debug)]
pub(crate) struct Link {
    to_server: Lane,
    to_client: Lane,
    cut: watch::Sender<Option<Cut>>,
    live: AtomicBool,
}

impl Link {
    pub(super) fn new(to_server: Rules, to_client: Rules) -> Self {
        let (to_server, to_client) = (Lane::new(to_server), Lane::new(to_client));
        Self { to_server, to_client, cut: watch::Sender::new(None), live: AtomicBool::new(true) }
    }

    /// Like [`Proxy::delay`](super::Proxy::delay), for this connection; the same applies to the
    /// methods below.
    pub(crate) fn delay(&self, direction: Direction, delay: Duration) {
        self.change(direction, |rules| rules.delay = delay);
    }

    pub(crate) fn hold(&self, direction: Direction) {
        self.change(direction, |rules| rules.valve = Valve::Held);
    }

    pub(crate) fn let_go(&self, direction: Direction) {
        self.change(direction, |rules| rules.valve = Valve::Open);
    }

    pub(crate) fn discard(&self, direction: Direction) {
        self.change(direction, |rules| rules.valve = Valve::Discarding);
    }

    pub(crate) fn cut(&self, how: Cut) {
        self.cut.send_replace(Some(how));
    }

    pub(crate) fn is_live(&self) -> bool {
        self.live.load(Ordering::SeqCst)
    }

    /// Returns the number of bytes read but not delivered yet; zero once the connection has ended.
    pub(crate) fn waiting(&self, direction: Direction) -> u64 {
        if self.is_live() { self.lane(direction).waiting() } else { 0 }
    }

    pub(crate) fn delivered(&self, direction: Direction) -> u64 {
        self.lane(direction).delivered()
    }

    pub(crate) fn last_byte_delivered_at(&self, direction: Direction) -> Option<Instant> {
        self.lane(direction).last_byte_delivered_at()
    }

    pub(crate) fn change(&self, direction: Direction, change: impl FnOnce(&mut Rules)) {
        self.lane(direction).change(change);
    }

    const fn lane(&self, direction: Direction) -> &Lane {
        match direction {
            Direction::ToServer => &self.to_server,
            Direction::ToClient => &self.to_client,
        }
    }

    /// Carries bytes until both lanes have ended or the connection is cut. While it does not reach the
    /// server it is a black hole.
    pub(super) async fn run<S: Stream>(
        &self,
        client: impl Stream,
        server: impl Future<Output = Result<S>>,
    ) {
        tokio::select! {
            biased;
            how = self.cut_requested() => client.end(how),
            dialled = server => match dialled {
                Ok(server) => self.carry(client, server).await,
                Err(_) => client.end(Cut::Reset),
            },
        }
        self.live.store(false, Ordering::SeqCst);
    }

    async fn carry(&self, mut client: impl Stream, mut server: impl Stream) {
        client.prepare();
        server.prepare();
        let cut_here = || self.cut(Cut::Fin);
        let (from_client, client_side) = split(&mut client);
        let (from_server, server_side) = split(&mut server);
        let to_server = self.to_server.carry(from_client, server_side, cut_here);
        let to_client = self.to_client.carry(from_server, client_side, cut_here);
        tokio::select! {
            biased;
            how = self.cut_requested() => {
                client.end(how);
                server.end(how);
            }
            ((), ()) = async { tokio::join!(to_server, to_client) } => {}
        }
    }

    async fn cut_requested(&self) -> Cut {
        let mut cut = self.cut.subscribe();
        loop {
            if let Some(how) = *cut.borrow_and_update() {
                return how;
            }
            cut.changed().await.expect("the sender lives in the link");
        }
    }
}

/// What carries the bytes on either side.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {
    fn prepare(&self) {}

    /// Ends one side of a cut connection; dropping the stream does the rest.
    fn end(&self, _how: Cut) {}
}

impl Stream for DuplexStream {}

impl Stream for TcpStream {
    fn prepare(&self) {
        self.set_nodelay(true).expect("TCP_NODELAY");
    }

    fn end(&self, how: Cut) {
        let socket = SockRef::from(self);
        // The peer may have been faster: then there is nothing left to end.
        let _already_ended = match how {
            Cut::Fin => socket.shutdown(Shutdown::Both),
            Cut::Reset => socket.set_linger(Some(Duration::ZERO)),
        };
    }
}
