//! One connection's stream.

use crate::transport::BoxStream;
use quorumlock_core::coordinator::Epoch;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

pub(crate) struct Link {
    pub(crate) epoch: Epoch,
    stream: BoxStream,
    /// The stream may keep what was written to it (TLS does) until it is flushed.
    unflushed: bool,
    /// The possible cause if it ends, as long as nothing was received.
    hint: Option<&'static str>,
}

impl Link {
    pub(crate) const fn new(epoch: Epoch, stream: BoxStream, hint: Option<&'static str>) -> Self {
        Self { epoch, stream, unflushed: false, hint }
    }

    fn ended(&self, cause: &str) -> Arc<str> {
        match self.hint {
            Some(hint) => format!("{cause}, before it said anything: {hint}").into(),
            None => cause.into(),
        }
    }

    fn failed(&self, error: &io::Error) -> Arc<str> {
        #[cfg(feature = "tls")]
        if let Some((explained, _)) = crate::tls::explained(error) {
            return explained.into();
        }
        self.ended(&error.to_string())
    }

    /// Returns the next bytes received, at least one.
    pub(crate) fn poll_read<'a>(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &'a mut [u8],
    ) -> Poll<Result<&'a [u8], Arc<str>>> {
        let mut into = ReadBuf::new(buffer);
        let read = ready!(Pin::new(&mut self.stream).poll_read(cx, &mut into));
        let len = into.filled().len();
        Poll::Ready(match read {
            Ok(()) if len == 0 => Err(self.ended("closed by the server")),
            Ok(()) => {
                self.hint = None;
                Ok(&buffer[..len])
            }
            Err(error) => Err(self.failed(&error)),
        })
    }

    /// Writes some of `bytes`, which belong to the connection `epoch`; pending once there is
    /// nothing left to do.
    #[inline]
    pub(crate) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        epoch: Epoch,
        bytes: &[u8],
    ) -> Poll<Result<usize, Arc<str>>> {
        if bytes.is_empty() || epoch != self.epoch {
            if self.unflushed {
                let flushed = ready!(Pin::new(&mut self.stream).poll_flush(cx));
                self.unflushed = false;
                if let Err(error) = flushed {
                    return Poll::Ready(Err(self.failed(&error)));
                }
            }
            return Poll::Pending;
        }
        let written = ready!(Pin::new(&mut self.stream).poll_write(cx, bytes));
        self.unflushed = true;
        Poll::Ready(match written {
            Ok(0) => Err("the stream takes no more bytes".into()),
            Ok(len) => Ok(len),
            Err(error) => Err(self.failed(&error)),
        })
    }
}
