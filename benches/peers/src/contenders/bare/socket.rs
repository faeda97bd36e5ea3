//! One connection: queued bytes and received bytes.

use super::wire::{self, Reply};
use futures::future::join_all;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

pub(super) struct Socket {
    stream: TcpStream,
    out: Vec<u8>,
    received: Vec<u8>,
    read: usize,
    buffer: Box<[u8]>,
}

impl Socket {
    pub(super) async fn connect(masters: &[SocketAddr]) -> Vec<Self> {
        join_all(masters.iter().map(async |address| {
            let stream = TcpStream::connect(address).await.expect("a connection");
            stream.set_nodelay(true).expect("TCP_NODELAY");
            let buffer = vec![0; 16 * 1024].into();
            Self { stream, out: Vec::new(), received: Vec::new(), read: 0, buffer }
        }))
        .await
    }

    pub(super) fn queue(&mut self, command: &[u8]) {
        self.out.extend_from_slice(command);
    }

    /// Writes the queued bytes, as far as the kernel accepts them.
    pub(super) fn flush(&mut self, cx: &mut Context<'_>) {
        while !self.out.is_empty() {
            match Pin::new(&mut self.stream).poll_write(cx, &self.out) {
                Poll::Pending => return,
                Poll::Ready(written) => drop(self.out.drain(..written.expect("a write"))),
            }
        }
    }

    /// Reads all available bytes.
    pub(super) fn fill(&mut self, cx: &mut Context<'_>) -> bool {
        let mut moved = false;
        loop {
            let mut into = ReadBuf::new(&mut self.buffer);
            match Pin::new(&mut self.stream).poll_read(cx, &mut into) {
                Poll::Pending => return moved,
                Poll::Ready(read) => read.expect("a read"),
            }
            assert!(!into.filled().is_empty(), "the master has closed the connection");
            if self.read == self.received.len() {
                self.received.clear();
                self.read = 0;
            }
            self.received.extend_from_slice(into.filled());
            moved = true;
        }
    }

    pub(super) fn next(&mut self) -> Option<Reply> {
        let (reply, len) = wire::reply(&self.received[self.read..])?;
        self.read += len;
        Some(reply)
    }
}
