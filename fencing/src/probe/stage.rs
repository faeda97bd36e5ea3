//! One play: writes that take steps in the order of a schedule.

use super::cases::Act;
use super::draw::Draw;
use super::gate::{Attempt, Gate};
use super::judge::History;
use super::{Probed, StoreError, StoreResult};
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
    /// How many steps a write has taken at most.
    longest: u64,
    pub(super) history: History,
}

/// A write on its way.
struct Running<'p> {
    value: u64,
    work: Pin<Box<dyn Future<Output = StoreResult> + 'p>>,
    gate: Arc<Gate>,
    steps: u64,
    passes: u64,
    /// If it may fail: the pass that fails, or 0 if none does.
    fails_in: Option<u64>,
}

impl<'p, S: Probed> Stage<'p, S> {
    /// Takes the holders' tokens from the store, or else draws them.
    pub(super) async fn new(store: &'p S, seed: u64) -> StoreResult<Self> {
        let history = History { updates: store.updates(), ..History::default() };
        let mut stage = Self { store, draw: Draw(seed), longest: 0, history };
        for number in stage.draw.tokens() {
            match stage.perform(Act::Win).await {
                Err(StoreError::NotGiven) => stage.history.tokens.push(number.try_into()?),
                won => won?,
            }
        }
        Ok(stage)
    }

    pub(super) async fn perform(&mut self, act: Act) -> StoreResult {
        match act {
            Act::Alone(holder) => self.run(&[holder], 0, None).await,
            Act::Race(one, other, turns) => self.run(&[one, other], turns, None).await,
            Act::Cut(holder) => {
                let fails_in = self.steps() * self.draw.below(2);
                self.run(&[holder], u64::from(fails_in == 0), Some(fails_in)).await
            }
            Act::Read => self.history.read(self.store.read().await?),
            Act::Restart => self.history.upset("the store restarted", self.store.restart().await),
            Act::Cleanup => self.history.upset("the store cleaned up", self.store.cleanup().await),
            Act::Updates if self.history.updates => Ok(()),
            Act::Updates => Err(StoreError::NotGiven),
            Act::Win => self.store.win().await.map(|token| self.history.win(token)),
        }
    }

    /// Draws a number of steps: at most as many as a write has taken.
    fn steps(&mut self) -> u64 {
        let most = if self.longest == 0 { 1 << self.draw.below(6) } else { self.longest };
        1 + self.draw.below(most)
    }

    /// Runs a write of each holder to its end. The first one takes a few steps, then the other one,
    /// and so on, for so many turns. With `fails_in`, a write may fail, and it has no second turn.
    async fn run(&mut self, holders: &[usize], turns: u64, fails_in: Option<u64>) -> StoreResult {
        let (mut holders, mut turns, mut held) = (holders.iter(), 0..turns, VecDeque::new());
        loop {
            let begun = holders.next().map(|holder| self.begin(*holder, fails_in));
            let Some(mut writer) = begun.or_else(|| held.pop_front()) else { return Ok(()) };
            let is_alone = holders.len() + held.len() == 0;
            let patience = if is_alone { Duration::MAX } else { self.store.patience() };
            let mut steps = turns.next().map_or(u64::MAX, |_| self.steps());
            let answer = loop {
                if let Some((_, open)) = writer.gate.place().take() {
                    writer.passes += 1;
                    let _ended_already = open.send(writer.fails_in != Some(writer.passes));
                }
                if timeout(patience, writer.gate.stirred.notified()).await.is_err() {
                    self.history.blocked += 1;
                    self.tell(&writer, "is blocked by the store");
                    break None;
                }
                if let Poll::Ready(answer) = self.step(&mut writer) {
                    break Some(answer);
                }
                steps -= 1;
                if steps == 0 {
                    self.tell(&writer, "is held");
                    let ended = |_| Err(StoreError::Failed("its client has ended".to_owned()));
                    break writer.fails_in.map(ended);
                }
            };
            match answer {
                Some(answer) => {
                    self.history.end(writer.value, answer, writer.fails_in.is_some())?
                }
                None => held.push_back(writer),
            }
        }
    }

    fn begin(&mut self, holder: usize, fails_in: Option<u64>) -> Running<'p> {
        let token = self.history.tokens.get(holder).copied();
        let (value, gate) = (self.history.begin(token), Arc::new(Gate::default()));
        gate.stirred.notify_one();
        let (store, held_by) = (self.store, Arc::clone(&gate));
        let work = async move {
            match token {
                Some(token) => store.write(Attempt { token, value, gate: held_by }).await,
                None => store.unfenced(value).await,
            }
        };
        // Tokio's budget would make it wait now and then, whatever the schedule.
        let work = Box::pin(unconstrained(work));
        let fails_in = fails_in.or(token.is_none().then_some(0));
        Running { value, work, gate, steps: 0, passes: 0, fails_in }
    }

    /// Lets a write go on to its next gate or await.
    fn step(&mut self, writer: &mut Running<'p>) -> Poll<StoreResult> {
        writer.steps += 1;
        self.longest = self.longest.max(writer.steps);
        let waker = Waker::from(Arc::clone(&writer.gate));
        let polled = writer.work.as_mut().poll(&mut Context::from_waker(&waker));
        if polled.is_pending() && writer.gate.place().is_some() {
            self.tell(writer, "waits");
        }
        polled
    }

    /// Adds a line about a write to the log, and where it waits.
    fn tell(&mut self, writer: &Running<'p>, words: &str) {
        let at = match *writer.gate.place() {
            Some((place, _)) => format!("at \"{place}\""),
            None => format!("after step {}", writer.steps),
        };
        self.history.tell(writer.value, &format!("{words} {at}"));
    }
}
