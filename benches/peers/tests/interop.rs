//! Other Redlock crates on our masters, tested for the claims of the crate's
//! `tests/redis/interop.rs`. They are not dependencies of the crate, not even of its tests.

#![allow(dead_code)]

#[path = "../../../tests/redis/interop/peer.rs"]
mod peer;
#[path = "interop/redlock.rs"]
mod redlock;
#[path = "interop/redsync.rs"]
mod redsync;
#[path = "interop/rslock.rs"]
mod rslock;
#[path = "../../../tests/redis/interop/scenes.rs"]
mod scenes;
#[path = "../../../tests/redis/interop/storm.rs"]
mod storm;
#[path = "../src/support.rs"]
mod support;
#[path = "../../../tests/redis/interop/world.rs"]
mod world;

use scenes::excludes;

excludes!(with_rslock, crate::rslock::Rslock, true);
excludes!(with_redlock, crate::redlock::Redlock, true);
excludes!(with_redsync, crate::redsync::Redsync, true);
