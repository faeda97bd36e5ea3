//! The same for a permit, for which a process is called by the slot that is free.

use super::*;
use crate::{Backoff, Permit};

const PERMITS: usize = 3;
const CHANNEL: &str = "quorumlock:semaphore:orders:42";
const LIST: &str = "quorumlock:waitlist:quorumlock:semaphore:orders:42";

fn permit(redlock: &Redlock) -> Acquire<Permit> {
    redlock.semaphore(KEY, PERMITS).acquire().timeout(60 * SECOND)
}

/// The permits that are given in a second where nothing is lost: each is held for 2 ms, and passed on in 2 ms.
const FULL_SPEED: f64 = 250.0 * PERMITS as f64;

#[tokio::test(start_paused = true)]
async fn a_crowd_is_served_evenly_and_no_permit_lies_idle() {
    for clients in [10, 40] {
        let masters = distant();
        let crowd = Crowd::that(listed(&masters, clients).await, 4 * SECOND, permit).await;
        assert!(crowd.speed() > 0.95 * FULL_SPEED, "{clients}: {}", crowd.speed());
        assert!(crowd.longest() < 2.0, "{clients}: {}", crowd.longest());
        // In time that is the same everywhere, some have 333 sections and some 250.
        assert!(crowd.fairness() > 0.7, "{clients}: {:?}", crowd.sections);
        sleep(2 * SECOND).await;
        for master in masters.iter() {
            assert_eq!(master.time_to_live(LIST), None, "a list of no waiter ends");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn who_leaves_slots_to_clients_that_poll_does_not_overtake_a_crowd() {
    let masters = distant();
    // It leaves them every 57 caps: here, once at least.
    let backoff = Backoff { base: 5 * MS, cap: 50 * MS };
    let mut clients = Vec::new();
    for _ in 0..40 {
        clients.push(connect(masters.builder().backoff(backoff)).await);
    }
    let crowd = Crowd::that(clients, 4 * SECOND, permit).await;
    assert!(crowd.speed() > 0.95 * FULL_SPEED, "{}", crowd.speed());
    assert!(crowd.fairness() > 0.7, "{:?}", crowd.sections);
}

#[tokio::test(start_paused = true)]
async fn waiters_that_have_died_or_stopped_cost_a_moment_of_one_permit_each() {
    const STOPPED: usize = 20;
    let masters = distant();
    let first = &masters[first_node(&masters, CHANNEL).await];
    let _stopped = enter_the_dead(first, LIST, STOPPED).await;
    let crowd = Crowd::that(listed(&masters, 10).await, 4 * SECOND, permit).await;
    let lost = (1.0 - crowd.speed() / FULL_SPEED) * 4_000.0 * PERMITS as f64 / STOPPED as f64;
    assert!((15.0..60.0).contains(&lost), "{lost} ms for each");
    assert!(crowd.fairness() > 0.8, "{:?}", crowd.sections);
    assert!(crowd.longest < SECOND, "{:?}", crowd.longest);
}

#[tokio::test(start_paused = true)]
async fn a_master_of_the_list_that_dies_and_comes_back_stops_no_crowd() {
    let masters = distant();
    let crowd = Crowd::that(listed(&masters, 10).await, 6 * SECOND, permit);
    let (crowd, ()) = tokio::join!(crowd, dies_and_comes_back(&masters, CHANNEL));
    assert!(crowd.speed() > 0.8 * FULL_SPEED, "{}", crowd.speed());
    // One that is back earlier than others may keep its permit until they are: they spread their redials over 2 s.
    assert!(crowd.longest < SECOND && crowd.fairness() > 0.2, "{:?}", crowd.sections);
}

#[tokio::test(start_paused = true)]
async fn tasks_of_one_process_leave_permits_to_others() {
    let masters = distant();
    let mut clients = listed(&masters, 6).await;
    // Five tasks that have one client, beside five that have one each.
    clients.extend([(); 4].map(|()| clients[0].clone()));
    let crowd = Crowd::that(clients, 4 * SECOND, permit).await;
    let others: u32 = crowd.sections[1..6].iter().sum();
    let all: u32 = crowd.sections.iter().sum();
    // Of five permits in a row, four stay.
    assert!(6 * others >= all, "{others} of {all}");
    assert!(crowd.speed() > 0.9 * FULL_SPEED, "{}", crowd.speed());
}

#[tokio::test(start_paused = true)]
async fn masters_that_deny_a_right_have_waiters_poll() {
    for right in ["zadd", "zrank", "zcard", "publish", "subscribe"] {
        let masters = distant();
        masters.iter().for_each(|master| master.deny(&[right]).unwrap());
        let crowd = Crowd::that(listed(&masters, 6).await, 4 * SECOND, permit).await;
        assert!(crowd.speed() > 0.05 * FULL_SPEED, "without {right}: {}", crowd.speed());
    }
}
