//! One play: writes that take steps in the order of a schedule, and a log of it in plain words.

use super::draw::Draw;
use super::gate::{Attempt, Gate, any_set};
use super::judge::{History, Outcome, Write};
use super::script::{Act, Fault, Turn};
use super::{Call, FenceProbe, StoreError, Work};
use crate::FencingToken;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::task::unconstrained;
use tokio::time::timeout;

/// How long anything may take that nothing holds back.
const LIMIT: Duration = Duration::from_secs(10);

pub(super) struct Stage<'p, S> {
    probe: &'p FenceProbe<'p, S>,
    store: &'p S,
    write: &'p Call<'p, S, Attempt, ()>,
    draw: Draw,
    /// How many steps the last write took that was alone.
    longest: u64,
    tokens: [FencingToken; 4],
    pub(super) history: History,
    /// The errors of the store, except those that the probe itself made.
    pub(super) errors: Vec<String>,
    /// How often the store kept a write from taking a step.
    pub(super) blocked: u64,
}

/// A write on its way.
struct Running<'p> {
    write: usize,
    work: Work<'p, ()>,
    gate: Arc<Gate>,
    steps: u64,
    fault: Option<Fault>,
    ended: bool,
}

impl<'p, S> Stage<'p, S> {
    pub(super) fn new(
        probe: &'p FenceProbe<'p, S>,
        store: &'p S,
        write: &'p Call<'p, S, Attempt, ()>,
        updates: bool,
        draw: Draw,
    ) -> Self {
        let history = History { updates, ..History::default() };
        let tokens = [FencingToken::MIN; 4];
        Self {
            probe,
            store,
            write,
            draw,
            longest: 0,
            tokens,
            history,
            errors: Vec::new(),
            blocked: 0,
        }
    }

    /// Takes the holders' tokens from the user's source, or else from these numbers.
    pub(super) async fn take_tokens(&mut self, numbers: [u64; 4]) {
        for (holder, number) in numbers.into_iter().enumerate() {
            let token = match &self.probe.tokens {
                Some(_) => self.win().await,
                None => FencingToken::try_from(number).ok(),
            };
            self.tokens[holder] = token.unwrap_or(FencingToken::MIN);
        }
    }

    pub(super) async fn perform(&mut self, act: Act) {
        match act {
            Act::Alone(holder) => self.run(&[holder], Vec::new(), None).await,
            Act::Held(held, other) => {
                let turns = [(0, self.steps()), (1, u64::MAX), (0, u64::MAX)];
                self.run(&[held, other], turns.map(Turn::of).into(), None).await;
            }
            Act::Turns(one, other) => {
                let first = self.draw.below(2);
                let turns = first..first + self.draw.below(7);
                let turns = turns.map(|turn| Turn::of((turn % 2, self.steps()))).collect();
                self.run(&[one, other], turns, None).await;
            }
            Act::Cut(holder, fault) => {
                let step = self.steps();
                self.run(&[holder], vec![Turn::of((0, step))], Some((fault, step))).await;
            }
            Act::Read => self.read().await,
            Act::Restart => {
                self.upset(self.probe.restart.as_ref(), "the store had restarted").await
            }
            Act::Cleanup => {
                self.upset(self.probe.cleanup.as_ref(), "the store had cleaned up").await
            }
            Act::Unfenced => self.unfenced().await,
            Act::Win => drop(self.win().await),
        }
    }

    /// Draws a number of steps: at most as many as the last write took that was alone.
    fn steps(&mut self) -> u64 {
        if self.longest == 0 { self.draw.steps() } else { 1 + self.draw.below(self.longest) }
    }

    /// Prepares the next write, and the fault that befalls it.
    fn writer(&mut self, holder: usize, fault: Option<(Fault, u64)>) -> Running<'p> {
        let token = self.tokens[holder];
        let fails_in = fault.filter(|(fault, _)| *fault == Fault::Failed).map(|(_, step)| step);
        let (gate, write) = (Gate::new(fails_in), self.note(Some(token)));
        gate.signal.set(true);
        let attempt =
            Attempt { token, value: self.history.writes[write].value, gate: Arc::clone(&gate) };
        // Tokio's budget would make it wait now and then, whatever the schedule.
        let work = Box::pin(unconstrained(self.write.call(self.store, attempt)));
        Running { write, work, gate, steps: 0, fault: fault.map(|(fault, _)| fault), ended: false }
    }

    /// Notes a write that has not begun.
    fn note(&mut self, token: Option<FencingToken>) -> usize {
        let index = self.history.writes.len();
        let name = char::from(b'A' + index as u8);
        let (begun, ended, outcome) = (usize::MAX, usize::MAX, Outcome::Unknown);
        self.history.writes.push(Write {
            name,
            token,
            value: 1 + index as u64,
            outcome,
            begun,
            ended,
        });
        index
    }

    /// Runs writes to their ends, or to the fault that ends one.
    async fn run(&mut self, holders: &[usize], turns: Vec<Turn>, fault: Option<(Fault, u64)>) {
        let mut writers: Vec<_> =
            holders.iter().map(|holder| self.writer(*holder, fault)).collect();
        let mut turns = turns.into_iter();
        let mut turn = turns.next().unwrap_or(Turn::BOTH);
        loop {
            let of_turn = |(index, _): &(usize, &mut Running<'p>)| turn.runs[*index];
            let going = writers.iter().filter(|writer| !writer.ended).count();
            let mut chosen: Vec<&mut Running<'p>> = writers
                .iter_mut()
                .enumerate()
                .filter(of_turn)
                .map(|(_, writer)| writer)
                .filter(|writer| !writer.ended)
                .collect();
            if going == 0 {
                if let [writer] = &*writers {
                    self.longest = self.longest.max(writer.steps);
                }
                return;
            }
            if chosen.is_empty() || turn.steps == 0 {
                for writer in chosen {
                    self.hold(writer);
                }
                turn = turns.next().unwrap_or(Turn::BOTH);
                continue;
            }
            let alone = chosen.len() == going;
            let signals: Vec<_> = chosen.iter().map(|writer| &*writer.gate.signal).collect();
            if any_set(&signals, if alone { LIMIT } else { self.probe.patience }).await {
                turn.steps -= 1;
                if self.draw.below(2) == 0 {
                    chosen.reverse();
                }
                for writer in chosen.into_iter().filter(|writer| writer.gate.signal.is_set()) {
                    self.step(writer);
                }
            } else if alone {
                for writer in chosen {
                    let error = StoreError::Failed(format!("no end within {LIMIT:?}"));
                    self.end(writer, Err(error));
                }
            } else {
                self.blocked += 1;
                for writer in chosen {
                    self.tell(writer, format_args!("is blocked by the store {}", place(writer)));
                }
                turn = turns.next().unwrap_or(Turn::BOTH);
            }
        }
    }

    /// Lets a write go on to its next gate or await.
    fn step(&mut self, writer: &mut Running<'p>) {
        if writer.steps == 0 {
            let value = self.history.writes[writer.write].value;
            let verb = if self.history.updates { "append" } else { "write" };
            self.history.writes[writer.write].begun = self.history.log.len();
            let write = &self.history.writes[writer.write];
            self.history.log.push(format!("{write} begins to {verb} {value}"));
        }
        writer.gate.open();
        writer.gate.signal.set(false);
        writer.steps += 1;
        let waker = Waker::from(Arc::clone(&writer.gate.signal));
        match writer.work.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(result) => self.end(writer, result),
            Poll::Pending if writer.gate.place().is_some() => {
                self.tell(writer, format_args!("waits {}", place(writer)));
            }
            Poll::Pending => {}
        }
    }

    /// Holds a write where it is, or ends it there.
    fn hold(&mut self, writer: &mut Running<'p>) {
        match writer.fault {
            None => self.tell(writer, format_args!("is held {}", place(writer))),
            Some(Fault::Failed) => {}
            Some(Fault::Dropped) => {
                writer.work = Box::pin(async { Ok(()) });
                let place = place(writer);
                self.close(writer, Outcome::Unknown, format_args!("is dropped {place}"));
            }
        }
    }

    fn end(&mut self, writer: &mut Running<'p>, result: Result<(), StoreError>) {
        writer.work = Box::pin(async { Ok(()) });
        match result {
            Ok(()) => self.close(writer, Outcome::Written, format_args!("is written")),
            Err(StoreError::Stale) => {
                self.close(writer, Outcome::Refused, format_args!("is refused as stale"))
            }
            Err(StoreError::Failed(error)) => {
                self.close(writer, Outcome::Unknown, format_args!("fails: {error}"));
                if writer.fault.is_none() {
                    self.errors.push(error);
                }
            }
        }
    }

    fn close(
        &mut self,
        writer: &mut Running<'p>,
        outcome: Outcome,
        words: std::fmt::Arguments<'_>,
    ) {
        let write = &mut self.history.writes[writer.write];
        (write.outcome, write.ended, writer.ended) = (outcome, self.history.log.len(), true);
        if writer.fault.is_some() && outcome == Outcome::Unknown {
            self.history.upsets.push((write.ended, "a write had failed"));
        }
        self.tell(writer, words);
    }

    fn tell(&mut self, writer: &Running<'p>, words: std::fmt::Arguments<'_>) {
        let History { writes, log, .. } = &mut self.history;
        log.push(format!("{} {words}", writes[writer.write].name));
    }

    async fn unfenced(&mut self) {
        let Some(unfenced) = &self.probe.unfenced else { return };
        let write = self.note(None);
        let value = self.history.writes[write].value;
        self.history.writes[write].begun = self.history.log.len();
        let answer = timeout(LIMIT, unfenced.call(self.store, value)).await;
        self.history.writes[write].ended = self.history.log.len() + 1;
        let name = &self.history.writes[write];
        self.history.log.push(format!("{name} tries to write {value}: {answer:?}"));
    }

    async fn win(&mut self) -> Option<FencingToken> {
        let token = self.within(self.probe.tokens.as_ref()?.call(self.store, ())).await?;
        self.history.log.push(format!("a win has token {token}"));
        self.history.wins.push(token);
        Some(token)
    }

    async fn read(&mut self) {
        if let Some(value) = self.within(self.probe.read.call(self.store, ())).await {
            self.history.reads.push((self.history.log.len(), value));
            self.history.log.push(format!("the store has {value:x}"));
            if self.history.shown(value).is_none() {
                let error = "the store has what no write of the play makes: is the resource fresh?";
                self.errors.push(error.to_owned());
            }
        }
    }

    async fn upset(&mut self, call: Option<&'p Call<'p, S, (), ()>>, words: &'static str) {
        if let Some(call) = call
            && self.within(call.call(self.store, ())).await.is_some()
        {
            self.history.upsets.push((self.history.log.len(), words));
            self.history.log.push(words.replace("had ", "has "));
        }
    }

    /// Returns what the user's call returns, and notes its error.
    async fn within<T>(&mut self, call: impl Future<Output = Result<T, StoreError>>) -> Option<T> {
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

/// Returns the words for where a write waits.
fn place(writer: &Running<'_>) -> String {
    match writer.gate.place() {
        Some(place) => format!("at \"{place}\""),
        None if writer.steps == 0 => "before its start".to_owned(),
        None => format!("at its await {}", writer.steps),
    }
}
