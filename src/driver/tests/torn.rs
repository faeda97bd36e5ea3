//! A stream that accepts a part of what it is offered, passes on the rest as well, and then fails.
//! TLS may do that, record by record: the offered bytes may have arrived.

use super::*;
use std::future::IntoFuture;
use std::io;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};

/// Behaviour of the stream at the next write, once this is set.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tear {
    No,
    /// Accepts this many bytes of it.
    After(usize),
    /// Passes on what it is offered, and fails.
    Now,
}

struct Torn {
    stream: DuplexStream,
    tear: Arc<Mutex<Tear>>,
}

impl AsyncWrite for Torn {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let tear = self.tear.clone();
        let mut tear = tear.lock().unwrap();
        let (taken, next) = match *tear {
            Tear::No => return Pin::new(&mut self.stream).poll_write(cx, bytes),
            Tear::After(taken) => (&bytes[..taken], Tear::Now),
            Tear::Now => (bytes, Tear::No),
        };
        let len = ready!(Pin::new(&mut self.stream).poll_write(cx, taken))?;
        assert_eq!(len, taken.len(), "there is room");
        let fails = std::mem::replace(&mut *tear, next) == Tear::Now;
        Poll::Ready(if fails { Err(io::Error::other("torn")) } else { Ok(len) })
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl AsyncRead for Torn {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, into)
    }
}

/// Starts three masters; bytes written to the first go through a stream that tears.
async fn torn(tear: &Arc<Mutex<Tear>>) -> (Masters, Redlock) {
    let masters = Masters::start_in_memory(3).unwrap();
    let mut builder = Redlock::builder();
    for (node, master) in masters.iter().enumerate() {
        let (dial, tear) = (master.dialer(), tear.clone());
        builder = builder.node_with_connector(master.url(), move || {
            let dialing = dial();
            let tear = if node == 0 { tear.clone() } else { Arc::new(Mutex::new(Tear::No)) };
            async move { Ok(Torn { stream: dialing.await?, tear }) }
        });
    }
    let redlock = connect(builder).await;
    (masters, redlock)
}

/// Two SETs in one write. The stream accepts the first, or a part of it, or a part of the second,
/// before it fails. Both are set, and both are released.
#[tokio::test(start_paused = true)]
async fn every_set_offered_to_a_stream_that_fails_midway_is_released() {
    let tear = Arc::new(Mutex::new(Tear::No));
    let (masters, redlock) = torn(&tear).await;
    let keys = ["one", "two"];
    let set = |key: &str| {
        let token = "0".repeat(32);
        let mut set = redis::cmd("SET");
        set.arg(key).arg(token).arg("NX").arg("PX").arg(TTL.as_millis() as u64);
        set.get_packed_command().len()
    };
    let first = set("one");
    redlock.acquire("another").await.unwrap().release().await.unwrap();
    for taken in [1, first - 1, first, first + 1] {
        *tear.lock().unwrap() = Tear::After(taken);
        let acquires = keys.map(|key| redlock.acquire(key).ttl(TTL).into_future());
        let guards = futures::future::join_all(acquires).await;
        assert!(*tear.lock().unwrap() == Tear::No, "it has failed");
        settle().await;
        for key in keys {
            assert!(masters[0].holder(key).is_some(), "{key} has arrived, {taken} bytes taken");
        }
        for guard in guards {
            guard.unwrap().release().await.unwrap();
        }
        sleep(SECOND).await;
        assert_no_keys(&masters, &format!("{taken} bytes taken"));
    }
}
