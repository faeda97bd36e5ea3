//! Whatever happened on the network and to the masters: once it has ended nothing is left behind,
//! and every lock can be acquired.
//! On a real clock: the faults are those of sockets and of stopped processes.

use crate::support::prelude::*;
use crate::support::proxy::{Cut, Direction::*, Proxy, in_front_of};
use crate::support::seed::{Rng, Seed};
use futures::future::join_all;
use quorumlock::{Redlock, Released};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const OPERATION_TIMEOUT: Duration = Duration::from_millis(50);

const FAULTS_FOR: Duration = Duration::from_millis(2_500);

const SOON: Duration = Duration::from_secs(20);

const RESOURCES: u64 = 6;

/// Does something to one connection or one master, and may undo what it did before.
fn fault(rng: &mut Rng, masters: &Masters, proxies: &[Proxy]) {
    let node = rng.within(0..5) as usize;
    let proxy = &proxies[node];
    let newest = proxy.connections().checked_sub(1).map(|n| proxy.link(n));
    match (rng.within(0..11), newest) {
        (0, Some(link)) => link.hold(ToServer),
        (1, Some(link)) => link.hold(ToClient),
        (2, Some(link)) => link.discard(ToClient),
        (3, Some(link)) => {
            link.change(ToServer, |rules| rules.cut_after = Some(rng.within(0..2_000)));
        }
        (4, _) => proxy.delay(ToServer, rng.duration(Duration::ZERO..OPERATION_TIMEOUT * 2)),
        (5, _) => proxy.delay(ToClient, rng.duration(Duration::ZERO..OPERATION_TIMEOUT * 2)),
        (6, _) => proxy.cut(*rng.pick(&[Cut::Fin, Cut::Reset])),
        (7, _) => proxy.half_open(),
        (8, _) if !masters[node].is_stopped() => masters[node].stop(),
        _ => heal(masters, proxies, node),
    }
}

/// Delivers what is held; what was lost stays lost.
fn heal(masters: &Masters, proxies: &[Proxy], node: usize) {
    if masters[node].is_stopped() {
        masters[node].cont();
    }
    for direction in [ToServer, ToClient] {
        proxies[node].delay(direction, Duration::ZERO);
        for n in 0..proxies[node].connections() {
            let link = proxies[node].link(n);
            // A connection that discards goes on doing so: its server never learns of its end.
            link.change(direction, |rules| {
                if rules.valve == crate::support::proxy::Valve::Held {
                    rules.valve = crate::support::proxy::Valve::Open;
                }
            });
        }
    }
}

/// Acquires, extends, releases, drops and cancels until it is `done`.
async fn work(redlock: Redlock, mut rng: Rng, done: Arc<AtomicBool>, won: Arc<AtomicU64>) {
    while !done.load(Ordering::Relaxed) {
        let resource = format!("r{}", rng.within(0..RESOURCES));
        let acquire = redlock.acquire(resource).timeout(OPERATION_TIMEOUT * 4);
        let patience = rng.duration(Duration::ZERO..OPERATION_TIMEOUT * 6);
        let Ok(Ok(guard)) = tokio::time::timeout(patience, acquire.into_future()).await else {
            continue;
        };
        won.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(rng.duration(Duration::ZERO..Duration::from_millis(20))).await;
        if rng.chance(30) {
            let _may_fail = guard.extend().await;
        }
        if rng.chance(50) {
            let _may_be_lost = guard.release().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_faults_no_key_is_left_and_every_lock_can_be_acquired() {
    let mut rng = Seed::from_env("QUORUMLOCK_SEED_FAULTS").rng();
    let masters = Masters::start(5);
    let proxies = in_front_of(masters.iter().map(|master| master.addr()));
    let connect = || {
        let builder = builder().nodes(proxies.iter().map(Proxy::url));
        let builder = builder.operation_timeout(OPERATION_TIMEOUT).ttl(Duration::from_secs(20));
        builder.connect_timeout(Duration::from_millis(150)).connect()
    };
    let clients = [connect().await.unwrap(), connect().await.unwrap()];
    let (done, won) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let start = |n: usize| {
        tokio::spawn(work(clients[n % 2].clone(), rng.fork(), done.clone(), won.clone()))
    };
    let tasks: Vec<_> = (0..24).map(start).collect();

    let (began, mut faults) = (Instant::now(), 0);
    while began.elapsed() < FAULTS_FOR {
        fault(&mut rng, &masters, &proxies);
        faults += 1;
        tokio::time::sleep(rng.duration(Duration::ZERO..OPERATION_TIMEOUT)).await;
    }
    done.store(true, Ordering::Relaxed);
    (0..5).for_each(|node| heal(&masters, &proxies, node));
    for ended in join_all(tasks).await {
        ended.unwrap();
    }
    let (won, dials) = (
        won.load(Ordering::Relaxed),
        proxies.iter().map(|proxy| proxy.connections()).sum::<usize>(),
    );
    eprintln!("{faults} faults, {dials} connections, {won} locks");
    assert!(won > 20 && dials > 20, "{won} locks over {dials} connections: too little happened");

    for n in 0..RESOURCES {
        let guard = clients[0].acquire(format!("r{n}")).timeout(SOON).await.unwrap();
        assert_eq!(guard.release().await, Ok(Released::Confirmed));
    }
    for client in &clients {
        client.shutdown().await.unwrap();
    }
    eventually("held bytes have arrived", SOON, async || {
        proxies.iter().all(|proxy| proxy.waiting(ToServer) == 0)
    })
    .await;
    witness::eventually_no_keys(&masters, Duration::from_secs(1)).await;
}
