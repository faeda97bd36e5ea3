//! A stream that spoils one kind of command on its way to the server. So a test can show what a
//! missing safeguard would cost. It replaces a switch in the product, which has none.

use super::witness::AGREEMENT;
use bytes::{Buf, BytesMut};
use futures::future::BoxFuture;
use std::io::Result;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The safeguard that is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sabotage {
    /// None: every command passes unchanged.
    Nothing,
    /// Each rollback and release, however it is sent, asks for a key that does not exist. The
    /// answer is an integer, so the client considers it settled.
    Rollback,
    /// Each agreement is replaced with another question, whose answer looks as if all clients
    /// agreed.
    Agreement,
    /// Each `CLIENT KILL` names a client that does not exist.
    Kill,
}

/// Makes a dialer for `RedlockBuilder::node_with_connector`; `spoiled` counts the spoiled commands.
pub(crate) fn dial_through<S, F>(
    dial: impl Fn() -> F + Send + Sync + 'static,
    sabotage: Sabotage,
    spoiled: Arc<AtomicU64>,
) -> impl Fn() -> BoxFuture<'static, Result<Sabotaged<S>>> + Send + Sync + 'static
where
    S: Send + 'static,
    F: Future<Output = Result<S>> + Send + 'static,
{
    move || {
        let (spoiled, dialled) = (spoiled.clone(), dial());
        Box::pin(async move {
            let stream = dialled.await?;
            let (incomplete, out) = (BytesMut::new(), BytesMut::new());
            Ok(Sabotaged { stream, sabotage, incomplete, out, spoiled })
        })
    }
}

/// One connection. The server's answers pass unchanged.
#[derive(Debug)]
pub(crate) struct Sabotaged<S> {
    stream: S,
    sabotage: Sabotage,
    /// The beginning of a command whose end has not arrived yet.
    incomplete: BytesMut,
    /// Whole commands that have not been sent to the server yet.
    out: BytesMut,
    spoiled: Arc<AtomicU64>,
}

impl<S: AsyncWrite + Unpin> Sabotaged<S> {
    fn take(&mut self, bytes: &[u8]) {
        self.incomplete.extend_from_slice(bytes);
        while let Some((end, arguments)) = first_command(&self.incomplete) {
            let command = self.incomplete.split_to(end);
            let word = |n: usize| arguments.get(n).map(|range| &command[range.clone()]);
            let is =
                |n: usize, name: &[u8]| word(n).is_some_and(|word| word.eq_ignore_ascii_case(name));
            // When sent by hash, an extension has one more argument.
            let is_release = is(0, b"EVAL") && !is(3, AGREEMENT.as_bytes())
                || is(0, b"EVALSHA") && arguments.len() == 5
                || is(0, b"DELIFEQ")
                || is(0, b"DELEX");
            let instead = match self.sabotage {
                Sabotage::Rollback if is_release => {
                    Some(redis::cmd("EXISTS").arg("quorumlock-nothing").get_packed_command())
                }
                Sabotage::Agreement if is(0, b"EVAL") && is(3, AGREEMENT.as_bytes()) => {
                    let agreed = "return {1, 0}";
                    Some(redis::cmd("EVAL").arg(agreed).arg(0).get_packed_command())
                }
                Sabotage::Kill if is(0, b"CLIENT") && is(1, b"KILL") => {
                    let mut kill = redis::cmd("CLIENT");
                    Some(kill.arg("KILL").arg("ID").arg(999_999_999).get_packed_command())
                }
                _ => None,
            };
            if instead.is_some() {
                self.spoiled.fetch_add(1, Ordering::SeqCst);
            }
            self.out.extend_from_slice(instead.as_deref().unwrap_or(&command));
        }
    }

    fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        while !self.out.is_empty() {
            let written = ready!(Pin::new(&mut self.stream).poll_write(cx, &self.out))?;
            self.out.advance(written);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Sabotaged<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize>> {
        ready!(self.poll_drain(cx))?;
        self.take(bytes);
        // Bytes that do not fit into the socket now leave with the next write or flush.
        match self.poll_drain(cx) {
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            _ => Poll::Ready(Ok(bytes.len())),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        ready!(self.poll_drain(cx))?;
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        ready!(self.poll_drain(cx))?;
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Sabotaged<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, into)
    }
}

/// Returns where the first command ends, and where its arguments are; `None` while bytes are
/// missing.
fn first_command(bytes: &[u8]) -> Option<(usize, Vec<Range<usize>>)> {
    let (count, mut at) = header(bytes, 0, b'*')?;
    let mut arguments = Vec::with_capacity(count);
    for _ in 0..count {
        let (len, start) = header(bytes, at, b'$')?;
        at = start + len + 2;
        arguments.push(start..start + len);
    }
    (at <= bytes.len()).then_some((at, arguments))
}

/// Returns the number after the marker at `at`, and where its line ends.
fn header(bytes: &[u8], at: usize, marker: u8) -> Option<(usize, usize)> {
    let rest = bytes.get(at..)?;
    let end = rest.windows(2).position(|two| two == b"\r\n")?;
    assert_eq!(rest[0], marker, "commands are arrays of bulk strings");
    let number = std::str::from_utf8(&rest[1..end]).expect("digits").parse().expect("a length");
    Some((number, at + end + 2))
}
