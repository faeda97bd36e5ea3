//! A port of 127.0.0.1 that stays ours, whether or not a listener uses it.

use socket2::{Domain, Socket, Type};
use std::net::{Ipv4Addr, SocketAddr};
use tokio::net::{TcpListener, TcpSocket};

/// A free port, reserved for as long as this value lives.
///
/// It is held by a socket that is bound but does not listen, so a dial is refused until a server
/// process or a proxy listens there. The bind is exclusive: only afterwards does the socket allow
/// others next to it. So two tests never get the same port, and a port survives between the death
/// of a server and its restart. A client that redials a dead port can't be given that very port as
/// its own and connect to itself. (Linux semantics of `SO_REUSEADDR`.)
#[derive(Debug)]
pub(crate) struct ReservedPort {
    address: SocketAddr,
    _socket: Socket,
}

impl ReservedPort {
    pub(crate) fn new() -> Self {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
        let any_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        socket.bind(&any_port.into()).expect("a free port of 127.0.0.1");
        socket.set_reuse_address(true).expect("SO_REUSEADDR");
        let address = socket.local_addr().expect("a local address").as_socket();
        Self { address: address.expect("an IPv4 address"), _socket: socket }
    }

    /// Listens on it. When the listener is dropped, dials are refused again.
    pub(crate) fn listen(&self) -> TcpListener {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_reuseaddr(true).expect("SO_REUSEADDR");
        socket.bind(self.address).expect("the reserved port");
        socket.listen(1024).expect("a listener on the reserved port")
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }
}
