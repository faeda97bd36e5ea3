//! Storms: the real driver, under kills, stops, restarts, cuts and cancellations drawn from a seed.
//! `proof/simulation` plays more kinds of them on the machine alone; these go through tasks,
//! channels and guards. Tokens and jitter come from the operating system here: one seed is one
//! storm, but not one run to the nanosecond.

#[allow(dead_code, reason = "other tests use the rest of it")]
#[path = "../../../tests/support/seed.rs"]
mod seed;

use super::*;
use crate::embedded::{Master, Memory};
use crate::kind::Kind;
use crate::{FencingToken, FencingWindow, Released};
use seed::{Rng, Seed};
use std::collections::BTreeMap;
use tokio::task::JoinHandle;
use tokio::time::timeout;

const STORMS: u64 = 25;
const RESOURCES: [&str; 3] = ["a", "b", "c"];
const MAX_TTL: Duration = Duration::from_secs(2);
/// Longer than it takes to redial, to warm up, and for the keys left on killed masters to expire.
const AFTERWARDS: Duration = Duration::from_secs(20);

type IsValid = Box<dyn Fn() -> bool + Send>;

/// Locks that have been won and are still reported as valid.
#[derive(Default)]
struct Register {
    holders: Mutex<Vec<(&'static str, IsValid)>>,
    greatest: Mutex<BTreeMap<&'static str, FencingToken>>,
    wins: AtomicUsize,
}

impl Register {
    fn won(&self, resource: &'static str, is_valid: IsValid, token: Option<FencingToken>) {
        self.wins.fetch_add(1, SeqCst);
        let mut holders = self.holders.lock().unwrap();
        holders.push((resource, is_valid));
        drop(holders);
        self.check();
        let Some(token) = token else { return };
        let before = self.greatest.lock().unwrap().insert(resource, token);
        assert!(before.is_none_or(|before| before < token), "{resource}: {before:?}, {token}");
    }

    /// Checks for overlaps. They can begin only when a lock is won or has its deadline moved.
    fn check(&self) {
        let mut holders = self.holders.lock().unwrap();
        holders.retain(|(_, is_valid)| is_valid());
        for resource in RESOURCES {
            let holding = holders.iter().filter(|(held, _)| *held == resource).count();
            assert!(holding <= 1, "{holding} hold {resource}");
        }
    }
}

/// Acquires and releases, in every possible way, until the storm is over.
async fn work(redlock: Redlock, mut rng: Rng, register: Arc<Register>, until: Instant) {
    while now() < until {
        let resource = *rng.pick(&RESOURCES);
        let patience = rng.duration(Duration::ZERO..2 * SECOND);
        let ttl = *rng.pick(&[300 * MS, SECOND, MAX_TTL]);
        let acquire = redlock.acquire(resource).ttl(ttl).timeout(SECOND);
        let acquire = if rng.chance(30) { acquire.keep_alive() } else { acquire };
        if rng.chance(40) {
            if let Ok(Ok(guard)) = timeout(patience, acquire.fenced().into_future()).await {
                let token = Some(guard.fencing_token());
                hold(guard, resource, token, &mut rng, &register).await;
            }
        } else if let Ok(Ok(guard)) = timeout(patience, acquire.into_future()).await {
            hold(guard, resource, None, &mut rng, &register).await;
        }
        sleep(rng.duration(Duration::ZERO..50 * MS)).await;
    }
}

async fn hold<K: Kind>(
    guard: Guard<K>,
    resource: &'static str,
    token: Option<FencingToken>,
    rng: &mut Rng,
    register: &Register,
) {
    let lease = guard.lease();
    register.won(resource, Box::new(move || lease.is_valid()), token);
    sleep(rng.duration(Duration::ZERO..400 * MS)).await;
    if rng.chance(40) {
        let (was_valid, before) = (guard.is_valid(), guard.deadline());
        let extended = guard.extend().await;
        assert!(was_valid || extended.is_err(), "{resource} has lapsed, and is extended");
        assert!(extended.is_err() || guard.deadline() >= before, "{resource}: moved back");
        register.check();
    }
    match rng.within(0..3) {
        0 => drop(guard),
        1 => drop(timeout(rng.duration(Duration::ZERO..20 * MS), guard.release()).await),
        _ => drop(guard.release().await),
    }
}

/// Inflicts a fault on a master, or ends one.
fn befall(rng: &mut Rng, masters: &Masters) {
    let master = rng.pick(masters);
    match rng.within(0..14) {
        0 | 1 => master.pause(),
        2 => master.kill(),
        3 => master.restart(Memory::Kept).expect("a master that restarts"),
        4 => master.restart(Memory::Lost).expect("a master that restarts"),
        5 | 6 => master.partition(),
        7 => master.set_latency(rng.duration(Duration::ZERO..300 * MS)),
        8 if rng.chance(30) => masters.iter().for_each(Master::kill),
        _ => heal(master),
    }
}

fn heal(master: &Master) {
    master.set_latency(Duration::ZERO);
    master.resume();
    master.heal();
    if master.keys().is_empty() {
        // It may have been killed.
        let _is_running = master.restart(Memory::Kept);
    }
}

async fn storm(seed: Seed) -> usize {
    let mut rng = seed.rng();
    let masters = five();
    let (register, mut clients) = (Arc::new(Register::default()), Vec::new());
    for _ in 0..3 {
        let builder = masters
            .builder()
            .max_ttl(MAX_TTL)
            .fencing_window(FencingWindow { back: SECOND, ahead: SECOND });
        clients.push(connect(builder.ttl(SECOND)).await);
    }
    let until = now().after(rng.duration(SECOND..8 * SECOND));
    let start =
        |client: &Redlock| tokio::spawn(work(client.clone(), rng.fork(), register.clone(), until));
    let workers: Vec<JoinHandle<()>> =
        clients.iter().cycle().take(2 * clients.len()).map(start).collect();
    while now() < until {
        befall(&mut rng, &masters);
        sleep(rng.duration(Duration::ZERO..600 * MS)).await;
    }
    masters.iter().for_each(heal);
    for worker in workers {
        worker.await.unwrap();
    }
    for resource in RESOURCES {
        let guard =
            clients[0].acquire(resource).timeout(AFTERWARDS).await.expect("a lock to be had");
        assert_eq!(guard.release().await, Ok(Released::Confirmed));
    }
    for client in clients {
        client.shutdown().await.expect("nothing that is owed");
    }
    for (node, master) in masters.iter().enumerate() {
        let keys = master.keys();
        let locks = keys.iter().filter(|key| RESOURCES.contains(&key.as_str()));
        assert_eq!(locks.count(), 0, "master {node} keeps {keys:?}");
    }
    register.wins.load(SeqCst)
}

/// `QUORUMLOCK_SEED` is the first storm.
#[test]
fn each_lock_has_one_holder_in_any_storm_and_is_free_after_it() {
    let first = Seed::from_env("QUORUMLOCK_SEED");
    let mut wins = 0;
    for round in 0..STORMS {
        let seed = Seed(first.0.wrapping_add(round));
        eprintln!("QUORUMLOCK_SEED={seed}");
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        wins += runtime.expect("a runtime").block_on(storm(seed));
    }
    eprintln!("{STORMS} storms, {wins} locks");
    assert!(wins > 5 * STORMS as usize, "{wins} locks in {STORMS} storms: too little happens");
}
