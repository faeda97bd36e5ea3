//! The plan of a world whose clients are at odds: partitions that heal, processes that are stopped
//! until their notes have lapsed, masters that restart empty. Whenever one of these is over, every
//! client wants the same.

use super::clock::{Time, millis, nanos};
use super::kinds::Story;
use super::plan::{Act, Asked, Fault, Mode, deed};
use super::seed::Rng;
use super::setup::Setup;
use quorumlock_core::quorum::{LONGEST_SILENCE, Nanos, NodeSet};
use std::time::Duration;

/// Draws everything that is done, in no order.
pub(super) fn draw(setup: &Setup, story: Story, rng: &mut Rng) -> Vec<(Time, Act)> {
    let mut plan = Plan { setup, rng, acts: Vec::new() };
    match story {
        Story::Split => plan.split(Duration::ZERO),
        Story::Stop => plan.stop(false),
        Story::StopAndSplit => plan.stop(true),
        Story::Late => plan.late(),
        Story::Newcomer => plan.newcomer(),
        Story::Reader => plan.reader(),
    }
    plan.background();
    plan.acts
}

struct Plan<'a> {
    setup: &'a Setup,
    rng: &'a mut Rng,
    acts: Vec<(Time, Act)>,
}

impl Plan<'_> {
    fn span(&mut self, from: u64, to: u64) -> Duration {
        self.rng.duration(millis(from)..millis(to))
    }

    fn at(&mut self, at: Duration, act: Act) {
        self.acts.push((nanos(at), act));
    }

    fn any_seat(&mut self) -> usize {
        self.rng.within(0..self.setup.seats() as u64) as usize
    }

    fn any_other(&mut self, seat: usize) -> usize {
        let seats = self.setup.seats();
        (seat + self.rng.within(1..seats as u64) as usize) % seats
    }

    /// Returns how long the note of a seat's client lasts.
    fn stands(&self, seat: usize) -> Duration {
        let life = self.setup.kind(seat).quarantine + LONGEST_SILENCE;
        life + life / 50
    }

    fn cut(&mut self, seat: usize, node: usize, from: Duration, until: Duration) {
        let fault = Fault::Cuts { seat: Some(seat), node, direction: None, span: until - from };
        self.at(from, Act::Fault(fault));
    }

    /// Ensures that no master is reached from both seats.
    fn part(&mut self, seat: usize, other: usize, from: Duration, until: Duration) {
        let nodes = |seat: usize| self.setup.kind(seat).nodes().into_iter().collect::<NodeSet>();
        let common = nodes(seat).intersection(nodes(other));
        for node in common.iter() {
            // Sometimes the partition leaves a master to both.
            match self.rng.within(0..20) {
                0..9 => self.cut(seat, node, from, until),
                9..18 => self.cut(other, node, from, until),
                _ => {}
            }
        }
    }

    /// Keeps one client from some of the masters that it has in common with another.
    fn keep_away(&mut self, seat: usize, other: usize, from: Duration, until: Duration) {
        let theirs = self.setup.kind(other).nodes();
        for node in self.setup.kind(seat).nodes() {
            if theirs.contains(&node) && self.rng.chance(50) {
                self.cut(seat, node, from, until);
            }
        }
    }

    /// Lets the clients begin apart; then the partition heals.
    fn split(&mut self, from: Duration) {
        let seat = self.any_seat();
        let other = self.any_other(seat);
        let length = self.setup.length;
        let until = from + self.rng.duration(millis(2_000)..length.saturating_sub(millis(5_000)));
        self.part(seat, other, from, until);
        let soon = self.span(500, 2_000);
        self.every_client_wants(from + soon);
        self.every_client_wants(until.saturating_sub(millis(300)));
        // Until every client has been notified.
        for _ in 0..3 {
            let later = self.span(0, 16_000);
            self.every_client_wants((until + later).min(length));
        }
    }

    /// Stops one client; another comes when the note of the first has lapsed.
    fn stop(&mut self, splits: bool) {
        let (seat, at) = (self.any_seat(), self.span(600, 3_000));
        let other = self.any_other(seat);
        let more = self.span(1_500, 8_000);
        let until = at + self.stands(seat) + more;
        let fault = Fault::PausesClient { seat, span: until - at };
        self.at(at, Act::Fault(fault));
        if self.setup.flaw.is_none() && self.rng.chance(50) {
            let early = self.span(0, 3_000);
            self.every_client_wants(at.saturating_sub(early));
        }
        if self.rng.chance(70) {
            let back_after = at + self.stands(seat) + self.span(0, 500) - millis(200);
            self.at(Duration::ZERO, Act::Fault(Fault::KillsClient { seat: other, back_after }));
        }
        if splits {
            let later = self.span(0, 10_000);
            self.keep_away(other, seat, at, until + later);
            if self.setup.flaw.is_none() && self.rng.chance(50) {
                self.loses_links(seat, at);
            }
        }
        if self.rng.chance(50) {
            let early = self.span(0, 1_000);
            self.wants(other, until - early);
        }
        self.wants(seat, until);
        self.restarts(until);
        let later = self.span(0, 2_000);
        self.wants(other, until + later);
        let later = self.span(500, 3_000);
        self.wants(seat, until + later);
        let later = self.span(0, 3_000);
        self.every_client_wants(until + later);
    }

    /// Takes some connections of a client that is about to be stopped, before or after it has dialed again in vain.
    fn loses_links(&mut self, seat: usize, stops_at: Duration) {
        for node in self.setup.kind(seat).nodes() {
            let early = self.span(0, 400);
            match self.rng.within(0..4) {
                0 => self.at(stops_at - early, Act::Fault(Fault::Resets { seat, node })),
                1 => self.cut(seat, node, stops_at - early, stops_at),
                _ => {}
            }
        }
    }

    /// Stops one client while it connects: it reads much later what was answered then.
    fn late(&mut self) {
        let (seat, from) = (self.any_seat(), self.rng.duration(millis(1) / 5..millis(6)));
        let other = self.any_other(seat);
        let read_at = self.span(13_000, 15_500);
        let fault = Fault::PausesClient { seat, span: read_at - from };
        self.at(from, Act::Fault(fault));
        let back_after = self.stands(seat) + self.span(0, 3_000);
        self.at(Duration::ZERO, Act::Fault(Fault::KillsClient { seat: other, back_after }));
        self.keep_away(other, seat, back_after - millis(100), self.setup.length);
        for _ in 0..3 {
            let later = self.span(100, 8_000);
            self.every_client_wants(back_after + later);
        }
    }

    /// Keeps a client that only looks for as long as the world lasts; others come.
    fn reader(&mut self) {
        for seat in 1..self.setup.seats() {
            let back_after = self.span(500, 5_000);
            self.at(Duration::ZERO, Act::Fault(Fault::KillsClient { seat, back_after }));
        }
        for _ in 0..3 {
            let at = self.rng.duration(Duration::ZERO..self.setup.length);
            self.every_client_wants(at);
            self.at(at, Act::Inspect { seat: 0, key: "a" });
        }
    }

    /// Lets one client come later.
    fn newcomer(&mut self) {
        let seat = self.any_seat();
        let back_after = self.rng.duration(millis(500)..self.setup.length);
        self.at(Duration::ZERO, Act::Fault(Fault::KillsClient { seat, back_after }));
        if self.rng.chance(50) {
            let other = self.any_other(seat);
            self.part(seat, other, Duration::ZERO, self.setup.length);
        }
        for _ in 0..2 {
            let at = self.rng.duration(Duration::ZERO..self.setup.length);
            self.every_client_wants(at);
            let later = self.span(500, 10_000);
            self.every_client_wants(back_after + later);
        }
        if self.rng.chance(50) {
            let later = self.span(0, 10_000);
            self.restarts(back_after + later);
        }
        // It may not even get to its first round: it has noted itself at some of the masters.
        if self.setup.flaw.is_none() && self.rng.chance(30) {
            let dies_at = back_after + self.rng.duration(millis(1) / 5..millis(6));
            let back_after = self.span(100, 20_000);
            self.at(dies_at, Act::Fault(Fault::KillsClient { seat, back_after }));
        }
    }

    /// Restarts some masters without their memory, soon after a moment.
    fn restarts(&mut self, moment: Duration) {
        for node in 0..self.setup.masters {
            if self.rng.chance(45) {
                let (later, down) = (self.span(0, 1_500), self.span(1, 400));
                let silent = self.rng.chance(20);
                let kill = Fault::Kills { node, silent, down, keeps: false };
                self.at(moment + later, Act::Fault(kill));
            }
        }
    }

    /// Lets every client want the same, from a moment on.
    fn every_client_wants(&mut self, moment: Duration) {
        for seat in 0..self.setup.seats() {
            if self.rng.chance(85) {
                self.wants(seat, moment);
            }
        }
    }

    fn wants(&mut self, seat: usize, moment: Duration) {
        if self.setup.kind(seat).only_looks {
            return;
        }
        let max_ttl = self.setup.kind(seat).max_ttl;
        let ttl = *self.rng.pick(&[max_ttl, max_ttl, max_ttl / 2]);
        let kept = [None, Some(Nanos::FOREVER), Some(Nanos::of(ttl * 3))];
        let asked = Asked {
            is_permit: false,
            mode: Mode::Alone,
            keys: &["a"],
            fenced: self.rng.chance(20),
            ttl,
            lock_delay: Duration::ZERO,
            wait: millis(*self.rng.pick(&[0, 500, 3_000])),
            keep_alive: *self.rng.pick(&kept),
            warm: Duration::ZERO,
            at_least: Duration::ZERO,
        };
        let at = moment + millis(*self.rng.pick(&[0, 5, 50, 500]));
        self.at(at, Act::Acquire { seat, asked });
        if self.rng.chance(40) {
            let (dice, later) = (self.rng.next(), self.span(0, 4_000));
            let release = Act::Release { seat, dice, heard_after: Duration::ZERO };
            self.at(at + later, release);
        }
    }

    /// Draws the acts of any world.
    fn background(&mut self) {
        let count = self.rng.within(self.setup.acts.clone());
        for _ in 0..count {
            let at = self.rng.duration(Duration::ZERO..self.setup.length);
            let act = match self.rng.within(0..1_000) < self.setup.faults_per_mille {
                true => Act::Fault(self.fault()),
                false => deed(self.setup, self.rng),
            };
            self.at(at, act);
        }
    }

    /// Draws a fault. Masters' clocks are never set, and no operator makes a master a replica: the
    /// agreement of clients rests on that.
    fn fault(&mut self) -> Fault {
        let seat = self.any_seat();
        let node = self.rng.within(0..self.setup.masters as u64) as usize;
        let span = if self.rng.chance(70) { self.span(1, 400) } else { self.span(50, 3_000) };
        let long = self.stands(seat) + self.span(0, 8_000);
        let keeps = self.rng.chance(30);
        match self.rng.within(0..100) {
            0..10 => Fault::PausesClient { seat, span },
            10..18 => Fault::PausesClient { seat, span: long },
            18..26 => Fault::KillsClient { seat, back_after: span },
            26..34 => Fault::EndsClient { seat, back_after: span },
            34..44 => Fault::Cuts { seat: Some(seat), node, direction: None, span },
            44..54 => Fault::Cuts { seat: Some(seat), node, direction: None, span: long },
            54..62 => Fault::Resets { seat, node },
            62..68 => Fault::Strays { seat, node, by: span / 2 },
            68..76 => Fault::Stops { node, span },
            76..78 => Fault::FlushesScripts { node },
            _ => Fault::Kills { node, silent: false, down: span, keeps },
        }
    }
}
