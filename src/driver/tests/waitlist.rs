//! Waitlists: a hand-over costs the same, however many wait, and no waiter is left out.

mod fair;
mod fate;
mod permits;
mod pollers;
mod several;
mod stepped;
mod stuck;

use super::*;
use crate::Acquire;
use crate::embedded::Memory;
use crate::kind::{Held, Kind};

/// How long each guard is held.
const HOLD: Duration = Duration::from_millis(2);

/// What came of a crowd: the sections of each client, when it asked for each and had it, and the longest that one of them
/// has waited.
struct Crowd {
    sections: Vec<u32>,
    waits: Vec<(Instant, Instant)>,
    longest: Duration,
    span: Duration,
}

impl Crowd {
    /// Has these clients, each as in a process of its own, want one lock for `span`.
    async fn of(clients: Vec<Redlock>, span: Duration) -> Self {
        let acquire = move |redlock: &Redlock| redlock.acquire(KEY).timeout(2 * span);
        Self::that(clients, span, acquire).await
    }

    /// Has them want what they acquire so.
    async fn that<K: Kind, G>(
        clients: Vec<Redlock>,
        span: Duration,
        acquire: impl Fn(&Redlock) -> Acquire<G> + Copy + Send + 'static,
    ) -> Self
    where
        G: Held<Guard = Guard<K>, Error: Send + std::fmt::Debug>,
    {
        let until = now().after(span);
        let tasks = clients.into_iter().map(|redlock| {
            tokio::spawn(async move {
                let (mut sections, mut waits) = (0_u32, Vec::new());
                while now() < until {
                    let asked = now();
                    let guard = acquire(&redlock).await.unwrap();
                    waits.push((asked, now()));
                    sections += u32::from(now() < until);
                    sleep(HOLD).await;
                    guard.release().await.unwrap();
                }
                (sections, waits)
            })
        });
        let (mut sections, mut waits) = (Vec::new(), Vec::new());
        for task in tasks.collect::<Vec<_>>() {
            let (of_client, its_waits) = task.await.unwrap();
            sections.push(of_client);
            waits.extend(its_waits);
        }
        waits.sort_unstable();
        let longest = waits.iter().map(|(asked, had)| had.since(*asked)).max().unwrap_or_default();
        Self { sections, waits, longest, span }
    }

    /// Returns how many sections there were in a second.
    fn speed(&self) -> f64 {
        f64::from(self.sections.iter().sum::<u32>()) / self.span.as_secs_f64()
    }

    /// Returns the longest wait, as a part of the time in which each client has its turn once.
    fn longest(&self) -> f64 {
        self.longest.as_secs_f64() * self.speed() / self.sections.len() as f64
    }

    /// Returns how many were served before one that had asked earlier, by more than this.
    fn out_of_order(&self, apart: Duration) -> usize {
        let is_passed = |(asked, had): &(Instant, Instant)| {
            let earlier = self.waits.iter().take_while(|(other, _)| other.after(apart) < *asked);
            earlier.into_iter().any(|(_, others)| others > had)
        };
        self.waits.iter().filter(|wait| is_passed(wait)).count()
    }

    /// Returns the ratio of the fewest sections of a client to the most.
    fn fairness(&self) -> f64 {
        let all = || self.sections.iter().copied().map(f64::from);
        all().fold(f64::INFINITY, f64::min) / all().fold(0.0, f64::max)
    }
}

fn distant() -> Masters {
    let masters = five();
    masters.iter().for_each(|master| master.set_latency(MS));
    masters
}

async fn listed(masters: &Masters, clients: usize) -> Vec<Redlock> {
    let mut all = Vec::new();
    for _ in 0..clients {
        all.push(connect(masters.builder()).await);
    }
    all
}

/// Returns the node where the list of a key, or of a semaphore's channel, is.
async fn first_node(masters: &Masters, channel: &str) -> usize {
    let (redlock, observed) = Observed::connect(masters.builder()).await;
    let first = {
        let driver = observed.driver.lock().unwrap();
        let driver = driver.as_ref().unwrap();
        driver.machine.masters().first_node(now(), channel).unwrap()
    };
    redlock.shutdown().await.unwrap();
    first
}

fn list() -> String {
    format!("quorumlock:waitlist:{KEY}")
}

#[tokio::test(start_paused = true)]
async fn a_crowd_is_served_evenly_and_as_fast_as_two_clients() {
    let mut speeds = Vec::new();
    for clients in [2, 10, 40] {
        let masters = distant();
        pass_the_moment().await;
        let crowd = Crowd::of(listed(&masters, clients).await, 4 * SECOND).await;
        assert!(crowd.longest() < 1.7, "{clients}: {}", crowd.longest());
        assert!(crowd.fairness() > 0.9, "{clients}: {:?}", crowd.sections);
        speeds.push(crowd.speed());
        sleep(2 * SECOND).await;
        for master in masters.iter() {
            assert_eq!(master.time_to_live(&list()), None, "a list of no waiter ends");
        }
    }
    // A hold of 2 ms, a message and a round trip: 4 ms.
    assert!(speeds.iter().all(|speed| (245.0..255.0).contains(speed)), "{speeds:?}");
}

/// Enters waiters of these processes in a list, in front of all others.
async fn enter(master: &Master, list: &str, processes: impl IntoIterator<Item = String>) {
    for (waiter, process) in processes.into_iter().enumerate() {
        let name = format!("{process}{waiter:016x}");
        operate(master, &["ZADD", list, &waiter.to_string(), &name]).await;
    }
}

/// Enters waiters that have died, and some that have stopped, whose connection lives and answers no call.
async fn enter_the_dead(first: &Master, list: &str, stopped: usize) -> impl Sized + use<> {
    let mut connection = first.dialer()().await.unwrap();
    let stopped: Vec<_> =
        (0..stopped).map(|process| format!("{:016x}", 0xaa00 + process)).collect();
    for process in &stopped {
        let channel = format!("quorumlock:free:0:@{process}");
        let subscribe = redis::cmd("SUBSCRIBE").arg(channel).get_packed_command();
        connection.write_all(&subscribe).await.unwrap();
    }
    enter(first, list, stopped).await;
    enter(first, list, vec!["00000000000000bb".to_owned(); 200]).await;
    connection
}

#[tokio::test(start_paused = true)]
async fn waiters_that_have_died_or_stopped_cost_the_others_a_moment_each() {
    const STOPPED: usize = 20;
    let masters = distant();
    let first = &masters[first_node(&masters, KEY).await];
    let _stopped = enter_the_dead(first, &list(), STOPPED).await;
    let crowd = Crowd::of(listed(&masters, 10).await, 4 * SECOND).await;
    // Of the time for each stopped waiter, 20 ms are those in which no other tries.
    let lost = (1.0 - crowd.speed() / 250.0) * 4_000.0 / STOPPED as f64;
    assert!((15.0..40.0).contains(&lost), "{lost} ms for each");
    assert!(crowd.fairness() > 0.8, "{:?}", crowd.sections);
    assert!(crowd.longest < SECOND, "{:?}", crowd.longest);
}

/// Kills the master of a list after a second, and restarts it after one more.
async fn dies_and_comes_back(masters: &Masters, channel: &str) {
    let first = first_node(masters, channel).await;
    sleep(SECOND).await;
    masters[first].kill();
    sleep(SECOND).await;
    masters[first].restart(Memory::Lost).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_master_of_the_list_that_dies_and_comes_back_stops_no_crowd() {
    let masters = distant();
    let crowd = Crowd::of(listed(&masters, 10).await, 6 * SECOND);
    let (crowd, ()) = tokio::join!(crowd, dies_and_comes_back(&masters, KEY));
    assert!(crowd.speed() > 200.0, "{}", crowd.speed());
    assert!(crowd.longest < SECOND && crowd.fairness() > 0.7, "{:?}", crowd.sections);
}

#[tokio::test(start_paused = true)]
async fn masters_that_forget_scripts_keep_the_list() {
    let masters = distant();
    let clients = listed(&masters, 5).await;
    let forgets = async {
        loop {
            sleep(100 * MS).await;
            for master in masters.iter() {
                operate(master, &["SCRIPT", "FLUSH"]).await;
            }
        }
    };
    let crowd = tokio::select! {
        crowd = Crowd::of(clients, 4 * SECOND) => crowd,
        () = forgets => unreachable!(),
    };
    assert!(crowd.speed() > 200.0 && crowd.fairness() > 0.8, "{:?}", crowd.sections);
}

/// Returns how long after its release a lock has gone to a waiter in another process.
async fn handed_over(masters: &Masters, fair: bool) -> Duration {
    let [holder, waiter] = [(); 2].map(|()| masters.builder().fair(fair));
    let (holder, waiter) = (connect(holder).await, connect(waiter).await);
    let mut longest = Duration::ZERO;
    for _ in 0..8 {
        let guard = holder.acquire(KEY).timeout(9 * SECOND).await.unwrap();
        let waiting = async {
            let guard = waiter.acquire(KEY).timeout(9 * SECOND).await.unwrap();
            (now(), guard)
        };
        let holding = async {
            sleep(SECOND).await;
            guard.release().await.unwrap();
            now()
        };
        let ((won, guard), released) = tokio::join!(waiting, holding);
        longest = longest.max(won.since(released));
        guard.release().await.unwrap();
    }
    longest
}

#[tokio::test(start_paused = true)]
async fn masters_that_deny_a_right_have_waiters_poll() {
    for (right, at_most) in [
        ("zadd", 5 * MS),
        ("zrank", 5 * MS),
        ("zcard", 5 * MS),
        ("publish", 300 * MS),
        ("subscribe", 300 * MS),
    ] {
        for fair in [false, true] {
            let masters = distant();
            masters.iter().for_each(|master| master.deny(&[right]).unwrap());
            let took = handed_over(&masters, fair).await;
            assert!(took <= at_most, "without {right}: {took:?}, fair: {fair}");
        }
    }
}

/// Returns the sections of clients that wait in lists, or are denied them, among four that release silently.
async fn among_others(waitlist: bool) -> u32 {
    let masters = distant();
    if !waitlist {
        masters.iter().for_each(|master| master.deny(&["zadd"]).unwrap());
    }
    let mut clients = Vec::new();
    for _ in 0..10 {
        clients.push(connect(masters.builder()).await);
    }
    for _ in 0..4 {
        clients.push(connect(masters.builder().wake_ups(false)).await);
    }
    let crowd = Crowd::of(clients, 3 * SECOND).await;
    crowd.sections[..10].iter().sum()
}

#[tokio::test(start_paused = true)]
async fn among_clients_that_release_silently_no_share_is_lost() {
    let (mut before, mut after) = (0, 0);
    for _ in 0..8 {
        before += among_others(false).await;
        after += among_others(true).await;
    }
    // They are the same over many times; a single time may have half as many as another. Of eight times, one in a
    // thousand has half of the sum; waiters that note no silent release have a tenth.
    assert!(after * 10 >= before * 4, "{before} sections without lists, {after} with them");
}

/// A task that gives its permit to the other of its process seeks the next one a moment later.
#[tokio::test(start_paused = true)]
async fn two_tasks_of_a_process_keep_no_other_from_the_only_permit() {
    let masters = distant();
    let mut clients = Vec::new();
    for _ in 0..8 {
        clients.push(connect(masters.builder()).await);
    }
    let tasks = clients.iter().chain(&clients[..2]).cloned().collect();
    let acquire = |redlock: &Redlock| redlock.semaphore("s", 1).acquire().timeout(8 * SECOND);
    let crowd = Crowd::that(tasks, 2 * SECOND, acquire).await;
    // A process passes a permit on four times at most.
    let [most, fewest] = [crowd.sections.iter().max(), crowd.sections[2..8].iter().min()];
    assert!(fewest.unwrap() * 5 > 2 * most.unwrap(), "{:?}", crowd.sections);
}

/// Returns how long after the end of what is idle, or kept by a crashed holder, a waiter has it.
async fn has_it_after(held: impl AsyncFnOnce(&Redlock)) -> Duration {
    let masters = distant();
    let [holder, waiter] = [(); 2].map(|()| masters.builder());
    let (holder, waiter) = (connect(holder).await, connect(waiter).await);
    // Both know that others wait.
    for client in [&holder, &waiter] {
        let guard = holder.acquire(KEY).await.unwrap();
        let waiting = tokio::spawn(client.acquire(KEY).into_future());
        sleep(SECOND).await;
        guard.release().await.unwrap();
        waiting.await.unwrap().unwrap().release().await.unwrap();
    }
    held(&holder).await;
    let began = now();
    let guard = waiter.acquire(KEY).timeout(60 * SECOND).await.unwrap();
    let waited = now().since(began);
    guard.release().await.unwrap();
    waited
}

#[tokio::test(start_paused = true)]
async fn an_idle_lock_is_asked_for_and_called_for() {
    let waited = has_it_after(async |holder| {
        holder.acquire(KEY).keep_warm(4 * SECOND).await.unwrap().release().await.unwrap();
        sleep(100 * MS).await;
    });
    // A question, a look, a message and its call, and an attempt.
    assert!(waited.await <= 6 * MS);
}

#[tokio::test(start_paused = true)]
async fn a_lock_whose_holder_has_crashed_is_had_soon_after_its_ttl() {
    for ttl in [2 * SECOND, 10 * SECOND] {
        let waited = has_it_after(async |holder| {
            let guard = holder.acquire(KEY).ttl(ttl).await.unwrap();
            guard.forget();
        });
        let late = waited.await.saturating_sub(ttl);
        assert!(late <= 300 * MS, "{late:?} after {ttl:?}");
    }
}
