//! Listening to a channel of the masters: a message on it reaches a caller as a hint.

use super::Handle;
use quorumlock_core::coordinator::RequestId;
use std::sync::Arc;
use tokio::sync::Notify;

/// A subscription to a channel, which ends when it is dropped. It follows the masters as they come
/// and go.
pub(crate) struct Listening {
    driver: Handle,
    listener: RequestId,
    channel: Arc<str>,
}

impl Handle {
    /// Notifies `ear` of each message on the channel of this name: a key, or a name of our own. All of them say the
    /// same: look. It is also notified when one may have been missed, or when none will come any more.
    /// Messages get lost, and none come if the masters deny them or `wake_ups` is off. So a
    /// listener looks from time to time, too.
    pub(crate) fn listen(&self, channel: Arc<str>, ear: Arc<Notify>) -> Listening {
        let listener = self.next_request();
        let listening = Listening { driver: self.clone(), listener, channel: channel.clone() };
        self.run(move |callers, machine, now| {
            if callers.closing {
                ear.notify_one();
            } else {
                callers.waiting.listeners.insert(listener, ear);
                machine.handle_listen(now, listener, channel);
            }
        });
        listening
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let (listener, channel) = (self.listener, self.channel.clone());
        self.driver.run(move |callers, machine, _| {
            callers.waiting.listeners.remove(&listener);
            machine.handle_unlisten(listener, &channel);
        });
    }
}
