//! Acts in a random order, on a master and on the model, which are compared after each.

use super::model::Holder;
use super::{Act, Answer, HINT, LOCK, MARK, Master, Model, READERS};

/// The readers and the writers; each may try the other, too.
const NAMES: [&str; 5] = ["reader 1", "reader 2", "reader 3", "writer 1", "writer 2"];

/// Spans of time that suit a master's clock, in ms.
pub(crate) struct Pace {
    pub(crate) lives: &'static [i64],
    pub(crate) pauses: &'static [i64],
    /// How long before the end of anything the walk waits until it is over, since the clock advances
    /// during an act.
    pub(crate) margin: i64,
}

/// For a clock that advances only when a test sets it.
pub(crate) const EXACT: Pace =
    Pace { lives: &[1, 2, 30, 31, 60_000, 90_000], pauses: &[1, 1, 2, 29, 30, 61_000], margin: 0 };

/// For a clock that always advances.
pub(crate) const REAL: Pace =
    Pace { lives: &[60, 90, 60_000, 90_000], pauses: &[1, 40, 100], margin: 20 };

pub(crate) struct Walk<'a, M> {
    pub(crate) master: &'a mut M,
    pub(crate) pace: &'static Pace,
    model: Model,
    done: Vec<Act>,
}

/// Something ended during an act, so the model does not know whether it was before or after it.
#[derive(Debug)]
pub(crate) struct Unclear;

impl<'a, M: Master> Walk<'a, M> {
    pub(crate) fn new(master: &'a mut M, pace: &'static Pace) -> Self {
        master.ask(&["DEL", LOCK, READERS, HINT]);
        Self { master, pace, model: Model::default(), done: Vec::new() }
    }

    /// Returns the act that these two numbers choose.
    pub(crate) fn chosen(&self, kind: u8, detail: u8) -> Act {
        let detail = usize::from(detail);
        let name = NAMES[detail % NAMES.len()].to_owned();
        let pick = |from: &[i64]| from[detail / NAMES.len() % from.len()];
        let life = pick(self.pace.lives);
        match kind % 20 {
            0..5 => Act::Read { name, life, was_let_in: false },
            5 => Act::Read { name, life, was_let_in: true },
            6..10 => Act::Extend { name, life },
            10..13 => Act::Release { name },
            13 | 14 => Act::Write { name, life },
            15 => Act::Want { life },
            16 => Act::GiveUp,
            17 => Act::ForceRelease,
            _ => Act::Pass { millis: pick(self.pace.pauses) },
        }
    }

    /// Does one act on both, and compares the answers, the keys and their lives.
    ///
    /// # Errors
    ///
    /// If this was not to be compared: something ended in the meantime.
    pub(crate) fn step(&mut self, act: Act) -> Result<(), Unclear> {
        self.await_ends();
        let began = self.master.now();
        self.model.lapse(began);
        self.done.push(act);
        let act = &self.done[self.done.len() - 1];
        let answer = match act {
            Act::Pass { millis } => {
                self.master.pass(*millis);
                return Ok(());
            }
            _ => {
                let words = act.command(began);
                self.master.ask(&words.iter().map(String::as_str).collect::<Vec<_>>())
            }
        };
        let ended = self.master.now();
        // What the act takes away may have ended before it, too.
        let mut ends = self.model.ends();
        let mut latest = self.model.clone();
        let expected = [self.model.act(act, began), latest.act(act, ended)];
        let (stands, readers) = (self.master.stands(LOCK), self.master.readers());
        let kept = self.master.ask(&["PTTL", READERS]).number();
        let seen = self.master.now();
        ends.extend(self.model.ends());
        if ends.iter().any(|end| (began..seen).contains(end)) {
            return Err(Unclear);
        }
        let compared = alike(&answer, expected)
            .and_then(|()| self.adopt(&readers, &latest, seen - began))
            .and_then(|()| self.compare_keys(stands, &readers, kept, [began, seen]));
        compared.unwrap_or_else(|difference| panic!("{difference}: {}", self.story()));
        Ok(())
    }

    fn await_ends(&mut self) {
        while self.pace.margin > 0 {
            let now = self.master.now();
            let soon = now..now + self.pace.margin;
            let Some(end) = self.model.ends().into_iter().find(|end| soon.contains(end)) else {
                return;
            };
            self.master.pass(end + 1 - now);
        }
    }

    /// Takes over when the readers end, which depends on when exactly the master did it.
    fn adopt(
        &mut self,
        readers: &[(String, i64)],
        latest: &Model,
        took: i64,
    ) -> Result<(), String> {
        let (Holder::Readers(first), Holder::Readers(last)) =
            (&mut self.model.holder, &latest.holder)
        else {
            return Ok(());
        };
        for (name, end) in first {
            let found = readers.iter().find(|(reader, _)| reader == name);
            let (_, its) = found.ok_or_else(|| format!("{name} does not read"))?;
            if !(*end..=last[name] + took).contains(its) {
                return Err(format!("{name} reads until {its}"));
            }
            *end = *its;
        }
        Ok(())
    }

    fn compare_keys(
        &self,
        stands: Option<(String, i64)>,
        readers: &[(String, i64)],
        kept: i64,
        [began, seen]: [i64; 2],
    ) -> Result<(), String> {
        let left = |end: i64| end - seen..=end - began;
        let is_right = match (&self.model.holder, &stands) {
            (Holder::Vacant, None) => true,
            (Holder::Writer(name, end), Some((value, lives))) => {
                name == value && left(*end).contains(lives)
            }
            (Holder::Readers(expected), Some((value, lives))) => {
                let last = expected.values().copied().max().unwrap_or_default();
                let alive =
                    |(name, end): &(String, i64)| *end < began || expected.contains_key(name);
                value == MARK
                    && left(last).contains(lives)
                    // PEXPIRE counted from when it was called, later than TIME was.
                    && (last + 1_000 - seen..=last + 1_000 - began + self.pace.margin).contains(&kept)
                    && readers.iter().all(alive)
            }
            _ => false,
        };
        if is_right && (readers.is_empty() || kept >= 0) {
            return Ok(());
        }
        Err(format!("{stands:?}, and {readers:?} for {kept} ms"))
    }

    /// Describes what was done, and what should have come of it.
    fn story(&self) -> String {
        let acts: Vec<String> = self.done.iter().map(|act| format!("\n  {act:?}")).collect();
        format!("{:?} after{}", self.model, acts.concat())
    }
}

/// Compares a master's answer with those that it would have given first and last: a life that it reports
/// lies between them.
fn alike(answer: &Answer, [first, last]: [Answer; 2]) -> Result<(), String> {
    let is_alike = match (answer, &first, &last) {
        (Answer::List(answer), Answer::List(first), Answer::List(last)) => {
            let left = last[1].number()..=first[1].number();
            answer.len() == first.len()
                && left.contains(&answer[1].number())
                && answer[0] == first[0]
                && answer[2..] == first[2..]
        }
        _ => *answer == first && first == last,
    };
    if is_alike { Ok(()) } else { Err(format!("{answer:?} and not {first:?}")) }
}
