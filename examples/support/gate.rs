//! A connection path to a master that can be closed, for masters that are not ours to kill.

use redis::{ConnectionAddr, IntoConnectionInfo};
use std::io::{self, ErrorKind};
use std::pin::Pin;
use tokio::io::{DuplexStream, copy_bidirectional, duplex};
use tokio::net::TcpStream;
use tokio::sync::watch;

/// Error message for a mistake. It contains no address, since that may hold a password.
const PLAIN: &str = "not a redis:// address, and the demonstration takes no others";

/// While it is closed, connections through it are cut and dials refused. The master itself keeps
/// running, with its keys.
pub(crate) struct Gate {
    host: String,
    port: u16,
    open: watch::Sender<bool>,
}

impl Gate {
    pub(crate) fn new(url: &str) -> Result<Self, String> {
        let info = url.into_connection_info().map_err(|_| PLAIN)?;
        match info.addr() {
            ConnectionAddr::Tcp(host, port) => {
                Ok(Self { host: host.clone(), port: *port, open: watch::Sender::new(true) })
            }
            _ => Err(PLAIN.to_owned()),
        }
    }

    /// Returns the address it leads to, without credentials.
    pub(crate) fn name(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    pub(crate) fn close(&self) {
        self.open.send_replace(false);
    }

    pub(crate) fn open(&self) {
        self.open.send_replace(true);
    }

    /// Returns a dialer for `RedlockBuilder::node_with_connector`.
    pub(crate) fn dialer(&self) -> impl Fn() -> Dialing + Send + Sync + 'static {
        let place = (self.host.clone(), self.port);
        let gate = self.open.subscribe();
        move || Box::pin(dial(place.clone(), gate.clone()))
    }
}

type Dialing = Pin<Box<dyn Future<Output = io::Result<DuplexStream>> + Send>>;

async fn dial(place: (String, u16), mut gate: watch::Receiver<bool>) -> io::Result<DuplexStream> {
    if !*gate.borrow() {
        return Err(io::Error::new(ErrorKind::ConnectionRefused, "cut off by the demonstration"));
    }
    let mut master = TcpStream::connect(place).await?;
    master.set_nodelay(true)?;
    let (ours, mut theirs) = duplex(64 << 10);
    tokio::spawn(async move {
        tokio::select! {
            biased;
            _ = gate.wait_for(|open| !open) => {}
            _ = copy_bidirectional(&mut theirs, &mut master) => {}
        }
    });
    Ok(ours)
}
