//! One client and one master, as page `sent` sees them: the lives of the master, what the client
//! makes of its reports on them, and which commands it sends as votes that count.
//!
//! All spans are real time here. Up to a second of an uptime is by no clock; the rest goes by the
//! master's.

use super::super::exact::{SLOWEST, Span, when};
use super::super::steps::Steps;
use crate::clock::{Clock, nanos};
use evaluator::{Element, Page};
use quorumlock_core::coordinator::{Epoch, Judged};
use quorumlock_core::quorum::Instant;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// The most by which spans that were converted differ from exact ones, in nanoseconds.
const ROUNDED: i64 = 10;

#[derive(Default)]
struct Link {
    /// The answers to INFO: when the master gave them, and the uptime in each.
    reports: Vec<(i64, Duration)>,
    /// The votes that were asked for and not executed, by what they are.
    asked: VecDeque<(u64, Element)>,
}

pub(super) struct Sent {
    pub(super) steps: Steps,
    node: Element,
    clock: Clock,
    /// How much faster the master's clock runs.
    ppm: i64,
    quarantine: Duration,
    links: BTreeMap<Epoch, Link>,
    /// The connection that the client has, and from when the master votes as it was last judged.
    current: Option<Epoch>,
    votes_from: Instant,
    /// Other clients have other numbers, which the page does not speak of.
    has_left: bool,
}

impl Sent {
    /// Begins with a master that has started at `boot`.
    pub(super) fn new(
        page: Arc<Page>,
        (now, boot): (i64, i64),
        (clock, ppm): (Clock, i64),
        quarantine: Duration,
    ) -> Result<Self, String> {
        let mut steps = Steps::new(page);
        let node = steps.state.add("Node");
        steps.state.set("boot", &[node], boot);
        steps.state.set("now", &[], now);
        steps.state.set("guard", &[], Span::of(quarantine).at_least(SLOWEST) - ROUNDED);
        steps.state.set("second", &[], nanos(SECOND) as i64);
        steps.judge_assumptions()?;
        let (links, current, votes_from) = (BTreeMap::new(), None, Instant::default());
        Ok(Self {
            steps,
            node,
            clock,
            ppm,
            quarantine,
            links,
            current,
            votes_from,
            has_left: false,
        })
    }

    /// The master begins another life.
    pub(super) fn restarts(&mut self, now: i64) -> Result<(), String> {
        self.steps.tick(now)?;
        let to = self.steps.state.to("boot", &[self.node], now);
        self.steps.step("restart", &[("n0", self.node)], &[to])
    }

    pub(super) fn connects(&mut self, now: i64, epoch: Epoch) -> Result<(), String> {
        self.steps.tick(now)?;
        let (state, at) = (&self.steps.state, &[self.node][..]);
        let changes = [
            state.to("connected", at, 1),
            state.to("life", at, state.value("boot", at)),
            state.to("judged", at, 0),
        ];
        self.links.insert(epoch, Link::default());
        self.current = Some(epoch);
        self.steps.step("connect", &[("n0", self.node)], &changes)
    }

    pub(super) fn breaks(&mut self, now: i64, epoch: Epoch) -> Result<(), String> {
        if self.current != Some(epoch) {
            return Ok(());
        }
        self.current = None;
        self.steps.tick(now)?;
        let (state, at) = (&self.steps.state, &[self.node][..]);
        let changes = [state.to("connected", at, 0), state.to("judged", at, 0)];
        self.steps.step("break", &[("n0", self.node)], &changes)
    }

    /// The master answers INFO.
    pub(super) fn reports(&mut self, now: i64, epoch: Epoch, uptime: Duration) {
        if let Some(link) = self.links.get_mut(&epoch) {
            link.reports.push((now, uptime));
        }
    }

    /// The client may have judged the life that it is connected to: it has if it is open, and if it
    /// has another view.
    pub(super) fn judges(&mut self, now: i64, epoch: Epoch, judged: Judged) -> Result<(), String> {
        self.has_left |= judged.quarantine != self.quarantine;
        let is_judged = self.steps.state.is("judged", &[self.node]);
        let is_known = is_judged && judged.votes_from == self.votes_from;
        if self.has_left || !judged.is_open || self.current != Some(epoch) || is_known {
            return Ok(());
        }
        let Some((asked, heard, uptime)) = self.report(epoch, judged.uptime) else {
            return Err(format!("page sent: {:?} was never reported", judged.uptime));
        };
        self.steps.tick(now)?;
        self.votes_from = judged.votes_from;
        let (state, at) = (&self.steps.state, &[self.node][..]);
        let life = state.value("life", at);
        let is_known = state.is("met", at) && state.value("met_life", at) == life;
        let met_at = if is_known { state.value("met_at", at) } else { now };
        // Of a master that votes already, any start is as good that is long enough ago.
        let votes_from = when(self.clock, judged.votes_from).max(now);
        let estimate = votes_from - state.value("guard", &[]);
        let changes = [
            state.to("estimate", at, estimate),
            state.to("judged", at, 1),
            state.to("met", at, 1),
            state.to("met_life", at, life),
            state.to("met_at", at, met_at),
        ];
        let parameters = [
            ("n0", self.node),
            ("d0", estimate),
            ("uptime", uptime),
            ("asked", asked),
            ("heard", heard),
            ("question", asked),
        ];
        self.steps.step("judge", &parameters, &changes)
    }

    /// Returns when a report was given and read, and how long the master had run by it.
    fn report(&self, epoch: Epoch, read: Option<(Instant, Duration)>) -> Option<(i64, i64, i64)> {
        let (heard, uptime) = read?;
        let heard = when(self.clock, heard);
        let reports = self.links.get(&epoch)?.reports.iter();
        let (asked, _) = reports.rev().find(|(at, known)| *at <= heard && *known == uptime)?;
        let ran = uptime.saturating_sub(SECOND);
        let rest = nanos(uptime - ran) as i64;
        let ran = if ran.is_zero() { 0 } else { Span::of(ran).at_least(self.ppm) };
        Some((*asked, heard, rest + ran))
    }

    /// A command is queued as a vote, which `counts` or not.
    pub(super) fn sends(
        &mut self,
        now: i64,
        epoch: Epoch,
        (what, counts): (u64, bool),
    ) -> Result<(), String> {
        let Some(link) = self.links.get_mut(&epoch).filter(|_| !self.has_left) else {
            return Ok(());
        };
        self.steps.tick(now)?;
        let state = &mut self.steps.state;
        let command = state.add("Command");
        state.set("at", &[command], self.node);
        link.asked.push_back((what, command));
        let changes = [
            state.to("sent", &[command], 1),
            state.to("votes", &[command], i64::from(counts)),
            state.to("sent_to", &[command], state.value("life", &[self.node])),
        ];
        self.steps.step("send", &[("c0", command), ("n0", self.node)], &changes)
    }

    /// The master executes a command, which may be a vote.
    pub(super) fn runs(&mut self, now: i64, epoch: Epoch, what: u64) -> Result<(), String> {
        let Some(link) = self.links.get_mut(&epoch) else { return Ok(()) };
        let Some(at) = link.asked.iter().position(|(other, _)| *other == what) else {
            return Ok(());
        };
        let Some((_, command)) = link.asked.remove(at) else { return Ok(()) };
        self.steps.tick(now)?;
        let to = self.steps.state.to("ran", &[command], 1);
        self.steps.step("run", &[("c0", command)], &[to])?;
        // Nothing more is said of it.
        self.steps.state.set_live("Command", command, false);
        Ok(())
    }

    /// The master executes nothing more of a connection.
    pub(super) fn dies(&mut self, epoch: Epoch) {
        let asked = self.links.get_mut(&epoch).map(|link| std::mem::take(&mut link.asked));
        for (_, command) in asked.into_iter().flatten() {
            self.steps.state.set_live("Command", command, false);
        }
    }
}
