//! Extensions that do not reach a quorum destroy nothing, and those that learn that a quorum is
//! gone end the lock at once.

use super::prelude::*;
use quorumlock::error::{LossReason, Unextended};
use quorumlock::report::{Answer, Refusal};
use quorumlock::{ExtendError, Guard, Redlock, Released};
use std::time::Duration;

const TTL: Duration = Duration::from_secs(10);
const OPERATION_TIMEOUT: Duration = Duration::from_millis(200);
/// Masters in virtual time answer at once.
const AT_ONCE: Duration = Duration::ZERO;

async fn connect(masters: &Masters) -> Redlock {
    let builder = masters.builder().ttl(TTL);
    builder.operation_timeout(OPERATION_TIMEOUT).connect().await.unwrap()
}

/// Makes a lock that is set on all five masters.
async fn held_by_five() -> (Masters, Redlock, Guard) {
    let masters = Masters::start(5);
    let redlock = connect(&masters).await;
    let guard = redlock.acquire("r").await.unwrap();
    everywhere(&masters, "r").await;
    (masters, redlock, guard)
}

async fn delete(masters: &Masters, nodes: &[usize]) {
    for &node in nodes {
        let delete = redis::cmd("DEL").arg("r").to_owned();
        assert_eq!(witness::ask::<i64>(&masters[node], &delete).await, Ok(1));
    }
}

async fn unextended(guard: &Guard) -> Unextended {
    match guard.extend().await {
        Err(ExtendError::Unextended(unextended)) => unextended,
        other => panic!("{other:?}"),
    }
}

/// Shows the masters' answers as a picture: `h`eld, `v`acant, `t`aken, `?` unknown, `.`
/// outstanding.
fn picture(nodes: &[quorumlock::report::NodeReport]) -> String {
    let glyph = |answer: &Answer| match answer {
        Answer::Held => 'h',
        Answer::Vacant => 'v',
        Answer::Taken => 't',
        // A master that was not asked is unknown as well.
        Answer::Unknown(_) | Answer::Refused(_) => '?',
        Answer::Outstanding => '.',
        other => panic!("no answer to an extension: {other:?}"),
    };
    nodes.iter().map(|node| glyph(&node.answer)).collect()
}

#[tokio::test(start_paused = true)]
async fn two_of_five_extended_leaves_the_old_deadline() {
    let (masters, _redlock, guard) = held_by_five().await;
    let before = guard.deadline();
    for node in [0, 2, 4] {
        masters[node].stop();
    }
    let began = Instant::now();
    let silent = unextended(&guard).await;
    assert_eq!(began.elapsed(), OPERATION_TIMEOUT);
    assert_eq!(picture(&silent.nodes), "?h?h?");
    assert_eq!((guard.deadline(), guard.is_valid()), (before, true));

    for node in [0, 2, 4] {
        masters[node].kill();
    }
    let down = async || {
        let unextended = unextended(&guard).await;
        let is_down = |answer: &Answer| matches!(answer, Answer::Refused(Refusal::Down(_)));
        // The three decide, whether or not the two have answered by then.
        assert_eq!(picture(&unextended.nodes).replace('.', "h"), "?h?h?");
        unextended.nodes.iter().filter(|node| is_down(&node.answer)).count() == 3
    };
    eventually("dead masters are known to be down", SOON, down).await;
    let began = Instant::now();
    unextended(&guard).await;
    assert_eq!(began.elapsed(), AT_ONCE, "a master that is down costs no wait");
    assert_eq!((guard.deadline(), guard.is_valid()), (before, true));
}

#[tokio::test(start_paused = true)]
async fn an_undecided_extension_tops_up_no_master() {
    let (masters, _redlock, guard) = held_by_five().await;
    let before = guard.deadline();
    delete(&masters, &[0, 1]).await;
    masters[2].stop();
    assert_eq!(picture(&unextended(&guard).await.nodes), "vv?hh");
    assert_eq!((guard.deadline(), guard.is_valid()), (before, true));
    masters[2].cont();
    // A rule that counted too early could still turn two of five into three: no client tries.
    assert_eq!(witness::holders(&masters, "r").await, [2, 3, 4]);
}

#[tokio::test(start_paused = true)]
async fn a_failed_extension_leaves_the_lock_and_the_next_may_succeed() {
    let (masters, redlock, guard) = held_by_five().await;
    let before = guard.deadline();
    for node in 0..3 {
        masters[node].stop();
    }
    unextended(&guard).await;
    for node in 0..3 {
        masters[node].cont();
    }
    let again = async || match guard.extend().await {
        Ok(deadline) => deadline > before,
        Err(ExtendError::Unextended(_)) => false,
        Err(lost) => panic!("{lost}"),
    };
    eventually("the next extension succeeds", SOON, again).await;
    assert!(guard.deadline() > before && guard.is_valid());
    assert_eq!(guard.release().await, Ok(Released::Confirmed));
    assert!(redlock.try_acquire("r").await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_script_that_the_masters_forgot_costs_one_extension() {
    let (masters, _redlock, guard) = held_by_five().await;
    let before = guard.deadline();
    for server in masters.iter() {
        let flush = redis::cmd("SCRIPT").arg("FLUSH").to_owned();
        witness::ask::<()>(server, &flush).await.unwrap();
    }
    let forgotten = unextended(&guard).await;
    assert!(forgotten.to_string().contains("NOSCRIPT"), "{forgotten}");
    assert_eq!((guard.deadline(), guard.is_valid()), (before, true));
    tokio::time::sleep(MS).await;
    assert!(guard.extend().await.unwrap() > before);
}

#[tokio::test(start_paused = true)]
async fn a_quorum_that_says_vacant_ends_the_lock_at_once() {
    let (masters, _redlock, guard) = held_by_five().await;
    delete(&masters, &[1, 2, 4]).await;
    lost_at_once(&guard, 'v').await;
}

#[tokio::test(start_paused = true)]
async fn a_quorum_that_says_taken_ends_the_lock_at_once() {
    let (masters, _redlock, guard) = held_by_five().await;
    for node in [1, 2, 4] {
        witness::set_foreign(&masters[node], "r", "theirs", TTL).await;
    }
    lost_at_once(&guard, 't').await;
    guard.release().await.unwrap_err();
    for node in [1, 2, 4] {
        assert_eq!(witness::value(&masters[node], "r").await.as_deref(), Some("theirs"));
    }
}

/// A minority that is silent makes no caller wait, and `lost()` reports the loss in parallel with
/// the extension.
#[tokio::test(start_paused = true)]
async fn a_quorum_that_is_gone_need_not_be_complete() {
    let (masters, _redlock, guard) = held_by_five().await;
    delete(&masters, &[0, 1]).await;
    witness::set_foreign(&masters[2], "r", "theirs", TTL).await;
    masters[3].stop();
    masters[4].stop();
    let (began, lease) = (Instant::now(), guard.lease());
    let watching = tokio::spawn(async move { lease.lost().await });
    let Err(ExtendError::Lost(lost)) = guard.extend().await else { panic!("it is lost") };
    let watched = watching.await.unwrap();
    assert_eq!(began.elapsed(), AT_ONCE);
    assert_eq!(lost, watched);
    let LossReason::QuorumGone(nodes) = &lost.reason else { panic!("{lost}") };
    assert_eq!(picture(nodes), "vvt..");
}

async fn lost_at_once(guard: &Guard, glyph: char) {
    let began = Instant::now();
    let Err(ExtendError::Lost(lost)) = guard.extend().await else { panic!("it is lost") };
    assert_eq!(guard.lost().await, lost);
    assert_eq!(began.elapsed(), AT_ONCE);
    let LossReason::QuorumGone(nodes) = &lost.reason else { panic!("{lost}") };
    assert_eq!(picture(nodes).matches(glyph).count(), 3, "{lost}");
    assert!(lost.held_for < TTL / 2, "reported long before its deadline: {lost}");
    assert_eq!(guard.check(), Err(lost.clone()));
    // For good: the masters that still have the key are no reason to reconsider.
    assert_eq!(guard.extend().await, Err(ExtendError::Lost(lost)));
}
