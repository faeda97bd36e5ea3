//! Clients that only look, beside clients that hold: they are shown the same.

use super::*;

/// Returns a client that holds and one that only looks.
async fn holder_and_looker(masters: &Masters) -> (Redlock, Redlock) {
    let builder = || -> RedlockBuilder { masters.builder().ttl(30 * SECOND) };
    (connect(builder()).await, connect(builder().inspect_only(true)).await)
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
    assert_eq!(free().await, (0, 0), "three of five may have forgotten the holder");
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

/// Returns every key of the masters with its value.
fn everything(masters: &Masters) -> Vec<Vec<(String, Option<String>)>> {
    let each = |master: &Master| {
        let keys = master.keys().into_iter();
        keys.map(|key| (key.clone(), master.holder(&key))).collect()
    };
    masters.iter().map(each).collect()
}

/// Whatever acquires says so and sends nothing; whatever looks is answered.
#[tokio::test(start_paused = true)]
async fn a_client_that_only_looks_may_look_at_everything_and_changes_nothing() {
    let masters = five();
    let (holder, looker) = holder_and_looker(&masters).await;
    let guard = holder.acquire(KEY).label("host 1").await.unwrap();
    let reader = holder.rw_lock("read").read().await.unwrap();
    let permit = holder.semaphore("import", 3).acquire().await.unwrap();
    let given = holder.acquire("given").await.unwrap().detach().await.unwrap();
    sleep(SECOND).await;
    let (before, began) = (everything(&masters), now());

    let refused: Vec<String> = vec![
        looker.acquire("free").await.unwrap_err().to_string(),
        looker.acquire("free").fair(true).timeout(Duration::MAX).await.unwrap_err().to_string(),
        looker.acquire_all(["free", "other"]).fenced().await.unwrap_err().to_string(),
        looker.acquire("free").run(async |_| ()).await.unwrap_err().to_string(),
        looker.try_acquire("free").await.unwrap_err().to_string(),
        looker.reentrant().acquire("free").await.unwrap_err().to_string(),
        looker.reentrant().fenced().try_acquire("free").await.unwrap_err().to_string(),
        looker.rw_lock("read").read().await.unwrap_err().to_string(),
        looker.rw_lock("read").try_read().await.unwrap_err().to_string(),
        looker.rw_lock("read").write().await.unwrap_err().to_string(),
        looker.rw_lock("read").try_write().fenced().await.unwrap_err().to_string(),
        looker.semaphore("import", 3).acquire().await.unwrap_err().to_string(),
        looker.semaphore("import", 3).try_acquire().await.unwrap_err().to_string(),
        looker.election("scheduler").campaign("me").await.unwrap_err().to_string(),
        looker.election("scheduler").run("me", async |_| ()).await.unwrap_err().to_string(),
        {
            let once = looker.once("free", SECOND);
            once.run(async |_| Ok::<(), std::convert::Infallible>(()))
                .await
                .unwrap_err()
                .to_string()
        },
        looker.adopt(given).await.unwrap_err().to_string(),
    ];
    for error in refused {
        assert!(error.contains("inspect_only"), "{error}");
    }
    assert_eq!(now(), began, "what is refused asks no master");

    assert!(looker.inspect(KEY).await.unwrap().holder().is_some());
    assert!(looker.inspect("free").await.unwrap().holder().is_none());
    assert_eq!(looker.semaphore("import", 3).available_permits().await.unwrap(), 2);
    assert_eq!(looker.semaphore("import", 3).inspect().await.unwrap().len(), 3);
    assert!(looker.election("scheduler").leader().await.unwrap().is_none());
    let mut locks = looker.list("");
    let mut listed = 0;
    while let Some(lock) = locks.next().await {
        drop(lock.unwrap());
        listed += 1;
    }
    assert_eq!(listed, 4);
    assert!(looker.preflight().await.is_ok());
    looker.wait_until_ready(SECOND).await.unwrap();
    assert_eq!(looker.status().await.unwrap().nodes().len(), 5);
    assert_eq!(everything(&masters), before);

    // An operator's command is all that it may change.
    let inspection = looker.inspect(KEY).await.unwrap();
    looker.force_release(&inspection).await.unwrap();
    assert_eq!(masters[0].holder(KEY), None);
    looker.shutdown().await.unwrap();
    drop((guard, reader, permit));
}
