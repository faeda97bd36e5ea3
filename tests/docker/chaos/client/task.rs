//! One task of a client: it acquires locks, holds them in every possible way, and reports it.

use super::Orders;
use super::wish::{SEMAPHORE, Wish};
use crate::chaos::clock::{Nanos, between, nanos, now};
use crate::chaos::history::{Claim, PERMITS, What, Why};
use crate::chaos::journal::Journal;
use crate::chaos::store::Store;
use crate::support::prelude::*;
use crate::support::seed::Rng;
use quorumlock::kind::{self, Fenceable, Kind};
use quorumlock::{
    Acquire, AcquireError, FencedGuard, FencingToken, Guard, Lease, Redlock, Released, WriteGuard,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::sleep;

/// Longest time between the two clock readings around a look at the guard; if it takes longer, the
/// task looks again.
const TIGHT: Duration = Duration::from_micros(200);

/// Gives an acquire the options of a wish.
fn with_options<G: kind::Held>(wish: &Wish, acquire: Acquire<G>) -> Acquire<G> {
    let acquire = acquire.ttl(wish.ttl).timeout(wish.wait);
    if wish.keep_alive { acquire.keep_alive() } else { acquire }
}

/// Returns how long a lock is held: usually short, now and then beyond any ttl.
fn length(place: Place, rng: &mut Rng) -> Duration {
    match place {
        Place::Crowd if rng.chance(97) => return rng.duration(MS..20 * MS),
        Place::Kept => return rng.duration(3000 * MS..8000 * MS),
        _ => {}
    }
    match rng.within(0..100) {
        0..65 => rng.duration(Duration::ZERO..20 * MS),
        65..82 => rng.duration(20 * MS..200 * MS),
        82..93 => rng.duration(200 * MS..1000 * MS),
        _ => rng.duration(1000 * MS..4000 * MS),
    }
}

/// Where a task does what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Anywhere.
    Work,
    /// In a crowd of clients that want the same few locks, hold them for a moment and wait for long.
    Crowd,
    /// Holding a lock that is kept alive, while its client begins bursts.
    Kept,
    /// Beginning bursts.
    Burst,
}

pub(super) struct Task {
    pub(super) who: String,
    place: Place,
    pub(super) redlock: Redlock,
    pub(super) rng: Rng,
    process: Process,
    store: Store,
}

/// What the tasks of a process have in common.
#[derive(Clone)]
pub(super) struct Process {
    pub(super) journal: Arc<Journal>,
    pub(super) ids: Arc<AtomicU64>,
    pub(super) ending: watch::Receiver<bool>,
    pub(super) orders: Orders,
}

impl Task {
    pub(super) async fn new(
        who: String,
        place: Place,
        redlock: Redlock,
        rng: Rng,
        process: Process,
    ) -> Self {
        let store = Store::connect(process.orders.store).await;
        Self { who, place, redlock, rng, process, store }
    }

    /// Works until its process is to end.
    pub(super) async fn work(mut self) {
        let max_ttl = self.process.orders.party.max_ttl();
        while !*self.process.ending.borrow() {
            let wish = match self.place {
                Place::Work => Wish::random(&mut self.rng, max_ttl),
                Place::Crowd => Wish::in_a_crowd(&mut self.rng, max_ttl),
                Place::Kept => Wish::to_keep(&mut self.rng, max_ttl),
                Place::Burst => {
                    self.burst(max_ttl).await;
                    continue;
                }
            };
            // A lock is kept warm for a task that locks it again and again.
            let times = if wish.warm.is_some() { self.rng.within(2..9) } else { 1 };
            for _ in 0..times {
                self.fulfil(&wish).await;
            }
        }
    }

    async fn fulfil(&mut self, wish: &Wish) {
        if *self.process.ending.borrow() {
            return;
        }
        let id = self.next_id();
        if self.attempt(id, wish, None).await == Err(Why::NoQuorum) {
            let next = self.next_id();
            let _ended = self.attempt(next, &wish.again(), Some(id)).await;
        }
        let pause = self.rng.duration(MS..30 * MS);
        self.unless_ending(sleep(pause)).await;
    }

    pub(super) fn has_own_clock(&self) -> bool {
        self.process.orders.ppm.is_some()
    }

    fn next_id(&self) -> u64 {
        self.process.ids.fetch_add(1, Relaxed)
    }

    pub(super) fn note(&self, what: What) {
        self.process.journal.note(&self.who, what);
    }

    /// Returns `None` if the task must end.
    pub(super) async fn unless_ending<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        let mut ending = self.process.ending.clone();
        tokio::select! {
            done = future => Some(done),
            _ = ending.wait_for(|end| *end) => None,
        }
    }

    async fn attempt(&mut self, id: u64, wish: &Wish, cures: Option<u64>) -> Result<(), Why> {
        let Wish { resources, claim, wait, .. } = wish.clone();
        let names = resources.clone();
        self.note(What::Asks { id, resources: names, claim, wait, cures });
        let lock = self.redlock.rw_lock(&*resources[0]);
        let won = if *resources == SEMAPHORE {
            let semaphore = self.redlock.semaphore(PERMITS.0, PERMITS.1);
            let acquire = with_options(wish, semaphore.acquire());
            self.enter(id, acquire.into_future(), |_| None, wish).await
        } else if claim == Claim::Shared {
            let acquire = with_options(wish, lock.read());
            self.enter(id, acquire.into_future(), |_| None, wish).await
        } else if wish.writes {
            let acquire = with_options(wish, lock.write());
            self.write_and_read(id, acquire.into_future(), wish).await
        } else if claim.is_fair() {
            self.alone(id, self.redlock.acquire(&*resources[0]).fair(true), wish).await
        } else if let Some(warm) = wish.warm {
            self.alone(id, self.redlock.acquire(&*resources[0]).keep_warm(warm), wish).await
        } else {
            self.alone(id, self.redlock.acquire_all(resources), wish).await
        };
        if let Err(why) = won {
            self.note(What::Fails { id, why });
        }
        won
    }

    async fn alone<G>(&mut self, id: u64, acquire: Acquire<G>, wish: &Wish) -> Result<(), Why>
    where
        G: Fenceable<Guard = Guard, Error = AcquireError>,
        G::Fenced: kind::Held<Guard = FencedGuard, Error = AcquireError>,
    {
        let acquire = with_options(wish, acquire);
        if wish.claim.is_fenced() {
            let acquire = acquire.fenced().into_future();
            self.enter(id, acquire, |guard| Some(guard.fencing_token()), wish).await
        } else {
            self.enter(id, acquire.into_future(), |_| None, wish).await
        }
    }

    async fn enter<K: Kind>(
        &mut self,
        id: u64,
        acquire: impl Future<Output = Result<Guard<K>, AcquireError>>,
        token: impl Fn(&Guard<K>) -> Option<FencingToken>,
        wish: &Wish,
    ) -> Result<(), Why> {
        let guard = self.patiently(acquire, wish).await?;
        let token = token(&guard);
        let guard = self.hold(guard, id, token, wish).await?;
        if wish.warm.is_some() && self.rng.chance(75) {
            // It is over for this task with the call, though the masters see nothing of that.
            self.note(What::Leaves { id });
            let released = guard.release().await;
            self.note(What::Left { id, confirmed: released.is_ok() });
        } else {
            self.leave(guard, id).await;
        }
        Ok(())
    }

    /// Holds as a writer, and now and then as a reader after that.
    async fn write_and_read(
        &mut self,
        id: u64,
        acquire: impl Future<Output = Result<WriteGuard, AcquireError>>,
        wish: &Wish,
    ) -> Result<(), Why> {
        let guard = self.patiently(acquire, wish).await?;
        let guard = self.hold(guard, id, None, wish).await?;
        if self.rng.chance(50) {
            self.leave(guard, id).await;
            return Ok(());
        }
        // From the call on it relies on no more than a reader does. What a writer had ends with it, too,
        // at a time that is not known.
        self.note(What::Leaves { id });
        self.note(What::Left { id, confirmed: false });
        let id = self.next_id();
        let wish = Wish { claim: Claim::Shared, ..wish.clone() };
        let (resources, wait) = (wish.resources.clone(), Duration::ZERO);
        self.note(What::Asks { id, resources, claim: wish.claim, wait, cures: None });
        let downgraded = self.unless_ending(guard.downgrade()).await;
        let held = match downgraded {
            Some(Ok(guard)) => self.hold(guard, id, None, &wish).await,
            Some(Err(refused)) if refused.guard.is_valid() => {
                let _whatever_came_of_it = refused.guard.release().await;
                Err(Why::Cancelled)
            }
            Some(Err(_)) => Err(Why::Late),
            None => Err(Why::Cancelled),
        };
        match held {
            Ok(guard) => self.leave(guard, id).await,
            Err(why) => self.note(What::Fails { id, why }),
        }
        Ok(())
    }

    /// Gives up when its patience or this process ends.
    pub(super) async fn patiently<G>(
        &self,
        acquire: impl Future<Output = Result<G, AcquireError>>,
        wish: &Wish,
    ) -> Result<G, Why> {
        let bounded = async {
            match wish.patience {
                Some(patience) => tokio::time::timeout(patience, acquire).await.ok(),
                None => Some(acquire.await),
            }
        };
        match self.unless_ending(bounded).await.flatten() {
            None => Err(Why::Cancelled),
            Some(Ok(guard)) => Ok(guard),
            Some(Err(AcquireError::Contended(_))) => Err(Why::Contended),
            Some(Err(AcquireError::NoQuorum(error))) if error.is_too_late() => Err(Why::Late),
            Some(Err(AcquireError::NoQuorum(_))) => Err(Why::NoQuorum),
            Some(Err(AcquireError::Overloaded(_))) => Err(Why::Overloaded),
            // Clients with other settings keep it away.
            Some(Err(AcquireError::Disagreement(_))) if self.process.orders.at_odds => {
                Err(Why::NoQuorum)
            }
            // While one more master is away than those with another time, no quorum agrees on a token.
            Some(Err(AcquireError::Disagreement(_)))
                if self.has_own_clock() && wish.claim.is_fenced() =>
            {
                Err(Why::NoQuorum)
            }
            Some(Err(error)) => {
                self.note(What::Odd(format!("acquire {}: {error}", wish.resources.join(","))));
                Err(Why::Cancelled)
            }
        }
    }

    /// Holds the lock for a while, and looks at it.
    async fn hold<K: Kind>(
        &mut self,
        guard: Guard<K>,
        id: u64,
        token: Option<FencingToken>,
        wish: &Wish,
    ) -> Result<Guard<K>, Why> {
        let (at, Some(until)) = self.valid_until(&guard) else { return Err(Why::Late) };
        let number = token.map(FencingToken::as_u64);
        self.process.journal.note_at(at, &self.who, What::Enters { id, until, token: number });

        let length = length(self.place, &mut self.rng);
        let ends = at + nanos(length);
        let watches = self.rng.chance(50);
        let looks = if self.place == Place::Kept { 16 } else { 3 };
        while now() < ends && !*self.process.ending.borrow() {
            let step = self.rng.duration(MS..length / looks + 2 * MS).min(between(now(), ends));
            let rest = async {
                tokio::select! {
                    () = sleep(step) => false,
                    _ = guard.lost(), if watches => true,
                }
            };
            if self.unless_ending(rest).await == Some(true) {
                if guard.is_valid() {
                    self.note(What::Odd(format!("{id} heard of its loss, and is valid")));
                }
                self.note(What::Looks { id });
                self.note(What::Lapsed { id });
                break;
            }
            let extends = self.rng.chance(25) && guard.extend().await.is_ok();
            if extends || wish.keep_alive {
                self.note(What::Looks { id });
                let (at, until) = self.valid_until(&guard);
                let seen = until.map_or(What::Lapsed { id }, |until| What::Holds { id, until });
                self.process.journal.note_at(at, &self.who, seen);
            }
            if let Some(token) = token
                && self.rng.chance(90)
                && guard.check().is_ok()
            {
                sleep(self.rng.duration(Duration::ZERO..5 * MS)).await;
                self.write(id, token, wish).await;
            }
        }
        if let Some(token) = token
            && !guard.is_valid()
            && self.rng.chance(70)
        {
            // Writes like a client that was stopped just after its last look.
            self.write(id, token, wish).await;
        }
        Ok(guard)
    }

    async fn leave<K: Kind>(&mut self, guard: Guard<K>, id: u64) {
        self.note(What::Leaves { id });
        let confirmed = if self.rng.chance(80) {
            matches!(guard.release().await, Ok(Released::Confirmed))
        } else {
            drop(guard);
            false
        };
        self.note(What::Left { id, confirmed });
    }

    async fn write(&mut self, id: u64, token: FencingToken, wish: &Wish) {
        let resource = self.rng.pick(&wish.resources);
        let (name, number) = (resource.clone(), token.as_u64());
        self.note(What::Writes { id, resource: name, token: number });
        self.store.write(&self.who, id, resource, token).await;
    }

    /// Returns an instant at which the guard is valid, and the earliest end of its validity. That is
    /// earlier than the true end by no more than the time between two readings of the clock. `None`
    /// means that it is not valid.
    fn valid_until<K: Kind>(&self, guard: &Lease<K>) -> (Nanos, Option<Nanos>) {
        let mut looks = 0;
        loop {
            let before = now();
            let left = guard.remaining();
            let after = now();
            looks += 1;
            if left.is_zero() {
                return (before, None);
            }
            if between(before, after) < TIGHT || looks == 5 {
                // It was won before this look, so a guard that is valid after `before` was valid then.
                return (before, Some(before + nanos(self.process.orders.by_the_machine(left))));
            }
        }
    }
}
