//! One play: writes that take steps in the order of a schedule; what holds them on their way, and what wakes them.

use super::cases::Act;
use super::judge::History;
use super::{Probed, StoreError, StoreResult};
use crate::FencingToken;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;
use tokio::sync::{Notify, oneshot};
use tokio::task::unconstrained;
use tokio::time::timeout;

pub(super) struct Stage<'p, S> {
    store: &'p S,
    draw: Draw,
    /// How many steps a write has taken at most before its last one.
    longest: u64,
    pub(super) history: History,
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
            Act::Alone(holder) => self.run(&[holder], 0, false).await,
            Act::Race(first, second, turns) => self.run(&[first, second], turns, false).await,
            Act::Cut(holder) => self.run(&[holder], 1, true).await,
            Act::Read => self.history.read(self.store.read().await?),
            Act::Restart => self.history.upset("the store restarted", self.store.restart().await),
            Act::Cleanup => self.history.upset("the store cleaned up", self.store.cleanup().await),
            Act::Updates if self.history.updates => Ok(()),
            Act::Updates => Err(StoreError::NotGiven),
            Act::Win => self.store.win().await.map(|token| self.history.win(token)),
        }
    }

    /// Draws a number of steps after which a write is still on its way, as far as is known.
    fn steps(&mut self) -> u64 {
        let most = if self.longest == 0 { 1 << self.draw.below(6) } else { self.longest };
        1 + self.draw.below(most)
    }

    /// Runs a write of each holder to its end. The first one takes a few steps, then the other one,
    /// and so on, for so many turns. One that may fail does so where its turn ends: at a point that
    /// it does not pass, or as it is dropped.
    async fn run(&mut self, holders: &[usize], turns: u64, may_fail: bool) -> StoreResult {
        let (mut holders, mut turns, mut held) = (holders.iter(), 0..turns, VecDeque::new());
        loop {
            let begun = holders.next().map(|holder| self.begin(*holder, may_fail));
            let Some(mut writer) = begun.or_else(|| held.pop_front()) else { return Ok(()) };
            let is_alone = holders.len() + held.len() == 0;
            let patience = if is_alone { Duration::MAX } else { self.store.patience() };
            let mut steps = turns.next().map_or(u64::MAX, |_| self.steps());
            let waker = Waker::from(Arc::clone(&writer.gate));
            let answer = loop {
                writer.gate.open(true);
                if timeout(patience, writer.gate.stirred.notified()).await.is_err() {
                    self.history.blocked += 1;
                    self.tell(&writer, "is blocked by the store");
                    break None;
                }
                writer.steps += 1;
                let polled = writer.work.as_mut().poll(&mut Context::from_waker(&waker));
                if let Poll::Ready(answer) = polled {
                    break Some(answer);
                }
                self.longest = self.longest.max(writer.steps);
                steps -= 1;
                if steps == 0 {
                    self.tell(&writer, "is held");
                    if !may_fail {
                        break None;
                    } else if self.draw.below(2) == 0 || !writer.gate.open(false) {
                        break Some(Err(StoreError::Failed("its client has ended".to_owned())));
                    }
                    steps = u64::MAX;
                }
            };
            match answer {
                Some(answer) => self.history.end(writer.value, answer, writer.may_fail)?,
                None => held.push_back(writer),
            }
        }
    }

    fn begin(&mut self, holder: usize, may_fail: bool) -> Running<'p> {
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
        Running { value, work, gate, steps: 0, may_fail: may_fail || token.is_none() }
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

/// An update appends its value as a digit.
const DIGIT: u64 = 16;

/// One write of one holder, as the probe orders it.
#[derive(Debug)]
pub struct Attempt {
    /// The holder's token.
    pub token: FencingToken,
    /// What to write: 1 to 13, and no other write of the play has it.
    pub value: u64,
    gate: Arc<Gate>,
}

impl Attempt {
    /// Returns what an update writes back that has read `stored`: that, with the value appended as
    /// one hexadecimal digit. So what is stored in the end shows each update that is in it, and
    /// their order. It is below 2^53.
    #[must_use]
    pub const fn applied_to(&self, stored: u64) -> u64 {
        stored * DIGIT + self.value
    }

    /// Waits at a point on the write's way, until the schedule lets it go on. `place` names the
    /// point in the report.
    ///
    /// # Errors
    ///
    /// [`StoreError::Failed`], in some plays of [`Case::Rollback`](super::Case::Rollback): handle
    /// it as an error of the store, so that the write is rolled back.
    ///
    /// # Cancel safety
    ///
    /// The probe itself drops a write that waits here, as if its process had ended.
    pub async fn pass(&self, place: &'static str) -> StoreResult {
        let (open, opened) = oneshot::channel();
        *self.gate.place() = Some((place, open));
        // The write may be in a task of its own, and its arrival is the end of a step.
        self.gate.stirred.notify_one();
        match opened.await {
            Ok(false) => Err(StoreError::Failed(format!("the probe fails it at \"{place}\""))),
            _ => Ok(()),
        }
    }
}

#[derive(Debug, Default)]
struct Gate {
    /// The point at which the write waits, until it hears whether it passes.
    place: Mutex<Option<(&'static str, oneshot::Sender<bool>)>>,
    /// Notified when the write can take a step.
    stirred: Notify,
}

impl Gate {
    fn place(&self) -> MutexGuard<'_, Option<(&'static str, oneshot::Sender<bool>)>> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a write pass the point at which it waits, or fail there. Returns whether it was at one.
    fn open(&self, passes: bool) -> bool {
        self.place().take().is_some_and(|(_, open)| open.send(passes).is_ok())
    }
}

impl Wake for Gate {
    fn wake(self: Arc<Self>) {
        self.stirred.notify_one();
    }
}

/// Numbers that are determined by a seed (wyrand).
struct Draw(u64);

impl Draw {
    /// Returns a number below `bound`, which is not zero.
    const fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0xa076_1d64_78bd_642f);
        let product = self.0 as u128 * (self.0 ^ 0xe703_7ed1_a0b4_28db) as u128;
        ((product >> 64) as u64 ^ product as u64) % bound
    }

    /// Returns four numbers that rise, of a size at which text, floats or 32 bits go wrong.
    fn tokens(&mut self) -> [u64; 4] {
        let sizes = [1, 8, 98, (1 << 31) - 3, 1_795_158_604_154_900, (1 << 53) - 4_000];
        let mut last = sizes[self.below(6) as usize];
        [(); 4].map(|()| {
            last += 1 + self.below(2) * self.below(900);
            last
        })
    }
}
