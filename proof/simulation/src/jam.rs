//! Jams: many clients wait for the same, and something is in the way of those that could have it. Nothing fails by
//! chance: which clients die or stop, and which key is stuck, is the story of the world.

use super::acts::{Acts, BEGINS, asked, permit};
use super::agenda::Happening;
use super::burst;
use super::clock::{Time, millis, nanos};
use super::plan::{Act, Asked, Fault, Mode, span};
use super::seed::Rng;
use super::setup::Setup;
use super::world::World;
use quorumlock_core::quorum::NodeSet;
use std::time::Duration;

/// What is in the way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    /// Five of seven clients die or stop at once while they wait, and the holder dies or releases. A key may be stuck.
    FiveGone,
    /// A client waits and dies, again and again. Then the holder dies.
    Crashes,
    /// All take turns, and a clock is set back.
    Turns,
    /// One client asks for hundreds of locks at once.
    Burst { is_far: bool },
    /// A client has the same again and again, and no message reaches those that wait.
    Busy,
}

#[derive(Clone, Debug)]
pub(super) struct Jam {
    pub(super) way: Way,
    /// How long a caller works, at the seats whose callers then want the same again.
    works: Duration,
    busy: NodeSet,
    masters: usize,
    /// The seats whose clients have no wake-ups.
    deaf: NodeSet,
}

impl Way {
    pub(super) fn burst(rng: &mut Rng) -> Self {
        Self::Burst { is_far: rng.chance(30) }
    }

    pub(super) fn draw(rng: &mut Rng) -> Self {
        match rng.within(0..100) {
            0..60 => Self::FiveGone,
            60..70 => Self::Crashes,
            70..80 => Self::Turns,
            _ => Self::Busy,
        }
    }
}

impl Jam {
    pub(super) fn new(way: Way, rng: &mut Rng) -> Self {
        // One where there are hundreds of connections.
        let masters = match way {
            Way::FiveGone | Way::Turns | Way::Busy => 3,
            Way::Crashes => 1,
            Way::Burst { .. } => *rng.pick(&[3, 3, 5]),
        };
        Self { way, works: millis(5), busy: NodeSet::EMPTY, masters, deaf: NodeSet::EMPTY }
    }

    pub(super) const fn seats(&self) -> usize {
        match self.way {
            Way::FiveGone | Way::Turns => 7,
            Way::Crashes | Way::Busy => 3,
            Way::Burst { .. } => 2,
        }
    }

    pub(super) const fn masters(&self) -> usize {
        self.masters
    }

    pub(super) const fn is_burst(&self) -> bool {
        matches!(self.way, Way::Burst { .. })
    }

    /// Returns whether clients of a seat may be notified.
    pub(super) const fn has_wake_ups(&self, seat: usize) -> bool {
        !self.deaf.contains(seat)
    }

    /// Returns how many wait beside those that never pause, and hear of no release.
    pub(super) const fn pollers(&self) -> usize {
        self.deaf.difference(self.busy).len()
    }

    /// Returns whether waiters ask holders.
    pub(super) const fn asks(&self) -> bool {
        matches!(self.way, Way::Busy)
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
            Way::Busy => setup.has_waitlists = rng.chance(70),
            Way::Burst { is_far } => {
                setup.jam = Some(self);
                return burst::settle(setup, is_far, rng);
            }
        }
        if self.way == Way::Busy {
            self.busy = NodeSet::first(1);
            setup.longest_pause = millis(50);
            setup.denies = NodeSet::first(self.masters());
            match rng.within(0..4) {
                0 => setup.denied = &["publish"],
                1 => setup.denied = &["subscribe"],
                2 => self.deaf = all,
                _ => self.deaf = (1..self.seats()).filter(|_| rng.chance(70)).collect(),
            }
        }
        let (has_its_turn, _) = setup.has_its_turn_within(millis(20));
        setup.length = match self.way {
            Way::FiveGone | Way::Crashes => {
                let bound = setup.served_by_a_quorum_within(millis(20));
                let first = if self.way == Way::Crashes { millis(6_500) } else { millis(1_500) };
                first + setup.max_ttl + bound + millis(1_000)
            }
            Way::Turns | Way::Busy | Way::Burst { .. } => 2 * BEGINS + has_its_turn + millis(2_500),
        };
        setup.jam = Some(self);
    }

    /// Draws all that is done.
    pub(super) fn draw(&self, setup: &Setup, rng: &mut Rng) -> Vec<(Time, Act)> {
        let mut acts = Acts::new(setup);
        match self.way {
            Way::FiveGone => five_gone(&mut acts, rng),
            Way::Crashes => crashes(&mut acts, rng),
            Way::Turns => turns(&mut acts, rng),
            Way::Burst { is_far } => burst::draw(&mut acts, is_far, rng),
            Way::Busy => busy(&mut acts, rng),
        }
        acts.all
    }
}

fn five_gone(acts: &mut Acts<'_>, rng: &mut Rng) {
    let setup = acts.setup;
    let wanted = acts.any(20, rng);
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
        // The key of the holder, which extends it no longer.
        true => acts.befalls(ends_at, Fault::Sticks { node, key, span: acts.rest(ends_at) }),
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
        false => acts.releases(ends_at, 0),
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
    let wanted = if rng.chance(25) { permit(setup, rng) } else { asked(setup, Mode::Alone) };
    for seat in 0..setup.seats() {
        acts.asks(BEGINS + span(rng, 0, 50), seat, &wanted);
    }
    if rng.chance(80) {
        let node = rng.within(0..setup.masters as u64) as usize;
        let by = span(rng, 10_000, 60_000);
        acts.befalls(2 * BEGINS + span(rng, 0, 500), Fault::StepsBack { node, by });
    }
}

fn busy(acts: &mut Acts<'_>, rng: &mut Rng) {
    let setup = acts.setup;
    let kept = if rng.chance(30) { millis(2_000) } else { Duration::ZERO };
    let wanted = match rng.within(0..100) {
        0..50 => Asked { warm: kept, keep_alive: None, ..asked(setup, Mode::Alone) },
        50..75 => permit(setup, rng),
        _ => asked(setup, Mode::Write),
    };
    for _ in 0..*rng.pick(&[1, 4]) {
        acts.asks(BEGINS, 0, &wanted);
    }
    for _ in 0..rng.within(1..3) {
        let seat = rng.within(1..setup.seats() as u64) as usize;
        acts.asks(
            BEGINS + span(rng, 50, 1_500),
            seat,
            &Asked { warm: Duration::ZERO, ..wanted.clone() },
        );
    }
}

impl World {
    /// Lets a caller that never pauses work, and one that waits for it.
    pub(super) fn works(&mut self, client: usize, hold: u64) {
        let jam = self.setup.jam.as_ref();
        let works = jam.filter(|jam| jam.way == Way::Busy || self.is_busy(client));
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
        if !self.every_client_goes && self.is_busy(client) {
            let rest = nanos(self.setup.length).saturating_sub(self.agenda.now);
            self.acquire(client, Asked { wait: Duration::from_nanos(rest), ..asked });
        }
    }
}
