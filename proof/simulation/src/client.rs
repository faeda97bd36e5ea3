//! One client: the machine that ships, its clock, and the beliefs of its callers.

use super::agenda::{Happening, LineId};
use super::clock::{Clock, Time};
use super::hand_over::{Onward, Parcel};
use super::invariants::Load;
use super::line::Line;
use super::plan::Asked;
use super::seed::Rng;
use super::setup::Setup;
use quorumlock_core::coordinator::wire::Login;
use quorumlock_core::coordinator::{AttemptId, Coordinator, Random, RequestId};
use quorumlock_core::quorum::{Instant, NodeSet};
use quorumlock_core::shelf::{Lent, Shelf};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Tokens that show which client drew them, and jitter from the seed.
struct Dice {
    client: usize,
    tokens: Arc<AtomicU64>,
    rng: Rng,
}

impl Random for Dice {
    fn bits(&mut self) -> Option<u128> {
        let token = self.tokens.fetch_add(1, Ordering::Relaxed) + 1;
        Some(((self.client as u128 + 1) << 96) | u128::from(token))
    }

    fn jitter(&mut self) -> u64 {
        self.rng.next()
    }
}

/// Returns the client that has drawn a token.
pub(super) fn owner(token: &str) -> Option<usize> {
    usize::from_str_radix(token.get(..8)?, 16).ok()?.checked_sub(1)
}

/// Returns a token as it is written in a log: `A7` is the seventh of A.
pub(super) fn named(text: &str) -> String {
    let digits = |text: &str| text.len() >= 32 && text.is_char_boundary(32);
    let number = text.get(8..32).and_then(|text| u128::from_str_radix(text, 16).ok());
    match (owner(text).filter(|_| digits(text)), number) {
        (Some(client), Some(number)) => format!("{}{number}{}", name(client), &text[32..]),
        _ => text.to_owned(),
    }
}

/// Returns a text for a violation or a log, with tokens by their names.
pub(super) fn with_names(text: &str) -> String {
    let is_hex = |letter: char| letter.is_ascii_hexdigit();
    let mut output = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(is_hex) {
        output.push_str(&rest[..at]);
        let tail = &rest[at..];
        let end = tail.find(|letter| !is_hex(letter)).unwrap_or(tail.len());
        output.push_str(&named(&tail[..end]));
        rest = &tail[end..];
    }
    output + rest
}

pub(super) fn name(client: usize) -> String {
    match u8::try_from(client) {
        Ok(place @ 0..26) => char::from(b'A' + place).to_string(),
        _ => format!("C{client}"),
    }
}

/// A lock that was won, as its guard sees it.
pub(super) struct Held {
    pub(super) asked: Asked,
    pub(super) attempt: AttemptId,
    pub(super) token: String,
    pub(super) ballot: u64,
    pub(super) won_at: Time,
    pub(super) deadline: Instant,
    /// It was given up, or the machine has reported that it is lost.
    pub(super) is_over: bool,
    /// Given up before its deadline.
    pub(super) in_time: bool,
    /// Given up: no caller can use it any more.
    pub(super) is_given_up: bool,
    /// The machine has reported that a quorum is gone.
    pub(super) is_gone: bool,
    /// A caller waits for the result of its release.
    pub(super) is_awaited: bool,
    /// A caller makes it a reader, and whether a master has been asked to do so.
    pub(super) downgrades: Option<bool>,
    /// The last request that it become a reader.
    pub(super) downgraded_by: u64,
    /// Its place on the shelf, if its guard gives it back there.
    pub(super) lent: Option<Arc<Lent<u64>>>,
}

impl Held {
    pub(super) fn new(
        asked: Asked,
        attempt: AttemptId,
        (token, ballot): (String, u64),
        won_at: Time,
        deadline: Instant,
    ) -> Self {
        Self {
            asked,
            attempt,
            token,
            ballot,
            won_at,
            deadline,
            is_over: false,
            in_time: false,
            is_given_up: false,
            is_gone: false,
            is_awaited: false,
            downgrades: None,
            downgraded_by: 0,
            lent: None,
        }
    }

    pub(super) fn is_valid(&self, now: Instant) -> bool {
        !self.is_over && now < self.deadline
    }
}

pub(super) struct Client {
    pub(super) seat: usize,
    /// The masters of the world that it knows, in its own order.
    pub(super) nodes: Vec<usize>,
    /// `None` once the client is killed.
    pub(super) machine: Option<Coordinator>,
    /// The locks that callers take without the machine, for holds by their numbers.
    pub(super) shelf: Arc<Shelf<u64>>,
    pub(super) clock: Clock,
    /// How far its wall clock is ahead of the true time, since 1970.
    pub(super) wall: Duration,
    pub(super) paused: usize,
    /// The client ends, and takes no more requests.
    pub(super) is_ending: bool,
    /// The client has ended without paying what it owed: its keys expire.
    pub(super) keys_expire: bool,
    pub(super) paused_at: Time,
    pub(super) resumed_at: Time,
    pub(super) wakes_at: Option<(Instant, Time)>,
    /// Happenings that came while it was paused.
    pub(super) waiting: Vec<Happening>,
    /// Its end of the current connection to each master.
    pub(super) lines: Vec<Option<LineId>>,
    /// When something was last wrong with its link to each master.
    pub(super) disturbed: Vec<Time>,
    /// Masters to which a connection has ended: the client may never have read what they noted
    /// then.
    pub(super) unread: NodeSet,
    /// Masters of which it has met a process: it can tell a new machine under an old address.
    pub(super) met: NodeSet,
    /// The client has connected, which callers wait for.
    pub(super) is_connected: bool,
    /// The client was notified of others when it connected, and gives up.
    pub(super) is_refused: bool,
    pub(super) requests: u64,
    pub(super) tokens: Arc<AtomicU64>,
    /// Acquires without an answer.
    pub(super) asked: BTreeMap<u64, Asked>,
    /// Acquires of bursts without an answer.
    pub(super) burst: BTreeSet<u64>,
    /// When the last of them ended.
    pub(super) asked_until: Time,
    /// The holds, by the number of the acquire.
    pub(super) holds: BTreeMap<u64, Held>,
    /// Inspections without an answer: of what, and since when.
    pub(super) inspected: BTreeMap<u64, (&'static str, Time)>,
    /// Detachments and adoptions without an answer.
    pub(super) detaching: BTreeMap<u64, Onward>,
    pub(super) adopting: BTreeMap<u64, Box<Parcel>>,
    /// The number of adoptions begun.
    pub(super) adopts: usize,
    /// Releases and extensions without an answer.
    pub(super) awaited: BTreeSet<u64>,
    /// A holder that an inspection has shown: key and value.
    pub(super) seen: Option<(&'static str, String)>,
    pub(super) rng: Rng,
    /// Every lock is given back at once.
    pub(super) is_leaving: bool,
    /// The number of acquires after the end of all faults that have won.
    pub(super) won: usize,
}

impl Client {
    pub(super) fn new(place: usize, seat: usize, setup: &Setup, rng: &mut Rng, now: Time) -> Self {
        let clock = setup.clock(rng);
        let tokens = Arc::new(AtomicU64::new(0));
        let dice = Dice { client: place, tokens: tokens.clone(), rng: rng.fork() };
        let nodes = setup.kind(seat).nodes();
        let names = nodes.iter().map(|node| (format!("n{}", node + 1).into(), Login::default()));
        let settings = setup.settings(seat);
        let mut machine = Coordinator::new(clock.at(now), settings, names, Box::new(dice));
        let shelf = Arc::<Shelf<u64>>::default();
        machine.use_shelf(shelf.clone());
        Self {
            seat,
            machine: Some(machine),
            shelf,
            nodes,
            clock,
            wall: setup.wall(rng),
            paused: 0,
            is_ending: false,
            keys_expire: false,
            paused_at: now,
            resumed_at: now,
            wakes_at: None,
            waiting: Vec::new(),
            lines: (0..setup.masters).map(|_| None).collect(),
            disturbed: vec![now; setup.masters],
            unread: NodeSet::EMPTY,
            met: NodeSet::EMPTY,
            is_connected: false,
            is_refused: false,
            requests: 0,
            tokens,
            asked: BTreeMap::new(),
            burst: BTreeSet::new(),
            asked_until: now,
            holds: BTreeMap::new(),
            inspected: BTreeMap::new(),
            detaching: BTreeMap::new(),
            adopting: BTreeMap::new(),
            adopts: 0,
            awaited: BTreeSet::new(),
            seen: None,
            rng: rng.fork(),
            is_leaving: false,
            won: 0,
        }
    }

    /// Returns the place of a master of the world in the client's own order; only of one that it
    /// knows.
    pub(super) fn own(&self, node: usize) -> usize {
        self.nodes.iter().position(|known| *known == node).expect("a master that it knows")
    }

    /// Ends an acquire: it is answered, or its caller has gone.
    pub(super) fn end_asked(&mut self, request: u64, now: Time) -> Option<Asked> {
        self.asked_until = now;
        self.asked.remove(&request)
    }

    /// Ends an acquire of a burst. Returns whether it is one.
    pub(super) fn end_of_burst(&mut self, request: u64, now: Time) -> bool {
        let was_there = self.burst.remove(&request);
        if was_there {
            self.asked_until = now;
        }
        was_there
    }

    /// Begins a request: the wall clock is read, as in the driver.
    pub(super) fn next_request(&mut self, now: Time) -> RequestId {
        let wall = self.wall + Duration::from_nanos(now);
        let wall_us = u64::try_from(wall.as_micros()).expect("a wall clock of this age");
        let local = self.clock.at(now);
        if let Some(machine) = &mut self.machine {
            machine.handle_wall_clock(local, wall_us);
        }
        self.requests += 1;
        RequestId(self.requests)
    }

    /// Returns a guard that can still be used.
    pub(super) fn any_guard(&self, dice: u64) -> Option<u64> {
        let guards: Vec<u64> =
            self.holds.iter().filter(|(_, held)| !held.is_given_up).map(|(won, _)| *won).collect();
        (!guards.is_empty()).then(|| guards[dice as usize % guards.len()])
    }

    /// Returns the hold of an attempt, while it is remembered.
    pub(super) fn won(&mut self, attempt: AttemptId) -> Option<&mut Held> {
        self.holds.values_mut().find(|held| held.attempt == attempt)
    }

    pub(super) fn load(&self) -> Load {
        let Some(machine) = &self.machine else { return Load::default() };
        let bytes = (0..self.nodes.len()).map(|own| machine.transmit(own).1.len());
        Load {
            entries: machine.entries(),
            debts: machine.masters().debts(),
            bytes: bytes.max().unwrap_or(0),
        }
    }

    /// Returns the number of requests without an answer, and of guards.
    pub(super) fn open(&self) -> usize {
        let handed = self.detaching.len() + self.adopting.len();
        let idle = self.machine.as_ref().map_or(0, Coordinator::idle_holds);
        let asked = self.asked.len() + self.burst.len() + self.inspected.len() + self.awaited.len();
        asked + self.holds.len() + handed + idle
    }
}

impl Line {
    /// Returns whether the client at this end still has it.
    pub(super) fn is_of(&self, clients: &[Client], id: LineId) -> bool {
        self.open && clients[self.client].lines[self.node] == Some(id)
    }
}

#[test]
fn a_token_shows_which_client_drew_it() {
    let mut dice = Dice { client: 2, tokens: Arc::default(), rng: super::seed::Seed(1).rng() };
    dice.bits();
    let token = format!("{:032x}:me", dice.bits().unwrap());
    assert_eq!((owner(&token), named(&token).as_str()), (Some(2), "C2:me"));
    let text = format!("a={token} and b");
    assert_eq!(with_names(&text), "a=C2:me and b");
}
