//! The signals that ask a program to end, so that it can clean up first.

use std::io;

#[cfg(unix)]
pub(crate) struct Signals([(&'static str, tokio::signal::unix::Signal); 3]);

#[cfg(unix)]
impl Signals {
    /// From now on the signals no longer end the process by themselves.
    pub(crate) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self([
            ("interrupted", signal(SignalKind::interrupt())?),
            ("terminated", signal(SignalKind::terminate())?),
            ("hung up", signal(SignalKind::hangup())?),
        ]))
    }

    pub(crate) async fn next(&mut self) -> &'static str {
        let [interrupt, terminate, hangup] = &mut self.0;
        tokio::select! {
            _ = interrupt.1.recv() => interrupt.0,
            _ = terminate.1.recv() => terminate.0,
            _ = hangup.1.recv() => hangup.0,
        }
    }
}

#[cfg(not(unix))]
pub(crate) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    pub(crate) async fn next(&mut self) -> &'static str {
        match tokio::signal::ctrl_c().await {
            Ok(()) => "interrupted",
            Err(_) => std::future::pending().await,
        }
    }
}
