//! Masters within the process: a test kit for code that uses locks, and for demos. Feature
//! `embedded`.
//!
//! Each is a small Redis, with connections, expiry, scripts and channels of its own. It knows the
//! commands that this crate sends and a few to look with, and answers them as redis-server 7.0
//! does; our tests compare the two byte by byte. It is no Redis for anything else.
//!
//! What no test can do easily with real servers takes one line here: a master dies, comes back
//! without its memory, stops for a while, answers late, or is cut off. As a unit test:
//!
//! ```
//! use quorumlock::embedded::Masters;
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let masters = Masters::start(5).await?;
//!     let redlock = masters.builder().connect().await?;
//!
//!     masters[0].kill();
//!     masters[1].kill();
//!     let guard = redlock.acquire("orders:42").await?;
//!     assert!(masters[4].holder("orders:42").is_some());
//!     guard.release().await;
//!
//!     masters[2].kill();
//!     let refused = redlock.try_acquire("orders:42").await;
//!     assert!(refused.is_err_and(|error| error.is_no_quorum()));
//!     Ok(())
//! }
//! ```
//!
//! A master that was made for the test tells that it has been up for a day, so that nothing waits
//! for it to become old enough to vote; after a [`restart`](Master::restart) it is as young as it
//! looks, and [`Master::set_uptime`] makes it any age. A test makes one unfit, or durable, as an
//! operator would: `CONFIG SET` of `maxmemory`, `maxmemory-policy`, `appendonly` and
//! `appendfsync` changes what `CONFIG GET` and `INFO` tell, and `REPLICAOF` makes it a replica that
//! refuses to write, or a promoted one; nothing is evicted, saved or copied. [`Master::deny`]
//! withholds rights.
//!
//! [`Masters::start_in_memory`] does the same without a port. An address list for code that
//! connects by itself is [`Masters::urls`].

pub(crate) mod machine;
mod master;
mod port;
mod shell;

pub use master::{Master, Memory};

#[cfg(test)]
pub(crate) use machine::{ClientId, Machine, Output};

use crate::{Redlock, RedlockBuilder};
use std::io;
use std::ops::Deref;

/// Several independent masters, one after the other by index: `masters[0].kill()`.
///
/// Dropped, they are gone at once, with their ports and connections.
#[derive(Debug)]
pub struct Masters(Vec<Master>);

impl Masters {
    /// Starts `count` empty masters on free ports of 127.0.0.1, to be awaited on a tokio runtime
    /// with I/O and time enabled; they run on it. A port stays the same over restarts.
    ///
    /// # Errors
    ///
    /// When a port can't be had, or there is no such runtime.
    #[allow(clippy::unused_async)] // Needs a runtime.
    pub async fn start(count: usize) -> io::Result<Self> {
        (0..count).map(|_| Master::on_port()).collect::<io::Result<_>>().map(Self)
    }

    /// Starts `count` empty masters that only [`builder`](Self::builder) and
    /// [`Master::dialer`] lead to: no port, no name, no kernel in between.
    ///
    /// # Errors
    ///
    /// When there is no tokio runtime to run them on.
    #[allow(clippy::unused_async)] // Needs a runtime.
    pub async fn start_in_memory(count: usize) -> io::Result<Self> {
        (1..=count).map(Master::in_memory).collect::<io::Result<_>>().map(Self)
    }

    /// Sets up a [`Redlock`] over these masters, however they are reached.
    pub fn builder(&self) -> RedlockBuilder {
        self.iter().fold(Redlock::builder(), |builder, master| master.add_to(builder))
    }

    /// The addresses, for [`RedlockBuilder::nodes`] or any Redis client. Those of masters in
    /// memory are only names.
    pub fn urls(&self) -> Vec<String> {
        self.iter().map(Master::url).collect()
    }
}

impl Deref for Masters {
    type Target = [Master];

    fn deref(&self) -> &[Master] {
        &self.0
    }
}
