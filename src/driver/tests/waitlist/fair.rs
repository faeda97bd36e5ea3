//! Fair acquires, each client as in a process of its own: they are served in the order in which they came, whatever
//! becomes of those in front and of the list's master, and each counts those before it.

use super::fate::{Fate, Fates};
use super::*;
use crate::{AcquireFuture, RestartGuard};
use futures::FutureExt;
use std::future::IntoFuture;
use tokio::sync::watch;

/// From a client to a master and back.
const TRIP: Duration = Duration::from_millis(2);

/// Longer than the time between two questions of any waiter.
const QUIET: Duration = Duration::from_secs(6);
const CLIENTS: usize = 6;

async fn fair(masters: &Masters, clients: usize) -> Vec<Redlock> {
    let mut all = Vec::new();
    for _ in 0..clients {
        all.push(connect(masters.builder().fair(true)).await);
    }
    all
}

#[tokio::test(start_paused = true)]
async fn a_crowd_is_served_in_order_and_evenly() {
    let in_order = |crowd: &Crowd, what| {
        assert_eq!(crowd.out_of_order(Duration::ZERO), 0, "{what}");
        assert!(crowd.fairness() >= 0.85, "{what}: {:?}", crowd.sections);
        assert!(crowd.waits.len() > 100, "{what}: {:?}", crowd.sections);
    };
    for clients in [2, 10, 40] {
        let masters = distant();
        let crowd = Crowd::of(fair(&masters, clients).await, 4 * SECOND).await;
        in_order(&crowd, "plain");
        assert!(crowd.speed() > 200.0, "{}", crowd.speed());
    }
    let masters = distant();
    let fenced = |redlock: &Redlock| redlock.acquire(KEY).timeout(8 * SECOND).fenced();
    in_order(&Crowd::that(fair(&masters, 10).await, 4 * SECOND, fenced).await, "fenced");
    let masters = distant();
    let stays = |redlock: &Redlock| redlock.acquire(KEY).timeout(8 * SECOND).min_hold(20 * MS);
    in_order(&Crowd::that(fair(&masters, 10).await, 4 * SECOND, stays).await, "min_hold");
}

/// The first of a crowd has the lock when its process would leave it to clients that poll.
#[tokio::test(start_paused = true)]
async fn a_crowd_that_begins_at_such_a_moment_is_served_in_order() {
    for after in [0, 50, 240] {
        pass_the_moment().await;
        // Its first hold is there 13 ms later.
        sleep(57 * Backoff::default().cap - SECOND - 13 * MS + after * MS).await;
        let masters = distant();
        let crowd = Crowd::of(fair(&masters, 10).await, SECOND / 2).await;
        assert_eq!(crowd.out_of_order(Duration::ZERO), 0, "{after} ms later: {:?}", crowd.sections);
    }
    // The release of a lock that stays closed calls no waiter.
    pass_the_moment().await;
    sleep(57 * Backoff::default().cap - SECOND).await;
    let masters = distant();
    let stays = |redlock: &Redlock| redlock.acquire(KEY).timeout(8 * SECOND).min_hold(20 * MS);
    let crowd = Crowd::that(fair(&masters, 10).await, SECOND, stays).await;
    assert_eq!(crowd.out_of_order(Duration::ZERO), 0, "min_hold: {:?}", crowd.sections);
}

/// Returns when each of these asked for a permit, and had it: one each 7 ms, which keeps it for 20 ms.
async fn come_for_permits(clients: Vec<Redlock>, permits: usize) -> Crowd {
    let tasks = clients.into_iter().zip(0..).map(|(redlock, place)| {
        tokio::spawn(async move {
            sleep(7 * MS * place).await;
            let asked = now();
            let permit =
                redlock.semaphore("s", permits).acquire().timeout(8 * SECOND).await.unwrap();
            let had = now();
            sleep(20 * MS).await;
            permit.release().await.unwrap();
            (asked, had)
        })
    });
    let mut waits = Vec::new();
    for task in tasks.collect::<Vec<_>>() {
        waits.push(task.await.unwrap());
    }
    Crowd { sections: Vec::new(), waits, longest: Duration::ZERO, span: Duration::ZERO }
}

/// Each client is new to the semaphore. Waiters that are called at the same time may have their permits in any order.
#[tokio::test(start_paused = true)]
async fn permits_are_had_in_the_order_in_which_clients_came() {
    for permits in [1, 2, 3] {
        let crowd = come_for_permits(fair(&distant(), 60).await, permits).await;
        assert_eq!(crowd.out_of_order(2 * MS), 0, "{permits} permits: {:?}", crowd.waits);
    }
}

/// Two tasks of a process have one place in the list, and pass no permit on.
#[tokio::test(start_paused = true)]
async fn the_only_permit_goes_to_processes_in_turn() {
    let masters = distant();
    let clients = fair(&masters, 8).await;
    let tasks = clients.iter().chain(&clients[..2]).cloned().collect();
    let acquire = |redlock: &Redlock| redlock.semaphore("s", 1).acquire().timeout(8 * SECOND);
    let crowd = Crowd::that(tasks, 4 * SECOND, acquire).await;
    let of_process =
        |place: usize| crowd.sections[place] + crowd.sections.get(8 + place).unwrap_or(&0);
    let [most, fewest] = [(0..8).map(of_process).max(), (0..8).map(of_process).min()];
    assert!(fewest > most.map(|most| most * 85 / 100), "{:?}", crowd.sections);
    assert!(crowd.speed() > 150.0, "{}", crowd.speed());
}

/// All enter at the next master with the time that they have waited.
#[tokio::test(start_paused = true)]
async fn the_order_outlives_the_lists_master() {
    for after in 0..16 {
        let masters = distant();
        let first = first_node(&masters, KEY).await;
        let crowd = Crowd::of(fair(&masters, 10).await, 2 * SECOND);
        let dies = async {
            sleep(SECOND + after * MS).await;
            masters[first].kill();
        };
        let (crowd, ()) = tokio::join!(crowd, dies);
        // A newcomer may be there before those that move.
        assert!(crowd.out_of_order(TRIP) <= 1, "killed {after} ms later");
        assert!(crowd.fairness() >= 0.9 && crowd.speed() > 180.0, "{:?}", crowd.sections);
    }
}

/// Makes a client whose driver stops as its process does, while this is true.
async fn stoppable(masters: &Masters) -> (Redlock, watch::Sender<bool>) {
    let builder = masters.builder().fair(true);
    let (redlock, mut driver, connected) = builder.on_clock(Clock::tokio()).prepare().unwrap();
    let (stop, mut is_stopped) = watch::channel(false);
    tokio::spawn(async move {
        loop {
            tokio::select! {
                biased;
                _ = is_stopped.wait_for(|stopped| *stopped) => {}
                () = &mut driver => return,
            }
            let _gone = is_stopped.wait_for(|stopped| !stopped).await;
        }
    });
    connected.await.unwrap().unwrap();
    redlock.driver.in_use();
    (redlock, stop)
}

/// What waiters have had: which of them, and when.
type Served = Arc<Mutex<Vec<(&'static str, Instant)>>>;

/// Has a client wait, and hold the lock for a moment.
fn waits(redlock: &Redlock, name: &'static str, served: &Served) -> tokio::task::JoinHandle<()> {
    let (acquire, served) = (redlock.acquire(KEY).timeout(Duration::MAX), served.clone());
    tokio::spawn(async move {
        let guard = acquire.await.unwrap();
        served.lock().unwrap().push((name, now()));
        sleep(100 * MS).await;
        guard.release().await.unwrap();
    })
}

#[tokio::test(start_paused = true)]
async fn one_that_is_stopped_is_passed_over_and_is_first_when_it_is_back() {
    let masters = distant();
    let (first, stop) = stoppable(&masters).await;
    let others = fair(&masters, 3).await;
    let (guard, served) = (others[0].acquire(KEY).await.unwrap(), Served::default());
    let mut waiting = vec![waits(&first, "first", &served)];
    for (redlock, name) in others[1..].iter().zip(["second", "third"]) {
        sleep(50 * MS).await;
        waiting.push(waits(redlock, name, &served));
    }
    sleep(50 * MS).await;
    stop.send_replace(true);
    let released = now();
    guard.release().await.unwrap();
    sleep(80 * MS).await;
    stop.send_replace(false);
    for waiter in waiting {
        waiter.await.unwrap();
    }
    let served = served.lock().unwrap();
    let names: Vec<_> = served.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["second", "first", "third"]);
    let took = served[0].1.since(released);
    assert!(took <= 60 * MS, "it costs {took:?}");
}

/// One of two that wait has ended, and a newcomer comes some time after the release.
#[tokio::test(start_paused = true)]
async fn where_the_first_has_ended_no_newcomer_passes_the_next() {
    for (fate, at_most) in [(Fate::Dies, 5 * MS), (Fate::Stops, 60 * MS)] {
        for after in 0..40 {
            let masters = distant();
            let fates = Fates::new();
            let ends = connect(fates.builder(&masters, |_| true).fair(true)).await;
            let others = fair(&masters, 3).await;
            let (guard, served) = (others[0].acquire(KEY).await.unwrap(), Served::default());
            let ended = waits(&ends, "ended", &served);
            sleep(50 * MS).await;
            let next = waits(&others[1], "next", &served);
            sleep(50 * MS).await;
            fates.become_all(fate);
            sleep(5 * MS).await;
            let released = now();
            guard.release().await.unwrap();
            sleep(after * MS).await;
            waits(&others[2], "newcomer", &served).await.unwrap();
            next.await.unwrap();
            ended.abort();
            let served = served.lock().unwrap();
            let names: Vec<_> = served.iter().map(|(name, _)| *name).collect();
            assert_eq!(names, ["next", "newcomer"], "{fate:?}, a newcomer after {after} ms");
            let took = served[0].1.since(released);
            assert!(took <= at_most, "{fate:?}, a newcomer after {after} ms: {took:?}");
        }
    }
}

/// A single attempt is made only by the first.
#[tokio::test(start_paused = true)]
async fn a_single_attempt_passes_none_that_wait() {
    let masters = distant();
    let clients = fair(&masters, 4).await;
    let (guard, served) = (clients[0].acquire(KEY).await.unwrap(), Served::default());
    let waiting = waits(&clients[1], "waits", &served);
    sleep(50 * MS).await;
    let tries = tokio::spawn({
        let clients = clients[2..].to_vec();
        async move {
            let mut refused = 0;
            loop {
                for client in &clients {
                    match client.try_acquire(KEY).await {
                        Err(error) if error.is_contended() => refused += 1,
                        other => return (other.is_ok(), refused),
                    }
                }
            }
        }
    });
    sleep(50 * MS).await;
    guard.release().await.unwrap();
    waiting.await.unwrap();
    assert_eq!(served.lock().unwrap().len(), 1);
    let (is_won, refused) = tries.await.unwrap();
    assert!(is_won && refused > 20, "{refused}");
}

#[tokio::test(start_paused = true)]
async fn clients_without_it_get_in_beside_fair_ones_and_stop_none() {
    let masters = distant();
    let mut clients = fair(&masters, 9).await;
    clients.push(connect(masters.builder()).await);
    // It takes the lock again at once, past the list.
    clients.push(connect(masters.builder().wake_ups(false)).await);
    let crowd = Crowd::of(clients, 4 * SECOND).await;
    assert!(crowd.sections.iter().all(|sections| *sections >= 3), "{:?}", crowd.sections);
}

/// What each client of a line does, in the order in which they came.
struct Line {
    clients: Vec<Redlock>,
    holder: Option<(usize, Guard)>,
    waiting: Vec<(usize, AcquireFuture)>,
}

impl Line {
    async fn new(masters: &Masters) -> Self {
        let mut clients = Vec::new();
        for _ in 0..CLIENTS {
            let builder = masters.builder().fair(true).ttl(300 * SECOND).max_ttl(300 * SECOND);
            clients.push(connect(builder.restart_guard(RestartGuard::Off)).await);
        }
        Self { clients, holder: None, waiting: Vec::new() }
    }

    fn is_idle(&self, client: usize) -> bool {
        let waits = self.waiting.iter().any(|(waiter, _)| *waiter == client);
        !waits && self.holder.as_ref().is_none_or(|(holder, _)| *holder != client)
    }

    /// One client comes, gives up or releases.
    fn one_step(&mut self, dice: usize) {
        let client = dice / 8 % CLIENTS;
        match dice % 8 {
            0 | 1 if self.holder.is_some() => drop(self.holder.take()),
            2 if !self.waiting.is_empty() => {
                drop(self.waiting.remove(dice / 8 % self.waiting.len()));
            }
            _ if self.is_idle(client) => {
                let acquire = self.clients[client].acquire(KEY).timeout(Duration::MAX);
                self.waiting.push((client, acquire.into_future()));
            }
            _ => {}
        }
    }

    /// Lets time pass. The one that is served must be the first.
    async fn rest(&mut self) {
        let until = tokio::time::Instant::now() + QUIET;
        while tokio::time::Instant::now() < until {
            let served = self.waiting.iter_mut().map(|(_, acquire)| acquire.now_or_never());
            let served: Vec<_> = served.collect();
            for (place, served) in served.into_iter().enumerate() {
                let Some(guard) = served else { continue };
                let (client, _) = self.waiting.remove(place);
                assert_eq!(place, 0, "client {client} is served out of turn");
                assert!(self.holder.replace((client, guard.unwrap())).is_none(), "two hold it");
            }
            sleep(5 * MS).await;
        }
    }

    fn ahead(&self) -> Vec<Option<usize>> {
        self.waiting.iter().map(|(_, acquire)| acquire.ahead()).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn each_waiter_counts_those_that_came_before_it_and_the_first_is_served() {
    for seed in 1..=12_usize {
        let masters = five();
        let mut line = Line::new(&masters).await;
        let (mut random, mut counted) = (seed, 0);
        for step in 0..40 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(seed);
            line.one_step(random >> 33);
            line.rest().await;
            let expected: Vec<_> = (0..line.waiting.len()).map(Some).collect();
            assert_eq!(line.ahead(), expected, "seed {seed}, step {step}");
            counted += expected.len();
        }
        assert!(counted > 20, "seed {seed}: only {counted} were counted");
    }
}
