//! Clients that only look, beside clients that hold: they are shown the same.

use super::*;

/// Returns a client that holds and one that only looks.
async fn holder_and_looker(masters: &Masters) -> (Redlock, Redlock) {
    let builder = || -> RedlockBuilder { masters.builder().ttl(30 * SECOND) };
    (connect(builder()).await, connect(builder().inspect_only()).await)
}

#[tokio::test(start_paused = true)]
async fn free_permits_are_counted_by_a_client_that_only_looks() {
    let masters = five();
    let (holder, looker) = holder_and_looker(&masters).await;
    let free = async || {
        let of = async |redlock: &Redlock| {
            redlock.semaphore("import", 3).available_permits().await.unwrap()
        };
        (of(&holder).await, of(&looker).await)
    };
    assert_eq!(free().await, (3, 3));
    let permit = holder.semaphore("import", 3).acquire().await.unwrap();
    assert_eq!(free().await, (2, 2));
    // What a master that has just started says counts for neither.
    for master in &masters[..3] {
        master.kill();
        master.restart(crate::embedded::Memory::Lost).unwrap();
    }
    sleep(SECOND).await;
    assert_eq!(free().await, (0, 0), "three of five may have forgotten who holds");
    drop(permit);
}

#[tokio::test(start_paused = true)]
async fn a_resignation_is_heard_by_a_client_that_only_looks() {
    let masters = five();
    let (holder, looker) = holder_and_looker(&masters).await;
    let mut leaders = looker.election("scheduler").observe();
    assert_eq!(leaders.next().await.unwrap().unwrap(), None);
    for term in 0..3 {
        sleep(7 * SECOND).await;
        let name = format!("host {term}");
        let leadership = holder.election("scheduler").campaign(&*name).await.unwrap();
        let seen = loop {
            if let Some(leader) = leaders.next().await.unwrap().unwrap() {
                break leader;
            }
        };
        assert_eq!(seen.to_string().split(' ').take(2).collect::<Vec<_>>().join(" "), name);
        sleep(3 * SECOND).await;
        let resigned = now();
        leadership.resign().await.unwrap();
        assert_eq!(leaders.next().await.unwrap().unwrap(), None);
        assert!(now().since(resigned) < SECOND, "after {:?}", now().since(resigned));
    }
}
