//! One direction of one connection: a reader that records when bytes arrived, a queue, and a
//! deliverer that follows the rules.

use std::io::Result;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

/// Direction of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    ToServer,
    ToClient,
}

/// Treatment of bytes whose turn has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Valve {
    Open,
    Held,
    Discarding,
}

/// Rules for what a lane carries.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub(crate) valve: Valve,
    /// Time between the arrival of a byte and its delivery.
    pub(crate) delay: Duration,
    /// Number of bytes delivered before the connection is cut.
    pub(crate) cut_after: Option<u64>,
    /// Set if bytes that wait when the sender closes are delivered in time, else they are lost.
    pub(crate) deliver_after_close: bool,
}

impl Default for Rules {
    fn default() -> Self {
        let (valve, delay) = (Valve::Open, Duration::ZERO);
        Self { valve, delay, cut_after: None, deliver_after_close: true }
    }
}

/// The rules of one direction, which may change while it carries bytes, and the bytes it has
/// carried.
#[derive(Debug)]
pub(super) struct Lane {
    rules: watch::Sender<Rules>,
    waiting: AtomicU64,
    delivered: AtomicU64,
    /// Whether a byte was swallowed. No network delivers what follows a gap in a stream.
    has_gap: AtomicBool,
    last_byte_delivered_at: Mutex<Option<Instant>>,
}

/// Bytes that were read at once; none mean that the sender has closed.
struct Chunk {
    arrived: Instant,
    bytes: Vec<u8>,
}

/// Outcome for the chunk at the head of the queue.
enum Turn {
    Deliver,
    Swallow,
    /// Its sender has closed, and by the rules the waiting bytes are then lost.
    Lost,
}

impl Lane {
    pub(super) fn new(rules: Rules) -> Self {
        Self {
            rules: watch::Sender::new(rules),
            waiting: AtomicU64::new(0),
            delivered: AtomicU64::new(0),
            has_gap: AtomicBool::new(false),
            last_byte_delivered_at: Mutex::new(None),
        }
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut Rules)) {
        self.rules.send_modify(change);
    }

    /// Carries bytes until the sender's end of stream is delivered or swallowed, or the receiver is
    /// gone. Calls `cut` when the rules require it, and expects to be dropped then.
    pub(super) async fn carry(
        &self,
        mut from: impl AsyncRead + Unpin,
        mut to: impl AsyncWrite + Unpin,
        cut: impl Fn(),
    ) {
        let (queue, mut chunks) = mpsc::unbounded_channel();
        let closed = watch::Sender::new(false);
        let read = async {
            while let Ok(bytes) = read_some(&mut from).await
                && !bytes.is_empty()
            {
                self.waiting.fetch_add(bytes.len() as u64, Ordering::SeqCst);
                let _receiver_gone = queue.send(Chunk { arrived: Instant::now(), bytes });
            }
            let _receiver_gone = queue.send(Chunk { arrived: Instant::now(), bytes: Vec::new() });
            closed.send_replace(true);
            std::future::pending::<()>().await;
        };
        let deliver = async {
            while let Some(chunk) = chunks.recv().await {
                let turn = self.turn_of(&chunk, closed.subscribe()).await;
                let len = chunk.bytes.len() as u64;
                let last = len == 0;
                match turn {
                    Turn::Deliver if !last => self.deliver(&chunk.bytes, &mut to, &cut).await?,
                    Turn::Deliver | Turn::Lost if last => return to.shutdown().await,
                    Turn::Swallow if last => return Ok(()),
                    Turn::Swallow => self.has_gap.store(true, Ordering::SeqCst),
                    _ => {}
                }
                self.waiting.fetch_sub(len, Ordering::SeqCst);
            }
            Ok(())
        };
        tokio::select! {
            () = read => {}
            // An error means that the receiver is gone: the other lane notifies the sender.
            _ended = deliver => {}
        }
    }

    /// Waits until the chunk is due, whatever the rules become in the meantime.
    async fn turn_of(&self, chunk: &Chunk, mut closed: watch::Receiver<bool>) -> Turn {
        let mut rules = self.rules.subscribe();
        loop {
            let now = rules.borrow_and_update().clone();
            let due = chunk.arrived + now.delay;
            let is_due = now.valve == Valve::Open && Instant::now() >= due;
            let lost = *closed.borrow_and_update() && !now.deliver_after_close;
            match now.valve {
                _ if self.has_gap.load(Ordering::SeqCst) => return Turn::Swallow,
                Valve::Discarding => return Turn::Swallow,
                Valve::Open if is_due => return Turn::Deliver,
                Valve::Open | Valve::Held if lost => return Turn::Lost,
                Valve::Open | Valve::Held => {}
            }
            tokio::select! {
                _ = rules.changed() => {}
                _ = closed.changed() => {}
                () = tokio::time::sleep_until(due), if now.valve == Valve::Open => {}
            }
        }
    }

    async fn deliver(
        &self,
        bytes: &[u8],
        to: &mut (impl AsyncWrite + Unpin),
        cut: impl Fn(),
    ) -> Result<()> {
        let allowed = self.rules.borrow().cut_after;
        let len = bytes.len() as u64;
        let some = &bytes[..allowed.map_or(len, |allowed| allowed.min(len)) as usize];
        to.write_all(some).await?;
        if !some.is_empty() {
            self.delivered.fetch_add(some.len() as u64, Ordering::SeqCst);
            *self.last_byte_delivered_at.lock().expect("no panic under the lock") =
                Some(Instant::now());
        }
        if let Some(allowed) = allowed {
            let left = allowed - some.len() as u64;
            self.change(|rules| rules.cut_after = Some(left));
            if left == 0 {
                cut();
                std::future::pending::<()>().await;
            }
        }
        Ok(())
    }

    pub(super) fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::SeqCst)
    }

    pub(super) fn delivered(&self) -> u64 {
        self.delivered.load(Ordering::SeqCst)
    }

    pub(super) fn last_byte_delivered_at(&self) -> Option<Instant> {
        *self.last_byte_delivered_at.lock().expect("no panic under the lock")
    }
}

/// Reads the available bytes; none at the end of the stream.
async fn read_some(from: &mut (impl AsyncRead + Unpin)) -> Result<Vec<u8>> {
    let mut bytes = vec![0; 16 * 1024];
    let n = from.read(&mut bytes).await?;
    bytes.truncate(n);
    Ok(bytes)
}
