//! Types that may move between threads: handles, guards, errors, and every future. The compiler
//! makes this file's assertions; a test that runs shows that one of them is used.

#![allow(clippy::unwrap_used)]

use quorumlock::error::{self, LostReason};
use quorumlock::fencing;
use quorumlock::preflight::{self, Preflight};
use quorumlock::report::{Answer, Cause, NodeReport, Reason};
use quorumlock::{
    Acquire, AcquireError, AcquireFuture, ConnectError, Deadline, ExtendError, Fenced, FencedGuard,
    FencedLease, FencingToken, Guard, Lease, Lost, NodeStanding, NodeStatus, OwnedGuard, Owner,
    OwnerError, Redlock, RedlockBuilder, Released, RunError, Status, Unfenced,
};
use std::error::Error;
use std::fmt::Debug;
use std::time::Duration;

const fn is_shared<T: Send + Sync + Debug + Unpin + 'static>() {}
const fn is_error<T: Error + Clone + Send + Sync + Unpin + 'static>() {}

macro_rules! all {
    ($check:ident: $($type:ty),+ $(,)?) => {
        const _: () = { $($check::<$type>();)+ };
    };
}

all!(is_shared:
    Acquire, AcquireFuture, Deadline, Guard, Lease, LostReason, Redlock, RedlockBuilder, Released,
    Answer, Cause, NodeReport, Reason, Preflight, Status, NodeStatus, NodeStanding, preflight::NodePreflight, preflight::Finding,
    Acquire<Fenced>, AcquireFuture<Fenced>, FencedGuard, FencedLease, FencingToken, Fenced, Unfenced,
    Owner, Owner<Fenced>, OwnedGuard, OwnedGuard<Fenced>, RunError<()>, fencing::FenceCheck<String>,
);
all!(is_error:
    AcquireError, ConnectError, ExtendError, Lost,
    error::Closed, error::Contended, error::Invalid, error::NoQuorum, error::NotDrained,
    error::Unextended, error::NotReady, error::ReadyError, error::Unfit, error::Disagreement, error::Disagreed, OwnerError,
    fencing::StaleToken, fencing::InvalidToken,
);

#[cfg(feature = "config")]
all!(is_shared: quorumlock::Config, quorumlock::config::NodeAddress);
#[cfg(feature = "config")]
all!(is_error: quorumlock::ConfigError);

const fn goes_anywhere<T: Send>(future: T) -> T {
    future
}

/// Never called: it only has to compile.
#[allow(dead_code)]
async fn every_future_may_be_awaited_on_another_thread(
    builder: RedlockBuilder,
    redlock: Redlock,
    guard: Guard,
    lease: Lease,
) {
    let _ = goes_anywhere(builder.preflight()).await;
    let _ = goes_anywhere(builder.connect()).await;
    let _ = goes_anywhere(redlock.preflight()).await;
    let _ = goes_anywhere(redlock.status()).await;
    let _ = goes_anywhere(redlock.wait_until_ready(Duration::MAX)).await;
    let _ = goes_anywhere(redlock.acquire("r").into_future()).await;
    let _ =
        goes_anywhere(redlock.try_acquire(String::from("r")).wait_forever().into_future()).await;
    let _ = goes_anywhere(guard.lost()).await;
    let _ = goes_anywhere(lease.lost()).await;
    let _ = goes_anywhere(guard.extend()).await;
    let _ = goes_anywhere(guard.release()).await;
    let _ = goes_anywhere(redlock.acquire(["a", "b"]).fenced().into_future()).await;
    let _ = goes_anywhere(redlock.acquire("r").fenced().run(async |_| ())).await;
    let _ = goes_anywhere(redlock.shutdown()).await;
}

#[allow(dead_code)]
async fn every_future_of_an_owner_may_be_too(redlock: Redlock, owner: Owner<Fenced>) {
    let _ = goes_anywhere(redlock.owner().acquire("r")).await;
    let _ = goes_anywhere(owner.acquire_with(redlock.acquire("r").fenced())).await;
    if let Ok(guard) = owner.acquire(String::from("r")).await {
        let _ = goes_anywhere(guard.lost()).await;
        let _ = goes_anywhere(guard.extend()).await;
        let _ = goes_anywhere(guard.release()).await;
    }
}

/// A result type of an application: every error must fit through `?`.
type Anything = Box<dyn Error + Send + Sync>;

#[allow(dead_code)]
async fn every_error_fits_through_a_question_mark(builder: RedlockBuilder) -> Result<(), Anything> {
    let redlock = builder.connect().await?;
    let guard = redlock.acquire("r").await?;
    guard.check()?;
    guard.extend().await?;
    drop(redlock.owner().acquire("r").await?);
    Err(guard.lost().await)?;
    redlock.shutdown().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handle_is_used_on_another_thread_than_it_was_made_on() {
    let here = std::thread::current().id();
    let built = std::thread::spawn(|| (Redlock::builder(), std::thread::current().id()));
    let (builder, there) = built.join().unwrap();
    assert_ne!(here, there);
    let error = tokio::spawn(builder.connect()).await.unwrap().unwrap_err();
    let error: Anything = error.into();
    let error = std::thread::spawn(move || error.to_string()).join().unwrap();
    assert!(error.starts_with("nodes: "), "{error}");
}
