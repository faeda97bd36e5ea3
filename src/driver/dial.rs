//! Dialling of a master: TCP, TLS, a Unix socket, or a byte stream that the user provides. A dial
//! is spawned as a task of its own, so that a slow handshake holds up nothing else.

mod names;

use super::Driver;
use super::link::Link;
use crate::address::Brought;
use crate::report::Span;
use crate::transport::{BoxStream, PLAIN_PORT, Transport};
use quorumlock_core::coordinator::Epoch;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;
#[cfg(feature = "tls")]
use tokio_rustls::{TlsConnector, rustls};

impl Driver {
    /// Takes the dials that have ended.
    pub(super) fn take_dials(&mut self, cx: &mut Context<'_>) {
        while let Poll::Ready(Some(dial)) = self.dials.poll_join_next_with_id(cx) {
            self.now = self.clock.now();
            let (task, brought) = dial.unwrap_or_else(|panicked| {
                let stream = Some(Err(io::Error::other("the dial panicked")));
                (panicked.id(), Brought { credentials: None, stream })
            });
            let Some((node, epoch)) = self.dialing.remove(&task) else { continue };
            if let Some(given) = brought.credentials {
                self.machine.handle_credentials(self.now, node, epoch, given);
            }
            match brought.stream {
                None => {}
                Some(Ok(stream)) => {
                    let hint = self.setup.masters.0[node].transport.hint();
                    self.links[node] = Some(Link::new(epoch, stream, hint));
                    self.machine.handle_connected(self.now, node, epoch);
                }
                Some(Err(error)) if is_rejected(&error) => {
                    self.machine.handle_rejected(self.now, node, epoch, &error.to_string());
                }
                Some(Err(error)) => {
                    self.machine.handle_closed(self.now, node, epoch, &error.to_string());
                }
            }
        }
    }

    /// Renews credentials, and dials if there is a time for that.
    pub(super) fn bring(&mut self, node: usize, epoch: Epoch, within: Option<Duration>) {
        let setup = self.setup.clone();
        let bringing = async move { setup.masters.0[node].bring(within).await };
        let task = self.dials.spawn(self.process.clone().alone(bringing));
        self.dialing.insert(task.id(), (node, epoch));
    }
}

impl Transport {
    /// Dials once. `within` bounds the name lookup, the connect and the TLS handshake together. The
    /// name is resolved again each time: a master that comes back may have moved.
    ///
    /// Dropping the future closes what it has opened.
    pub(crate) async fn dial(&self, within: Duration) -> io::Result<BoxStream> {
        let resolving = AtomicBool::new(false);
        timeout(within, self.open(within, &resolving)).await.unwrap_or_else(|_elapsed| {
            let within = Span(within);
            let text = if resolving.load(Ordering::Relaxed) {
                format!(
                    "its name was not resolved within {within}: see to the name servers, or raise \
                     connect_timeout"
                )
            } else if self.is_tls() {
                format!("no TLS connection within {within}: raise connect_timeout, or {PLAIN_PORT}")
            } else {
                format!("no connection within {within}: if it is only slow, raise connect_timeout")
            };
            Err(io::Error::new(io::ErrorKind::TimedOut, text))
        })
    }

    async fn open(&self, within: Duration, resolving: &AtomicBool) -> io::Result<BoxStream> {
        Ok(match self {
            Self::Tcp { host, port } => Box::new(tcp((host, *port), within, resolving).await?),
            #[cfg(feature = "tls")]
            Self::Tls { host, port, config } => {
                let name = rustls::pki_types::ServerName::try_from(host.clone()).map_err(|_| {
                    tls_error(&"the host is not a name that a certificate can carry")
                })?;
                let stream = tcp((host, *port), within, resolving).await?;
                let (config, stale) = config.current().await;
                let tls = TlsConnector::from(config);
                let connected = tls.connect(name, stream).await;
                Box::new(connected.map_err(|error| explained(error, stale.as_deref()))?)
            }
            #[cfg(unix)]
            Self::Unix(path) => Box::new(tokio::net::UnixStream::connect(path).await?),
            Self::Custom(dial) => dial().await?,
        })
    }
}

/// Returns whether the server was reached, and another try will not help: its certificate is not the one
/// of a master to trust.
fn is_rejected(_error: &io::Error) -> bool {
    #[cfg(feature = "tls")]
    return _error.get_ref().is_some_and(|cause| cause.is::<crate::tls::Untrusted>());
    #[cfg(not(feature = "tls"))]
    false
}

#[cfg(feature = "tls")]
fn tls_error(cause: &dyn std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("TLS: {cause}"))
}

#[cfg(feature = "tls")]
fn explained(error: io::Error, stale: Option<&str>) -> io::Error {
    let kind = io::ErrorKind::InvalidData;
    // What was read before is still in use, and may be why.
    let stale = stale.map_or_else(String::new, |problem| format!("; not read anew: {problem}"));
    match crate::tls::explained(&error) {
        Some((text, true)) => io::Error::new(kind, crate::tls::Untrusted(text + &stale)),
        Some((text, false)) => io::Error::new(kind, text + &stale),
        None => tls_error(&format!("{error}{stale}")),
    }
}

/// `resolving`: for as long as the addresses of the name are not known.
async fn tcp(
    (host, port): (&str, u16),
    within: Duration,
    resolving: &AtomicBool,
) -> io::Result<TcpStream> {
    resolving.store(true, Ordering::Relaxed);
    let addresses = names::look_up(host, port).await?;
    resolving.store(false, Ordering::Relaxed);
    let stream = first_to_connect(addresses, within).await?;
    if talks_to_itself(&stream)? {
        return Err(io::ErrorKind::ConnectionRefused.into());
    }
    configure(&stream)?;
    Ok(stream)
}

/// Checks for a connection of a socket to itself. A port of the ephemeral range on which no server
/// listens can be given to the dialling socket itself, and TCP then connects it to itself. If that
/// connection were kept, the master could not bind its port again.
fn talks_to_itself(stream: &TcpStream) -> io::Result<bool> {
    Ok(stream.local_addr()? == stream.peer_addr()?)
}

/// Connects to the first address that accepts. One dead address of several must not use up the
/// whole time, so each next one is tried without waiting for the end of the previous one. All get
/// their turn in the first half of `within`.
async fn first_to_connect(addresses: Vec<SocketAddr>, within: Duration) -> io::Result<TcpStream> {
    let turns = u32::try_from(addresses.len()).unwrap_or(u32::MAX).max(1);
    let head_start = HEAD_START.min(within / 2 / turns);
    let mut cause = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    let mut waiting = addresses.into_iter();
    let mut racing = JoinSet::new();
    loop {
        if let Some(address) = waiting.next() {
            racing.spawn(TcpStream::connect(address));
        }
        let patience = if waiting.len() == 0 { within } else { head_start };
        match timeout(patience, racing.join_next()).await {
            Ok(Some(Ok(Ok(stream)))) => return Ok(stream),
            Ok(Some(Ok(Err(error)))) => cause = error,
            Ok(Some(Err(aborted))) => cause = io::Error::other(aborted),
            Ok(None) => return Err(cause),
            Err(_elapsed) => {}
        }
    }
}

/// Sets the options of a socket. Nagle's algorithm would delay a rollback until the acquire before
/// it is acknowledged. The other options detect a peer that has vanished silently, also while
/// nothing is asked of it.
fn configure(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let socket = SockRef::from(stream);
    let keepalive = TcpKeepalive::new().with_time(SILENCE).with_interval(PROBE_INTERVAL);
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple", windows))]
    let keepalive = keepalive.with_retries(PROBES);
    socket.set_tcp_keepalive(&keepalive)?;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    socket.set_tcp_user_timeout(Some(SILENCE))?;
    Ok(())
}

/// Time for which an address is tried alone before the next one joins. It is long compared to a
/// handshake in one region, so that the resolver's order of preference holds whenever its first
/// answer is alive.
const HEAD_START: Duration = Duration::from_millis(50);

/// Time for which a connection may idle before it is probed, and for which unacknowledged data may
/// be outstanding.
const SILENCE: Duration = Duration::from_secs(10);
const PROBE_INTERVAL: Duration = Duration::from_secs(3);
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple", windows))]
const PROBES: u32 = 3;

#[cfg(test)]
mod tests;
