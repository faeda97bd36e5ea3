//! The connections of one client to its masters: they can be cut, and can lose rollbacks.

use crate::Redlock;
use crate::RedlockBuilder;
use crate::driver::tests::KEY;
use crate::embedded::Masters;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// The part that is removed, so that the harness can show that it notices.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Loses {
    Nothing,
    /// Each release and rollback names a key that does not exist, and is answered with an integer.
    Rollbacks,
}

#[derive(Clone)]
pub(super) struct Wires {
    loses: Loses,
    cut: Arc<Mutex<CancellationToken>>,
}

impl Wires {
    pub(super) fn new(loses: Loses) -> Self {
        Self { loses, cut: Arc::default() }
    }

    /// Makes a builder for these masters over these wires.
    pub(super) fn builder(&self, masters: &Masters) -> RedlockBuilder {
        masters.iter().fold(Redlock::builder(), |builder, master| {
            let (dial, wires) = (master.dialer(), self.clone());
            builder.node_with_connector(master.url(), move || {
                let (dialing, wires) = (dial(), wires.clone());
                async move {
                    let cut = wires.cut.lock().unwrap().clone();
                    let ended = Box::pin(cut.clone().cancelled_owned());
                    Ok(Wire { stream: dialing.await?, loses: wires.loses, cut, ended })
                }
            })
        })
    }

    /// Cuts all open connections; written bytes arrive, but are not answered.
    pub(super) fn cut(&self) {
        std::mem::take(&mut *self.cut.lock().unwrap()).cancel();
    }
}

struct Wire {
    stream: DuplexStream,
    loses: Loses,
    cut: CancellationToken,
    ended: Pin<Box<WaitForCancellationFutureOwned>>,
}

const RESET: io::ErrorKind = io::ErrorKind::ConnectionReset;

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.ended.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Err(RESET.into()));
        }
        Pin::new(&mut self.stream).poll_read(cx, into)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.cut.is_cancelled() {
            return Poll::Ready(Err(RESET.into()));
        }
        if self.loses == Loses::Rollbacks {
            let bytes = astray(bytes);
            return Pin::new(&mut self.stream).poll_write(cx, &bytes);
        }
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// Returns the same commands, except that each `EVAL` names another key of the same length.
/// Commands are whole: these streams are wider than any single write.
fn astray(bytes: &[u8]) -> Vec<u8> {
    let (mut bytes, key) = (bytes.to_vec(), KEY.as_bytes());
    let mut evaluates = false;
    for at in 0..bytes.len() {
        let rest = &bytes[at..];
        if rest.starts_with(b"*") {
            evaluates =
                rest[1..].iter().skip_while(|byte| **byte != b'$').take(8).eq(b"$4\r\nEVAL");
        } else if evaluates && rest.starts_with(key) {
            bytes[at] ^= 1;
        }
    }
    bytes
}

#[test]
fn only_what_is_evaluated_goes_astray() {
    let set = format!("*3\r\n$3\r\nSET\r\n$9\r\n{KEY}\r\n$1\r\nx\r\n");
    let eval = |key: &str| format!("*4\r\n$4\r\nEVAL\r\n$1\r\ns\r\n$1\r\n1\r\n$9\r\n{key}\r\n");
    let sent = [set.clone(), eval(KEY), set.clone(), eval(KEY)].concat();
    let arrives = [set.clone(), eval("nrders:42"), set, eval("nrders:42")].concat();
    assert_eq!(String::from_utf8(astray(sent.as_bytes())).unwrap(), arrives);
}
