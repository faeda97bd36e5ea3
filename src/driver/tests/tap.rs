//! Streams with a tap: something happens in the middle of the driver's work.

use super::Clock;
use crate::embedded::Masters;
use crate::{Redlock, RedlockBuilder};
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};

type Action = Box<dyn FnOnce() + Send>;

#[derive(Clone, Default)]
pub(super) struct Tap {
    /// What is to happen, and how many answers must be read before.
    waiting: Arc<Mutex<Option<(usize, Action)>>>,
    writes: Arc<AtomicUsize>,
}

impl Tap {
    /// Makes a builder for these masters whose connections are tapped.
    pub(super) fn builder(&self, masters: &Masters) -> RedlockBuilder {
        masters.iter().fold(Redlock::builder(), |builder, master| {
            let (dial, tap) = (master.dialer(), self.clone());
            builder.node_with_connector(master.url(), move || {
                let (dialing, tap) = (dial(), tap.clone());
                async move { Ok(Tapped { stream: dialing.await?, tap }) }
            })
        })
    }

    /// Runs `action` once this many answers have come and been handled, before any caller is given
    /// the outcome.
    pub(super) fn after(&self, answers: usize, action: impl FnOnce() + Send + 'static) {
        *self.waiting.lock().unwrap() = Some((answers, Box::new(action)));
    }

    /// How often something was written to a master.
    pub(super) fn writes(&self) -> usize {
        self.writes.load(SeqCst)
    }

    /// Called when the driver looks for more bytes, so it has handled the earlier ones.
    fn looks(&self) {
        let mut waiting = self.waiting.lock().unwrap();
        if let Some((_, action)) = waiting.take_if(|(answers, _)| *answers == 0) {
            drop(waiting);
            action();
        }
    }

    fn answered(&self) {
        if let Some((answers, _)) = &mut *self.waiting.lock().unwrap() {
            *answers = answers.saturating_sub(1);
        }
    }
}

struct Tapped {
    stream: DuplexStream,
    tap: Tap,
}

impl AsyncRead for Tapped {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.tap.looks();
        let polled = Pin::new(&mut self.stream).poll_read(cx, into);
        if polled.is_ready() {
            self.tap.answered();
        }
        polled
    }
}

impl AsyncWrite for Tapped {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.tap.writes.fetch_add(1, SeqCst);
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[tokio::test(start_paused = true)]
async fn the_tap_opens_after_the_answers_it_waits_for() {
    let masters = super::five();
    let tap = Tap::default();
    let redlock = tap.builder(&masters).connect_on(Clock::tokio()).await.unwrap();
    let _guard = redlock.acquire(super::KEY).await.unwrap();
    super::settle().await;
    let opened = Arc::new(Mutex::new(false));
    tap.after(5, {
        let opened = opened.clone();
        move || *opened.lock().unwrap() = true
    });
    super::settle().await;
    assert!(!*opened.lock().unwrap(), "nothing has come");
    let _other = redlock.try_acquire("other").await.unwrap();
    super::settle().await;
    assert!(*opened.lock().unwrap());
}
