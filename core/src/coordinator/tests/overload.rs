//! More acquires at once than masters answer in time, while a lock is kept alive: a small world with masters
//! that execute one command after the other. No hold is lost while its masters answer, and the rest is served as
//! fast as they can. A client without one of the rules fails that.

use super::stage::Stage;
use crate::master::Rule;
use crate::quorum::{Instant, Nanos};
use crate::shared::{AcquireRequest, Event, Keys};
use crate::wire::{Login, Replies, Reply};
use std::collections::VecDeque;
use std::time::Duration;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// There and back.
const TRIP: Duration = ms(40);

const MASTERS: usize = 3;

/// The kept lock.
const KEPT: u64 = 1;

const TTL: Duration = ms(3_000);

/// A master, and what it has yet to answer.
#[derive(Default)]
struct Server {
    free_at: Instant,
    answers: VecDeque<(Instant, &'static str)>,
}

struct World {
    stage: Stage,
    servers: [Server; MASTERS],
    /// How long a command takes, at this time.
    takes: fn(Instant) -> Duration,
    served: usize,
    failed: Vec<String>,
    lost: bool,
    /// The longest queue of a master.
    longest: usize,
}

fn acquire(
    name: String,
    ttl: Duration,
    keep_alive: Option<Nanos>,
    wait: Duration,
) -> AcquireRequest {
    AcquireRequest {
        keys: Keys::one(name.into()),
        fences: None,
        ttl: ttl.into(),
        lock_delay: Duration::ZERO.into(),
        wait: Nanos::of(wait),
        keep_alive,
        label: None,
        at_least: None,
        keep_warm: Nanos::ZERO,
        is_fair: false,
        probes: false,
    }
}

impl World {
    fn new(without: Option<Rule>, takes: fn(Instant) -> Duration) -> Self {
        let mut stage = Stage::with(MASTERS, &Login::default(), |settings| {
            settings.agreement = settings.agreement.clone().without(without);
        });
        stage.steps("n1-3 opens \n = connected");
        let servers = Default::default();
        Self { stage, servers, takes, served: 0, failed: Vec::new(), lost: false, longest: 0 }
    }

    /// Asks for the kept lock, and for `count` others when it is held.
    fn burst(&mut self, count: u64, wait: Duration) {
        self.stage.acquire(KEPT, acquire("kept".into(), TTL, Some(Nanos::FOREVER), Duration::ZERO));
        self.run(ms(50));
        for number in 0..count {
            let name = format!("r{number}");
            self.stage.acquire(2 + number, acquire(name, ms(10_000), None, wait));
        }
        self.turn();
    }

    /// Lets masters read what was sent, and callers release what they have.
    fn turn(&mut self) {
        let Stage { machine, now, .. } = &mut self.stage;
        while let Some(event) = machine.poll_event() {
            match event {
                Event::Acquired { request, attempt, .. } if request.0 != KEPT => {
                    self.served += 1;
                    machine.handle_release(*now, None, attempt, true);
                }
                Event::Keep { attempt } => machine.handle_keep(*now, attempt),
                Event::Acquired { .. } | Event::Extended { .. } | Event::Observed(_) => {}
                Event::Lost { .. } => self.lost = true,
                other => self.failed.push(format!("{other:?}")),
            }
        }
        for (node, server) in self.servers.iter_mut().enumerate() {
            let (epoch, bytes) = machine.transmit(node);
            let len = bytes.len();
            let mut commands = Replies::default();
            commands.receive(bytes);
            while let Some(Reply::Array(words)) = commands.next().expect("a command") {
                let is_set = words.first().and_then(Reply::text) == Some("SET");
                let answer = if is_set { "+OK\r\n" } else { ":1\r\n" };
                server.free_at = server.free_at.max(*now).after((self.takes)(*now));
                server.answers.push_back((server.free_at.after(TRIP), answer));
            }
            machine.handle_written(*now, node, epoch, len);
            self.longest = self.longest.max(server.answers.len());
        }
    }

    fn run(&mut self, span: Duration) {
        let until = self.stage.now.after(span);
        loop {
            let answers = self.servers.iter().filter_map(|server| Some(server.answers.front()?.0));
            let next = answers.min().unwrap_or(Instant::NEVER);
            let due = self.stage.machine.due_at().unwrap_or(Instant::NEVER);
            let at = next.min(due).max(self.stage.now);
            if at > until {
                break;
            }
            self.stage.now = at;
            for node in 0..MASTERS {
                let mut bytes = String::new();
                while let Some((_, answer)) =
                    self.servers[node].answers.pop_front_if(|(answered, _)| *answered <= at)
                {
                    bytes.push_str(answer);
                }
                if !bytes.is_empty() {
                    let epoch = self.stage.wires[node].epoch;
                    self.stage.machine.handle_bytes(at, node, epoch, bytes.as_bytes());
                }
            }
            if due <= at {
                self.stage.machine.handle_timeout(at);
                self.stage.machine.handle_caught_up(at);
            }
            self.turn();
        }
        self.stage.now = until;
    }
}

/// They become ten times slower for some seconds.
fn slow_for_a_while(now: Instant) -> Duration {
    let is_slow = (at(500)..at(7_500)).contains(&now);
    Duration::from_micros(if is_slow { 1_000 } else { 100 })
}

const fn at(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}

/// Plays 9,000 acquires, and returns what went wrong.
fn play(without: Option<Rule>) -> Vec<String> {
    let mut world = World::new(without, slow_for_a_while);
    world.burst(9_000, ms(9_000));
    world.run(ms(9_400));
    let mut wrong = world.failed;
    wrong.truncate(3);
    if world.lost {
        wrong.push("the hold was lost".into());
    }
    if world.served != 9_000 {
        wrong.push(format!("{} of 9000 were served", world.served));
    }
    wrong
}

#[test]
fn a_burst_at_slow_masters_is_served_and_loses_no_hold() {
    assert_eq!(play(None), [""; 0]);
}

#[test]
fn with_extensions_in_line_with_acquires_a_hold_is_lost() {
    assert!(play(Some(Rule::HoldsFirst)).iter().any(|wrong| wrong == "the hold was lost"));
}

#[test]
fn with_a_window_that_never_narrows_a_hold_is_lost() {
    assert!(play(Some(Rule::Narrows)).iter().any(|wrong| wrong == "the hold was lost"));
}

#[test]
fn with_a_window_that_never_widens_a_burst_is_not_served() {
    let wrong = play(Some(Rule::Widens));
    assert!(wrong.iter().any(|wrong| wrong.ends_with("were served")), "{wrong:?}");
}

#[test]
fn what_waits_costs_a_master_nothing() {
    let mut world = World::new(None, |_| Duration::from_micros(100));
    world.burst(6_000, ms(5_500));
    world.run(ms(400));
    // What the first window has sent, each with its release.
    assert!(world.longest <= 1_300, "{}", world.longest);
    world.longest = 0;
    world.run(ms(5_000));
    // 60 ms at ten in a millisecond, and as many answers on their way.
    assert!(world.served == 6_000 && world.longest <= 1_000, "{} {}", world.served, world.longest);
}
