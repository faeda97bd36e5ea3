//! The check of the tokio runtime that a call is made on.

use crate::failure::WrongContext;
use crate::transport::Transport;
use socket2::{Domain, Socket, Type};
use std::net::UdpSocket;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;
use tokio::runtime::Handle;

/// Checks that this is a tokio runtime, with the drivers that `call` needs to reach masters by
/// `transports`.
pub(crate) fn check<'a>(
    call: &'static str,
    transports: impl IntoIterator<Item = &'a Transport>,
) -> Result<(), WrongContext> {
    if Handle::try_current().is_err() {
        return Err(WrongContext::NoRuntime { call });
    }
    if !completes(|| drop(tokio::time::sleep(Duration::ZERO))) {
        return Err(WrongContext::NoDriver { call, driver: "time" });
    }
    // A stream of the user's own may need no I/O driver: that of an embedded master does not.
    let needs_io = |transport: &Transport| !matches!(transport, Transport::Custom(_));
    if transports.into_iter().any(needs_io) && !has_io_driver() {
        return Err(WrongContext::NoDriver { call, driver: "I/O" });
    }
    Ok(())
}

/// Checks for the I/O driver, with a socket that is bound to nothing. `true` also if the operating
/// system provides no such socket: the dial then reports why.
fn has_io_driver() -> bool {
    let unbound = |domain| Socket::new(domain, Type::DGRAM, None);
    let socket = unbound(Domain::IPV4).or_else(|_| unbound(Domain::IPV6));
    let Ok(socket) = socket.and_then(|socket| socket.set_nonblocking(true).map(|()| socket)) else {
        return true;
    };
    completes(|| drop(tokio::net::UdpSocket::from_std(UdpSocket::from(socket))))
}

/// Returns whether `probe` completes. tokio panics where a driver is missing, and offers no way to
/// ask first (tokio#8361). That panic ends here, before there is a task that it could end.
fn completes(probe: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(probe)).is_ok()
}
