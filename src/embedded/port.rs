//! A port of 127.0.0.1 that stays ours while the master is dead.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use tokio::net::{TcpListener, TcpSocket};

/// On Linux a bound socket that does not listen keeps the port. Other processes are not given it
/// and dials are refused, and yet we can listen on it as well. On other systems the port is free
/// between kill and restart.
pub(super) struct Port {
    address: SocketAddr,
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
    pub(super) fn listen(&self) -> io::Result<TcpListener> {
        let socket = TcpSocket::new_v4()?;
        // On Windows this would let others in; it is not needed there.
        socket.set_reuseaddr(cfg!(unix))?;
        socket.bind(self.address)?;
        socket.listen(BACKLOG)
    }

    pub(super) const fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Connections that a paused master has not accepted yet.
const BACKLOG: u32 = 511;
