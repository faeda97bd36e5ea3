//! Events that are worth a line of their own while the demonstration runs.

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Calm,
    Good,
    Trouble,
    Bad,
}

#[derive(Clone)]
pub(crate) struct News(UnboundedSender<(Tone, String)>);

pub(crate) type Heard = UnboundedReceiver<(Tone, String)>;

impl News {
    pub(crate) fn channel() -> (Self, Heard) {
        let (sender, heard) = unbounded_channel();
        (Self(sender), heard)
    }

    pub(crate) fn tell(&self, tone: Tone, what: impl Into<String>) {
        let _no_listener = self.0.send((tone, what.into()));
    }
}
