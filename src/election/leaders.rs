//! The leaders of an election, one after the other, as a stream.

use super::{Leader, Watch};
use crate::driver::runtime;
use crate::inspect::InspectError;
use futures_core::Stream;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::time::timeout;

type Item = Result<Option<Leader>, InspectError>;

/// The leaders, from the first look on: a `Stream`, or call [`next`](Self::next) in a loop. See
/// [`Election::observe`](super::Election::observe). The stream sends nothing before it is polled;
/// dropped, it ends.
///
/// After an error it has ended.
#[must_use = "nothing is observed before the stream is polled"]
pub struct Leaders {
    state: State,
}

enum State {
    Idle(Box<Watch>),
    Looking(Pin<Box<dyn Future<Output = (Box<Watch>, Item)> + Send + Sync>>),
    Ended,
}

impl Leaders {
    pub(super) fn new(watch: Watch) -> Self {
        Self { state: State::Idle(Box::new(watch)) }
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

async fn next(mut watch: Box<Watch>) -> (Box<Watch>, Item) {
    loop {
        let is_notified = match watch.pause() {
            pause if pause.is_zero() => false,
            pause => {
                let ear = watch.ear();
                let listening = async move { timeout(pause, ear.notified()).await.is_ok() };
                match watch.own_runtime() {
                    None => listening.await,
                    // Once that has ended, the next look fails.
                    Some(runtime) => runtime.spawn(listening).await.unwrap_or(false),
                }
            }
        };
        match watch.look(is_notified).await {
            Ok(Some(news)) => return (watch, Ok(news)),
            Ok(None) => {}
            Err(error) => return (watch, Err(error)),
        }
    }
}

impl Stream for Leaders {
    type Item = Item;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Item>> {
        let state = &mut self.state;
        if let State::Idle(_) = state
            && let State::Idle(watch) = std::mem::replace(state, State::Ended)
        {
            if watch.own_runtime().is_none()
                && let Err(error) = runtime::check("observe()", [])
            {
                return Poll::Ready(Some(Err(error.into())));
            }
            *state = State::Looking(Box::pin(next(watch)));
        }
        let State::Looking(looking) = state else { return Poll::Ready(None) };
        let (watch, item) = ready!(looking.as_mut().poll(cx));
        *state = if item.is_ok() { State::Idle(watch) } else { State::Ended };
        Poll::Ready(Some(item))
    }
}

impl fmt::Debug for Leaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has_ended = matches!(self.state, State::Ended);
        f.debug_struct("Leaders").field("has_ended", &has_ended).finish_non_exhaustive()
    }
}
