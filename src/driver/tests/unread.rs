//! Answers that have arrived and that tokio does not know of yet: it looks when it parks.

use super::*;
use std::io;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tokio::time::Sleep;

/// The events in order: the master whose answers are read, and the master that is sent a SET.
#[derive(Clone, Default)]
struct Log {
    is_late: Arc<Mutex<bool>>,
    lines: Arc<Mutex<Vec<String>>>,
}

/// The answers of the third and the fourth master are read after a park, once it `is_late`; those
/// of the fifth come with a pause of the thread, so that all are late.
struct Unread {
    stream: DuplexStream,
    node: usize,
    log: Log,
    parks: Option<Pin<Box<Sleep>>>,
}

impl Unread {
    fn note(&self, what: &str) {
        self.log.lines.lock().unwrap().push(format!("{what} {}", self.node + 1));
    }
}

impl AsyncRead for Unread {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let is_late = *self.log.is_late.lock().unwrap();
        if is_late && [2, 3].contains(&self.node) {
            let parks = self.parks.get_or_insert_with(|| Box::pin(sleep(MS)));
            ready!(parks.as_mut().poll(cx));
        }
        let before = into.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, into))?;
        if is_late && into.filled().len() > before {
            self.note("reads");
            self.parks = None;
            if self.node == 4 && !self.log.lines.lock().unwrap().contains(&"pauses 5".into()) {
                self.note("pauses");
                Clock::suspend(OPERATION_TIMEOUT);
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Unread {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if bytes.windows(KEY.len() + 5).any(|part| part.starts_with(b"SET\r\n")) {
            self.note("sets");
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

/// They may report a client that has arrived while the process was stopped.
#[tokio::test(start_paused = true)]
async fn after_a_stop_a_round_first_reads_answers_that_have_arrived() {
    let masters = five();
    let log = Log::default();
    let mut builder = Redlock::builder();
    for (node, master) in masters.iter().enumerate() {
        let (dial, log) = (master.dialer(), log.clone());
        builder = builder.node_with_connector(master.url(), move || {
            let (dialing, log) = (dial(), log.clone());
            async move { Ok(Unread { stream: dialing.await?, node, log, parks: None }) }
        });
    }
    let redlock = connect(builder).await;
    Clock::suspend(60 * SECOND);
    *log.is_late.lock().unwrap() = true;
    redlock.acquire(KEY).await.unwrap().release().await.unwrap();
    let lines = log.lines.lock().unwrap().clone();
    let place = |line: &str| lines.iter().position(|logged| logged == line);
    let pauses = place("pauses 5").expect("time passes between the answers");
    for node in ["reads 3", "reads 4"] {
        let reads = place(node).expect("they have answered");
        assert!(pauses < reads && reads < place("sets 1").unwrap(), "{lines:?}");
    }
}
