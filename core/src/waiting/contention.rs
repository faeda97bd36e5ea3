//! The contention of an acquire: what it has tried and learned, and when it tries again.

use super::unheard::Unheard;
use super::waitlist::{Place, Trial};
use crate::lock::Begun;
use crate::obstacle::Obstacle;
use crate::pace::Backoff;
use crate::pace::readiness::quorum_among;
use crate::quorum::{Clocks, Instant};
use crate::report::{Answer, NodeReport};
use crate::routing::first_node::Standing;
use crate::shared::{AttemptId, Failure, RoundId, Settings};
use crate::waiting::rules::Wait;
use crate::waiting::tuning::{CERTAIN_AFTER, HURRIES};
use crate::wire::waitlist::LONGEST_QUIET;
use std::time::Duration;

/// The state of an acquire that has taken its places in this process.
#[derive(Default)]
pub(crate) struct Contention {
    /// No attempt begins after this.
    pub(super) until: Instant,
    /// The number of attempts begun.
    pub(crate) attempts: u32,
    pub(crate) phase: Phase,
    /// For each node, the time until the resource is free there: as reported by a node that refused
    /// the latest attempt; zero for a node that granted it and has it back.
    pub(crate) remaining: Vec<(usize, Duration)>,
    /// The nodes' reports of their clocks, to a fenced acquire.
    pub(crate) clocks: Clocks,
    /// Whether a further attempt was made because the fault was our own, and is fixed.
    pub(crate) mended: bool,
    /// A list has served others before it.
    pub(super) is_behind_others: bool,
    /// Of several keys, the one whose list it waits in, by its place, and for each node that refused the latest attempt the
    /// one for which it did.
    pub(super) waits_for: usize,
    pub(super) refusing: Vec<(usize, usize)>,
    /// The number of attempts in a row whose ballot was refused.
    pub(crate) ballots_refused: u32,
    /// Once a message has said that the resource is free: the number of attempts since then that
    /// only some nodes granted. The client that gives it back may be stopped between one node and
    /// the next.
    pub(super) since_notice: Option<u32>,
    /// Whether messages report when the resource becomes free. If so, there is no need to ask
    /// often.
    pub(crate) listening: bool,
    /// For how long there was no news of the resource, and which holders it has seen since its latest message.
    pub(super) unheard: Unheard,
    /// Whether the next attempt may ask one node first.
    pub(crate) probes: bool,
    /// The last time all nodes were asked.
    pub(crate) asked_all: Instant,
    /// What the latest attempt that asked all nodes has found.
    pub(crate) standing: Standing,
    /// Its place in the waitlist of its key.
    pub(super) place: Place,
    /// How long the latest attempt took, if a master granted it: others were refused there meanwhile.
    blocked_for: Duration,
}

#[derive(Default)]
pub(crate) enum Phase {
    /// The next attempt begins once the masters have confirmed this client's settings.
    #[default]
    Confirming,
    /// The next attempt begins once this client has fewer rounds open, unless that takes until `until`. `failure` is
    /// that of the latest attempt.
    InLine { until: Instant, failure: Option<Failure> },
    /// An attempt is under way. `woken` if a message has said since then that the resource is free.
    Trying { round: RoundId, attempt: AttemptId, woken: bool },
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
    /// Creates the contention of an acquire that was requested when it `began`.
    pub(crate) fn new(began: Instant, until: Instant) -> Self {
        Self { until, unheard: Unheard::new(began), asked_all: began, ..Self::default() }
    }

    /// Returns how it waits.
    pub(super) const fn waits(&self) -> Wait {
        match (&self.phase, &self.place.entry) {
            (Phase::Confirming | Phase::InLine { .. }, _) => Wait::HeldUp,
            (Phase::Trying { woken: true, .. }, _) => Wait::Called,
            (Phase::Trying { .. }, _) => Wait::Trying,
            (Phase::Waiting { .. }, Some(entry)) => entry.waits(),
            (Phase::Waiting { failed: AttemptId::NONE, .. }, None) => Wait::StepsBack,
            (Phase::Waiting { .. }, None) => Wait::Alone,
        }
    }

    /// Returns whether the next attempt asks one node first. The last attempt of a wait asks all
    /// nodes, and so does one now and then. So a key that is stuck on that node keeps no client
    /// out. A waiter in a list has asked its master.
    pub(crate) fn probes(&self, now: Instant, settings: &Settings) -> bool {
        let often = if self.pauses_long(now, settings) { 2 } else { 1 };
        let seldom = self.window(now, settings).saturating_mul(often);
        self.probes
            && self.place.entry.is_none()
            && now < self.until
            && now < self.asked_all.after(seldom)
    }

    /// Returns whether the next attempt asks for the remaining life of the key that refuses us.
    /// Once that is known and messages report the rest, an attempt asks if a long pause may follow,
    /// which is to end when the key expires, or if it may be the last, for the error: an attempt
    /// takes up to `timeout`.
    pub(crate) fn asks_remaining(
        &self,
        now: Instant,
        timeout: Duration,
        settings: &Settings,
    ) -> bool {
        let may_be_last = now.after(timeout) >= self.until;
        if self.trial() == Some(Trial::Called) {
            return may_be_last;
        }
        let asks = !self.listening || self.pauses_long(now, settings) || may_be_last;
        self.attempts == 1 || (self.attempts > 1 && asks)
    }

    /// Notes that a message says that the resource is free.
    pub(crate) fn notice(&mut self, now: Instant, settings: &Settings) {
        if self.pauses_long(now, settings) {
            // All waiters have the message, too, so it is not a time to ask all nodes.
            self.asked_all = now;
        }
        self.since_notice = Some(0);
        self.unheard.hears_news(now);
        self.standing = Standing::Open;
    }

    /// Notes what an attempt has found that asked all nodes. Once a message has said that the resource is
    /// free, a node that is free is not one that lacks a key.
    pub(crate) fn find(&mut self, standing: Standing, reports: &[NodeReport]) {
        // A release that was announced may be under way for longer.
        let is_announced = self.since_notice.is_some_and(|times| times < HURRIES - CERTAIN_AFTER);
        let is_in_vain = standing != Standing::Open && !is_announced && self.finds_lacking(reports);
        if is_in_vain && !self.lacks_key() {
            // Without a message: a release may be under way to the other nodes, or a hold lacks its key there.
            self.since_notice.get_or_insert(HURRIES - CERTAIN_AFTER);
        }
        self.standing = match standing {
            _ if self.is_early() => Standing::Open,
            // It waits in the list all the same.
            _ if is_in_vain => Standing::Held { speaker: None },
            standing => standing,
        };
    }

    /// Returns the longest pause before the next attempt.
    fn window(&self, now: Instant, settings: &Settings) -> Duration {
        let cap = settings.backoff.cap;
        if self.listening { self.unheard.longest_pause(now, cap) } else { cap }
    }

    fn pauses_long(&self, now: Instant, settings: &Settings) -> bool {
        self.window(now, settings) > settings.backoff.cap
    }

    /// Waits until then, so that others go first, or until its last attempt is due.
    pub(crate) fn step_back(&mut self, now: Instant, at: Instant) {
        let again_at = at.min(self.until);
        let failure = Failure::contended(Obstacle::LocalQueue, self.attempts);
        self.probes = true;
        let failed = AttemptId::NONE;
        self.phase = Phase::Waiting { failed, since: now, random: None, again_at, failure };
    }

    /// Notes that an attempt was begun.
    pub(crate) fn begun(&mut self, now: Instant, begun: &Begun) {
        if begun.asks_all {
            self.asked_all = now;
        }
        self.attempts = self.attempts.saturating_add(1);
        self.remaining.clear();
        self.refusing.clear();
        self.phase = Phase::Trying { round: begun.round, attempt: begun.attempt, woken: false };
    }

    /// Notes that a message says during an attempt that the resource is free.
    pub(super) const fn wake(&mut self) {
        if let Phase::Trying { woken, .. } = &mut self.phase {
            *woken = true;
        }
    }

    /// Waits for the next attempt. The latest attempt has failed, and `took` this long.
    pub(crate) fn wait(
        &mut self,
        now: Instant,
        settings: &Settings,
        failed: AttemptId,
        failure: Failure,
        took: Duration,
        random: Option<u64>,
    ) {
        (self.clocks, self.mended) = (Clocks::default(), false);
        let is_split = failure.reports.iter().any(|report| report.answer == Answer::Granted);
        self.blocked_for = if is_split { took } else { Duration::ZERO };
        // That a node lacks the key of the holder is no news.
        let is_news = is_split && self.standing == Standing::Open;
        if is_news || self.attempts <= 1 || !self.listening {
            self.unheard.since = now;
        }
        let early = self.was_notified_early(is_split || self.is_early_for(&failure.reports));
        let lacks_key = early.is_none() && self.lacks_key();
        let is_unanswered = self.answer_of_list(&failure.reports) == Some(&Answer::Outstanding);
        if let Some(entry) = &mut self.place.entry
            && (lacks_key || is_unanswered)
        {
            // It asks next, instead of an attempt: the answer says whether the key is free where the list is.
            entry.trial = None;
        }
        let is_woken = matches!(self.phase, Phase::Trying { woken: true, .. });
        // It lets others go first.
        let rests = failed == AttemptId::NONE || lacks_key && !is_woken;
        let pause = random.map(|random| match early {
            _ if rests => now.after(LONGEST_QUIET + settings.backoff.delay(0, None, random)),
            // The resource has become free in the meantime.
            _ if is_woken => now,
            Some(times) => {
                let soon = Backoff { base: took, cap: settings.backoff.cap };
                now.after(soon.delay(times, None, random))
            }
            None => now.after(self.delay(now, settings, random)),
        });
        let again_at = pause.map_or(self.until, |at| at.min(self.until));
        self.phase = Phase::Waiting { failed, since: now, random, again_at, failure };
    }

    /// Returns the number of earlier attempts that have found that a message came before all nodes
    /// had the resource free. `None` if the latest one has not, or if there were too many.
    fn was_notified_early(&mut self, is_early: bool) -> Option<u32> {
        let times = self.since_notice.take().filter(|_| is_early)?;
        self.since_notice = Some(times.saturating_add(1));
        Some(times).filter(|times| *times < HURRIES)
    }

    /// Returns a delay that is never longer than until a quorum may be free. It is jittered even if
    /// a quorum is free by now. Otherwise contenders would collide in step. After an attempt that has kept
    /// others out, it is as long as that was, on average: contenders that wait for a silent master would
    /// otherwise keep each other out for most of the time.
    pub(super) fn delay(&self, now: Instant, settings: &Settings, random: u64) -> Duration {
        let is_calm = self.is_calm();
        let ceiling = self.may_be_free_in(settings);
        let ceiling = ceiling.map(|free_in| free_in.max(settings.backoff.base));
        let attempt = if is_calm { u32::MAX } else { self.attempts.saturating_sub(1) };
        let window = self.window(now, settings);
        let delay = Backoff { cap: window, ..settings.backoff }.delay(attempt, ceiling, random);
        let twice = self.blocked_for.saturating_mul(2);
        let delay = delay.max(Backoff { base: twice, cap: twice }.delay(0, ceiling, random));
        if !self.pauses_long(now, settings) {
            return delay;
        }
        // The jitter of a long pause need not begin at zero: that would double the attempts.
        window.min(ceiling.unwrap_or(window)) / 2 + delay / 2
    }

    /// Returns whether it asks no more often than messages say. Questions in a list are no attempts, and its master speaks
    /// for the others.
    const fn is_calm(&self) -> bool {
        self.listening || self.place.entry.is_some()
    }

    /// Returns the time until a quorum may be free, also where one node that refused speaks for the others.
    pub(super) fn may_be_free_in(&self, settings: &Settings) -> Option<Duration> {
        let is_calm = self.is_calm();
        let free_in = quorum_among(settings.membership, self.remaining.iter().copied());
        free_in.or_else(|| match *self.remaining {
            [(_, free_in)] if is_calm && !free_in.is_zero() => Some(free_in),
            _ => None,
        })
    }

    /// Returns whether the next attempt follows soon, since a message came before all nodes had the resource
    /// free.
    pub(crate) const fn is_early(&self) -> bool {
        matches!(self.since_notice, Some(..=HURRIES))
    }

    /// Notes that messages have stopped: one may have been missed.
    pub(super) const fn miss_messages(&mut self, now: Instant) {
        (self.listening, self.unheard.since) = (false, now);
    }

    /// Returns when a pause ends that has begun then, by what is known now.
    pub(super) fn pause_from(&mut self, since: Instant, settings: &Settings) -> Option<Instant> {
        let Phase::Waiting { random: Some(random), .. } = self.phase else { return None };
        Some(since.after(self.delay(since, settings, random)))
    }
}
