//! What an acquire has tried, what it has learned of that, and when it tries again.

use super::{AttemptId, Failure, RoundId, Settings};
use crate::quorum::{Backoff, Clocks, Instant, backoff};
use crate::report::{Answer, NodeReport};
use std::time::Duration;

/// As many attempts follow a message in haste, each a little later than the one before.
const MOST_TOLD_EARLY: u32 = 6;

/// An acquire whose places are its own in this process.
pub(super) struct Contention {
    /// No attempt begins after this.
    until: Instant,
    /// Attempts begun.
    pub(super) attempts: u32,
    pub(super) phase: Phase,
    /// How long those that refused the latest attempt said that it will be; zero for a node that
    /// granted it and has it back. By node.
    remaining: Vec<(usize, Duration)>,
    /// What nodes have told of their clocks, to a fenced acquire.
    pub(super) clocks: Clocks,
    /// A further attempt was made because what was wrong was our own, and is mended.
    pub(super) mended: bool,
    /// Attempts in a row whose ballot was refused.
    pub(super) ballots_refused: u32,
    /// It was told to be free while an attempt was under way.
    pub(super) woken: bool,
    /// It was told to be free, and attempts since then were granted by some: how many. Whoever gives it
    /// back may be stopped between one node and the next.
    pub(super) told: Option<u32>,
    /// Messages tell when it becomes free: there is no need to ask often.
    pub(super) listening: bool,
    /// Whether the next attempt may ask one node first.
    pub(super) probes: bool,
    /// When all were asked last.
    pub(super) asked_all: Instant,
}

pub(super) enum Phase {
    /// The next attempt begins once the masters have confirmed what this client goes by.
    Confirming,
    /// An attempt is under way.
    Trying { round: RoundId, attempt: AttemptId },
    /// The next attempt begins at `again_at`.
    Waiting {
        failed: AttemptId,
        since: Instant,
        random: Option<u64>,
        again_at: Instant,
        failure: Failure,
    },
}

impl Contention {
    /// That of an acquire that was asked for when it `began`.
    pub(super) fn new(began: Instant, until: Instant) -> Self {
        Self {
            until,
            attempts: 0,
            phase: Phase::Confirming,
            remaining: Vec::new(),
            clocks: Clocks::default(),
            mended: false,
            ballots_refused: 0,
            woken: false,
            told: None,
            listening: false,
            probes: false,
            asked_all: began,
        }
    }

    /// Whether the next attempt asks one node first. Not the last one of a wait, and now and then not:
    /// a key that is stuck on that node keeps nobody out.
    pub(super) fn probes(&self, now: Instant, settings: &Settings) -> bool {
        self.probes && now < self.until && now < self.asked_all.after(settings.backoff.cap)
    }

    /// Whether the next attempt asks how long what refuses us has yet to live. Once that is known and
    /// messages tell the rest, only the last one does, for the error.
    pub(super) fn asks_remaining(&self, now: Instant) -> bool {
        self.attempts == 1 || (self.attempts > 1 && (!self.listening || now >= self.until))
    }

    /// Others are to go first: waits for a moment.
    pub(super) fn step_back(&mut self, now: Instant, base: Duration, random: u64) -> Instant {
        let pause = base / 2 + Backoff { base, cap: base }.delay(0, None, random) / 2;
        let again_at = now.after(pause).min(self.until);
        let failure = Failure::contended(self.attempts);
        self.probes = true;
        let failed = AttemptId::NONE;
        self.phase = Phase::Waiting { failed, since: now, random: None, again_at, failure };
        again_at
    }

    /// A new attempt begins.
    pub(super) fn try_again(&mut self, round: RoundId, attempt: AttemptId) {
        self.attempts = self.attempts.saturating_add(1);
        self.remaining.clear();
        self.phase = Phase::Trying { round, attempt };
    }

    /// `node` will have the resource free after `remaining`.
    pub(super) fn learn(&mut self, node: usize, remaining: Duration) {
        self.remaining.push((node, remaining));
    }

    /// The latest attempt has failed, and `took` so long: waits for the next one.
    pub(super) fn wait(
        &mut self,
        now: Instant,
        settings: &Settings,
        failed: AttemptId,
        failure: Failure,
        took: Duration,
        random: Option<u64>,
    ) -> Instant {
        (self.clocks, self.mended) = (Clocks::default(), false);
        let told_early = self.was_told_early(&failure.reports);
        let pause = random.map(|random| match told_early {
            // It has become free meanwhile.
            _ if std::mem::take(&mut self.woken) => now,
            Some(times) => {
                let soon = Backoff { base: took, cap: settings.backoff.cap };
                now.after(soon.delay(times, None, random))
            }
            None => now.after(self.delay(settings, random)),
        });
        let again_at = pause.map_or(self.until, |at| at.min(self.until));
        self.phase = Phase::Waiting { failed, since: now, random, again_at, failure };
        again_at
    }

    /// Whether a message has come before all nodes had it free, and how many attempts have found so.
    fn was_told_early(&mut self, reports: &[NodeReport]) -> Option<u32> {
        let is_split = reports.iter().any(|report| report.answer == Answer::Granted);
        let times = self.told.take().filter(|times| is_split && *times < MOST_TOLD_EARLY)?;
        self.told = Some(times + 1);
        Some(times)
    }

    /// Never longer than until a quorum may be free; jittered also when it is free by now, or
    /// contenders would collide in step.
    fn delay(&mut self, settings: &Settings, random: u64) -> Duration {
        let ceiling = backoff::earliest_quorum(settings.membership, &mut self.remaining);
        let ceiling = ceiling.map(|free_in| free_in.max(settings.backoff.base));
        let attempt = if self.listening { u32::MAX } else { self.attempts.saturating_sub(1) };
        settings.backoff.delay(attempt, ceiling, random)
    }

    /// Another node has told how long it will be. Says when to try again, if that has become
    /// earlier: the old time and the new.
    pub(super) fn shorten(&mut self, settings: &Settings) -> Option<(Instant, Instant)> {
        let Phase::Waiting { since, random: Some(random), .. } = self.phase else { return None };
        let sooner = since.after(self.delay(settings, random));
        let Phase::Waiting { again_at, .. } = &mut self.phase else { return None };
        let old = std::mem::replace(again_at, sooner.min(*again_at));
        (*again_at < old).then_some((old, *again_at))
    }
}
