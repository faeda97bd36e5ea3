//! Permits of a semaphore: how many there are, which waiter gets the next one, and
//! what it costs.

use super::prelude::*;
use crate::support::docker::tell;
use futures::future::join_all;
use quorumlock::report::Obstacle;
use quorumlock::{AcquireError, Holder, Inspection, NodeState, Redlock};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

async fn clients(masters: &Masters, count: usize) -> Vec<Redlock> {
    let connecting = (0..count).map(|_| masters.builder().operation_timeout(900 * MS).connect());
    join_all(connecting).await.into_iter().map(Result::unwrap).collect()
}

/// The commands that all masters have run since then, of those that permits need.
struct Commands<'a> {
    masters: &'a Masters,
    before: BTreeMap<String, u64>,
}

impl<'a> Commands<'a> {
    async fn since(masters: &'a Masters) -> Self {
        Self { masters, before: Self::run(masters).await }
    }

    async fn run(masters: &Masters) -> BTreeMap<String, u64> {
        let mut all = BTreeMap::new();
        for calls in join_all(masters.iter().map(witness::calls)).await {
            *all.entry("deletions".to_owned()).or_default() += witness::deletions(&calls);
            for name in ["set", "pttl", "eval", "evalsha", "publish", "subscribe"] {
                *all.entry(name.to_owned()).or_default() += calls.get(name).copied().unwrap_or(0);
            }
        }
        all
    }

    async fn count(&self, name: &str) -> u64 {
        Self::run(self.masters).await[name] - self.before[name]
    }
}

#[tokio::test(start_paused = true)]
async fn a_permit_that_is_free_costs_what_a_lock_costs() {
    let (masters, redlock) = five().await;
    let semaphore = redlock.semaphore("import", 10);
    let commands = Commands::since(&masters).await;
    for _ in 0..20 {
        semaphore.acquire().await.unwrap().release().await.unwrap();
    }
    redlock.shutdown().await.unwrap();
    let releases = commands.count("deletions").await;
    assert_eq!((commands.count("set").await, releases), (100, 100), "one SET, one release each");
    assert_eq!(commands.count("publish").await, 20, "at one master");
    assert_eq!(commands.count("subscribe").await, 0);
    witness::assert_no_keys_now(&masters).await;
}

#[tokio::test(start_paused = true)]
async fn a_miss_costs_one_more_attempt_and_one_look_and_a_full_one_no_second_attempt() {
    let masters = Masters::start(5);
    let clients = clients(&masters, 2).await;
    let (theirs, ours) = (clients[0].semaphore("import", 10), clients[1].semaphore("import", 10));
    let mut held = Vec::new();
    for _ in 0..10 {
        held.push(theirs.acquire().ttl(LONG).await.unwrap());
    }
    // The one that it had last is not free, and one other is.
    held.remove(3).release().await.unwrap();
    let last = ours.acquire().await.unwrap();
    let slot = last.slot();
    last.release().await.unwrap();
    held.push(theirs.acquire().ttl(LONG).await.unwrap());
    assert_eq!(held[9].slot(), slot);
    held.remove(0).release().await.unwrap();

    let commands = Commands::since(&masters).await;
    let permit = ours.acquire().ttl(LONG).await.unwrap();
    let looked = (commands.count("set").await, commands.count("pttl").await);
    assert_eq!(looked, (10, 10), "two attempts, and one look at one master");

    let commands = Commands::since(&masters).await;
    let full = ours.try_acquire().await.unwrap_err();
    let looked = (commands.count("set").await, commands.count("pttl").await);
    assert_eq!(looked, (5, 10), "{full}");
    assert!(full.to_string().starts_with("all 10 permits of \"import\" are taken"), "{full}");
    drop((held, permit));
    witness::eventually_no_keys(&masters, SOON).await;
}

#[tokio::test(start_paused = true)]
async fn a_waiter_learns_which_permit_is_free() {
    let masters = Masters::start(5);
    let clients = clients(&masters, 2).await;
    let (theirs, ours) = (clients[0].semaphore("import", 4), clients[1].semaphore("import", 4));
    let mut held = Vec::new();
    for _ in 0..4 {
        held.push(theirs.acquire().ttl(LONG).await.unwrap());
    }
    let waiting = tokio::spawn(async move {
        let permit = ours.acquire().timeout(Duration::MAX).await.unwrap();
        (Instant::now(), permit)
    });
    // So long that it hardly polls any more.
    tokio::time::sleep(2 * SECOND).await;
    let (permit, commands) = (held.remove(2), Commands::since(&masters).await);
    let slot = permit.slot();
    permit.release().await.unwrap();
    let released = Instant::now();
    let (acquired, got) = waiting.await.unwrap();
    assert_eq!(got.slot(), slot);
    assert_eq!(commands.count("set").await, 5, "that slot, once");
    let latency = acquired.saturating_duration_since(released);
    tell(&format!("the next one has the permit {latency:.1?} after its release"));
    assert!(latency < SOON, "{latency:?}");
}

#[tokio::test(start_paused = true)]
async fn the_permit_of_a_client_that_is_gone_expires_by_itself_and_alone() {
    let masters = Masters::start(3);
    let clients = clients(&masters, 2).await;
    let (theirs, ours) = (clients[0].semaphore("import", 2), clients[1].semaphore("import", 2));
    let kept = theirs.acquire().ttl(LONG).keep_alive().await.unwrap();
    let gone = theirs.acquire().ttl(SECOND).await.unwrap();
    let slot = gone.slot();
    gone.forget();
    let next = ours.acquire().timeout(LONG).await.unwrap();
    assert_eq!(next.slot(), slot);
    assert!(kept.is_valid());
    let AcquireError::Contended(full) = ours.try_acquire().await.unwrap_err() else {
        panic!("both are taken")
    };
    assert!(matches!(full.obstacle, Obstacle::Permits { all: 2, .. }), "{full:?}");
}

#[tokio::test(start_paused = true)]
async fn an_inspection_shows_the_holder_of_each_permit_and_one_can_be_taken_away() {
    let masters = Masters::start(3);
    let clients = clients(&masters, 2).await;
    let semaphore = clients[0].semaphore("import", 3);
    let mut held = Vec::new();
    for label in ["a", "b"] {
        held.push(semaphore.acquire().label(label).ttl(LONG).await.unwrap());
    }
    let looks = clients[1].semaphore("import", 3);
    let all_answered = async || {
        let seen = looks.inspect().await.unwrap();
        let nodes = seen.iter().flat_map(Inspection::nodes);
        nodes.filter(|node| matches!(node.state, NodeState::Held(_))).count() == 6
    };
    eventually("all masters have both", SOON, all_answered).await;
    let seen = looks.inspect().await.unwrap();
    assert_eq!(seen.iter().map(Inspection::slot).collect::<Vec<_>>(), [Some(0), Some(1), Some(2)]);
    for (slot, permit) in seen.iter().enumerate() {
        let label = held
            .iter()
            .zip(["a", "b"])
            .find(|(guard, _)| guard.slot() == slot)
            .map(|(_, label)| label);
        assert_eq!(permit.holder().and_then(Holder::label), label, "{permit}");
        assert_eq!(permit.resource(), "import");
        assert_eq!(permit.key(), format!("quorumlock:slot:{slot}:import"));
        assert!(
            permit.to_string().starts_with(&format!("slot {slot} of \"import\" is ")),
            "{permit}"
        );
    }
    let away = &seen[held[0].slot()];
    clients[1].force_release(away).await.unwrap();
    held[0].extend().await.unwrap_err();
    held[1].extend().await.unwrap();
    let free = seen.iter().find(|permit| permit.holder().is_none()).unwrap();
    let refused = clients[1].force_release(free).await.unwrap_err().to_string();
    assert!(refused.contains(" of \"import\" was not held"), "{refused}");
    let wrong = clients[1].semaphore("import", 65).inspect().await.unwrap_err().to_string();
    assert!(wrong.starts_with("permits: 65 are more than 64"), "{wrong}");
}

/// How a number of processes share permits, each with so many tasks that take so many, and work for
/// a while with each.
struct Shared {
    clients: usize,
    tasks: usize,
    permits: usize,
    each: usize,
    works: Duration,
}

impl Shared {
    async fn run(&self, masters: &Masters) -> (f64, f64, f64) {
        let (valid, done) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let total = self.clients * self.tasks * self.each;
        let began = Instant::now();
        let mut tasks = Vec::new();
        for client in clients(masters, self.clients).await {
            for _ in 0..self.tasks {
                let semaphore = client.semaphore("import", self.permits);
                let (valid, done, works) = (valid.clone(), done.clone(), self.works);
                let (permits, until) = (self.permits, total);
                tasks.push(tokio::spawn(async move {
                    let (mut mine, mut waits) = (0_usize, Vec::new());
                    while done.load(SeqCst) < until {
                        let asked = Instant::now();
                        let permit = semaphore.acquire().timeout(Duration::MAX).await.unwrap();
                        waits.push(asked.elapsed().as_secs_f64());
                        let held = valid.fetch_add(1, SeqCst);
                        assert!(held < permits, "{held} others have a permit");
                        tokio::time::sleep(works).await;
                        valid.fetch_sub(1, SeqCst);
                        drop(permit);
                        (mine, _) = (mine + 1, done.fetch_add(1, SeqCst));
                    }
                    (mine, waits)
                }));
            }
        }
        let results = join_all(tasks).await.into_iter().map(Result::unwrap);
        let (counts, waits): (Vec<usize>, Vec<Vec<f64>>) = results.unzip();
        let took = began.elapsed();
        let waits = waits.concat();
        let mean = waits.iter().sum::<f64>() / waits.len() as f64;
        let longest = waits.iter().copied().fold(0.0, f64::max) / mean;
        let ideal = self.works * u32::try_from(waits.len() / self.permits).unwrap();
        let (fewest, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
        let share = *fewest as f64 / *most as f64;
        let rate = ideal.as_secs_f64() / took.as_secs_f64();
        tell(&format!(
            "{} clients of {} tasks on {} permits, {:?} with each: {share:.2} fewest/most, longest wait \
             {longest:.1} times the mean of {:.1?}, {rate:.2} of the ideal throughput",
            self.clients,
            self.tasks,
            self.permits,
            self.works,
            Duration::from_secs_f64(mean),
        ));
        (share, longest, rate)
    }
}

#[tokio::test(start_paused = true)]
async fn clients_share_permits_and_never_hold_more_than_there_are() {
    let masters = Masters::start(5);
    let shared = Shared { clients: 4, tasks: 4, permits: 3, each: 20, works: 10 * MS };
    let (share, longest, _) = shared.run(&masters).await;
    assert!(share > 0.2, "fewest/most: {share:.2}");
    assert!(longest < 30.0, "{longest:.1} times the mean");
    witness::eventually_no_keys(&masters, SOON).await;
}
