//! Signals to this process. Those that were ignored when it started (`nohup`, a job in the
//! background of a script) stay ignored, for the command, too.

use nix::sys::signal::{Signal, raise};
use std::future::poll_fn;
use std::io;
use std::task::Poll;
use tokio::signal::unix::{self, SignalKind};

const OURS: [Signal; 9] = [
    Signal::SIGCHLD,
    Signal::SIGHUP,
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGTERM,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
    Signal::SIGWINCH,
    Signal::SIGTSTP,
];

/// Every signal that this process handles.
pub(super) struct Signals(Vec<(Signal, unix::Signal)>);

impl Signals {
    pub(super) fn new() -> io::Result<Self> {
        let ignored = ignored();
        let wanted = OURS.into_iter().filter(|signal| {
            *signal == Signal::SIGCHLD || ignored >> (*signal as i32 - 1) & 1 == 0
        });
        let listen =
            |signal: Signal| Ok((signal, unix::signal(SignalKind::from_raw(signal as i32))?));
        wanted.map(listen).collect::<io::Result<_>>().map(Self)
    }

    /// Returns the next signal. Cancel safe.
    pub(super) async fn next(&mut self) -> Signal {
        poll_fn(|cx| {
            let mut streams = self.0.iter_mut();
            let arrived = streams
                .find_map(|(signal, stream)| stream.poll_recv(cx).is_ready().then_some(*signal));
            arrived.map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }

    /// Returns the next signal that ends this process. Meanwhile the process can be suspended,
    /// since nothing is held yet. Cancel safe.
    pub(super) async fn ending(&mut self) -> Signal {
        loop {
            let signal = self.next().await;
            if ends(signal) {
                return signal;
            }
            if signal == Signal::SIGTSTP {
                let _ = raise(Signal::SIGSTOP);
            }
        }
    }
}

/// Returns whether the sender of the signal wants this process to end.
pub(super) const fn ends(signal: Signal) -> bool {
    matches!(signal, Signal::SIGHUP | Signal::SIGINT | Signal::SIGQUIT | Signal::SIGTERM)
}

/// Returns a bit for each ignored signal, the first one lowest. Only Linux reports them.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}
