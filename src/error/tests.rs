//! The text of every error that is not a list of masters: one line that begins with the main fact,
//! and fits where one line is all there is.

use super::*;
use crate::fencing::FencingToken;
use quorumlock_core::quorum::Membership;

/// Characters that a line of a log or a terminal can spare.
const LINE: usize = 120;

const RESOURCE: &str = "orders:4200";

fn lost(reason: LossReason, at_max_hold: bool) -> Lost {
    let held_for = Duration::from_secs(3_725);
    Lost { resource: RESOURCE.into(), reason, held_for, at_max_hold }
}

fn contended(held_here: bool) -> AcquireError {
    let (waited, nodes) = (Duration::from_secs(10), Vec::new());
    let quorum = Quorum::new(Membership::of(5).expect("a membership"));
    let resource = RESOURCE.into();
    let (holder, full) = (None, None);
    Contended { resource, waited, attempts: 0, nodes, held_here, holder, full, ahead: None, quorum }
        .into()
}

#[test]
fn a_holder_is_named_in_a_text_if_it_has_a_name() {
    for (holder, named) in [
        (Some("host:7"), Some("host:7")),
        (Some(""), None),
        (Some("a\nb"), Some("a\nb")),
        (Some("\u{1b}[2J"), Some("\u{1b}[2J")),
        (None, None),
    ] {
        let AcquireError::Contended(mut error) = contended(false) else { unreachable!() };
        error.holder = holder.map(Into::into);
        assert_eq!((error.holder(), error.named()), (holder, named));
    }
}

#[cfg(feature = "embedded")]
#[tokio::test]
async fn one_that_waits_in_turn_is_told_how_many_are_ahead() {
    use crate::report::{Answer, Refusal};
    let masters = crate::embedded::Masters::start_in_memory(2).unwrap();
    let redlock = masters.builder().connect().await.unwrap();
    let other = masters.builder().connect().await.unwrap();
    let _guard = redlock.acquire("r").await.unwrap();
    let Err(AcquireError::Contended(refused)) = other.try_acquire("r").await else { panic!() };
    let told = |ahead, holder: Option<&str>, refusals: [Refusal; 2]| {
        let mut error = refused.clone();
        for (node, why) in error.nodes.iter_mut().zip(refusals) {
            node.answer = Answer::Refused(why);
        }
        (error.ahead, error.holder) = (ahead, holder.map(Into::into));
        assert_eq!(error.ahead(), ahead.map(usize::from));
        assert_eq!(error.holder().is_some(), holder == Some("me"));
        error.to_string()
    };
    let (held, behind) = (Refusal::Held { remaining: None }, Refusal::Behind { ahead: 3 });
    let [holds, waits] = [&held, &behind].map(|why| [why.clone(), why.clone()]);
    let closed = [4, 9].map(|left| Refusal::Held { remaining: Some(Duration::from_secs(left)) });
    for (ahead, holder, refusals, begins) in [
        (Some(3), Some("me"), holds.clone(), "held by me, 3 ahead in the queue: 2 of "),
        (
            None,
            Some("quorumlock:done:"),
            closed,
            "closed for 9 s, since its work has ended well: 2 of ",
        ),
        (
            None,
            Some("quorumlock:done:"),
            holds.clone(),
            "closed, since its work has ended well: 2 of ",
        ),
        (Some(3), None, waits, "waited for by others, 3 ahead in the queue: 2 of "),
        (Some(0), None, [held, behind], "else, first in the queue: 2 of "),
        (None, Some("quorumlock:next:"), holds, "kept for one that waits in turn: 2 of "),
    ] {
        let told = told(ahead, holder, refusals);
        assert!(
            told.starts_with("\"r\" is ") && told.contains(&format!("{begins}2 masters refused")),
            "{told}"
        );
    }
}

fn token(number: u64) -> FencingToken {
    FencingToken::try_from(number).expect("a token")
}

#[test]
fn each_text_is_one_line_that_begins_with_the_main_fact() {
    let told = [
        (Closed.to_string(), "closed: "),
        (lost(LossReason::Lapsed, false).to_string(), "lost \"orders:4200\" 1 h 2 min after"),
        (lost(LossReason::Lapsed, true).to_string(), "lost \"orders:4200\" 1 h 2 min after"),
        (lost(LossReason::QuorumGone(Vec::new()), false).to_string(), "lost \"orders:4200\""),
        (lost(LossReason::Released, false).to_string(), "lost \"orders:4200\""),
        (NotDrained { owed: 12 }.to_string(), "12 releases and rollbacks were not confirmed"),
        (contended(true).to_string(), "\"orders:4200\" is held by a guard of this client"),
        (contended(false).to_string(), "\"orders:4200\" is waited for by other callers"),
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
    for (text, fact) in told {
        assert!(text.starts_with(fact), "{text}");
        assert!(text.chars().count() <= LINE && !text.contains('\n'), "{}: {text}", text.len());
    }
}

#[test]
fn two_causes_never_share_one_text() {
    let lapsed = [false, true].map(|at_max_hold| lost(LossReason::Lapsed, at_max_hold).to_string());
    assert_ne!(lapsed[0], lapsed[1]);
    assert_ne!(contended(true).to_string(), contended(false).to_string());
}
