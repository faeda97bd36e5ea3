//! The text of every error that is not a list of masters: one line that begins with the main fact,
//! and fits where one line is all there is.

mod contents;

use super::*;
use crate::fencing::{FencingToken, StaleToken};
use crate::inspect::InspectError;
use crate::report::Obstacle;
use quorumlock_core::quorum::Membership;

/// Characters that a line of a log or a terminal can spare.
const LINE: usize = 120;

const RESOURCE: &str = "orders:4200";

fn lost(reason: LossReason, at_max_hold: bool) -> Lost {
    let held_for = Duration::from_secs(3_725);
    Lost { resource: RESOURCE.into(), reason, held_for, at_max_hold }
}

fn contended(obstacle: Obstacle) -> AcquireError {
    let (waited, nodes) = (Duration::from_secs(10), Vec::new());
    let quorum = Membership::of(5).expect("a membership");
    let resource = RESOURCE.into();
    let blocked = None;
    Contended { resource, waited, attempts: 0, obstacle, blocked, ahead: None, nodes, quorum }
        .into()
}

#[cfg(feature = "embedded")]
#[tokio::test]
async fn every_obstacle_has_its_words_and_the_place_in_the_queue_follows() {
    let masters = crate::embedded::Masters::start_in_memory(2).unwrap();
    let redlock = masters.builder().connect().await.unwrap();
    let other = masters.builder().connect().await.unwrap();
    let _guard = redlock.acquire("r").await.unwrap();
    let Err(AcquireError::Contended(refused)) = other.try_acquire("r").await else { panic!() };
    let holder = |label: &str| Obstacle::Holder(Some(label.into()));
    let ended = |free_in| Obstacle::Ended { free_in };
    let nine = Some(Duration::from_secs(9));
    for (ahead, obstacle, begins) in [
        (Some(3), holder("me"), "held by me, 3 ahead in the queue"),
        (None, holder(""), "held by another client"),
        (None, holder("a\nb"), "held by a\\nb"),
        (None, holder("\u{1b}[2J"), "held by \\u{1b}[2J"),
        (Some(0), Obstacle::Holder(None), "held by another client, next in the queue"),
        (None, Obstacle::Readers, "held by readers"),
        (None, Obstacle::Writer, "wanted by a writer that waits"),
        (None, ended(nine), "locked for 9 s more (min_hold), since its work has ended well"),
        (None, ended(None), "locked (min_hold), since its work has ended well"),
        (Some(3), Obstacle::Queue, "waited for by others, 3 ahead in the queue"),
        (None, Obstacle::Reserved, "reserved for the next waiter in the queue"),
    ] {
        let label = match &obstacle {
            Obstacle::Holder(label) => label.clone(),
            _ => None,
        };
        let error = Contended { ahead, obstacle, ..refused.clone() };
        let begins = format!("\"r\" is {begins}: ");
        assert!(error.to_string().starts_with(&begins), "{error}");
        assert_eq!(AcquireError::from(error).holder(), label.as_deref());
    }
}

fn token(number: u64) -> FencingToken {
    FencingToken::try_from(number).expect("a token")
}

#[test]
fn each_text_is_one_line_that_begins_with_the_main_fact() {
    let texts = [
        (Closed::ENDED.to_string(), "closed: this Redlock was shut down"),
        (Closed { why: Why::Forked }.to_string(), "closed: this process is a fork"),
        (
            Closed { why: Why::Broken("a is late") }.to_string(),
            "closed: a is late, a fault of quorumlock",
        ),
        (lost(LossReason::Broken("a is late"), false).to_string(), "lost \"orders:4200\""),
        (lost(LossReason::Lapsed, false).to_string(), "lost \"orders:4200\" 1 h 2 min after"),
        (lost(LossReason::Lapsed, true).to_string(), "lost \"orders:4200\" 1 h 2 min after"),
        (lost(LossReason::QuorumGone(Vec::new()), false).to_string(), "lost \"orders:4200\""),
        (lost(LossReason::Released, false).to_string(), "lost \"orders:4200\""),
        (ShutdownError { owed: 0 }.to_string(), "not shut down: this process is a fork"),
        (ShutdownError { owed: 12 }.to_string(), "12 releases and rollbacks were not confirmed"),
        (contended(Obstacle::OwnGuard).to_string(), "\"orders:4200\" is held by this client"),
        (
            contended(Obstacle::LocalQueue).to_string(),
            "\"orders:4200\" is waited for by other callers",
        ),
        (
            NoQuorum::picked_up_late(RESOURCE.into(), Duration::from_secs(10)).to_string(),
            "\"orders:4200\" was won, but not picked up before its deadline",
        ),
        (NoRandomness.to_string(), "the operating system provides no random bytes"),
        (
            WrongContext::NoRuntime { call: "connect()" }.to_string(),
            "connect() needs a tokio runtime",
        ),
        (
            WrongContext::NoDriver { call: "preflight()", driver: "time" }.to_string(),
            "the tokio runtime has no time driver",
        ),
        (
            WrongContext::AsyncCode { call: "connect()" }.to_string(),
            "connect() would block a thread that runs async tasks",
        ),
        (
            WrongContext::NoThread { problem: "EAGAIN".into() }.to_string(),
            "the client has no thread (EAGAIN): raise the limits",
        ),
        (
            InspectError::Unconfirmed(Vec::new()).to_string(),
            "no quorum has confirmed the forced release",
        ),
        (
            StaleToken {
                presented: token(1_700_000_000_000_000),
                greatest: token(1_700_000_000_000_017),
            }
            .to_string(),
            "stale fencing token 1700000000000000: ",
        ),
    ];
    for (text, fact) in texts {
        assert!(text.starts_with(fact), "{text}");
        assert!(text.chars().count() <= LINE && !text.contains('\n'), "{}: {text}", text.len());
    }
}

#[test]
fn two_causes_never_share_one_text() {
    let lapsed = [false, true].map(|at_max_hold| lost(LossReason::Lapsed, at_max_hold).to_string());
    assert_ne!(lapsed[0], lapsed[1]);
    assert_ne!(
        contended(Obstacle::OwnGuard).to_string(),
        contended(Obstacle::LocalQueue).to_string()
    );
}

#[test]
fn each_text_says_what_became_of_the_lock() {
    let resource: Arc<str> = "orders:42".into();
    let too_late = |reason| TooLate { resource: resource.clone(), reason }.to_string();
    assert_eq!(too_late(LossReason::Lapsed), "\"orders:42\" is lost: its time was over");
    let gone = "\"orders:42\" is lost: too few masters have held its key all along";
    assert_eq!(too_late(LossReason::QuorumGone(Vec::new())), gone);
    let quorum = Membership::of(2).unwrap();
    let unadopted = Unadopted { resource: resource.clone(), nodes: Vec::new(), quorum };
    let error = AdoptErrorKind::from(unadopted).to_string();
    assert_eq!(error, "0 of 0 masters confirmed \"orders:42\", 2 needed");
    let error = AdoptErrorKind::from(HeldHere { resource }).to_string();
    assert_eq!(error, "\"orders:42\" is held by this client");
}
