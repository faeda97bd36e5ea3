//! A master with the keys of one lock, and a clock that stands still.

use super::readers::{Act, Answer, HINT, LOCK, MARK, Master, READERS};
use crate::wire::{Replies, Reply, pack};
use quorumlock_embedded::{ClientId, Machine, Output};
use std::time::Duration;

/// The time on the master's clock at first, in ms; a reader's end is not that of a round second.
const BEGIN: i64 = 1_700_000_000_123;

pub(super) struct Stage {
    pub(super) machine: Machine,
    client: ClientId,
    now: Duration,
}

/// The keys of a lock: values with the ms that they have yet to live, and ends of readers as ms from
/// now.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Keys {
    pub(super) lock: Option<(&'static str, i64)>,
    pub(super) readers: Vec<(&'static str, i64)>,
    pub(super) hint: Option<i64>,
}

impl Keys {
    pub(super) fn nothing() -> Self {
        Self::default()
    }

    pub(super) fn held_by(holder: &'static str, left: i64) -> Self {
        Self { lock: Some((holder, left)), ..Self::default() }
    }

    /// Readers in the order of their ends, and the mark that expires with the last of them.
    pub(super) fn read_by<const N: usize>(readers: [(&'static str, i64); N]) -> Self {
        let last = readers[N - 1].1;
        Self { lock: Some((MARK, last)), ..Self::default() }.beside(readers)
    }

    /// The same with these readers, whether they count or not.
    pub(super) fn beside<const N: usize>(self, readers: [(&'static str, i64); N]) -> Self {
        Self { readers: readers.into(), ..self }
    }

    pub(super) fn wanted(self, left: i64) -> Self {
        Self { hint: Some(left), ..self }
    }
}

impl Stage {
    pub(super) fn new() -> Self {
        let now = Duration::from_millis(BEGIN.unsigned_abs());
        let mut machine = Machine::new(1, now);
        let client = machine.open();
        Self { machine, client, now }
    }

    /// Returns a master with these keys.
    pub(super) fn with(keys: &Keys) -> Self {
        let mut stage = Self::new();
        let mut set = |key, value, left: i64| {
            let at = (BEGIN + left).to_string();
            assert_eq!(stage.ask(&["SET", key, value, "PXAT", &at]), Answer::Okay);
        };
        keys.lock.iter().for_each(|(holder, left)| set(LOCK, holder, *left));
        keys.hint.iter().for_each(|left| set(HINT, "id", *left));
        for (reader, left) in &keys.readers {
            stage.ask(&["ZADD", READERS, &(BEGIN + left).to_string(), reader]);
        }
        if let Some((_, last)) = keys.readers.last() {
            stage.ask(&["PEXPIRE", READERS, &(last + 1_000).to_string()]);
        }
        stage
    }

    /// Asserts that the keys are these and no others, and that the readers are kept for a second
    /// longer than the last of them reads.
    pub(super) fn assert_keys(&mut self, expected: &Keys, case: &str) {
        let lock = self.stands(LOCK);
        let expected_lock = expected.lock.map(|(holder, left)| (holder.to_owned(), left));
        assert_eq!(lock, expected_lock, "{case}");
        let readers: Vec<(String, i64)> =
            expected.readers.iter().map(|(name, left)| ((*name).into(), BEGIN + left)).collect();
        assert_eq!(self.readers(), readers, "{case}");
        let kept = expected.readers.last().map_or(-2, |(_, last)| last + 1_000);
        assert_eq!(self.ask(&["PTTL", READERS]), Answer::Int(kept), "{case}");
        assert_eq!(self.stands(HINT).map(|(_, left)| left), expected.hint, "{case}");
        let keys = [lock.is_some(), !readers.is_empty(), expected.hint.is_some()];
        let keys = keys.into_iter().filter(|there| *there).count();
        assert_eq!(self.machine.keys(self.now).count(), keys, "{case}");
    }

    pub(super) fn act(&mut self, act: &Act) -> Answer {
        let now = self.now();
        let words = act.command(now);
        self.ask(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Opens another connection, which listens to the channel.
    pub(super) fn subscribe(&mut self, channel: &str) -> ClientId {
        let waiter = self.machine.open();
        self.machine.receive(waiter, self.now, &pack(&["SUBSCRIBE", channel]));
        while self.machine.poll_output().is_some() {}
        waiter
    }

    /// Returns the answer, and what other connections have received.
    pub(super) fn ask_beside(&mut self, words: &[&str]) -> (Answer, Vec<Output>) {
        self.machine.receive(self.client, self.now, &pack(words));
        let outputs: Vec<Output> = std::iter::from_fn(|| self.machine.poll_output()).collect();
        let is_ours = |output: &Output| matches!(output, Output::Send(to, _) if *to == self.client);
        let (ours, others): (Vec<_>, Vec<_>) = outputs.into_iter().partition(is_ours);
        let [Output::Send(_, bytes)] = &ours[..] else { panic!("{ours:?} is no answer") };
        let mut replies = Replies::default();
        replies.receive(bytes);
        (answer(replies.next().unwrap().unwrap()), others)
    }
}

impl Master for Stage {
    fn ask(&mut self, words: &[&str]) -> Answer {
        let (answer, others) = self.ask_beside(words);
        assert_eq!(others, []);
        answer
    }

    fn pass(&mut self, millis: i64) {
        self.now += Duration::from_millis(millis.unsigned_abs());
    }
}

fn answer(reply: Reply) -> Answer {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    match reply {
        Reply::Okay => Answer::Okay,
        Reply::Nil => Answer::Nil,
        Reply::Int(number) => Answer::Int(number),
        Reply::Text(bytes) => Answer::Text(text(&bytes)),
        Reply::Error(error) => Answer::Error(error.to_string()),
        Reply::Array(parts) => Answer::List(parts.into_iter().map(answer).collect()),
        other => panic!("{other:?}"),
    }
}
