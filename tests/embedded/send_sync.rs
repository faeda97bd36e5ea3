//! Types that may move between threads: handles, guards, errors, and every future. The compiler
//! makes this file's assertions; a test that runs shows that one of them is used.

use quorumlock::error::{self, LossReason};
use quorumlock::fencing;
use quorumlock::kind::{All, Fenced, Unfenced};
use quorumlock::preflight::{self, Preflight};
use quorumlock::report::{Answer, NodeReport, Refusal, UnknownCause};
use quorumlock::{
    Acquire, AcquireError, AcquireFuture, Adopt, AdoptFuture, ConnectError, Deadline, Detached,
    Election, ExtendError, FencedGuard, FencedLease, FencedReentrantGuard, FencingToken, Guard,
    Leader, Leaders, Leadership, Lease, ListedLock, LockList, Lost, NodeStanding, NodeStatus,
    Permit, ReadGuard, Redlock, RedlockBuilder, Reentrant, ReentrantError, ReentrantGuard,
    Released, RunError, RwLock, Status, WriteGuard,
};
use std::error::Error;
use std::fmt::Debug;
use std::rc::Rc;
use std::time::Duration;

const fn is_shared<T: Send + Sync + Debug + Unpin + 'static>() {}
const fn is_error<T: Error + Clone + Eq + Send + Sync + Unpin + 'static>() {}

macro_rules! all {
    ($check:ident: $($type:ty),+ $(,)?) => {
        const _: () = { $($check::<$type>();)+ };
    };
}

all!(is_shared:
    Acquire, AcquireFuture, Deadline, Guard, Lease, ListedLock, LockList, LossReason, Redlock, RedlockBuilder, Released,
    Answer, UnknownCause, NodeReport, Refusal, Preflight, Status, NodeStatus, NodeStanding, preflight::NodePreflight, preflight::Finding,
    Acquire<FencedGuard>, AcquireFuture<FencedGuard>, Acquire<All>, AcquireFuture<All>, Acquire<Permit>, AcquireFuture<Permit>, FencedGuard, FencedLease, FencingToken, Fenced, Unfenced,
    Reentrant, Reentrant<Fenced>, Acquire<ReentrantGuard>, Acquire<FencedReentrantGuard>, ReentrantGuard, FencedReentrantGuard,
    RunError<()>, fencing::FenceCheck<String>, Election, Leader, Leaders, Leadership,
    RwLock, Acquire<ReadGuard>, AcquireFuture<ReadGuard>, ReadGuard, Acquire<WriteGuard>, Acquire<WriteGuard<Fenced>>,
    AcquireFuture<WriteGuard>, AcquireFuture<WriteGuard<Fenced>>, WriteGuard, WriteGuard<Fenced>,
    Detached, Detached<Fenced>, Adopt, Adopt<Fenced>, AdoptFuture, AdoptFuture<Fenced>,
);
all!(is_error:
    AcquireError, ConnectError, ExtendError, Lost, RunError<()>, RunError<u32>, ReentrantError,
    quorumlock::Closed, quorumlock::InspectError, quorumlock::InvalidSetting,
    quorumlock::InvalidToken, quorumlock::ListError, quorumlock::ShutdownError, quorumlock::PreflightError,
    quorumlock::ReadyError, quorumlock::StaleToken, quorumlock::WrongContext, error::Contended,
    error::AdoptErrorKind, error::HeldHere, error::TooLate, error::Unadopted,
    error::Disagreement, error::NoQuorum, error::NoRandomness, error::NotReady, error::Unextended,
);

/// The error of a body that returns a `Result` goes anywhere if the body's own error does.
const fn fits<T: Error + Send + Sync + 'static>() {}
const _: () = fits::<RunError<Result<u32, Anything>>>();
/// These contain what comes back.
const _: () = fits::<error::AdoptError>();
const _: () = fits::<error::DetachError>();
const _: () = fits::<error::DowngradeError>();

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
        goes_anywhere(redlock.try_acquire(String::from("r")).timeout(Duration::MAX).into_future())
            .await;
    let _ = goes_anywhere(redlock.rw_lock("r").read().into_future()).await;
    let _ = goes_anywhere(redlock.rw_lock("r").write().fenced().into_future()).await;
    if let Ok(write) = redlock.rw_lock("r").write().await {
        let _ = goes_anywhere(write.downgrade()).await;
    }
    let _ = goes_anywhere(guard.lost()).await;
    let _ = goes_anywhere(lease.lost()).await;
    let _ = goes_anywhere(guard.extend()).await;
    let _ = goes_anywhere(guard.release()).await;
    let _ = goes_anywhere(redlock.acquire_all(["a", "b"]).fenced().into_future()).await;
    let _ = goes_anywhere(redlock.acquire("r").fenced().run(async |_| ())).await;
    let election = redlock.election("e");
    let _ = goes_anywhere(election.campaign("me")).await.map(|led| goes_anywhere(led.resign()));
    let _ = goes_anywhere(election.run("me", async |lease| lease.lost().await)).await;
    let _ = goes_anywhere(election.leader()).await;
    let _ = goes_anywhere(election.observe().next()).await;
    let _ = goes_anywhere(redlock.shutdown()).await;
}

#[allow(dead_code)]
async fn every_future_of_a_reentrant_handle_may_be_too(
    redlock: Redlock,
    fenced: Reentrant<Fenced>,
) {
    let _ = goes_anywhere(redlock.reentrant().acquire("r").into_future()).await;
    let _ = goes_anywhere(fenced.try_acquire("r").keep_alive().into_future()).await;
    if let Ok(guard) = fenced.acquire(String::from("r")).await {
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
    drop(redlock.reentrant().acquire("r").await?);
    let paid = redlock.acquire("r").run(async |lease| {
        lease.check()?;
        Ok::<u32, Anything>("7".parse()?)
    });
    let _: u32 = paid.await??;
    // A result that may not be sent is left behind.
    let shared = redlock.acquire("r").run(async |_| Rc::new(7)).await;
    let _: Rc<u32> = shared.map_err(RunError::without_result)?;
    Err(guard.lost().await)?;
    guard.release().await?;
    redlock.shutdown().await?;
    Ok(())
}

/// What `anyhow` and the like do: any error that is `Send`, `Sync` and `'static` goes through `?`.
#[cfg(feature = "embedded")]
#[derive(Debug)]
struct AnyError(Anything);

#[cfg(feature = "embedded")]
impl<E: Error + Send + Sync + 'static> From<E> for AnyError {
    fn from(error: E) -> Self {
        Self(Box::new(error))
    }
}

/// A body in the style of the README, with the result type of an application.
#[cfg(feature = "embedded")]
async fn body_under_a_lock(redlock: &Redlock) -> Result<u32, AnyError> {
    let paid = redlock.acquire("").run(async |lease| {
        lease.check()?;
        Ok::<u32, Anything>("7".parse()?)
    });
    paid.await?.map_err(AnyError)
}

#[cfg(feature = "embedded")]
#[tokio::test]
async fn the_error_of_run_goes_through_a_question_mark_whole() {
    let masters = quorumlock::embedded::Masters::start_in_memory(1).unwrap();
    let redlock = masters.builder().connect().await.unwrap();
    let AnyError(error) = body_under_a_lock(&redlock).await.unwrap_err();
    assert!(error.to_string().starts_with("resource: "), "{error}");
    // A caller that names the type finds it again, and any other through its source.
    assert!(error.downcast_ref::<RunError<Result<u32, Anything>>>().is_some());
    let cause = error.source().and_then(|cause| cause.downcast_ref::<AcquireError>());
    assert!(matches!(cause, Some(AcquireError::InvalidSetting(_))), "{cause:?}");
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
