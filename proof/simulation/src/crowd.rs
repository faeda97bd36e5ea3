//! A crowd (W11 of the bench) where it is larger than a machine can run: each client, with connections of its own,
//! wants one lock, works for 2 ms and wants it again at once. The coordinator and the scripts are those that ship. A
//! master is one processor, which takes 10 us for each command; a round trip takes 1 ms, and nothing is lost.

use super::clock::{Clock, Time, WallClock, millis, nanos};
use super::commands::{Commands, Deed};
use super::kinds::Kind;
use super::seed::{Rng, Seed};
use super::setup::{DRIFT, TODAY};
use quorumlock_core::coordinator::wire::Login;
use quorumlock_core::coordinator::{
    AcquireRequest, Action, Agreement, AttemptId, Coordinator, Epoch, Event, Keys, Random,
    RequestId, Rest, RestartGuard, Settings, Slots,
};
use quorumlock_core::pace::Backoff;
use quorumlock_core::quorum::{FencingWindow, Instant, Membership, Nanos};
use quorumlock_embedded::{ClientId, Machine, Output};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

const MASTERS: usize = 5;
const HOLD: Duration = millis(2);

/// The most messages that are delivered for each section while a crowd connects.
const MOST_AT_FIRST: f64 = 32.0;

/// How long bytes are under way, in microseconds.
const ONE_WAY_US: std::ops::Range<u64> = 450..550;

/// How long a master takes for a command.
const WORKS_FOR: Duration = Duration::from_micros(10);

/// The clocks of all clients, and of all masters.
const CLOCK: Clock = Clock { origin: 1_000_000_000, ppm: 0 };
const WALL_CLOCK: WallClock = WallClock { origin: TODAY, ppm: 0, stepped: 0 };

/// A client connects this long after the one before it.
const CONNECTS_EVERY: Duration = Duration::from_micros(500);

/// How much later bytes to and from a slow master arrive, and how long it takes clients to notice: for two heartbeats.
const SLOW_BY: Duration = millis(10);
const NOTICED_WITHIN: Duration = millis(30_000);

/// So many sections are counted for each client, and so many at least.
const ROUNDS: usize = 4;
const FEWEST_COUNTED: usize = 400;

/// A message on a channel, as a master sends it.
const MESSAGE: &[u8] = b">3\r\n$7\r\nmessage\r\n";

/// What clients send for connections, heartbeats and scripts, rather than for a lock.
const BESIDES: [&[u8]; 7] = [b"HELLO", b"PING", b"INFO", b"CONFIG", b"SCRIPT", b"CLIENT", b"TIME"];

struct Dice(Rng);

impl Random for Dice {
    fn bits(&mut self) -> Option<u128> {
        Some(u128::from(self.0.next()) << 64 | u128::from(self.0.next()))
    }

    fn jitter(&mut self) -> u64 {
        self.0.next()
    }
}

/// A master, its clients by their connections, and when it has done what it has begun.
struct Desk {
    machine: Machine,
    clients: BTreeMap<ClientId, usize>,
    free_at: Time,
    deliveries: u64,
    is_slow: bool,
}

/// A connection. Bytes arrive in the order in which they were sent.
#[derive(Default)]
struct Line {
    server: Option<ClientId>,
    epoch: Option<Epoch>,
    commands: Commands,
    reaches_at: Time,
    answers_at: Time,
}

struct Client {
    machine: Coordinator,
    lines: [Line; MASTERS],
    wakes_at: Option<Instant>,
    requests: u64,
    /// Since when it has wanted the lock.
    wants_since: Time,
    sections: usize,
}

enum Happening {
    Connected { node: usize, epoch: Epoch },
    Reaches { node: usize, bytes: Vec<u8> },
    Answers { node: usize, bytes: Vec<u8> },
    Wakes(Instant),
    Releases(AttemptId),
}

/// What each client wants.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wants {
    InWaitlist,
    Fair,
    Permit,
    /// Two resources, which all want.
    Both,
    /// Two neighbours of ten resources in a ring.
    Neighbours,
}

/// Resources in the ring.
const RING: usize = 10;

/// Permits of the semaphore.
const PERMITS: u8 = 5;

#[derive(Clone, Copy)]
struct Scene {
    clients: usize,
    wants: Wants,
    /// The master that clients ask first is slow, and none has wanted the lock since.
    is_first_slow: bool,
}

/// What a hand-over costs, and how even the shares are.
#[derive(Debug)]
struct Figures {
    commands: f64,
    deliveries: f64,
    /// The deliveries of the sections before those that count: while clients connect, others know of no waiter.
    deliveries_at_first: f64,
    sections_per_second: f64,
    /// In parts of the time in which each client could have had one section.
    longest_wait: f64,
    fewest_by_most: f64,
}

fn pair(one: usize, other: usize) -> Keys {
    let key = |number| format!("r{number}").into();
    Keys::several([one, other].map(key)).expect("two resources")
}

struct Crowd {
    scene: Scene,
    slots: Arc<Slots>,
    agenda: BTreeMap<(Time, u64), (usize, Happening)>,
    now: Time,
    count: u64,
    rng: Rng,
    desks: Vec<Desk>,
    clients: Vec<Client>,
    commands: u64,
    /// No client wants the lock again.
    rests: bool,
    sections: usize,
    longest_wait: Time,
}

fn settings() -> Settings {
    let members = Membership::of(MASTERS).expect("some masters");
    let window = FencingWindow { back: millis(2_000), ahead: millis(2_000) };
    let kind = Kind::new(members, Duration::from_secs(30), window, false);
    Settings {
        membership: members,
        drift: DRIFT,
        backoff: Backoff { base: millis(5), cap: millis(250) },
        operation_timeout: millis(1_000),
        connect_timeout: millis(1_000),
        rest: Rest { after: Duration::from_secs(60), heartbeat: Duration::from_secs(20) },
        redial_spread: millis(2_000),
        restart_guard: RestartGuard::On,
        quarantine: kind.quarantine,
        agreement: Agreement::new(kind.shared_settings(MASTERS), false),
        window,
        wake_ups: true,
        asks: true,
        waitlists: Some("quorumlock:waitlist:".into()),
        label: None,
    }
}

impl Crowd {
    fn new(scene: Scene, mut rng: Rng) -> Self {
        let desk = |node| {
            let mut machine = Machine::new(node, WALL_CLOCK.at(0));
            machine.set_uptime(86_400_000_000, WALL_CLOCK.at(0));
            Desk { machine, clients: BTreeMap::new(), free_at: 0, deliveries: 0, is_slow: false }
        };
        let client = |_| {
            let names = (1..=MASTERS).map(|node| (format!("n{node}").into(), Login::default()));
            let dice = Box::new(Dice(rng.fork()));
            Client {
                machine: Coordinator::new(CLOCK.at(0), settings(), names, dice),
                lines: Default::default(),
                wakes_at: None,
                requests: 0,
                wants_since: 0,
                sections: 0,
            }
        };
        let clients = (0..scene.clients).map(client).collect();
        let slots = (0..PERMITS).map(|slot| format!("r:{slot}").into());
        Self {
            scene,
            slots: Slots::new("r".into(), slots),
            agenda: BTreeMap::new(),
            now: 0,
            count: 0,
            rng,
            desks: (0..MASTERS as u64).map(desk).collect(),
            clients,
            commands: 0,
            rests: false,
            sections: 0,
            longest_wait: 0,
        }
    }

    fn at(&mut self, time: Time, client: usize, happening: Happening) {
        self.count += 1;
        self.agenda.insert((time, self.count), (client, happening));
    }

    /// Lets the clients contend until so many sections are over.
    fn pass(&mut self, sections: usize) {
        while self.sections < sections {
            self.goes_on();
        }
    }

    fn goes_on(&mut self) {
        let ((at, _), (client, happening)) = self.agenda.pop_first().expect("a crowd goes on");
        self.now = at;
        self.happens(client, happening);
    }

    fn happens(&mut self, place: usize, happening: Happening) {
        let now = CLOCK.at(self.now);
        let client = &mut self.clients[place];
        match happening {
            Happening::Connected { node, epoch } => {
                let server = self.desks[node].machine.open();
                self.desks[node].clients.insert(server, place);
                let line = &mut client.lines[node];
                (line.server, line.epoch) = (Some(server), Some(epoch));
                client.machine.handle_connected(now, node, epoch);
            }
            Happening::Reaches { node, bytes } => return self.reaches(place, node, &bytes),
            Happening::Answers { node, bytes } => {
                let epoch = client.lines[node].epoch.expect("a connection");
                client.machine.handle_bytes(now, node, epoch, &bytes);
            }
            Happening::Wakes(at) if client.wakes_at == Some(at) => {
                client.wakes_at = None;
                client.machine.handle_caught_up(now);
                client.machine.handle_timeout(now);
            }
            Happening::Wakes(_) => return,
            Happening::Releases(attempt) => {
                client.requests += 1;
                let request = RequestId(client.requests);
                client.machine.handle_end_well(attempt);
                client.machine.handle_release(now, Some(request), attempt, true);
                self.sections += 1;
                if !self.rests {
                    self.wants(place);
                }
            }
        }
        self.turn(place);
    }

    /// Lets a master do what a client has sent.
    fn reaches(&mut self, place: usize, node: usize, bytes: &[u8]) {
        let (desk, line) = (&mut self.desks[node], &mut self.clients[place].lines[node]);
        line.commands.receive(bytes);
        let server = line.server.expect("a connection");
        let mut begins = desk.free_at.max(self.now);
        while let Some(words) = line.commands.next() {
            begins += nanos(WORKS_FOR);
            let is_of_lock = !BESIDES.contains(&&*words[0]) && Deed::of(&words) != Deed::Agree;
            self.commands += u64::from(is_of_lock);
        }
        desk.free_at = begins;
        desk.machine.receive(server, WALL_CLOCK.at(self.now), bytes);
        let mut outputs = Vec::new();
        while let Some(output) = desk.machine.poll_output() {
            let Output::Send(to, bytes) = output else { panic!("a master hangs up") };
            outputs.push((desk.clients[&to], bytes));
        }
        for (to, bytes) in outputs {
            self.desks[node].deliveries +=
                bytes.windows(MESSAGE.len()).filter(|part| *part == MESSAGE).count() as u64;
            let takes = self.one_way(node);
            let line = &mut self.clients[to].lines[node];
            line.answers_at = line.answers_at.max(begins + takes);
            let at = line.answers_at;
            self.at(at, to, Happening::Answers { node, bytes });
        }
    }

    fn one_way(&mut self, node: usize) -> Time {
        let slow_by = if self.desks[node].is_slow { nanos(SLOW_BY) } else { 0 };
        slow_by + self.rng.within(ONE_WAY_US) * 1_000
    }

    fn deliveries(&self) -> u64 {
        self.desks.iter().map(|desk| desk.deliveries).sum()
    }

    /// Makes the master slow where clients are called, and lets them rest until they have noticed.
    fn slow_the_first(&mut self) {
        let first = self.desks.iter_mut().max_by_key(|desk| desk.deliveries);
        first.expect("some masters").is_slow = true;
        self.rests = true;
        let until = self.now + nanos(NOTICED_WITHIN);
        while self.agenda.first_key_value().is_some_and(|((at, _), _)| *at < until) {
            self.goes_on();
        }
        (self.now, self.rests) = (until, false);
        for place in 0..self.scene.clients {
            self.wants(place);
            self.turn(place);
        }
        self.pass(self.sections + self.scene.clients);
    }

    fn wants(&mut self, place: usize) {
        let client = &mut self.clients[place];
        client.requests += 1;
        client.wants_since = self.now;
        let acquire = AcquireRequest {
            keys: match self.scene.wants {
                Wants::InWaitlist | Wants::Fair => Keys::one("r".into()),
                Wants::Permit => Keys::any_of(self.slots.clone()).expect("some slots"),
                Wants::Both => pair(0, 1),
                Wants::Neighbours => pair(place % RING, (place + 1) % RING),
            },
            fences: None,
            ttl: Duration::from_secs(10).into(),
            lock_delay: Duration::ZERO.into(),
            wait: Nanos::FOREVER,
            keep_alive: None,
            label: None,
            at_least: None,
            keep_warm: Nanos::of(Duration::ZERO),
            probes: false,
            is_fair: self.scene.wants == Wants::Fair,
        };
        let request = RequestId(client.requests);
        client.machine.handle_acquire(CLOCK.at(self.now), request, acquire);
    }

    fn turn(&mut self, place: usize) {
        loop {
            let client = &mut self.clients[place];
            if let Some(action) = client.machine.poll_action() {
                let Action::Dial { node, epoch } = action else { panic!("{action:?}") };
                let takes = 2 * self.rng.within(ONE_WAY_US) * 1_000;
                self.at(self.now + takes, place, Happening::Connected { node, epoch });
                continue;
            }
            match client.machine.poll_event() {
                Some(Event::Connected) => self.wants(place),
                Some(Event::Acquired { attempt, .. }) => {
                    client.sections += 1;
                    self.longest_wait = self.longest_wait.max(self.now - client.wants_since);
                    self.at(self.now + nanos(HOLD), place, Happening::Releases(attempt));
                }
                Some(Event::NotAcquired { failure, .. }) => panic!("{failure:?}"),
                Some(Event::Lost { reason, .. }) => panic!("{reason:?}"),
                Some(_) => {}
                None => break,
            }
        }
        for node in 0..MASTERS {
            let client = &mut self.clients[place];
            let (epoch, bytes) = client.machine.transmit(node);
            let bytes = bytes.to_vec();
            if bytes.is_empty() || client.lines[node].epoch != Some(epoch) {
                continue;
            }
            client.machine.handle_written(CLOCK.at(self.now), node, epoch, bytes.len());
            let takes = self.one_way(node);
            let line = &mut self.clients[place].lines[node];
            line.reaches_at = line.reaches_at.max(self.now + takes);
            let at = line.reaches_at;
            self.at(at, place, Happening::Reaches { node, bytes });
        }
        let client = &mut self.clients[place];
        let due = client.machine.due_at();
        if client.wakes_at != due {
            client.wakes_at = due;
            if let Some(due) = due {
                self.at(CLOCK.when(due).max(self.now), place, Happening::Wakes(due));
            }
        }
    }

    fn figures(mut self) -> Figures {
        for place in 0..self.scene.clients {
            self.now = nanos(CONNECTS_EVERY) * place as u64;
            self.turn(place);
        }
        // Each has had it once, on average.
        self.pass(self.scene.clients.max(FEWEST_COUNTED));
        let deliveries_at_first = self.deliveries() as f64 / self.sections as f64;
        if self.scene.is_first_slow {
            self.slow_the_first();
        }
        let (began, before, delivered) = (self.now, self.sections, self.deliveries());
        (self.commands, self.longest_wait) = (0, 0);
        self.clients.iter_mut().for_each(|client| client.sections = 0);
        let counted = (ROUNDS * self.scene.clients).max(FEWEST_COUNTED);
        self.pass(before + counted);
        let each = (self.now - began) as f64 / counted as f64;
        let waiting = self.clients.iter().filter(|client| client.sections == 0);
        let still = waiting.map(|client| self.now - client.wants_since).max().unwrap_or_default();
        let sections = || self.clients.iter().map(|client| client.sections as f64);
        Figures {
            commands: self.commands as f64 / counted as f64,
            deliveries: (self.deliveries() - delivered) as f64 / counted as f64,
            deliveries_at_first,
            sections_per_second: 1e9 / each,
            longest_wait: self.longest_wait.max(still) as f64 / each / self.scene.clients as f64,
            fewest_by_most: sections().fold(f64::MAX, f64::min) / sections().fold(0.0, f64::max),
        }
    }
}

/// Each row: clients, what they want, and the most commands and deliveries, the least speed in parts of
/// that of ten, the longest wait, and the fewest sections by the most.
type Row = (Scene, [f64; 5]);

const fn row(clients: usize, wants: Wants, bar: [f64; 5]) -> Row {
    (Scene { clients, wants, is_first_slow: false }, bar)
}

/// Plays each row and one of ten clients, and checks that none is beyond its bar.
fn assert_within(rows: &[Row]) {
    let seed = Seed::from_env("QUORUMLOCK_SEED");
    let play = |scene| move || Crowd::new(scene, seed.rng()).figures();
    let misses = thread::scope(|scope| {
        let ten = Scene { clients: 10, wants: Wants::InWaitlist, is_first_slow: false };
        let ten = scope.spawn(play(ten));
        let played = rows.iter().map(|(scene, _)| scope.spawn(play(*scene))).collect::<Vec<_>>();
        let ten = ten.join().expect("ten clients");
        let mut misses = Vec::new();
        for ((scene, bar), played) in rows.iter().zip(played) {
            let figures = played.join().expect("a crowd");
            let speed = figures.sections_per_second / ten.sections_per_second;
            let order = match scene.wants {
                Wants::InWaitlist => "in a waitlist",
                Wants::Fair => "in order",
                Wants::Permit => "for permits",
                Wants::Both => "for two resources",
                Wants::Neighbours => "for neighbours in a ring",
            };
            let slow = if scene.is_first_slow { ", the first master slow" } else { "" };
            let shown =
                format!("{} {order}{slow}: {figures:.2?}, {speed:.2} of the speed", scene.clients);
            let [commands, deliveries, least_speed, wait, shares] = *bar;
            let is_within = figures.commands <= commands
                && figures.deliveries <= deliveries
                && figures.deliveries_at_first <= MOST_AT_FIRST
                && speed >= least_speed
                && figures.longest_wait <= wait
                && figures.fewest_by_most >= shares;
            eprintln!("{shown}");
            if !is_within {
                misses.push(format!("{shown}, where the bar is {bar:?}"));
            }
        }
        misses
    });
    assert_eq!(misses, [""; 0]);
}

#[test]
fn a_hand_over_costs_the_same_among_ten_and_among_two_hundred() {
    assert_within(&[
        row(10, Wants::InWaitlist, [16.0, 3.0, 1.0, 1.5, 0.8]),
        row(200, Wants::InWaitlist, [16.0, 3.0, 0.95, 1.5, 0.6]),
        row(100, Wants::Fair, [15.0, 2.2, 0.95, 1.2, 0.9]),
    ]);
}

#[test]
fn a_permit_costs_the_same_among_ten_and_among_two_hundred() {
    assert_within(&[
        row(10, Wants::Permit, [16.0, 3.0, 4.7, 1.5, 0.8]),
        row(200, Wants::Permit, [16.0, 3.0, 4.7, 2.0, 0.6]),
    ]);
}

#[test]
fn two_resources_cost_the_same_among_ten_and_among_a_hundred() {
    assert_within(&[
        row(10, Wants::Both, [14.5, 2.0, 0.9, 1.5, 0.8]),
        row(100, Wants::Both, [14.5, 2.0, 0.9, 1.5, 0.8]),
        row(100, Wants::Neighbours, [55.0, 8.0, 3.5, 2.5, 0.4]),
    ]);
}

#[test]
fn a_first_master_that_is_slow_delays_no_hand_over_once_that_is_noticed() {
    let slow = |(scene, bar)| (Scene { is_first_slow: true, ..scene }, bar);
    // Of ten, one may have missed the move of the list until its next question, in one seed of thirty.
    assert_within(&[
        slow(row(10, Wants::InWaitlist, [16.0, 3.0, 0.95, 3.0, 0.8])),
        slow(row(100, Wants::InWaitlist, [16.0, 3.0, 0.95, 2.0, 0.6])),
        slow(row(100, Wants::Fair, [16.0, 2.2, 0.95, 2.0, 0.9])),
        slow(row(100, Wants::Permit, [16.0, 3.0, 4.7, 2.0, 0.6])),
    ]);
}

#[test]
#[ignore = "plays for minutes: make crowd"]
fn a_hand_over_costs_the_same_among_a_thousand() {
    assert_within(&[
        row(1_000, Wants::InWaitlist, [17.0, 3.0, 0.95, 1.5, 0.5]),
        row(1_000, Wants::Permit, [17.0, 3.0, 4.7, 2.0, 0.5]),
        row(1_000, Wants::Fair, [17.0, 2.2, 0.95, 1.2, 0.9]),
    ]);
}

#[test]
#[ignore = "plays for half an hour: make crowd"]
fn a_hand_over_costs_the_same_among_ten_thousand() {
    assert_within(&[row(10_000, Wants::InWaitlist, [20.0, 3.0, 0.9, 2.0, 0.3])]);
}
