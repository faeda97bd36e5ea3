//! Several resources: an acquire waits in the list of the resource that refuses it, and goes on to the next.

use super::*;
use crate::acquire::All;

/// Two neighbours of so many resources in a ring.
fn pair(redlock: &Redlock, at: usize, ring: usize) -> Acquire<All> {
    let resources = [at, at + 1].map(|at| format!("r{}", at % ring));
    redlock.acquire_all(resources).timeout(20 * SECOND)
}

#[tokio::test(start_paused = true)]
async fn a_crowd_is_served_evenly_and_as_fast_as_for_one() {
    let masters = distant();
    let crowd = Crowd::that(listed(&masters, 20).await, 4 * SECOND, |redlock| pair(redlock, 0, 2));
    let crowd = crowd.await;
    assert!(crowd.longest() < 1.7 && crowd.fairness() > 0.9, "{:?}", crowd.sections);
    assert!((245.0..255.0).contains(&crowd.speed()), "{}", crowd.speed());
    sleep(2 * SECOND).await;
    for (master, key) in masters.iter().flat_map(|master| [(master, "r0"), (master, "r1")]) {
        let list = format!("quorumlock:waitlist:{key}");
        assert_eq!(master.time_to_live(&list), None, "a list of no waiter ends");
    }
}

#[tokio::test(start_paused = true)]
async fn a_master_of_one_list_that_dies_and_comes_back_stops_no_crowd() {
    let masters = distant();
    let crowd = Crowd::that(listed(&masters, 10).await, 6 * SECOND, |redlock| pair(redlock, 0, 2));
    let (crowd, ()) = tokio::join!(crowd, dies_and_comes_back(&masters, "r0"));
    assert!(crowd.speed() > 200.0, "{}", crowd.speed());
    assert!(crowd.longest < SECOND && crowd.fairness() > 0.6, "{:?}", crowd.sections);
}

/// Returns the sections in two seconds of ten processes that want a pair in a ring of five, and of five that want one resource
/// of it each.
async fn ring(masters: &Masters) -> Vec<u32> {
    const RING: usize = 5;
    let clients = listed(masters, 3 * RING).await;
    let until = now().after(2 * SECOND);
    let tasks = clients.into_iter().enumerate().map(|(place, redlock)| {
        tokio::spawn(async move {
            let mut sections = 0;
            while now() < until {
                let guard = match place < 2 * RING {
                    true => pair(&redlock, place, RING).await.unwrap(),
                    false => redlock.acquire(format!("r{}", place % RING)).await.unwrap(),
                };
                sleep(HOLD).await;
                guard.release().await.unwrap();
                sections += 1;
            }
            sections
        })
    });
    let mut sections = Vec::new();
    for task in tasks.collect::<Vec<_>>() {
        sections.push(task.await.unwrap());
    }
    sections
}

#[tokio::test(start_paused = true)]
async fn neighbours_in_a_ring_have_their_turn_beside_waiters_for_one() {
    let sections = ring(&distant()).await;
    let (pairs, single) = sections.split_at(10);
    assert!(pairs.iter().all(|sections| *sections > 20), "{pairs:?}, of one {single:?}");
}
