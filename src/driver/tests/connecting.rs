//! The masters that a client can do without when it connects, and what an abandoned connect leaves.

use super::*;
use crate::ConnectError;
use crate::embedded::Master;
use crate::{NodeStanding, Status};
use futures::poll;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::yield_now;

const AGREEMENT: &str = "quorumlock:agreement";

/// Sends a command as an operator would, over a separate connection.
async fn say(master: &Master, words: &str) {
    let words: Vec<&str> = words.split(' ').collect();
    let mut command = format!("*{}\r\n", words.len());
    words.iter().for_each(|word| command += &format!("${}\r\n{word}\r\n", word.len()));
    let mut stream = master.dialer()().await.unwrap();
    stream.write_all(command.as_bytes()).await.unwrap();
    let mut answer = [0; 5];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"+OK\r\n", "{words:?}");
}

async fn make_replica(master: &Master) {
    say(master, "REPLICAOF 10.0.0.9 6379").await;
}

const REPLICA: &str = "a replica of 10.0.0.9:6379: name independent masters only";

async fn try_connect(builder: RedlockBuilder) -> Result<Redlock, ConnectError> {
    builder.connect_on(Clock::tokio()).await
}

/// Returns the numbers of the masters that are reported as unfit, counted from 0.
fn unfit(masters: &Masters, result: &Result<Redlock, ConnectError>) -> Vec<usize> {
    let Err(ConnectError::Unfit(nodes)) = result else { panic!("{result:?}") };
    let place = |name: &str| masters.urls().iter().position(|url| url.contains(name)).unwrap();
    nodes.iter().map(|node| place(node.node.trim_end_matches(":6379"))).collect()
}

fn standings(status: &Status) -> Vec<NodeStanding> {
    status.nodes().iter().map(|node| node.standing.clone()).collect()
}

#[tokio::test(start_paused = true)]
async fn unfit_masters_cost_votes_and_are_named_if_no_quorum_is_left() {
    let masters = five();
    for broken in 1..=5 {
        // A replica, one without the rights, a replica, …
        let last = &masters[broken - 1];
        if broken == 2 {
            last.deny(&["eval"]).unwrap();
        } else {
            make_replica(last).await;
        }
        let strict = try_connect(masters.builder().strict(true)).await;
        assert_eq!(unfit(&masters, &strict), Vec::from_iter(0..broken), "strict");
        let lenient = try_connect(masters.builder()).await;
        if broken > 2 {
            assert_eq!(unfit(&masters, &lenient), Vec::from_iter(0..broken));
            continue;
        }
        let redlock = lenient.unwrap();
        let status = redlock.status().await.unwrap();
        assert!(status.can_acquire(), "{status}");
        assert_eq!(standings(&status)[0], NodeStanding::Unfit(REPLICA.into()));
        let rejected = |standing: &&NodeStanding| matches!(standing, NodeStanding::Rejected(_));
        assert_eq!(standings(&status).iter().filter(rejected).count(), broken - 1, "{status}");
        redlock.acquire(KEY).await.unwrap().release().await.unwrap();
        redlock.shutdown().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn masters_that_are_down_do_not_count_as_unfit_at_the_connect() {
    let masters = five();
    masters[..4].iter().for_each(Master::kill);
    try_connect(masters.builder().strict(true)).await.unwrap();
    make_replica(&masters[4]).await;
    let redlock = try_connect(masters.builder()).await.unwrap();
    let status = redlock.status().await.unwrap();
    assert_eq!((status.can_acquire(), status.can_acquire_in()), (false, None), "{status}");
    let down = |standing: &&NodeStanding| matches!(standing, NodeStanding::Down(_));
    assert_eq!(standings(&status).iter().filter(down).count(), 4, "{status}");
    let strict = try_connect(masters.builder().strict(true)).await;
    assert_eq!(unfit(&masters, &strict), [4]);
}

/// Two of three masters remain of the second list, and one of three of the first.
#[tokio::test(start_paused = true)]
async fn each_of_two_lists_needs_a_quorum_of_fit_masters() {
    let masters = five();
    let joint = || {
        let of = |node: usize| (masters[node].url(), masters[node].dialer());
        let list = [0, 1, 2].map(of).into_iter();
        let builder = list.fold(Redlock::builder(), |builder, (url, dial)| {
            builder.node_with_connector(url, dial)
        });
        let also = [2, 3, 4].map(of).into_iter();
        also.fold(builder, |builder, (url, dial)| builder.joint_with_connector(url, dial))
    };
    make_replica(&masters[4]).await;
    let redlock = try_connect(joint()).await.unwrap();
    redlock.acquire(KEY).await.unwrap().release().await.unwrap();
    redlock.shutdown().await.unwrap();
    make_replica(&masters[2]).await;
    assert_eq!(unfit(&masters, &try_connect(joint()).await), [2, 4]);
}

#[tokio::test(start_paused = true)]
async fn an_unfit_master_votes_once_fixed_without_another_connect() {
    let masters = five();
    make_replica(&masters[1]).await;
    let redlock = connect(masters.builder()).await;
    say(&masters[1], "REPLICAOF NO ONE").await;
    sleep(5 * SECOND).await;
    let promoted = redlock.status().await.unwrap();
    let problem = promoted.nodes()[1].standing.problem().unwrap_or_default();
    assert!(problem.starts_with("a promoted replica"), "{promoted}");
    masters[1].restart(crate::embedded::Memory::Lost).unwrap();
    sleep(5 * SECOND).await;
    let warming = redlock.status().await.unwrap();
    assert!(matches!(warming.nodes()[1].standing, NodeStanding::WarmingUp { .. }), "{warming}");
    sleep(30 * SECOND).await;
    let status = redlock.status().await.unwrap();
    let votes = |standing: &NodeStanding| *standing == NodeStanding::Voting;
    assert!(standings(&status).iter().all(votes), "{status}");
}

#[tokio::test(start_paused = true)]
async fn one_master_that_knows_other_terms_refuses_a_new_client() {
    let masters = five();
    let stray = masters[..1].iter().fold(Redlock::builder(), |builder, master| {
        builder.node_with_connector(master.url(), master.dialer())
    });
    let stray = connect(stray.max_ttl(60 * SECOND)).await;
    for builder in [masters.builder(), masters.builder().strict(true)] {
        let error = try_connect(builder).await.unwrap_err();
        let ConnectError::Disagreement(nodes) = &error else { panic!("{error}") };
        assert_eq!(nodes.len(), 1, "{error}");
    }
    settle().await;
    for master in &masters[1..] {
        assert_eq!(master.time_to_live(AGREEMENT), None, "what the newcomer noted is taken back");
    }
    drop(stray);
}

/// Polls a connect this many times, each of them `pace` after the last, and drops it. Returns
/// whether it was ready.
async fn dropped_after(polls: usize, pace: Duration, builder: RedlockBuilder) -> bool {
    let mut connecting = Box::pin(builder.connect_on(Clock::tokio()));
    for _ in 0..polls {
        if poll!(&mut connecting).is_ready() {
            return true;
        }
        if pace.is_zero() { yield_now().await } else { sleep(pace).await }
    }
    false
}

fn assert_nothing_noted(masters: &Masters, claim: &str) {
    for (node, master) in masters.iter().enumerate() {
        assert_eq!(master.time_to_live(AGREEMENT), None, "{claim}: master {node}");
    }
}

#[test]
fn a_connect_dropped_at_any_poll_withdraws_its_notes() {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).event_interval(1).build();
    runtime.unwrap().block_on(async {
        for delay in [0, 3] {
            let masters = five();
            masters.iter().for_each(|master| master.set_latency(delay * MS));
            let mut noted = false;
            for polls in 0.. {
                if dropped_after(polls, Duration::from_millis(delay.into()), masters.builder())
                    .await
                {
                    assert!(polls > 1 && noted, "{polls} polls");
                    break;
                }
                noted |= masters.iter().any(|master| master.time_to_live(AGREEMENT).is_some());
                sleep(20 * MS).await;
                assert_nothing_noted(&masters, &format!("{delay} ms, dropped after {polls} polls"));
                assert_eq!(tasks(), 0, "{delay} ms, dropped after {polls} polls");
            }
        }
    });
}

/// One master does not answer, so the connect that is given up never returned a client.
#[tokio::test(start_paused = true)]
async fn a_connect_that_times_out_withdraws_its_notes_and_ends() {
    let masters = five();
    masters[2].pause();
    let connecting = try_connect(masters.builder());
    tokio::time::timeout(100 * MS, connecting).await.unwrap_err();
    let noted = |node: usize| masters[node].time_to_live(AGREEMENT).is_some();
    settle().await;
    assert!(![0, 1, 3, 4].into_iter().any(noted), "what answers is asked at once");
    // The third may note what it was asked once it resumes, and it is not known when that is.
    sleep(2 * SECOND).await;
    masters[2].resume();
    settle().await;
    assert_eq!(tasks(), 0);
}

/// A client that is used and given up has asked for votes: its settings remain for as long as its
/// lock does.
#[tokio::test(start_paused = true)]
async fn a_client_that_is_given_up_leaves_its_terms_standing_while_its_lock_stays() {
    let (masters, redlock) = five_and_client().await;
    redlock.acquire(KEY).await.unwrap().forget();
    drop(redlock);
    sleep(SECOND).await;
    assert!(masters.iter().all(|master| master.time_to_live(AGREEMENT).is_some()));
    sleep(TTL).await;
    assert!(masters.iter().all(|master| master.time_to_live(AGREEMENT).is_none()));
}
