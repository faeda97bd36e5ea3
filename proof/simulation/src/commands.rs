//! A parser for the commands in the bytes that a client writes, however they were cut. In a debug
//! build the `redis` crate's parser takes most of a world's time, and a command is simple.

use quorumlock_core::coordinator::wire::{
    ACQUIRE, ACQUIRE_READ, EXTEND, EXTEND_READ, LOOK, RELEASE, RELEASE_ALL, RELEASE_READ, SHORTEN,
    TOP_UP, WAITLIST,
};
use std::sync::LazyLock;

/// The words of one command.
pub(super) type Words = Vec<Vec<u8>>;

/// The purpose of a command, in whatever way it is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Deed {
    Acquire,
    Extend,
    Release,
    /// The end of work that has ended well, where the keys stay for some time.
    Shorten,
    Agree,
    Inspect,
    Other,
}

/// Scripts that are called by their hashes.
static HASHES: LazyLock<Vec<(String, Deed)>> = LazyLock::new(|| {
    let scripts = [
        (ACQUIRE, Deed::Acquire),
        (EXTEND, Deed::Extend),
        (RELEASE, Deed::Release),
        (RELEASE_ALL, Deed::Release),
        (ACQUIRE_READ, Deed::Acquire),
        (EXTEND_READ, Deed::Extend),
        (RELEASE_READ, Deed::Release),
    ];
    scripts.map(|(script, about)| (redis::Script::new(script).get_hash().to_owned(), about)).into()
});

/// The scripts of readers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Script {
    Acquire,
    Extend,
    Release,
}

impl Script {
    /// Returns the script that a command calls, by its hash or with its text.
    pub(super) fn of(words: &[Vec<u8>]) -> Option<Self> {
        static ALL: LazyLock<Vec<(Script, &str, String)>> = LazyLock::new(|| {
            let all = [
                (Script::Acquire, ACQUIRE_READ),
                (Script::Extend, EXTEND_READ),
                (Script::Release, RELEASE_READ),
            ];
            let hashed = |text| redis::Script::new(text).get_hash().to_owned();
            all.map(|(script, text)| (script, text, hashed(text))).into()
        });
        ALL.iter().find(|(_, text, hash)| calls(words, text, hash)).map(|(script, ..)| *script)
    }
}

/// Returns whether a command calls this script, by its hash or with its text.
fn calls(words: &[Vec<u8>], text: &str, hash: &str) -> bool {
    match words {
        [verb, called, ..] if verb == b"EVALSHA" => called == hash.as_bytes(),
        [verb, called, ..] if verb == b"EVAL" => called == text.as_bytes(),
        _ => false,
    }
}

impl Deed {
    pub(super) fn of(words: &[Vec<u8>]) -> Self {
        let script = words.get(1).map_or(&[][..], |word| word);
        match words.first().map(|word| &word[..]) {
            Some(b"SET") => Self::Acquire,
            Some(b"DELIFEQ" | b"DELEX") => Self::Release,
            Some(b"EVALSHA") => {
                let known = HASHES.iter().find(|(hash, _)| hash.as_bytes() == script);
                known.map_or(Self::Other, |(_, about)| *about)
            }
            Some(b"EVAL") if script == TOP_UP.as_bytes() => Self::Acquire,
            Some(b"EVAL") if script == SHORTEN.as_bytes() => Self::Shorten,
            Some(b"EVAL") if has(script, b"'DEL', KEYS") => Self::Release,
            Some(b"EVAL") if script == RELEASE_READ.as_bytes() => Self::Release,
            Some(b"EVAL") if has(script, b"'window back'") => Self::Agree,
            Some(b"EVAL") if script == LOOK.as_bytes() => Self::Other,
            Some(b"EVAL") => Self::Inspect,
            _ => Self::Other,
        }
    }

    /// Returns the waiter that asks in a list.
    pub(super) fn waiter(words: &[Vec<u8>]) -> Option<String> {
        static HASH: LazyLock<String> =
            LazyLock::new(|| redis::Script::new(WAITLIST).get_hash().to_owned());
        match split(words).1 {
            [verb, _, _, waiter, ..] if calls(words, WAITLIST, &HASH) && verb == b"wait" => {
                Some(text(waiter))
            }
            _ => None,
        }
    }

    /// Returns the number of words before its arguments.
    pub(super) fn skips(words: &[Vec<u8>]) -> usize {
        if words.first().is_some_and(|verb| verb.starts_with(b"EVAL")) { 3 } else { 1 }
    }
}

/// Returns the keys of a command, and the words behind them.
pub(super) fn split(words: &[Vec<u8>]) -> (&[Vec<u8>], &[Vec<u8>]) {
    let skips = Deed::skips(words);
    let keys = match skips {
        1 => 1,
        _ => String::from_utf8_lossy(&words[2]).parse().unwrap_or(0),
    };
    let rest = words.get(skips..).unwrap_or_default();
    rest.split_at(keys.min(rest.len()))
}

/// Returns the token of a command that has one.
pub(super) fn token(words: &[Vec<u8>]) -> String {
    text(split(words).1.first().map_or(&[], |token| token))
}

pub(super) fn text(word: &[u8]) -> String {
    String::from_utf8_lossy(word).into_owned()
}

pub(super) fn has(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

#[derive(Default)]
pub(super) struct Commands {
    received: Vec<u8>,
}

impl Commands {
    pub(super) fn receive(&mut self, bytes: &[u8]) {
        self.received.extend_from_slice(bytes);
    }

    /// Returns how many bytes are of no complete command yet.
    pub(super) const fn rest(&self) -> usize {
        self.received.len()
    }

    /// Returns the next complete command.
    pub(super) fn next(&mut self) -> Option<Words> {
        let (count, mut at) = self.number(0, b'*')?;
        let mut words = Vec::with_capacity(count);
        for _ in 0..count {
            let (len, begins) = self.number(at, b'$')?;
            words.push(self.received.get(begins..begins + len)?.to_vec());
            at = begins + len + 2;
        }
        if at > self.received.len() {
            return None;
        }
        self.received.drain(..at);
        Some(words)
    }

    /// Returns the number after `sign`, and where the next line begins.
    fn number(&self, at: usize, sign: u8) -> Option<(usize, usize)> {
        let (first, line) = self.received.get(at..)?.split_first()?;
        assert_eq!(*first, sign, "a client writes nothing but commands");
        let len = line.windows(2).position(|two| two == b"\r\n")?;
        let number = line[..len].iter().fold(0, |sum, digit| sum * 10 + usize::from(digit - b'0'));
        Some((number, at + 1 + len + 2))
    }
}

#[test]
fn commands_are_read_however_they_are_cut() {
    let bytes = b"*2\r\n$3\r\nGET\r\n$1\r\na\r\n*1\r\n$0\r\n\r\n";
    for cut in 0..bytes.len() {
        let (mut commands, mut read) = (Commands::default(), Vec::new());
        for part in [&bytes[..cut], &bytes[cut..]] {
            commands.receive(part);
            read.extend(std::iter::from_fn(|| commands.next()));
        }
        assert_eq!(read, [vec![b"GET".to_vec(), b"a".to_vec()], vec![b"".to_vec()]], "at {cut}");
    }
}
