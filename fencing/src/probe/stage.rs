//! One play: writes that take steps in the order of a schedule, and a log of it in plain words.

use super::draw::Draw;
use super::gate::{Attempt, Gate, any_woken};
use super::judge::{History, Outcome, Write};
use super::script::{Act, tokens};
use super::{Call, FenceProbe, StoreError, StoreResult, Work};
use crate::FencingToken;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::task::unconstrained;
use tokio::time::timeout;

/// How long anything may take that nothing holds back.
const LIMIT: Duration = Duration::from_secs(10);

/// Which of two writers run, as bits, and for how many steps.
type Turn = (usize, u64);
const BOTH: Turn = (3, u64::MAX);

pub(super) struct Stage<'p, S> {
    pub(super) probe: &'p FenceProbe<'p, S>,
    pub(super) store: &'p S,
    pub(super) write: &'p Call<'p, S, Attempt, ()>,
    pub(super) draw: Draw,
    pub(super) tokens: Vec<FencingToken>,
    pub(super) history: History,
    /// The errors of the store, except those that the probe itself made.
    pub(super) errors: Vec<String>,
    pub(super) blocked: u64,
    /// How many steps a write takes that is alone.
    pub(super) longest: u64,
}

/// A write on its way.
struct Running<'p> {
    write: usize,
    work: Option<Work<'p, ()>>,
    gate: Arc<Gate>,
    steps: u64,
    cut: bool,
}

impl<'p, S> Stage<'p, S> {
    /// Takes the holders' tokens from the user's source, or else draws them.
    pub(super) async fn take_tokens(&mut self) {
        for number in tokens(&mut self.draw) {
            let won = self.win().await;
            self.tokens.extend(won.or(FencingToken::try_from(number).ok()));
        }
    }

    pub(super) async fn perform(&mut self, act: Act) {
        match act {
            Act::Perhaps(_) if self.draw.below(2) == 0 => {}
            Act::Perhaps(holder) | Act::Alone(holder) => self.run(&[Some(holder)], &[], None).await,
            Act::Held(held, other) => {
                let turns = [(1, self.steps()), (2, u64::MAX), (1, u64::MAX)];
                self.run(&[Some(held), Some(other)], &turns, None).await;
            }
            Act::Turns(one, other) => {
                let (first, segments) = (self.draw.below(2), self.draw.below(7));
                let turn = |turn| (1 + turn as usize % 2, self.steps());
                let turns: Vec<Turn> = (first..first + segments).map(turn).collect();
                self.run(&[Some(one), Some(other)], &turns, None).await;
            }
            Act::Cut(holder) => {
                let (step, is_dropped) = (self.steps(), self.draw.below(2) == 0);
                let (steps, fails_in) = if is_dropped { (step, 0) } else { (u64::MAX, step) };
                self.run(&[Some(holder)], &[(1, steps)], Some(fails_in)).await;
            }
            Act::Unfenced => self.run(&[None], &[], Some(0)).await,
            Act::Read => {
                let Some(value) = self.within(self.probe.read.call(self.store, ())).await else {
                    return;
                };
                self.history.reads.push((self.history.log.len(), value));
                self.history.log.push(format!("the store has {value:x}"));
                if self.history.shown(value).is_none() {
                    self.errors
                        .push(format!("the store has {value:x}, which no write of the play makes"));
                }
            }
            Act::Restart => {
                self.upset(self.probe.restart.as_ref(), "the store has restarted").await
            }
            Act::Cleanup => {
                self.upset(self.probe.cleanup.as_ref(), "the store has cleaned up").await
            }
            Act::Win => drop(self.win().await),
        }
    }

    /// Draws a number of steps: at most as many as a write takes, if one was alone before.
    fn steps(&mut self) -> u64 {
        if self.longest == 0 { self.draw.steps() } else { 1 + self.draw.below(self.longest) }
    }

    /// Prepares the next write, of a holder or without a token. With `cut`, it may fail: the pass of
    /// that number does.
    fn writer(&mut self, holder: Option<usize>, cut: Option<u64>) -> Option<Running<'p>> {
        let (store, write) = (self.store, self.history.writes.len());
        let (name, value) = (char::from(b'A' + write as u8), 1 + write as u64);
        let token = holder.map(|holder| self.tokens[holder]);
        let gate = Arc::new(Gate::new(cut.unwrap_or_default()));
        let work = match token {
            Some(token) => self.write.call(store, Attempt { token, value, gate: gate.clone() }),
            None => self.probe.unfenced.as_ref()?.call(store, value),
        };
        let (begun, ended, outcome) = (usize::MAX, usize::MAX, Outcome::Unknown);
        self.history.writes.push(Write { name, token, value, outcome, begun, ended });
        // Tokio's budget would make it wait now and then, whatever the schedule.
        let work: Work<'p, ()> = Box::pin(unconstrained(work));
        Some(Running { write, work: Some(work), gate, steps: 0, cut: cut.is_some() })
    }

    /// Runs writes to their ends, or to the cut of one.
    async fn run(&mut self, holders: &[Option<usize>], turns: &[Turn], cut: Option<u64>) {
        let writers = holders.iter().filter_map(|holder| self.writer(*holder, cut));
        let mut writers: Vec<_> = writers.collect();
        let mut turns = turns.iter().copied();
        let (mut who, mut steps) = turns.next().unwrap_or(BOTH);
        loop {
            let going = writers.iter().filter(|writer| writer.work.is_some()).count();
            let chosen =
                writers.iter_mut().enumerate().filter(|(index, _)| who & (1 << index) != 0);
            let chosen = chosen.map(|(_, writer)| writer).filter(|writer| writer.work.is_some());
            let mut chosen: Vec<_> = chosen.collect();
            let gates: Vec<_> = chosen.iter().map(|writer| Arc::clone(&writer.gate)).collect();
            let alone = chosen.len() == going;
            let patience = if alone { LIMIT } else { self.probe.patience };
            if going == 0 {
                break;
            } else if chosen.is_empty() || steps == 0 {
                chosen.into_iter().for_each(|writer| self.hold(writer));
                (who, steps) = turns.next().unwrap_or(BOTH);
            } else if any_woken(&gates, patience).await {
                steps -= 1;
                if self.draw.below(2) == 0 {
                    chosen.reverse();
                }
                for writer in chosen.into_iter().filter(|writer| writer.gate.state().woken) {
                    self.step(writer);
                }
            } else if alone {
                for writer in chosen {
                    self.end(writer, Err(StoreError::Failed(format!("no end within {LIMIT:?}"))));
                }
            } else {
                self.blocked += 1;
                chosen.into_iter().for_each(|writer| self.tell(writer, "is blocked by the store"));
                (who, steps) = turns.next().unwrap_or(BOTH);
            }
        }
        if let [writer] = &*writers {
            self.longest = self.longest.max(writer.steps);
        }
    }

    /// Lets a write go on to its next gate or await.
    fn step(&mut self, writer: &mut Running<'p>) {
        if writer.steps == 0 {
            let write = &mut self.history.writes[writer.write];
            write.begun = self.history.log.len();
            self.history.log.push(format!("{write} begins with {}", write.value));
        }
        writer.steps += 1;
        writer.gate.open();
        let waker = Waker::from(Arc::clone(&writer.gate));
        let polled =
            writer.work.as_mut().map(|work| work.as_mut().poll(&mut Context::from_waker(&waker)));
        let waits = writer.gate.state().place.is_some();
        match polled {
            Some(Poll::Ready(result)) => self.end(writer, result),
            _ if waits => self.tell(writer, "waits"),
            _ => {}
        }
    }

    /// Holds a write where it is, or drops it there.
    fn hold(&mut self, writer: &mut Running<'p>) {
        self.tell(writer, if writer.cut { "is dropped" } else { "is held" });
        if writer.cut {
            self.end(writer, Err(StoreError::Failed("its client has ended".to_owned())));
        }
    }

    fn end(&mut self, writer: &mut Running<'p>, result: StoreResult) {
        writer.work = None;
        let (outcome, words) = match result {
            Ok(()) => (Outcome::Written, "is written".to_owned()),
            Err(StoreError::Stale) => (Outcome::Refused, "is refused as stale".to_owned()),
            Err(StoreError::Failed(error)) => {
                if writer.cut {
                    self.history.upsets.push((self.history.log.len(), "a write has failed"));
                } else {
                    self.errors.push(error.clone());
                }
                (Outcome::Unknown, format!("fails: {error}"))
            }
        };
        let write = &mut self.history.writes[writer.write];
        (write.outcome, write.ended) = (outcome, self.history.log.len());
        self.tell(writer, &words);
    }

    /// Adds a line about a write to the log, and where it waits.
    fn tell(&mut self, writer: &Running<'p>, words: &str) {
        let place = match writer.gate.state().place {
            _ if writer.work.is_none() => String::new(),
            Some(place) => format!(" at \"{place}\""),
            None => format!(" at its await {}", writer.steps),
        };
        let name = self.history.writes[writer.write].name;
        self.history.log.push(format!("{name} {words}{place}"));
    }

    async fn win(&mut self) -> Option<FencingToken> {
        let token = self.within(self.probe.tokens.as_ref()?.call(self.store, ())).await?;
        self.history.log.push(format!("a win has token {token}"));
        self.history.wins.push(token);
        Some(token)
    }

    async fn upset(&mut self, call: Option<&'p Call<'p, S, (), ()>>, words: &'static str) {
        if let Some(call) = call
            && self.within(call.call(self.store, ())).await.is_some()
        {
            self.history.upsets.push((self.history.log.len(), words));
            self.history.log.push(words.to_owned());
        }
    }

    /// Returns what the user's call returns, and notes its error.
    async fn within<T>(&mut self, call: impl Future<Output = StoreResult<T>>) -> Option<T> {
        let error = match timeout(LIMIT, call).await {
            Ok(Ok(value)) => return Some(value),
            Ok(Err(error)) => format!("{error:?}"),
            Err(_) => format!("no end within {LIMIT:?}"),
        };
        self.history.log.push(error.clone());
        self.errors.push(error);
        None
    }
}
