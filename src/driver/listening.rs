//! Listening to a channel of the masters: a message on it reaches a caller as a hint.

use super::{Handle, Request};
use quorumlock_core::coordinator::RequestId;
use std::sync::Arc;
use tokio::sync::Notify;

/// The receiver of a channel's messages. It is called by the driver, so it must not wait.
pub(crate) trait Hears: Send + Sync {
    /// Takes a message. `None` says that one may have been missed, or that none will come any more:
    /// look for yourself.
    fn hear(&self, message: Option<&str>);
}

/// For a receiver to which every message says the same: look. Many that come at once are one.
impl Hears for Notify {
    fn hear(&self, _: Option<&str>) {
        self.notify_one();
    }
}

/// A subscription to a channel, which ends when it is dropped. It follows the masters as they come
/// and go.
pub(crate) struct Listening {
    driver: Handle,
    listener: RequestId,
    channel: Arc<str>,
}

impl Handle {
    /// Lets `ear` hear what is published on the channel of this name: a key, or a name of our own.
    /// Messages get lost, and none come if the masters deny them or `wake_ups` is off. So a
    /// listener looks from time to time, too.
    pub(crate) fn listen(&self, channel: Arc<str>, ear: Arc<dyn Hears>) -> Listening {
        let listener = self.next_request();
        self.send(Request::Listen { listener, channel: channel.clone(), ear });
        Listening { driver: self.clone(), listener, channel }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let (listener, channel) = (self.listener, self.channel.clone());
        self.driver.send(Request::Unlisten { listener, channel });
    }
}
