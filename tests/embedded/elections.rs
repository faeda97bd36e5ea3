//! Elections over embedded masters: what each call does and refuses.

use quorumlock::embedded::Masters;
use quorumlock::{AcquireError, InspectError, Redlock};
use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::time::Duration;
use tokio::time::{sleep, timeout};

const SECOND: Duration = Duration::from_secs(1);

/// Plays with time that passes only while all tasks wait.
fn in_virtual_time(play: impl Future<Output = ()>) {
    let mut paused = tokio::runtime::Builder::new_current_thread();
    paused.enable_all().start_paused(true).build().unwrap().block_on(play);
}

async fn two(masters: &Masters) -> (Redlock, Redlock) {
    let client = async || masters.builder().connect().await.unwrap();
    (client().await, client().await)
}

#[test]
fn a_leader_is_known_by_its_value_and_its_term_until_it_resigns() {
    in_virtual_time(async {
        let masters = Masters::start_in_virtual_time(3).unwrap();
        let (here, there) = two(&masters).await;
        let election = there.election("e");
        assert_eq!(election.leader().await, Ok(None));
        let mut last = None;
        for value in ["10.0.0.7:8080", "", "a;term=b"] {
            let leadership = here.election("e").campaign(value).await.unwrap();
            assert!(last < Some(leadership.term()), "{last:?} {leadership:?}");
            last = Some(leadership.term());
            let leader = election.leader().await.unwrap().unwrap();
            assert_eq!((leader.value.as_str(), leader.term), (value, leadership.term()));
            let inspection = there.inspect("e").await.unwrap();
            let holder = inspection.holder().unwrap();
            assert_eq!((holder.label(), holder.term()), (Some(value), Some(leadership.term())));
            sleep(60 * SECOND).await; // kept alive
            leadership.check().unwrap();
            assert_eq!(election.leader().await.unwrap().map(|leader| leader.term), last);
            leadership.resign().await.unwrap();
        }
        assert_eq!(election.leader().await, Ok(None));
    });
}

#[test]
fn a_holder_that_was_not_elected_is_no_leader_and_keeps_candidates_out() {
    in_virtual_time(async {
        let masters = Masters::start_in_virtual_time(3).unwrap();
        let (here, there) = two(&masters).await;
        let guard = here.acquire("e").fenced().label("me").await.unwrap();
        assert_eq!(there.election("e").leader().await, Ok(None));
        let mut campaign = Box::pin(async { there.election("e").campaign("you").await });
        assert!(timeout(5 * SECOND, &mut campaign).await.is_err());
        guard.release().await.unwrap();
        campaign.await.unwrap().resign().await.unwrap();
    });
}

#[test]
fn without_a_quorum_no_leader_is_named() {
    in_virtual_time(async {
        let masters = Masters::start_in_virtual_time(3).unwrap();
        let (here, there) = two(&masters).await;
        let _leadership = here.election("e").campaign("me").await.unwrap();
        masters.iter().take(2).for_each(|master| master.kill());
        let error = there.election("e").leader().await.unwrap_err();
        assert!(matches!(error, InspectError::Unclear(_)), "{error:?}");
        assert!(error.to_string().starts_with("\"e\" is neither held nor free by quorum: "));
    });
}

#[test]
fn what_cannot_work_is_refused_before_anything_is_sent() {
    in_virtual_time(async {
        let masters = Masters::start_in_virtual_time(1).unwrap();
        let redlock = masters.builder().connect().await.unwrap();
        let refused =
            async |candidate: String| match redlock.election("e").campaign(candidate).await {
                Err(AcquireError::InvalidSetting(error)) => error.to_string(),
                other => panic!("{other:?}"),
            };
        for (candidate, problem) in [
            ("x;term=99999".to_owned(), "candidate: \"x;term=99999\" ends like the term"),
            ("a\nb".into(), "candidate: \"a\\nb\" contains control characters"),
            ("x".repeat(513), "candidate: 513 bytes are more than 512"),
        ] {
            let error = refused(candidate).await;
            assert!(error.starts_with(problem), "{error}");
        }
        let mut leaders = redlock.election("").observe();
        let item = leaders.next().await;
        assert!(matches!(item, Some(Err(InspectError::InvalidSetting(_)))), "{item:?}");
        assert!(leaders.next().await.is_none(), "it has ended");
        let run = redlock.election("e").run("x;term=1", async |_| ()).await;
        assert!(matches!(run, Err(AcquireError::InvalidSetting(_))), "{run:?}");
        let mut leaders = redlock.election("e").observe();
        assert!(matches!(leaders.next().await, Some(Ok(None))));
        redlock.shutdown().await.unwrap();
        assert!(matches!(leaders.next().await, Some(Err(InspectError::Closed(_)))));
    });
}

#[test]
fn a_body_runs_again_after_each_loss_and_resigns_when_it_returns() {
    in_virtual_time(async {
        let masters = Masters::start_in_virtual_time(3).unwrap();
        let (here, there) = two(&masters).await;
        let terms = RefCell::new(Vec::new());
        let election = here.election("e");
        let ended = election.run("me", async |lease| {
            terms.borrow_mut().push(lease.fencing_token());
            if terms.borrow().len() < 3 {
                masters.iter().for_each(|master| master.partition());
                lease.lost().await;
                std::future::pending::<()>().await; // dropped here, at the latest
            }
            7
        });
        let mends = async {
            for _ in 0..20 {
                sleep(30 * SECOND).await;
                masters.iter().for_each(|master| master.heal());
            }
        };
        let ended = tokio::select! {
            ended = ended => ended,
            () = mends => panic!("it leads no more"),
        };
        assert_eq!(ended.unwrap(), 7);
        let terms = terms.into_inner();
        assert!(terms.len() == 3 && terms.is_sorted_by(|term, next| term < next), "{terms:?}");
        sleep(30 * SECOND).await; // until the other client has connected again
        assert_eq!(there.election("e").leader().await, Ok(None));
    });
}

/// A process that stands still for longer than the ttl, within one poll of the body: the body sees the
/// loss before `run` does, and returns.
#[test]
fn a_body_that_returns_after_a_loss_leads_again_whatever_it_returns() {
    in_virtual_time(async {
        let masters = Masters::start_in_virtual_time(3).unwrap();
        let (here, there) = two(&masters).await;
        let terms = RefCell::new(Vec::new());
        // Kept in a variable: it borrows nothing of the election.
        let run = here.election("e").run("me", async |lease| {
            terms.borrow_mut().push(lease.fencing_token());
            if terms.borrow().len() < 4 {
                assert!(futures::poll!(pin!(tokio::time::advance(60 * SECOND))).is_pending());
                assert!(lease.check().is_err());
            }
            terms.borrow().len()
        });
        assert_eq!(timeout(900 * SECOND, run).await.unwrap(), Ok(4));
        let terms = terms.into_inner();
        assert!(terms.is_sorted_by(|term, next| term < next), "{terms:?}");
        assert_eq!(there.election("e").leader().await, Ok(None), "it has resigned");
    });
}

#[test]
fn observers_learn_of_each_change_within_a_third_of_the_ttl() {
    in_virtual_time(async {
        let masters = Masters::start_in_virtual_time(5).unwrap();
        let (here, there) = two(&masters).await;
        let mut leaders = there.election("e").ttl(9 * SECOND).observe();
        let longest = Cell::new(Duration::ZERO);
        let mut observed = async || {
            let began = tokio::time::Instant::now();
            let leader = timeout(60 * SECOND, leaders.next()).await.unwrap().unwrap().unwrap();
            longest.set(longest.get().max(began.elapsed()));
            leader
        };
        assert_eq!(observed().await, None);
        let mut terms = Vec::new();
        for round in 0..4 {
            let candidate = format!("candidate {round}");
            let leadership = here.election("e").campaign(candidate.as_str()).await.unwrap();
            let leader = observed().await.unwrap();
            assert_eq!((leader.value, leader.term), (candidate, leadership.term()));
            terms.push(leader.term);
            assert!(longest.get() <= 3 * SECOND + SECOND / 10, "{longest:?}");
            // A resignation is announced.
            longest.set(Duration::ZERO);
            leadership.resign().await.unwrap();
            assert_eq!(observed().await, None);
            assert!(longest.get() <= SECOND / 10, "{longest:?}");
        }
        assert!(terms.is_sorted_by(|term, next| term < next), "{terms:?}");
        // While no quorum can be asked, nothing comes.
        let _leadership = here.election("e").campaign("last").await.unwrap();
        assert!(observed().await.is_some());
        masters.iter().take(3).for_each(|master| master.kill());
        let nothing = timeout(60 * SECOND, leaders.next()).await;
        assert!(nothing.is_err(), "{nothing:?}");
    });
}

#[test]
fn threads_campaign_and_observe_as_tasks_do() {
    use quorumlock::{Election, Wait};
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let masters = runtime.block_on(async { Masters::start(3).unwrap() });
    let client = || masters.builder().ttl(SECOND).own_thread(true).connect().wait().unwrap();
    let (here, there) = (client(), client());
    let leads = |election: Election, value: &str| {
        let leadership = election.campaign(value).wait().unwrap();
        assert_eq!(election.leader().wait().unwrap().unwrap().term, leadership.term());
        leadership
    };
    let mut leaders = there.election("e").observe();
    assert_eq!(leaders.next().wait(), Some(Ok(None)));
    let first = leads(here.election("e"), "first");
    assert_eq!(leaders.next().wait().unwrap().unwrap().unwrap().value, "first");
    let next = std::thread::spawn(move || leads(there.election("e"), "second").term());
    let first_term = first.term();
    first.check().unwrap();
    first.resign().wait().unwrap();
    assert!(next.join().unwrap() > first_term);
    here.shutdown().wait().unwrap();
}

#[test]
fn a_thread_campaigns_again_after_a_loss_and_resigns_when_its_work_is_done() {
    use quorumlock::Wait;
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let masters = runtime.block_on(async { Masters::start(3).unwrap() });
    let client = || masters.builder().ttl(SECOND).own_thread(true).connect().wait().unwrap();
    let (here, there) = (client(), client());
    let mut terms = Vec::new();
    let leading = here.election("e").run("me", |lease| {
        terms.push(lease.fencing_token());
        if terms.len() < 3 {
            there.force_release(&there.inspect("e").wait().unwrap()).wait().unwrap();
            lease.lost().wait().unwrap();
        }
        std::future::ready(terms.len())
    });
    assert_eq!(leading.wait(), Ok(3));
    assert!(terms.len() == 3 && terms.is_sorted_by(|term, next| term < next), "{terms:?}");
    assert_eq!(there.election("e").leader().wait(), Ok(None), "it has resigned");
}

#[tokio::test]
async fn in_async_code_no_thread_waits_for_an_election() {
    use quorumlock::Wait;
    let masters = Masters::start_in_memory(1).unwrap();
    let connect =
        tokio::task::spawn_blocking(move || masters.builder().own_thread(true).connect().wait());
    let redlock = connect.await.unwrap().unwrap();
    let election = redlock.election("e");
    assert!(matches!(election.campaign("me").wait(), Err(AcquireError::WrongContext(_))));
    assert!(matches!(election.leader().wait(), Err(InspectError::WrongContext(_))));
    let mut leaders = election.observe();
    assert!(matches!(leaders.next().wait(), Some(Err(InspectError::WrongContext(_)))));
}
