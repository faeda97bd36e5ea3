//! A rolling restart, as `docs/operations.md` describes it, under locks of every kind that are held and
//! waited for at the same time. Six clients want all of them. What is held before the first restart
//! stays with its holder until the last one is over; then all others get in.

use super::prelude::*;
use quorumlock::{FencingWindow, NodeStanding, Redlock, RedlockBuilder};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

pub(crate) const TTL: Duration = Duration::from_secs(4);
/// How long a restarted master does not vote, with these settings.
const QUARANTINE: Duration = Duration::from_millis(4_042);
const CLIENTS: usize = 6;
/// Bound on what takes a few seconds on an idle machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Masters that can be restarted.
pub(crate) trait Restarts {
    fn count(&self) -> usize;
    fn builder(&self) -> RedlockBuilder;
    async fn restart(&self, node: usize);
}

/// The kinds of locks, and how many hold one of each kind at a time.
const KINDS: [(&str, usize); 14] = [
    ("plain", 1),
    ("fenced", 1),
    ("fair", 1),
    ("fair and fenced", 1),
    ("several", 1),
    ("permits", 2),
    ("leader", 1),
    ("re-entrant", 1),
    ("adopted", 1),
    ("delay", 1),
    ("by hand", 1),
    ("tried", 1),
    ("readers", 2),
    ("writer", 1),
];

/// What has happened so far.
pub(crate) struct Play {
    entered: Mutex<BTreeMap<&'static str, Vec<usize>>>,
    faults: Mutex<Vec<String>>,
    over: watch::Sender<bool>,
}

impl Play {
    fn new() -> Self {
        Self {
            entered: Mutex::default(),
            faults: Mutex::default(),
            over: watch::Sender::new(false),
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        *self.over.borrow()
    }

    async fn until_over(&self) {
        let _ = self.over.subscribe().wait_for(|over| *over).await;
    }

    /// Notes that a client has a lock. Before the last restart is over, no client enters behind the first.
    pub(crate) fn enter(&self, kind: &'static str, client: usize, capacity: usize) {
        let mut entered = self.entered.lock().unwrap();
        let clients = entered.entry(kind).or_default();
        clients.push(client);
        if clients.len() > capacity && !self.is_over() {
            let fault = format!("{kind}: {clients:?} got in, and there is room for {capacity}");
            self.faults.lock().unwrap().push(fault);
        }
    }

    pub(crate) fn fault(&self, fault: String) {
        self.faults.lock().unwrap().push(fault);
    }

    fn inside(&self, kind: &str) -> usize {
        self.entered.lock().unwrap().get(kind).map_or(0, Vec::len)
    }
}

/// Holds what has been acquired until the restarts are over: it must not be lost.
macro_rules! hold {
    ($play:expr, $kind:expr, $client:expr, $acquired:expr) => {
        match $acquired {
            Err(error) => $play.fault(format!("{}, client {}: {error}", $kind, $client)),
            Ok(guard) => {
                let capacity = KINDS.iter().find(|(kind, _)| *kind == $kind).unwrap().1;
                $play.enter($kind, $client, capacity);
                tokio::select! {
                    lost = guard.lost() => {
                        $play.fault(format!("{}, client {}: {lost}", $kind, $client));
                    }
                    () = $play.until_over() => {
                        if let Err(lost) = guard.check() {
                            $play.fault(format!("{}, client {}: {lost}", $kind, $client));
                        }
                        drop(guard);
                    }
                }
            }
        }
    };
}

/// Tries for a lock again and again, as a job does that does not wait.
async fn try_on(play: &Play, redlock: &Redlock, client: usize) {
    loop {
        match redlock.try_acquire("tried").fenced().await {
            Ok(guard) => return hold!(play, "tried", client, Ok::<_, String>(guard)),
            Err(_) => sleep(100 * MS).await,
        }
    }
}

/// Extends a lock that has no keeper.
async fn extend_by_hand(play: &Play, redlock: &Redlock, client: usize) {
    let guard = match redlock.acquire("by hand").fenced().await {
        Err(error) => return play.fault(format!("by hand, client {client}: {error}")),
        Ok(guard) => guard,
    };
    let extends = async {
        loop {
            sleep(TTL / 4).await;
            let _the_next_may_succeed = guard.extend().await;
        }
    };
    let holds = async { hold!(play, "by hand", client, Ok::<_, String>(guard.lease())) };
    tokio::select! {
        () = holds => {}
        () = extends => {}
    }
}

/// Wants a lock of this kind, holds it until the restarts are over, and gives it back.
async fn want(play: Arc<Play>, clients: Vec<Redlock>, client: usize, kind: &'static str) {
    let redlock = clients[client].clone();
    let play = &*play;
    match kind {
        "plain" => hold!(play, kind, client, redlock.acquire(kind).keep_alive().await),
        "fenced" => hold!(play, kind, client, redlock.acquire(kind).keep_alive().fenced().await),
        "fair" => hold!(play, kind, client, redlock.acquire(kind).fair(true).keep_alive().await),
        "fair and fenced" => {
            hold!(play, kind, client, redlock.acquire(kind).fair(true).keep_alive().fenced().await);
        }
        "several" => {
            let acquire = redlock.acquire_all(["one of several", "another of them"]);
            hold!(play, kind, client, acquire.keep_alive().fenced().await);
        }
        "permits" => {
            let permits = redlock.semaphore(kind, 2);
            hold!(play, kind, client, permits.acquire().keep_alive().await);
        }
        "leader" => {
            let election = redlock.election(kind).ttl(TTL);
            hold!(play, kind, client, election.campaign(format!("candidate {client}")).await);
        }
        "re-entrant" => {
            let handle = redlock.reentrant().fenced();
            match handle.acquire(kind).keep_alive().await {
                Err(error) => play.fault(format!("{kind}: {error}")),
                Ok(_outer) => hold!(play, kind, client, handle.acquire(kind).await),
            }
        }
        "adopted" if client == 0 => {
            let guard = redlock.acquire(kind).fenced().await.unwrap();
            let detached = guard.detach().await.unwrap();
            hold!(play, kind, client, clients[1].adopt(detached).keep_alive().await);
        }
        "adopted" => hold!(play, kind, client, redlock.acquire(kind).keep_alive().fenced().await),
        "delay" => {
            let acquire = redlock.acquire(kind).ttl(TTL / 2).lock_delay(SECOND).min_hold(SECOND);
            hold!(play, kind, client, acquire.keep_alive().fenced().await);
        }
        "by hand" => extend_by_hand(play, &redlock, client).await,
        "tried" if client == 0 => {
            hold!(play, kind, client, redlock.acquire(kind).keep_alive().fenced().await);
        }
        "tried" => try_on(play, &redlock, client).await,
        "readers" if client < 2 => {
            hold!(play, kind, client, redlock.rw_lock(kind).read().keep_alive().await);
        }
        "readers" => hold!(play, kind, client, redlock.rw_lock(kind).write().keep_alive().await),
        "writer" if client.is_multiple_of(2) => {
            let write = redlock.rw_lock(kind).write();
            hold!(play, kind, client, write.keep_alive().fenced().await);
        }
        "writer" => hold!(play, kind, client, redlock.rw_lock(kind).read().keep_alive().await),
        other => unreachable!("{other}"),
    }
}

/// Whether this client wants a lock of this kind only once others have it. For all other kinds, the
/// clients try at the same moment, and split the votes.
fn comes_later(kind: &str, client: usize) -> bool {
    match kind {
        "readers" => client >= 2,
        "adopted" | "tried" | "writer" => client > 0,
        _ => false,
    }
}

async fn connect(masters: &impl Restarts) -> Vec<Redlock> {
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        let window = FencingWindow { back: 500 * MS, ahead: 500 * MS };
        let builder = masters.builder().ttl(TTL).max_ttl(TTL).fencing_window(window);
        clients.push(builder.acquire_timeout(100 * PATIENCE).connect().await.unwrap());
    }
    clients
}

/// Waits until each client lets each master vote.
async fn all_vote(clients: &[Redlock]) {
    let all_vote = async || loop {
        let mut all = true;
        for client in clients {
            let status = client.status().await.unwrap();
            all &= status.nodes().iter().all(|node| node.standing == NodeStanding::Voting);
        }
        if all {
            return;
        }
        sleep(50 * MS).await;
    };
    timeout(PATIENCE, all_vote()).await.expect("all masters vote");
}

async fn inside(play: &Play, kinds: impl Fn(&str, usize) -> usize) {
    let enough = async || {
        while KINDS.iter().any(|(kind, capacity)| play.inside(kind) < kinds(kind, *capacity)) {
            sleep(20 * MS).await;
        }
    };
    if timeout(PATIENCE, enough()).await.is_err() {
        panic!("not all got in: {:?}, {:?}", play.entered.lock().unwrap(), play.faults);
    }
}

/// Restarts all masters, one after the other, and returns what went wrong. `more` starts threads that want
/// a lock, too.
pub(crate) async fn restart_all(
    masters: &impl Restarts,
    more: impl FnOnce(&Arc<Play>) -> Vec<JoinHandle<()>>,
) -> Vec<String> {
    let (clients, play) = (connect(masters).await, Arc::new(Play::new()));
    all_vote(&clients).await;
    let mut all = JoinSet::new();
    let mut start = |late: bool| {
        for (kind, _) in KINDS {
            for client in (0..CLIENTS).filter(|client| comes_later(kind, *client) == late) {
                all.spawn(want(play.clone(), clients.clone(), client, kind));
            }
        }
    };
    start(false);
    inside(&play, |_, capacity| capacity).await;
    start(true);
    let threads = more(&play);
    // Where the votes were split, the key gets to all masters with one of the next extensions.
    sleep(TTL).await;
    for node in 0..masters.count() {
        masters.restart(node).await;
        sleep(QUARANTINE).await;
        all_vote(&clients).await;
    }
    sleep(TTL / 2).await;
    play.over.send_replace(true);
    inside(&play, |_, _| CLIENTS).await;
    while let Some(ended) = all.join_next().await {
        ended.unwrap();
    }
    for thread in threads {
        tokio::task::spawn_blocking(|| thread.join().unwrap()).await.unwrap();
    }
    std::mem::take(&mut *play.faults.lock().unwrap())
}
