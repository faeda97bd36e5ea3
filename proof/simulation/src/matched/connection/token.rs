//! One token at one master, as page `debts` sees it.

use super::super::drift;
use super::super::exact::{SLOWEST, Span};
use super::super::steps::Steps;
use crate::clock::Clock;
use evaluator::{Element, Page};
use quorumlock_core::coordinator::Epoch;
use std::sync::Arc;
use std::time::Duration;

/// By how much a key outlives its life at most: to the end of its last millisecond.
const LAST: Duration = Duration::from_millis(1);

/// What a client owes for a token at a master: nothing, or a release, of which it may be certain
/// that nothing of the token can arrive any more.
pub(super) type Owes = Option<bool>;

/// The command that a master has executed.
#[derive(Clone, Copy)]
pub(super) enum By {
    /// A SET of the token, which was answered with nil.
    Nil,
    /// A release of it, which an integer has answered or not.
    Release {
        is_settled: bool,
    },
    Other,
}

pub(super) struct Token {
    pub(super) steps: Steps,
    life: Duration,
    /// Its client has given it up.
    is_over: bool,
    /// Where the first of its commands begins that may arrive, on which connection.
    begins: (Epoch, usize),
    /// An earlier connection had commands of it, too.
    was_sent: bool,
    /// The master has answered its SET with nil.
    is_nil: bool,
    /// The master has answered its last release with an integer.
    is_settled: bool,
}

/// The one element of each sort.
const NODE: &[Element] = &[0];
const TOKEN: &[Element] = &[0];
const BOTH: &[Element] = &[0, 0];
const AT: (&str, i64) = ("n0", 0);
const OF: (&str, i64) = ("t0", 0);

impl Token {
    pub(super) fn new(page: &Arc<Page>, now: i64, begins: (Epoch, usize), is_open: bool) -> Self {
        let mut steps = Steps::new(page.clone());
        steps.state.add("Node");
        steps.state.add("Token");
        steps.state.set("now", &[], now);
        steps.state.set("open", NODE, i64::from(is_open));
        let (life, was_sent) = (Duration::ZERO, false);
        let (is_over, is_nil, is_settled) = (false, false, false);
        Self { steps, life, is_over, begins, was_sent, is_nil, is_settled }
    }

    fn is(&self, what: &str) -> bool {
        self.steps.state.is(what, BOTH)
    }

    pub(super) fn is_touched(&self) -> bool {
        self.is("touched")
    }

    pub(super) fn is_there(&self) -> bool {
        self.steps.state.is("has", NODE)
    }

    /// Returns whether nothing of it is there or may arrive, and nothing is owed for it.
    pub(super) fn is_done(&self) -> bool {
        let may_arrive = self.is("current") || self.is("old") || self.is_there();
        let is_given_up = self.is_over && !self.is("owed");
        !may_arrive && (is_given_up || !self.is_touched())
    }

    /// Lets time go by; by its end a key is gone.
    fn tick(&mut self, now: i64) -> Result<(), String> {
        if self.is_there() && self.steps.state.value("ends", NODE) <= now {
            let to = self.steps.state.to("has", NODE, 0);
            self.steps.step("expire", &[AT], &[to])?;
        }
        self.steps.tick(now)
    }

    /// Notes the longest life of its keys.
    fn lives(&mut self, clock: Clock, life: Duration) -> Result<(), String> {
        if life <= self.life {
            return Ok(());
        }
        self.life = life;
        let state = &mut self.steps.state;
        state.set("longest", &[], Span::of(life + LAST).at_most(-SLOWEST));
        state.set("waited", &[], Span::of(life + drift(life)).at_most(clock.ppm));
        self.steps.judge_assumptions()
    }

    // Masters.

    pub(super) fn finds(&mut self, now: i64, ends: Option<i64>, by: By) -> Result<(), String> {
        match by {
            // The key may be there of a client that the token was handed to: then nil says nothing of this SET.
            By::Nil => self.is_nil = ends.is_none(),
            By::Release { is_settled } => self.is_settled = is_settled,
            By::Other => {}
        }
        self.tick(now)?;
        let state = &self.steps.state;
        let known = self.is_there().then(|| state.value("ends", NODE));
        match (known, ends) {
            (None, Some(ends)) => {
                let changes = [state.to("has", NODE, 1), state.to("ends", NODE, ends)];
                self.steps.step("set", &[AT, OF, ("d0", ends)], &changes)
            }
            (Some(known), Some(ends)) if known != ends => {
                let to = state.to("ends", NODE, ends);
                self.steps.step("prolong", &[AT, OF, ("d0", ends)], &[to])
            }
            (Some(_), None) => {
                let to = state.to("has", NODE, 0);
                let is_own = matches!(by, By::Release { .. }) && self.is("owed");
                let action = if is_own { "unanswered" } else { "expire" };
                self.steps.step(action, &[AT, OF], &[to])
            }
            _ => {
                self.steps.stutters += 1;
                Ok(())
            }
        }
    }

    /// The master comes back empty. A client that has not noticed that its connection is dead sends
    /// on for a while, of which nothing arrives: to it, the key has expired.
    pub(super) fn restarts(&mut self, now: i64, is_open: bool) -> Result<(), String> {
        self.tick(now)?;
        let state = &self.steps.state;
        let gone = state.to("has", NODE, 0);
        match (is_open, self.is_there()) {
            (true, false) => Ok(()),
            (true, true) => self.steps.step("expire", &[AT], &[gone]),
            (false, _) => {
                let changes = [gone, state.to("old", BOTH, 0)];
                self.steps.step("restart", &[AT], &changes)
            }
        }
    }

    // Its client.

    pub(super) fn sends(
        &mut self,
        now: i64,
        clock: Clock,
        (begins, life): ((Epoch, usize), Duration),
    ) -> Result<(), String> {
        // Of those before it none can arrive, if there were any.
        if !self.is("current") {
            (self.begins, self.was_sent) = (begins, self.is_touched());
        }
        self.lives(clock, life)?;
        self.tick(now)?;
        let state = &self.steps.state;
        let changes = [
            state.to("again", BOTH, state.value("touched", BOTH)),
            state.to("current", BOTH, 1),
            state.to("touched", BOTH, 1),
        ];
        self.steps.step("send", &[AT, OF], &changes)
    }

    pub(super) fn reopens(&mut self, now: i64, owes: Owes) -> Result<(), String> {
        self.tick(now)?;
        let state = &self.steps.state;
        let mut changes = vec![state.to("open", NODE, 1), state.to("old", BOTH, 0)];
        if self.is("owed") && !self.is("certain") {
            let is_certain = owes.unwrap_or(true);
            changes.push(state.to("since", BOTH, now));
            changes.push(state.to("certain", BOTH, i64::from(is_certain)));
        }
        self.steps.step("reopen", &[AT], &changes)
    }

    pub(super) fn breaks(&mut self, now: i64) -> Result<(), String> {
        self.tick(now)?;
        let state = &self.steps.state;
        let old = self.is("old") || self.is("current");
        let changes = [
            state.to("open", NODE, 0),
            state.to("current", BOTH, 0),
            state.to("old", BOTH, i64::from(old)),
        ];
        self.steps.step("break", &[AT], &changes)
    }

    /// Compares what its client owes with what it owed.
    pub(super) fn compares(
        &mut self,
        now: i64,
        owes: Owes,
        is_over: bool,
        (is_undone, left): (impl Fn() -> bool, impl Fn(Epoch) -> Option<usize>),
    ) -> Result<(), String> {
        if !self.is_over {
            if owes.is_none() && is_undone() {
                self.may_undo(now, left)?;
            }
            if is_over {
                self.gives_up(now, owes.is_some())?;
            }
        }
        if !self.is_over || !self.is("owed") {
            return Ok(());
        }
        match owes {
            None if self.is_settled => self.settles(now),
            None => self.refuses(now, false),
            Some(true) if !self.is("certain") => self.refuses(now, true),
            Some(_) => Ok(()),
        }
    }

    /// The client no longer reckons with a key there: it knows that its command has set nothing, or
    /// has not left.
    fn may_undo(&mut self, now: i64, left: impl Fn(Epoch) -> Option<usize>) -> Result<(), String> {
        let (on, begins) = self.begins;
        let is_unsent = || left(on).is_some_and(|left| left <= begins);
        if !self.is_touched() {
            return Ok(());
        }
        let mut changes = Vec::new();
        let action = match self.is_nil && !self.is("again") {
            // The answer may have come before its connection broke, and another one may be open by now.
            true => {
                changes.push(self.steps.state.to("old", BOTH, 0));
                "set_nothing"
            }
            // What was queued behind the first command has not left, either. A client that has not adopted what it
            // set on an earlier connection forgets it, too: that is no such step.
            false if self.is("current") && !self.was_sent && is_unsent() => "unsent",
            false => return Ok(()),
        };
        self.tick(now)?;
        let state = &self.steps.state;
        changes.extend([state.to("current", BOTH, 0), state.to("touched", BOTH, 0)]);
        self.steps.step(action, &[AT, OF], &changes)
    }

    fn gives_up(&mut self, now: i64, owed: bool) -> Result<(), String> {
        self.is_over = true;
        self.tick(now)?;
        let state = &self.steps.state;
        let changes = [state.to("over", TOKEN, 1), state.to("owed", BOTH, i64::from(owed))];
        self.steps.step("give_up", &[OF], &changes)
    }

    fn settles(&mut self, now: i64) -> Result<(), String> {
        self.tick(now)?;
        let state = &self.steps.state;
        let changes =
            [state.to("has", NODE, 0), state.to("owed", BOTH, 0), state.to("current", BOTH, 0)];
        self.steps.step("settle", &[AT, OF], &changes)
    }

    /// An error has answered a release, which is owed still or not.
    fn refuses(&mut self, now: i64, is_owed: bool) -> Result<(), String> {
        self.tick(now)?;
        let state = &self.steps.state;
        let since = if self.is("certain") { state.value("since", BOTH) } else { now };
        let changes = [
            state.to("current", BOTH, 0),
            state.to("certain", BOTH, 1),
            state.to("since", BOTH, since),
            state.to("owed", BOTH, i64::from(is_owed)),
        ];
        self.steps.step("refuse", &[AT, OF], &changes)
    }
}
