//! Jams: many clients wait for the same, and something is in the way of those that could have it. Nothing fails by
//! chance: which clients die or stop, and which key is stuck, is the story of the world.

use super::agenda::Happening;
use super::clock::{Time, millis, nanos};
use super::plan::{Act, Asked, Fault, Mode, RESOURCES, span};
use super::seed::Rng;
use super::setup::Setup;
use super::world::World;
use quorumlock_core::coordinator::KeepAlive;
use quorumlock_core::quorum::NodeSet;
use std::time::Duration;

/// When the first caller comes.
const BEGINS: Duration = millis(300);

/// What is in the way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    /// Five of seven clients die or stop at once while they wait, and the holder dies or releases. A key may be stuck.
    FiveGone,
    /// A client waits and dies, again and again. Then the holder dies.
    Crashes,
    /// All take turns, and a clock is set back.
    Turns,
}

#[derive(Clone, Debug)]
pub(super) struct Jam {
    pub(super) way: Way,
    /// How long a caller works, at the seats whose callers then want the same again.
    works: Duration,
    busy: NodeSet,
}

impl Way {
    pub(super) fn draw(rng: &mut Rng) -> Self {
        match rng.within(0..100) {
            0..70 => Self::FiveGone,
            70..85 => Self::Crashes,
            _ => Self::Turns,
        }
    }
}

impl Jam {
    pub(super) const fn new(way: Way) -> Self {
        Self { way, works: millis(5), busy: NodeSet::EMPTY }
    }

    pub(super) const fn seats(&self) -> usize {
        match self.way {
            Way::FiveGone | Way::Turns => 7,
            Way::Crashes => 3,
        }
    }

    /// Returns the number of masters: one where there are hundreds of connections.
    pub(super) const fn masters(&self) -> usize {
        if matches!(self.way, Way::Crashes) { 1 } else { 3 }
    }

    /// Settles what the world is like.
    pub(super) fn settle(mut self, setup: &mut Setup, rng: &mut Rng) {
        let all = NodeSet::first(self.seats());
        match self.way {
            Way::FiveGone => {
                (setup.longest_pause, setup.steps_back) = (millis(50), rng.chance(40));
                setup.has_waitlists = rng.chance(90);
            }
            Way::Crashes => setup.has_waitlists = true,
            Way::Turns => {
                (self.busy, setup.has_waitlists) = (all, true);
                (setup.longest_pause, setup.steps_back) = (millis(50), true);
            }
        }
        let (has_its_turn, _) = setup.has_its_turn_within(millis(20));
        setup.length = match self.way {
            Way::FiveGone | Way::Crashes => {
                let bound = setup.served_by_a_quorum_within(millis(20), self.way == Way::FiveGone);
                let first = if self.way == Way::Crashes { millis(6_500) } else { millis(1_500) };
                first + setup.max_ttl + bound + millis(1_000)
            }
            Way::Turns => 2 * BEGINS + has_its_turn + millis(2_500),
        };
        setup.jam = Some(self);
    }

    /// Draws all that is done.
    pub(super) fn draw(&self, setup: &Setup, rng: &mut Rng) -> Vec<(Time, Act)> {
        let mut acts = Acts { setup, all: Vec::new() };
        match self.way {
            Way::FiveGone => five_gone(&mut acts, rng),
            Way::Crashes => crashes(&mut acts, rng),
            Way::Turns => turns(&mut acts, rng),
        }
        acts.all
    }
}

struct Acts<'a> {
    setup: &'a Setup,
    all: Vec<(Time, Act)>,
}

impl Acts<'_> {
    fn at(&mut self, at: Duration, act: Act) {
        self.all.push((nanos(at), act));
    }

    fn befalls(&mut self, at: Duration, fault: Fault) {
        self.at(at, Act::Fault(fault));
    }

    /// A caller waits to the end.
    fn asks(&mut self, at: Duration, seat: usize, asked: &Asked) {
        let wait = self.setup.length.saturating_sub(at);
        self.at(at, Act::Acquire { seat, asked: Asked { wait, ..asked.clone() } });
    }

    fn rest(&self, at: Duration) -> Duration {
        self.setup.length.saturating_sub(at)
    }
}

fn asked(setup: &Setup, mode: Mode) -> Asked {
    Asked {
        keys: RESOURCES[0],
        fenced: false,
        ttl: setup.max_ttl,
        lock_delay: Duration::ZERO,
        wait: Duration::ZERO,
        keep_alive: Some(KeepAlive::FOREVER),
        at_least: Duration::ZERO,
        warm: Duration::ZERO,
        is_permit: false,
        mode,
    }
}

/// Draws what all want: any kind of lock.
fn any(setup: &Setup, rng: &mut Rng) -> Asked {
    let alone = asked(setup, Mode::Alone);
    match rng.within(0..100) {
        0..50 => alone,
        50..70 => Asked { is_permit: true, ..alone },
        70..80 => Asked { keys: RESOURCES[2], ..alone },
        80..90 => asked(setup, Mode::Write),
        _ => asked(setup, Mode::InTurn),
    }
}

fn five_gone(acts: &mut Acts<'_>, rng: &mut Rng) {
    let setup = acts.setup;
    let wanted = any(setup, rng);
    let reads = |rng: &mut Rng, asked: &Asked| match asked.mode {
        Mode::Write if rng.chance(50) => Asked { mode: Mode::Read, ..asked.clone() },
        _ => asked.clone(),
    };
    // The holder has all permits.
    for _ in 0..if wanted.is_permit { 2 } else { 1 } {
        acts.asks(BEGINS, 0, &wanted);
    }
    let waits_from = BEGINS + millis(50);
    let gone = rng.within(4..6) as usize;
    for seat in 1..=gone {
        let asked = reads(rng, &wanted);
        acts.asks(waits_from + span(rng, 0, 100), seat, &asked);
    }
    let mut order: Vec<usize> = (gone + 1..7).collect();
    rng.shuffle(&mut order);
    for seat in order {
        let asked = reads(rng, &wanted);
        acts.asks(waits_from + span(rng, 100, 200), seat, &asked);
    }
    let dies_at = waits_from + span(rng, 300, 600);
    let (back_after, stops) = (acts.rest(dies_at), rng.chance(40));
    for seat in 1..=gone {
        acts.befalls(
            dies_at,
            match stops {
                true => Fault::PausesClient { seat, span: back_after },
                false => Fault::KillsClient { seat, back_after },
            },
        );
    }
    let node = rng.within(0..setup.masters as u64) as usize;
    let ends_at = dies_at + span(rng, 10, 300);
    let key = wanted.keys[0];
    let may_stick = rng.chance(80);
    match rng.chance(50) {
        _ if setup.steps_back => {
            acts.befalls(dies_at, Fault::StepsBack { node, by: span(rng, 10_000, 60_000) });
        }
        _ if !may_stick => {}
        true => acts.befalls(dies_at, Fault::Sticks { node, key, span: acts.rest(dies_at) }),
        false => {
            let before = BEGINS - millis(100);
            acts.befalls(before, Fault::Sticks { node, key, span: acts.rest(before) });
        }
    }
    match rng.chance(80) {
        true => {
            let back_after = acts.rest(ends_at);
            acts.befalls(ends_at, Fault::KillsClient { seat: 0, back_after });
        }
        false => acts.at(ends_at, Act::Release { seat: 0, dice: 0, heard_after: Duration::ZERO }),
    }
}

fn crashes(acts: &mut Acts<'_>, rng: &mut Rng) {
    let wanted = asked(acts.setup, Mode::Alone);
    let (every, back_after) = (millis(20), millis(2));
    let mut at = BEGINS;
    acts.asks(at, 0, &wanted);
    at += millis(100);
    for _ in 0..rng.within(180..260) {
        acts.asks(at, 1, &wanted);
        acts.befalls(at + every - millis(4), Fault::KillsClient { seat: 1, back_after });
        at += every;
    }
    acts.asks(at, 2, &wanted);
    let ends_at = at + span(rng, 200, 1_000);
    acts.befalls(ends_at, Fault::KillsClient { seat: 0, back_after: acts.rest(ends_at) });
}

fn turns(acts: &mut Acts<'_>, rng: &mut Rng) {
    let setup = acts.setup;
    let wanted = Asked { is_permit: rng.chance(25), ..asked(setup, Mode::Alone) };
    for seat in 0..setup.seats() {
        acts.asks(BEGINS + span(rng, 0, 50), seat, &wanted);
    }
    if rng.chance(80) {
        let node = rng.within(0..setup.masters as u64) as usize;
        let by = span(rng, 10_000, 60_000);
        acts.befalls(2 * BEGINS + span(rng, 0, 500), Fault::StepsBack { node, by });
    }
}

impl World {
    /// Lets a caller that never pauses work.
    pub(super) fn works(&mut self, client: usize, hold: u64) {
        let works = self.setup.jam.as_ref().filter(|_| self.is_busy(client));
        if let Some(works) = works.map(|jam| jam.works) {
            self.agenda.at(self.agenda.now + nanos(works), Happening::Done { client, hold });
        }
    }

    /// Returns whether callers of a client want the same again as soon as they have had it.
    pub(super) fn is_busy(&self, client: usize) -> bool {
        let seat = self.clients[client].seat;
        self.setup.jam.as_ref().is_some_and(|jam| jam.busy.contains(seat))
    }

    /// A caller that never pauses has done its work, and wants the same again.
    pub(super) fn is_done(&mut self, client: usize, hold: u64) {
        let state = &mut self.clients[client];
        if state.paused > 0 {
            return state.waiting.push(Happening::Done { client, hold });
        }
        let held = state.holds.get(&hold).filter(|held| !held.is_given_up);
        let Some(asked) = held.map(|held| held.asked.clone()) else { return };
        self.give_up_hold(client, hold, Duration::ZERO, asked.warm.is_zero());
        if !self.every_client_goes {
            let rest = nanos(self.setup.length).saturating_sub(self.agenda.now);
            self.acquire(client, Asked { wait: Duration::from_nanos(rest), ..asked });
        }
    }
}
