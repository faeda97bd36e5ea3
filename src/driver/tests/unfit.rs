//! A master without a vote that knows a client with other settings: what it costs those that start later.

use super::*;
use crate::NodeStanding;
use crate::failure::ConnectError;
use std::io::{Error, ErrorKind};
use tokio::io::DuplexStream;

const AGREEMENT: &str = "quorumlock:agreement";

/// Three masters, the third of which evicts: it has no vote.
async fn one_evicts() -> Masters {
    let masters = on_the_same_time(Masters::start_in_memory(3).unwrap());
    set_policy(&masters[2], "allkeys-lru").await;
    masters
}

async fn set_policy(master: &Master, policy: &str) {
    operate(master, &["CONFIG", "SET", "maxmemory", "50mb", "maxmemory-policy", policy]).await;
}

async fn with_max_ttl(masters: &Masters, seconds: u32) -> Result<Redlock, ConnectError> {
    masters.builder().max_ttl(seconds * SECOND).connect_on(Clock::tokio()).await
}

/// Returns the masters at which a client has left a note.
fn noted(masters: &Masters) -> Vec<usize> {
    let has_note = |place: &usize| masters[*place].time_to_live(AGREEMENT).is_some();
    (0..masters.len()).filter(has_note).collect()
}

async fn standing(redlock: &Redlock, place: usize) -> NodeStanding {
    redlock.status().await.unwrap().nodes()[place].standing.clone()
}

/// Lets a client of the defaults come and end while it cannot reach the third master, which keeps its note.
async fn leave_a_note_at_the_third(masters: &Masters) {
    let redlock = connect(masters.builder()).await;
    redlock.acquire(KEY).await.unwrap().release().await.unwrap();
    // Until it asks the third again, whose note then outlasts rounds.
    sleep(5 * SECOND).await;
    masters[2].pause();
    redlock.shutdown().await.unwrap();
    masters[2].resume();
    settle().await;
    assert_eq!(noted(masters), [2]);
}

#[tokio::test(start_paused = true)]
async fn other_numbers_at_a_master_without_a_vote_refuse_no_client_beside_a_fit_quorum() {
    let masters = one_evicts().await;
    leave_a_note_at_the_third(&masters).await;
    let redlock = with_max_ttl(&masters, 60).await.unwrap();
    assert!(matches!(standing(&redlock, 2).await, NodeStanding::Unfit(_)));
    redlock.acquire(KEY).await.unwrap().release().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_master_that_becomes_fit_is_judged_by_its_note_before_it_votes() {
    let masters = one_evicts().await;
    leave_a_note_at_the_third(&masters).await;
    let redlock = with_max_ttl(&masters, 60).await.unwrap();
    set_policy(&masters[2], "noeviction").await;
    sleep(10 * SECOND).await;
    let NodeStanding::Disagrees(cause) = standing(&redlock, 2).await else { panic!() };
    assert!(cause.contains("max_ttl is 1m here and 30s with another client"), "{cause}");
    let guard = redlock.acquire(KEY).await.unwrap();
    settle().await;
    let holds = |place: &usize| masters[*place].holder(KEY).is_some();
    assert_eq!(Vec::from_iter((0..3).filter(holds)), [0, 1], "nothing is sent to the third");
    guard.release().await.unwrap();
    sleep(60 * SECOND).await;
    assert_eq!(standing(&redlock, 2).await, NodeStanding::Voting, "once the note has lapsed");
}

/// While the other client lives, the fit masters know it, too.
#[tokio::test(start_paused = true)]
async fn other_numbers_at_fit_masters_refuse_a_client_and_each_master_is_named() {
    let masters = one_evicts().await;
    let running = connect(masters.builder()).await;
    let refused = with_max_ttl(&masters, 60).await.unwrap_err();
    let ConnectError::Disagreement(nodes) = &refused else { panic!("{refused}") };
    assert_eq!(nodes.len(), 3, "{refused}");
    assert!(refused.to_string().contains("make them equal, or stop all clients"), "{refused}");
    drop(running);
}

/// Another list that could win is at masters that are not ours: what the third reports is all that
/// there is to know of it.
#[tokio::test(start_paused = true)]
async fn a_client_of_another_list_that_could_win_refuses_others_whichever_master_reports_it() {
    let masters = on_the_same_time(Masters::start_in_memory(3).unwrap());
    let third = &masters[2];
    let out_of_reach = |builder: RedlockBuilder, url: &str| {
        builder.node_with_connector(url, || async {
            Err::<DuplexStream, _>(Error::from(ErrorKind::ConnectionRefused))
        })
    };
    let builder = Redlock::builder().node_with_connector(third.url(), third.dialer());
    let stray = connect(
        ["redis://10.0.0.8", "redis://10.0.0.9"]
            .iter()
            .fold(builder, |b, url| out_of_reach(b, url)),
    );
    let stray = stray.await;
    set_policy(third, "allkeys-lru").await;
    let refused = masters.builder().connect_on(Clock::tokio()).await.unwrap_err();
    let ConnectError::Disagreement(nodes) = &refused else { panic!("{refused}") };
    let named: Vec<&str> = nodes.iter().map(|problem| &*problem.node).collect();
    assert_eq!(named, ["embedded-3.invalid:6379"], "{refused}");
    let text = refused.to_string();
    for part in ["10.0.0.8", "joint_with"] {
        assert!(text.contains(part), "{text}");
    }
    drop(stray);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_ends_takes_its_note_back_from_masters_without_a_vote_too() {
    for acquires in [false, true] {
        for is_unfit_later in [false, true] {
            let masters = one_evicts().await;
            if is_unfit_later {
                set_policy(&masters[2], "noeviction").await;
            }
            let redlock = connect(masters.builder()).await;
            if acquires {
                redlock.acquire(KEY).await.unwrap().release().await.unwrap();
            }
            set_policy(&masters[2], "allkeys-lru").await;
            sleep(12 * SECOND).await;
            assert!(matches!(standing(&redlock, 2).await, NodeStanding::Unfit(_)));
            assert_eq!(noted(&masters), [0, 1, 2]);
            redlock.shutdown().await.unwrap();
            let case = format!("acquires: {acquires}, unfit later: {is_unfit_later}");
            assert_eq!(noted(&masters), [0; 0], "{case}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_connect_that_is_refused_takes_its_notes_back_from_each_master() {
    let masters = one_evicts().await;
    let refused = masters.builder().strict(true).connect_on(Clock::tokio()).await;
    assert!(matches!(refused, Err(ConnectError::Unfit(_))), "{refused:?}");
    sleep(SECOND).await;
    assert_eq!(noted(&masters), [0; 0]);
}

/// A lock that stays keeps clients with other settings out, at each master.
#[tokio::test(start_paused = true)]
async fn what_stays_of_a_lock_is_noted_at_masters_without_a_vote_too() {
    let masters = one_evicts().await;
    let redlock = connect(masters.builder()).await;
    redlock.acquire(KEY).await.unwrap().forget();
    redlock.shutdown().await.unwrap();
    assert_eq!(noted(&masters), [0, 1, 2]);
    sleep(TTL + SECOND).await;
    assert_eq!(noted(&masters), [0; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_policy_that_is_set_under_a_client_costs_the_vote_soon_and_until_it_is_set_back() {
    let masters = on_the_same_time(Masters::start_in_memory(3).unwrap());
    let redlock = connect(masters.builder()).await;
    let held = redlock.acquire(KEY).keep_alive().await.unwrap();
    set_policy(&masters[2], "volatile-lru").await;
    sleep(15 * SECOND).await;
    let NodeStanding::Unfit(cause) = standing(&redlock, 2).await else { panic!() };
    assert!(cause.contains("maxmemory-policy is volatile-lru"), "{cause}");
    assert!(held.is_valid());
    set_policy(&masters[2], "noeviction").await;
    sleep(15 * SECOND).await;
    assert_eq!(standing(&redlock, 2).await, NodeStanding::Voting);
}
