//! The request that an acquire sends to the driver, and the handling of the answer. There is no
//! driver here: the test reads its requests.

use super::*;
use crate::driver::clock::Clock;
use crate::driver::inbox::{Inbox, requests};
use crate::driver::{Ended, Handle, LockRequest, Request, Setup};
use crate::options::Options;
use crate::telemetry::Outlet;
use futures::FutureExt;
use quorumlock_core::coordinator::{AcquireRequest, Keys};
use quorumlock_core::quorum::{Membership, Nanos};

const SECOND: Duration = Duration::from_secs(1);

pub(crate) fn driverless(options: Options) -> (Redlock, Inbox) {
    let (requests, inbox) = requests();
    let masters = (Vec::new(), Membership::of(1).unwrap());
    let outlet = Outlet::new(std::iter::empty());
    let ended = Ended::default();
    let driver = Handle::new(requests, Clock::boot(), ended, outlet, Arc::default());
    let setup = Setup { options, masters, own_runtime: None };
    (Redlock { setup: setup.into(), driver }, inbox)
}

fn prefixed() -> Options {
    Options { key_prefix: "p:".into(), ..Options::default() }
}

/// Returns the request that the driver receives when `acquire` is polled.
fn asked<G: Held>(acquire: Acquire<G>, inbox: &mut Inbox) -> (AcquireRequest, String) {
    assert!(acquire.into_future().now_or_never().is_none());
    let (asked, cancelled) = inbox.try_recv();
    let LockRequest { terms, acquirer, .. } = asked.expect("it asks");
    assert!(matches!(cancelled, Some(Request::Cancel(_))), "dropped, it is cancelled");
    (terms, acquirer.caller.resource.to_string())
}

fn names(keys: &Keys) -> Vec<&str> {
    keys.iter().map(|key| &**key).collect()
}

#[test]
fn a_plain_acquire_asks_for_one_key_and_nothing_else() {
    let (redlock, mut inbox) = driverless(prefixed());
    let (asked, resource) = asked(redlock.acquire("r"), &mut inbox);
    assert_eq!((names(&asked.keys), resource.as_str()), (vec!["p:r"], "r"));
    assert_eq!((asked.fences, asked.lock_delay.span()), (None, Duration::ZERO));
}

#[test]
fn several_resources_are_asked_for_at_once_sorted_and_each_once() {
    let (redlock, mut inbox) = driverless(prefixed());
    let (asked, resource) = asked(redlock.try_acquire_all(["b", "a", "b"]), &mut inbox);
    assert_eq!((names(&asked.keys), resource.as_str()), (vec!["p:a", "p:b"], "a, b"));
    assert_eq!(asked.fences, None);
}

#[test]
fn a_fenced_acquire_names_a_fence_per_key_in_the_same_order() {
    let (redlock, mut inbox) = driverless(prefixed());
    let (asked, _) = asked(redlock.acquire_all(["b", "a"]).fenced(), &mut inbox);
    assert_eq!(names(&asked.keys), ["p:a", "p:b"]);
    let fences = asked.fences.unwrap();
    assert_eq!(names(&fences), ["p:quorumlock:fence:a", "p:quorumlock:fence:b"]);
}

#[test]
fn every_option_may_be_set_before_and_after_fenced() {
    let (redlock, mut inbox) = driverless(Options::default());
    fn set<G: Held>(acquire: Acquire<G>) -> Acquire<G> {
        let acquire = acquire.ttl(9 * SECOND).lock_delay(3 * SECOND).timeout(2 * SECOND);
        acquire.keep_alive_for(40 * SECOND)
    }
    let before = asked(set(redlock.acquire("r")).fenced(), &mut inbox).0;
    let after = asked(set(redlock.acquire("r").fenced()), &mut inbox).0;
    for asked in [before, after] {
        assert_eq!((asked.ttl.span(), asked.lock_delay.span()), (9 * SECOND, 3 * SECOND));
        assert_eq!(asked.wait, Nanos::of(2 * SECOND));
        assert_eq!(asked.keep_alive, Some(Nanos::of(40 * SECOND)));
        assert!(asked.fences.is_some());
    }
}

#[test]
fn an_acquire_without_a_lock_delay_takes_the_builders() {
    let (redlock, mut inbox) = driverless(Options { lock_delay: 4 * SECOND, ..Options::default() });
    assert_eq!(asked(redlock.acquire("r"), &mut inbox).0.lock_delay.span(), 4 * SECOND);
    let none = redlock.acquire("r").lock_delay(Duration::ZERO);
    assert_eq!(asked(none, &mut inbox).0.lock_delay.span(), Duration::ZERO);
    let error = redlock.acquire("r").ttl(27 * SECOND).into_future().now_or_never().unwrap();
    assert!(error.unwrap_err().to_string().starts_with("lock_delay: 4s and the ttl (27s)"));
}

#[test]
fn the_longest_span_has_no_end() {
    let (redlock, mut inbox) = driverless(Options::default());
    let acquire = redlock.acquire("r").timeout(Duration::MAX).keep_alive_for(Duration::MAX);
    let (asked, _) = asked(acquire, &mut inbox);
    assert_eq!((asked.wait, asked.keep_alive), (Nanos::FOREVER, Some(Nanos::FOREVER)));
}

#[test]
fn one_resource_is_waited_for_in_turn_if_the_call_or_the_builder_says_so() {
    let (redlock, mut inbox) = driverless(prefixed());
    assert!(!asked(redlock.acquire("r"), &mut inbox).0.is_fair);
    assert!(asked(redlock.acquire("r").fair(true), &mut inbox).0.is_fair);
    assert!(asked(redlock.acquire("r").fair(true).fenced(), &mut inbox).0.is_fair);

    let (redlock, mut inbox) = driverless(Options { fair: true, ..prefixed() });
    assert!(asked(redlock.try_acquire("r"), &mut inbox).0.is_fair);
    assert!(!asked(redlock.acquire("r").fair(false), &mut inbox).0.is_fair);
    assert!(asked(redlock.acquire_all(["r", "r"]).fenced(), &mut inbox).0.is_fair);
    assert!(!asked(redlock.acquire_all(["a", "r"]), &mut inbox).0.is_fair);
    assert!(asked(redlock.semaphore("r", 2).acquire(), &mut inbox).0.is_fair);
    assert!(!asked(redlock.acquire("r").candidate("me"), &mut inbox).0.is_fair);
    for resources in [Resources::Read, Resources::Write] {
        let acquire: Acquire = Acquire::new((), redlock.clone(), resources("r".into()));
        assert!(!asked(acquire, &mut inbox).0.is_fair);
    }
}

#[test]
fn a_label_of_the_call_goes_along_and_is_checked() {
    let (redlock, mut inbox) = driverless(Options::default());
    assert_eq!(asked(redlock.acquire("r"), &mut inbox).0.label, None);
    let (before, after) =
        (redlock.acquire("r").label("me").fenced(), redlock.acquire("r").fenced().label("me"));
    for acquire in [before, after] {
        let label = asked(acquire, &mut inbox).0.label.unwrap();
        assert_eq!((label.text(), label.is_candidate()), ("me", false));
    }
    let longest = "x".repeat(512);
    assert_eq!(
        asked(redlock.acquire("r").label(&longest), &mut inbox).0.label.unwrap().text(),
        longest
    );
    for (label, problem) in [
        (longest + "x", "label: 513 bytes are more than 512"),
        ("a\nb".into(), "label: \"a\\nb\" contains control characters"),
        ("x;term=99999".into(), "label: \"x;term=99999\" ends like the term of an election"),
    ] {
        let error = redlock.acquire("r").label(&label).into_future().now_or_never().unwrap();
        let error = error.unwrap_err().to_string();
        assert!(error.starts_with(problem), "{error}");
        let options = Options { label: Some(label.into()), ..Options::default() };
        assert!(options.check().unwrap_err().to_string().starts_with(problem));
    }
}

#[cfg(feature = "embedded")]
mod answered {
    use super::*;
    use crate::driver::{Acquirer, Caller, Won};
    use crate::embedded::Masters;
    use crate::fencing::FencingToken;
    use crate::telemetry::Span;
    use tokio::sync::oneshot;

    /// Acquires a lock of those masters. Returns it in the form in which it travels to its caller.
    async fn won(redlock: &Redlock) -> Won {
        let terms = redlock.acquire("r").terms.request(false).unwrap();
        let (reply, answer) = oneshot::channel();
        let driver = redlock.driver.clone();
        let (request, kind) = (driver.next_request(), crate::kind_name::KindName::Plain);
        let (resource, span, theirs) = ("r".into(), Span::none(), driver.clone());
        let caller = Caller { driver: theirs, resource, kind, span, ahead: None };
        let acquirer = Acquirer { caller, waits: true, reply };
        driver.acquire(LockRequest { request, terms, acquirer });
        answer.await.unwrap().unwrap()
    }

    #[tokio::test]
    async fn the_ballot_of_a_win_is_the_token_of_its_guard_and_leases() {
        let masters = Masters::start_in_memory(1).unwrap();
        let real = masters.builder().connect().await.unwrap();
        let (redlock, mut inbox) = driverless(Options::default());
        let mut acquire = redlock.acquire("r").fenced().into_future();
        assert!(futures::poll!(&mut acquire).is_pending());
        let (Some(LockRequest { acquirer, .. }), _) = inbox.try_recv() else { panic!("it asks") };
        let Won { lock, token, slot } = won(&real).await;
        assert_eq!(token, None, "asked for without a fence");
        let token = FencingToken::try_from(1_700_000_000_000_017_u64).ok();
        acquirer.reply.send(Ok(Won { lock, token, slot })).ok().unwrap();

        let guard = acquire.await.unwrap();
        assert_eq!(guard.fencing_token().as_u64(), 1_700_000_000_000_017);
        assert_eq!(guard.lease().clone().fencing_token(), guard.fencing_token());
        guard.extend().await.unwrap();
        assert_eq!(guard.fencing_token().as_u64(), 1_700_000_000_000_017);
        assert!(format!("{guard:?}").contains("1700000000000017"));
    }

    #[tokio::test]
    async fn a_win_that_no_caller_picks_up_is_released() {
        let masters = Masters::start_in_memory(1).unwrap();
        let redlock = masters.builder().connect().await.unwrap();
        drop(won(&redlock).await);
        redlock.shutdown().await.unwrap();
        assert_eq!(masters[0].keys(), [""; 0]);
    }
}
