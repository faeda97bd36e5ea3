//! One play: writes that take steps in the order of a schedule, and a log of it in plain words.

use super::cases::Act;
use super::draw::Draw;
use super::gate::{Attempt, Gate};
use super::judge::{History, Outcome, Write};
use super::{Probed, StoreError, StoreResult};
use crate::FencingToken;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::task::unconstrained;
use tokio::time::timeout;

pub(super) struct Stage<'p, S> {
    store: &'p S,
    draw: Draw,
    tokens: Vec<FencingToken>,
    pub(super) history: History,
    /// The first error of the store, except those that the probe itself made.
    pub(super) error: Option<String>,
    pub(super) blocked: u64,
    /// How many steps a write has taken at most.
    longest: u64,
}

/// A write on its way.
struct Running<'p> {
    value: u64,
    work: Pin<Box<dyn Future<Output = StoreResult> + 'p>>,
    gate: Arc<Gate>,
    steps: u64,
    may_fail: bool,
}

impl<'p, S: Probed> Stage<'p, S> {
    pub(super) fn new(store: &'p S, seed: u64) -> Self {
        let mut draw = Draw(seed);
        let tokens = draw.tokens().into_iter().flat_map(FencingToken::try_from).collect();
        let history = History::of(store.updates());
        Self { store, draw, tokens, history, error: None, blocked: 0, longest: 0 }
    }

    pub(super) async fn perform(&mut self, act: Act) -> StoreResult {
        match act {
            Act::Perhaps(_) if self.draw.below(2) == 0 => {}
            Act::Perhaps(holder) | Act::Alone(holder) => self.run(&[holder], &[], None).await?,
            Act::Race(one, other, most) => {
                let turns: Vec<_> = (0..=self.draw.below(most)).map(|_| self.steps()).collect();
                self.run(&[one, other], &turns, None).await?;
            }
            Act::Cut(holder) => {
                let (step, is_dropped) = (self.steps(), self.draw.below(2) == 0);
                let (steps, fails_in) = if is_dropped { (step, 0) } else { (u64::MAX, step) };
                self.run(&[holder], &[steps], Some(fails_in)).await?;
            }
            Act::Read => self.history.read(self.store.read().await?)?,
            Act::Restart => {
                self.store.restart().await?;
                self.history.upset("the store has restarted");
            }
            Act::Cleanup => {
                self.store.cleanup().await?;
                self.history.upset("the store has cleaned up");
            }
            Act::Updates if self.history.updates => {}
            Act::Updates => return Err(StoreError::NotGiven),
            Act::Win => {
                let token = self.store.win().await?;
                self.history.win(token);
                self.tokens.remove(0);
                self.tokens.push(token);
            }
        }
        Ok(())
    }

    /// Notes an error of the store.
    pub(super) fn fail(&mut self, error: String) {
        self.history.log.push(error.clone());
        self.error.get_or_insert(error);
    }

    /// Draws a number of steps: at most as many as a write has taken, if one was there before.
    fn steps(&mut self) -> u64 {
        let most = if self.longest == 0 { 1 << self.draw.below(6) } else { self.longest };
        1 + self.draw.below(most)
    }

    /// Runs the next writes to their ends. The first one takes so many steps, then the other one,
    /// and so on. With `fails_in`, a write may fail: the pass of that number does, or its first turn
    /// is its last.
    async fn run(
        &mut self,
        holders: &[usize],
        turns: &[u64],
        fails_in: Option<u64>,
    ) -> StoreResult {
        let mut turns = turns.iter().copied();
        let mut writers: VecDeque<_> =
            holders.iter().map(|holder| self.writer(*holder, fails_in)).collect();
        while let Some(writer) = writers.pop_front() {
            let patience = if writers.is_empty() { Duration::MAX } else { self.store.patience() };
            let steps = turns.next().unwrap_or(u64::MAX);
            writers.extend(self.turn(writer, steps, patience).await?);
        }
        Ok(())
    }

    fn writer(&mut self, holder: usize, fails_in: Option<u64>) -> Running<'p> {
        let (token, value) =
            (self.tokens.get(holder).copied(), 1 + self.history.writes.len() as u64);
        let gate = Gate::new(fails_in.unwrap_or_default());
        let work: Pin<Box<dyn Future<Output = _>>> = match token {
            Some(token) => Box::pin(self.store.write(Attempt { token, value, gate: gate.clone() })),
            None => Box::pin(self.store.unfenced(value)),
        };
        self.history.writes.push(Write::new(token, value));
        let may_fail = fails_in.is_some() || token.is_none();
        // Tokio's budget would make it wait now and then, whatever the schedule.
        Running { value, work: Box::pin(unconstrained(work)), gate, steps: 0, may_fail }
    }

    /// Lets a write take so many steps. Returns it unless it has ended.
    async fn turn(
        &mut self,
        mut writer: Running<'p>,
        steps: u64,
        patience: Duration,
    ) -> StoreResult<Option<Running<'p>>> {
        let mut pause = "is held";
        for _ in 0..steps {
            writer.gate.open();
            if timeout(patience, writer.gate.stirred.notified()).await.is_err() {
                self.blocked += 1;
                pause = "is blocked by the store";
                break;
            }
            if let Poll::Ready(result) = self.step(&mut writer) {
                return self.end(&writer, result).map(|()| None);
            }
        }
        self.tell(&writer, pause);
        if writer.may_fail {
            let ended = StoreError::Failed("its client has ended".to_owned());
            return self.end(&writer, Err(ended)).map(|()| None);
        }
        Ok(Some(writer))
    }

    /// Lets a write go on to its next gate or await.
    fn step(&mut self, writer: &mut Running<'p>) -> Poll<StoreResult> {
        if writer.steps == 0 {
            self.history.begin(writer.value);
        }
        writer.steps += 1;
        self.longest = self.longest.max(writer.steps);
        let waker = Waker::from(Arc::clone(&writer.gate));
        let polled = writer.work.as_mut().poll(&mut Context::from_waker(&waker));
        if polled.is_pending() && writer.gate.place().is_some() {
            self.tell(writer, "waits");
        }
        polled
    }

    fn end(&mut self, writer: &Running<'p>, result: StoreResult) -> StoreResult {
        let (outcome, words) = match result {
            Ok(()) => (Outcome::Written, "is written".to_owned()),
            Err(StoreError::Stale) => (Outcome::Refused, "is refused as stale".to_owned()),
            Err(StoreError::NotGiven) => return result,
            Err(StoreError::Failed(error)) => {
                if writer.may_fail {
                    self.history.upset = (self.history.log.len(), "a write has failed");
                } else {
                    self.error.get_or_insert_with(|| error.clone());
                }
                (Outcome::Unknown, format!("fails: {error}"))
            }
        };
        self.history.end(writer.value, outcome, &words);
        Ok(())
    }

    /// Adds a line about a write to the log, and where it waits.
    fn tell(&mut self, writer: &Running<'p>, words: &str) {
        let at = match *writer.gate.place() {
            Some(place) => format!("at \"{place}\""),
            None => format!("after step {}", writer.steps),
        };
        self.history.tell(writer.value, &format!("{words} {at}"));
    }
}
