//! RESP by hand.

use crate::contenders::{RELEASE, TTL_MS, token};
use std::ops::Range;
use std::time::SystemTime;

pub(super) const ACQUIRE_FENCED: &str =
    include_str!("../../../../../src/coordinator/scripts/acquire.lua").trim_ascii_end();
const RELEASE_FENCED: &str =
    include_str!("../../../../../src/coordinator/scripts/release_all.lua").trim_ascii_end();

/// What the crate says by default: how far a ballot may be from a master's clock, and how long a
/// fence is kept.
const WINDOW_US: &str = "2000000";
const FENCE_MS: &str = "31302";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reply {
    Ok,
    Integer(i64),
}

/// What the `step`-th command of a client must be answered with: first the SET, then its release.
pub(super) const fn due(step: u64) -> Reply {
    if step % 2 == 1 { Reply::Ok } else { Reply::Integer(1) }
}

/// The first reply in `bytes`, and its length. Panics at any that means a lock was not won.
pub(super) fn reply(bytes: &[u8]) -> Option<(Reply, usize)> {
    let end = bytes.iter().position(|&byte| byte == b'\r')?;
    let len = end + 2;
    if bytes.len() < len {
        return None;
    }
    match &bytes[..end] {
        b"+OK" => Some((Reply::Ok, len)),
        [b':', digits @ ..] => {
            let digits = std::str::from_utf8(digits).expect("digits");
            Some((Reply::Integer(digits.parse().expect("an integer")), len))
        }
        other => panic!("not won: {:?}", String::from_utf8_lossy(other)),
    }
}

/// Both commands of one client, encoded once: only token and ballot change, in place.
pub(super) struct Commands {
    acquire: Template,
    release: Template,
    cycles: u64,
    ballot: u64,
}

/// A command, and what changes in it.
struct Template {
    bytes: Vec<u8>,
    token: Range<usize>,
    ballot: Option<Range<usize>>,
}

impl Commands {
    pub(super) fn new(resource: &str) -> Self {
        let token = token();
        let set = ["SET", resource, &token, "NX", "PX", &TTL_MS.to_string()];
        let release = ["EVAL", RELEASE, "1", resource, &token];
        let template = |command: &[&str]| Template::new(command, &token, None);
        Self { acquire: template(&set), release: template(&release), cycles: 0, ballot: 0 }
    }

    /// As the crate sends them; `hash` is that of [`ACQUIRE_FENCED`].
    pub(super) fn fenced(resource: &str, hash: &str) -> Self {
        let (token, number, ttl) = (token(), wall_us(), TTL_MS.to_string());
        let (fence, ballot) = (format!("quorumlock:fence:{resource}"), number.to_string());
        let taken = [token.as_str(), &ttl, &ballot, WINDOW_US, WINDOW_US, FENCE_MS];
        let given_back = [token.as_str(), &ballot, WINDOW_US, FENCE_MS];
        let template = |call: [&str; 2], arguments: &[&str]| {
            let keys = ["2", resource, &fence];
            Template::new(&[&call, keys.as_slice(), arguments].concat(), &token, Some(&ballot))
        };
        let acquire = template(["EVALSHA", hash], &taken);
        let release = template(["EVAL", RELEASE_FENCED], &given_back);
        Self { acquire, release, cycles: 0, ballot: number }
    }

    /// The command of this step; each acquire with a token of its own.
    pub(super) fn step(&mut self, step: u64) -> &[u8] {
        if step.is_multiple_of(2) {
            return &self.release.bytes;
        }
        self.cycles += 1;
        for template in [&mut self.acquire, &mut self.release] {
            // The first half of the token counts, the second stays as it was drawn.
            let counts = template.token.start..template.token.start + 16;
            write(&mut template.bytes[counts], self.cycles, 16);
        }
        if self.acquire.ballot.is_some() {
            self.ballot = wall_us().max(self.ballot + 1);
        }
        for template in [&mut self.acquire, &mut self.release] {
            if let Some(place) = template.ballot.clone() {
                write(&mut template.bytes[place], self.ballot, 10);
            }
        }
        &self.acquire.bytes
    }
}

impl Template {
    fn new(command: &[&str], token: &str, ballot: Option<&str>) -> Self {
        let bytes = encode(command);
        let place = |part: &str| {
            let found = bytes.windows(part.len()).position(|window| window == part.as_bytes());
            let start = found.expect("the part in its command");
            start..start + part.len()
        };
        let (token, ballot) = (place(token), ballot.map(place));
        Self { bytes, token, ballot }
    }
}

/// Writes all digits of `number`, with zeros in front.
fn write(into: &mut [u8], number: u64, base: u64) {
    let mut rest = number;
    for digit in into.iter_mut().rev() {
        *digit = b"0123456789abcdef"[(rest % base) as usize];
        rest /= base;
    }
}

fn wall_us() -> u64 {
    let since = SystemTime::UNIX_EPOCH.elapsed().expect("a clock that is right");
    u64::try_from(since.as_micros()).expect("a clock that is right")
}

fn encode(arguments: &[&str]) -> Vec<u8> {
    let mut command = format!("*{}\r\n", arguments.len());
    for argument in arguments {
        command.push_str(&format!("${}\r\n{argument}\r\n", argument.len()));
    }
    command.into_bytes()
}
