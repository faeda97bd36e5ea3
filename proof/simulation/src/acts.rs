//! The acts of a story, in which nothing is drawn but what its scenes draw.

use super::clock::{Time, millis, nanos};
use super::plan::{Act, Asked, Fault, Mode, RESOURCES};
use super::seed::Rng;
use super::setup::Setup;
use quorumlock_core::quorum::Nanos;
use std::time::Duration;

/// When the first caller comes.
pub(super) const BEGINS: Duration = millis(300);

pub(super) struct Acts<'a> {
    pub(super) setup: &'a Setup,
    pub(super) all: Vec<(Time, Act)>,
}

impl<'a> Acts<'a> {
    pub(super) const fn new(setup: &'a Setup) -> Self {
        Self { setup, all: Vec::new() }
    }

    pub(super) fn at(&mut self, at: Duration, act: Act) {
        self.all.push((nanos(at), act));
    }

    pub(super) fn befalls(&mut self, at: Duration, fault: Fault) {
        self.at(at, Act::Fault(fault));
    }

    /// A caller waits to the end.
    pub(super) fn asks(&mut self, at: Duration, seat: usize, asked: &Asked) {
        let wait = self.rest(at);
        self.at(at, Act::Acquire { seat, asked: Asked { wait, ..asked.clone() } });
    }

    pub(super) fn releases(&mut self, at: Duration, seat: usize) {
        self.at(at, Act::Release { seat, dice: 0, heard_after: Duration::ZERO });
    }

    /// Draws what all want: any kind of lock, and a permit in so many of a hundred stories.
    pub(super) fn any(&self, permits: u64, rng: &mut Rng) -> Asked {
        let alone = asked(self.setup, Mode::Alone);
        let (drawn, others) = (rng.within(0..100), 50 + permits);
        match drawn {
            0..50 => alone,
            _ if drawn < others => permit(self.setup, rng),
            _ if drawn < others + 10 => Asked { keys: RESOURCES[2], ..alone },
            _ if drawn < others + 20 => asked(self.setup, Mode::Write),
            _ => asked(self.setup, Mode::Fair),
        }
    }

    pub(super) fn rest(&self, at: Duration) -> Duration {
        self.setup.length.saturating_sub(at)
    }
}

/// Draws how a caller asks for a permit.
pub(super) fn permit(setup: &Setup, rng: &mut Rng) -> Asked {
    Asked { is_permit: true, ..asked(setup, *rng.pick(&[Mode::Alone, Mode::Fair])) }
}

/// Returns what a caller asks for of the first resource.
pub(super) fn asked(setup: &Setup, mode: Mode) -> Asked {
    Asked {
        keys: RESOURCES[0],
        fenced: false,
        ttl: setup.max_ttl,
        lock_delay: Duration::ZERO,
        wait: Duration::ZERO,
        keep_alive: Some(Nanos::FOREVER),
        at_least: Duration::ZERO,
        warm: Duration::ZERO,
        is_permit: false,
        mode,
    }
}
