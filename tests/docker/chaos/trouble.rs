//! The planned faults of one master, inflicted and healed.

use super::clocks::Dials;
use super::history::{Condition, What};
use super::journal::Journal;
use super::plan::Blow;
use crate::support::docker::{Containers, Fault};
use crate::support::proxy::{Cut, Direction, Proxy};
use std::time::{Duration, Instant};

/// A master in its container, and the proxy through which clients reach it.
#[derive(Clone, Copy)]
pub(crate) struct Master<'a> {
    pub(crate) node: usize,
    pub(crate) containers: &'a Containers,
    pub(crate) proxy: &'a Proxy,
    pub(crate) journal: &'a Journal,
    /// Time for which a restarted master does not vote, if it comes back empty.
    pub(crate) quarantine: Option<Duration>,
    /// Its clock, in a run in which it has one of its own.
    pub(crate) dials: Option<&'a Dials>,
}

impl Master<'_> {
    /// Blocks until the last fault is healed.
    pub(crate) fn befall(&self, blows: &[Blow], began: Instant) {
        for blow in blows {
            std::thread::sleep((began + blow.at).saturating_duration_since(Instant::now()));
            self.note(blow.condition);
            self.strike(blow);
            std::thread::sleep(blow.lasts);
            self.heal(blow.condition);
            if blow.condition == Condition::Killed {
                self.warm_up();
            }
            self.note_well();
        }
    }

    pub(crate) fn note_well(&self) {
        let is_astray = self.dials.is_some_and(|dials| dials.is_set(self.node));
        self.note(if is_astray { Condition::Astray } else { Condition::Up });
    }

    /// Waits until the master is old enough to vote.
    pub(crate) fn warm_up(&self) {
        if let Some(quarantine) = self.quarantine {
            self.note(Condition::Warming);
            std::thread::sleep(quarantine);
        }
    }

    fn note(&self, condition: Condition) {
        let is_well = matches!(condition, Condition::Up | Condition::Astray);
        self.dials.inspect(|dials| dials.note(self.node, is_well));
        self.journal.note(&format!("m{}", self.node), What::Is(condition));
    }

    fn strike(&self, blow: &Blow) {
        match blow.condition {
            Condition::Killed => self.containers.strike(Fault::Killed, self.node),
            Condition::Paused => self.containers.strike(Fault::Paused, self.node),
            Condition::Disconnected => self.containers.strike(Fault::Disconnected, self.node),
            Condition::Slow => self.each_way(|way| self.proxy.delay(way, blow.delay)),
            Condition::Held => self.each_way(|way| self.proxy.hold(way)),
            Condition::Reset => self.proxy.cut(Cut::Reset),
            Condition::HalfOpen => self.proxy.half_open(),
            Condition::Up | Condition::Warming | Condition::Astray => {}
        }
    }

    fn heal(&self, condition: Condition) {
        match condition {
            Condition::Killed => self.containers.heal(Fault::Killed, self.node),
            Condition::Paused => self.containers.heal(Fault::Paused, self.node),
            Condition::Disconnected => self.containers.heal(Fault::Disconnected, self.node),
            Condition::Slow => self.each_way(|way| self.proxy.delay(way, Duration::ZERO)),
            Condition::Held => self.each_way(|way| self.proxy.let_go(way)),
            Condition::Up
            | Condition::Reset
            | Condition::HalfOpen
            | Condition::Warming
            | Condition::Astray => {}
        }
    }

    fn each_way(&self, action: impl Fn(Direction)) {
        [Direction::ToServer, Direction::ToClient].into_iter().for_each(action);
    }
}
