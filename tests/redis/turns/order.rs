//! The order in which waiters are served, as the masters themselves report it: a MONITOR on each shows
//! when it stored whose ticket.

use super::processes::SECTION;
use super::{nanos, span};
use crate::support::docker::tell;
use crate::support::prelude::*;
use crate::support::seed::Seed;
use futures::future::join_all;
use quorumlock::Redlock;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

const MASTERS: usize = 5;
/// Two that come closer together than this may be stored in any order.
const APART: Duration = Duration::from_millis(5);

/// A command that a master executed, as it reports it, in nanoseconds of its clock.
struct Seen {
    master: usize,
    at: u128,
    from: String,
    words: Vec<String>,
}

impl Seen {
    /// Reads `1339518083.107412 [0 127.0.0.1:60866] "SET" "r" "x"`; `None` for the calls of a script.
    fn read(master: usize, line: &str) -> Option<Self> {
        let (at, rest) = line.strip_prefix('+')?.split_once(" [")?;
        let (from, words) = rest.split_once("] ")?;
        let from = from.split_once(' ')?.1;
        let (seconds, micros) = at.split_once('.')?;
        let at = (seconds.parse::<u128>().ok()? * 1_000_000 + micros.parse::<u128>().ok()?) * 1_000;
        let words = words.trim_matches('"').split("\" \"").map(str::to_owned).collect();
        (from != "lua").then(|| Self { master, at, from: from.to_owned(), words })
    }

    /// Returns the name of the client that introduces itself with this command.
    fn introduced(&self) -> Option<usize> {
        let name = self.words.get(1).filter(|_| self.words[0] == "SET")?;
        name.strip_prefix("client:")?.parse().ok()
    }

    /// Returns whether it stores the ticket of a waiter: a look or a try that has one.
    fn stores(&self) -> bool {
        let is_script = self.words[0].starts_with("EVAL");
        let keys = self.words.get(2).filter(|_| is_script).and_then(|keys| keys.parse().ok());
        let Some(arguments) = keys.and_then(|keys: usize| self.words.get(3 + keys..)) else {
            return false;
        };
        // Those of a release have a word where a waiter has its name.
        let is_ask = arguments.get(2).is_some_and(|waiter| waiter.len() == 32);
        is_ask && arguments.get(3).is_some_and(|ticket| !ticket.is_empty())
    }
}

/// Begins to read what the masters execute, until they end.
fn monitor(masters: &Masters) -> Receiver<Seen> {
    let (sender, seen) = channel();
    for (master, server) in masters.iter().enumerate() {
        let mut stream = TcpStream::connect(server.addr()).unwrap();
        stream.write_all(b"MONITOR\r\n").unwrap();
        let mut lines = BufReader::new(stream).lines();
        assert_eq!(lines.next().unwrap().unwrap(), "+OK");
        let sender = sender.clone();
        std::thread::spawn(move || {
            let seen = lines.map_while(Result::ok).filter_map(|line| Seen::read(master, &line));
            seen.map_while(|seen| sender.send(seen).ok()).for_each(drop);
        });
    }
    seen
}

/// A wait: whose, from when to when, when the lock was given back after it, and since when its ticket
/// has been stored at a quorum, if it has been.
struct Wait {
    client: usize,
    asked: u128,
    from: u128,
    until: u128,
    stood: Option<u128>,
}

/// Asks for the lock again and again, after a pause at random, until so many waits are over.
async fn work(
    client: usize,
    redlock: Redlock,
    left: Arc<AtomicUsize>,
    pauses: Vec<Duration>,
) -> Vec<Wait> {
    let (mut waits, mut pauses) = (Vec::new(), pauses.into_iter().cycle());
    redlock.acquire(format!("client:{client}")).await.unwrap().release().await.unwrap();
    while left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok() {
        tokio::time::sleep(pauses.next().unwrap_or_default()).await;
        let asked = nanos();
        let guard = redlock.acquire("r").fair().no_timeout().await.unwrap();
        let from = nanos();
        tokio::time::sleep(SECTION).await;
        waits.push(Wait { client, asked, from, until: nanos(), stood: None });
        guard.release().await.unwrap();
    }
    waits
}

/// Of all pairs of waits that began [`APART`] and more and overlap: how many, and how many of them were
/// served out of order, by cause.
#[derive(Default, Debug)]
struct Pairs {
    apart: usize,
    /// The first stood at a quorum when the lock was given back, and the second came later.
    broken: usize,
    /// The first stood when the second came, and the lock was free: nothing kept it for the first.
    while_free: usize,
    before_it_stood: usize,
    without_a_ticket: usize,
}

impl Pairs {
    /// Counts a pair. `releases` are in their order.
    fn count(&mut self, first: &Wait, second: &Wait, releases: &[u128]) {
        let overlap = second.asked < first.from;
        if span(first.asked, second.asked) < APART || !overlap {
            return;
        }
        self.apart += 1;
        if first.from < second.from {
            return;
        }
        let before = releases.partition_point(|release| *release < second.from);
        let given_back = releases[..before].last().copied().unwrap_or_default();
        match first.stood {
            None => self.without_a_ticket += 1,
            Some(stood) if stood < second.asked && stood < given_back => self.broken += 1,
            Some(stood) if stood < second.asked => self.while_free += 1,
            Some(_) => self.before_it_stood += 1,
        }
    }
}

/// Lets the clients wait so many times in all, and counts.
async fn served(clients: usize, waits: usize) -> Pairs {
    let masters = Masters::start(MASTERS);
    let seen = monitor(&masters);
    let connecting = (0..clients).map(|_| masters.builder().operation_timeout(SECOND).connect());
    let all = join_all(connecting).await.into_iter().map(Result::unwrap);
    let (left, mut rng) =
        (Arc::new(AtomicUsize::new(waits)), Seed::from_env("QUORUMLOCK_SEED").rng());
    let began = Instant::now();
    let tasks = all.enumerate().map(|(client, redlock)| {
        let pauses = (0..100).map(|_| rng.duration(Duration::ZERO..10 * SECTION)).collect();
        tokio::spawn(work(client, redlock, left.clone(), pauses))
    });
    let all = join_all(tasks.collect::<Vec<_>>()).await;
    let mut all: Vec<Wait> = all.into_iter().flat_map(Result::unwrap).collect();
    let took = began.elapsed();
    drop(masters);
    let seen: Vec<Seen> = seen.iter().collect();
    let sent = seen.len();
    note(clients, &mut all, &seen);
    let longest = all.iter().map(|wait| span(wait.asked, wait.from)).max().unwrap_or_default();
    let stood = all.iter().filter(|wait| wait.stood.is_some()).count();
    let mut pairs = Pairs::default();
    let mut releases: Vec<u128> = all.iter().map(|wait| wait.until).collect();
    releases.sort_unstable();
    for first in &all {
        all.iter().for_each(|second| pairs.count(first, second, &releases));
    }
    tell(&format!(
        "{waits} waits of {clients} clients in {took:.1?}, {longest:.0?} at most, {stood} of them stood \
         at a quorum, {} commands sent for each: {pairs:?}",
        sent / waits
    ));
    pairs
}

/// Notes since when each wait stood at a quorum.
fn note(clients: usize, all: &mut [Wait], seen: &[Seen]) {
    let introduced = seen.iter().filter_map(|command| Some((&command.from, command.introduced()?)));
    let connections: BTreeMap<&String, usize> = introduced.collect();
    // One that came late, or again, has not introduced itself: what it stores is not counted.
    let enough = clients * (MASTERS / 2 + 1);
    assert!(connections.len() >= enough, "a connection of each client to a quorum");
    let mut stored: Vec<Vec<(u128, usize)>> = vec![Vec::new(); clients];
    for command in seen.iter().filter(|command| command.stores()) {
        if let Some(client) = connections.get(&command.from) {
            stored[*client].push((command.at, command.master));
        }
    }
    stored.iter_mut().for_each(|of_client| of_client.sort_unstable());
    for wait in all {
        let during = |entry: &&(u128, usize)| (wait.asked..wait.from).contains(&entry.0);
        let mut masters: Vec<usize> = Vec::new();
        let mut stored = stored[wait.client].iter().filter(during);
        wait.stood = stored.find_map(|(at, master)| {
            if !masters.contains(master) {
                masters.push(*master);
            }
            (masters.len() > MASTERS / 2).then_some(*at)
        });
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_waiter_at_a_quorum_is_served_before_later_ones() {
    let pairs = served(12, 300).await;
    assert_eq!(pairs.broken, 0, "{pairs:?}");
    assert!(pairs.apart > 500, "{pairs:?}");
}

/// The figures that were asked for: `cargo nextest run --all-features --test redis turns::order
/// --run-ignored only --no-capture`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures"]
async fn the_order_of_ten_thousand_pairs() {
    // With few, the key is often free while a waiter stands, and a later SET may win. It is only printed.
    served(3, 4_000).await;
    let pairs = served(12, 4_000).await;
    assert_eq!(pairs.broken, 0, "{pairs:?}");
    assert!(pairs.apart >= 10_000, "{pairs:?}");
}
