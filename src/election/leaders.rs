//! The leaders of an election, one after the other, as a stream.

use super::{Leader, Watch};
use crate::inspect::InspectError;
use futures_core::Stream;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

type Item = Result<Option<Leader>, InspectError>;

/// The leaders, from the first look on: a `Stream`, or call [`next`](Self::next) in a loop. See
/// [`Election::observe`](super::Election::observe). The stream sends nothing before it is polled;
/// dropped, it ends.
///
/// After an error it has ended.
#[must_use = "nothing is observed before the stream is polled"]
pub struct Leaders {
    /// `None` after an error.
    looking: Option<Looking>,
}

type Looking = Pin<Box<dyn Future<Output = (Watch, Item)> + Send + Sync>>;

impl Leaders {
    pub(super) fn new(watch: Watch) -> Self {
        Self { looking: Some(look(watch)) }
    }

    /// Returns what there is at first, and then the next change: a leader, or that there is none.
    ///
    /// # Errors
    ///
    /// - [`InspectError::InvalidSetting`]: an election cannot have this name.
    /// - [`InspectError::WrongContext`]: the call has no tokio runtime to run on, or one without
    ///   its timer.
    /// - [`InspectError::Closed`]: the `Redlock` was shut down, or its runtime is gone.
    ///
    /// Masters that are down are no error: the stream yields nothing until a quorum can be
    /// asked again.
    ///
    /// # Cancel safety
    ///
    /// Safe: the stream misses no change because of it.
    pub async fn next(&mut self) -> Option<Item> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }
}

fn look(mut watch: Watch) -> Looking {
    Box::pin(async move {
        let item = watch.news().await;
        (watch, item)
    })
}

impl Stream for Leaders {
    type Item = Item;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Item>> {
        let Some(looking) = &mut self.looking else { return Poll::Ready(None) };
        let (watch, item) = ready!(looking.as_mut().poll(cx));
        self.looking = item.is_ok().then(|| look(watch));
        Poll::Ready(Some(item))
    }
}

impl fmt::Debug for Leaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has_ended = self.looking.is_none();
        f.debug_struct("Leaders").field("has_ended", &has_ended).finish_non_exhaustive()
    }
}
