//! RESP by hand.

use crate::contenders::{self, TTL_MS, token};
use std::ops::Range;
use std::time::SystemTime;

pub(super) const ACQUIRE_FENCED: &str =
    include_str!("../../../../../core/src/wire/scripts/acquire.lua").trim_ascii_end();
/// The crate's own release script for a single key, called by its hash.
pub(super) const RELEASE: &str =
    include_str!("../../../../../core/src/wire/scripts/release.lua").trim_ascii_end();
const RELEASE_FENCED: &str =
    include_str!("../../../../../core/src/wire/scripts/release_all.lua").trim_ascii_end();

/// The crate's defaults: how far a ballot may be from a master's clock, and how long a fence is
/// kept.
const WINDOW_US: &str = "2000000";
const FENCE_MS: &str = "31302";

/// Prefix of the channel on which quorumlock notifies, in the first database.
const CHANNELS: &str = "quorumlock:free:0:";

/// The way in which a lock is released.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Release {
    /// By the script, in full.
    Full,
    /// By its hash.
    Hash,
    /// By Valkey's own command, `DELIFEQ`.
    DelIfEq,
    /// By that of Redis, `DELEX`.
    DelEx,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Way {
    pub(super) release: Release,
    /// Set if one master notifies waiters in other processes. There are none.
    pub(super) notifies: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reply {
    Ok,
    Integer(i64),
}

/// Returns the expected reply to the `step`-th command of a client: first the SET, then its
/// release.
pub(super) const fn due(step: u64) -> Reply {
    if step % 2 == 1 { Reply::Ok } else { Reply::Integer(1) }
}

/// The expected reply to a notification: there are no subscribers.
pub(super) const NO_SUBSCRIBERS: Reply = Reply::Integer(0);

/// Returns the first reply in `bytes`, and its length. Panics at any reply that means a lock was
/// not won.
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
    /// Sent after each release to the master of this number, modulo their count.
    publish: Option<(usize, Vec<u8>)>,
    cycles: u64,
    ballot: u64,
}

/// A command and the places in it that change.
struct Template {
    bytes: Vec<u8>,
    token: Range<usize>,
    ballot: Option<Range<usize>>,
}

impl Commands {
    pub(super) fn new(resource: &str, way: Way) -> Self {
        let token = token();
        let set = ["SET", resource, &token, "NX", "PX", &TTL_MS.to_string()];
        let (script, by_hash) = (contenders::RELEASE, hash(RELEASE));
        let release: &[&str] = match way.release {
            Release::Full => &["EVAL", script, "1", resource, &token],
            Release::Hash => &["EVALSHA", &by_hash, "1", resource, &token],
            Release::DelIfEq => &["DELIFEQ", resource, &token],
            Release::DelEx => &["DELEX", resource, "IFEQ", &token],
        };
        let template = |command: &[&str]| Template::new(command, &token, None);
        let publish = way.notifies.then(|| {
            // One master for each resource, all equally often, as quorumlock does it.
            let node = resource.bytes().map(usize::from).sum();
            (node, encode(&["PUBLISH", &format!("{CHANNELS}{resource}"), ""]))
        });
        let (acquire, release) = (template(&set), template(release));
        Self { acquire, release, publish, cycles: 0, ballot: 0 }
    }

    /// Encodes the commands as the crate sends them.
    pub(super) fn fenced(resource: &str) -> Self {
        let (token, number, ttl) = (token(), wall_us(), TTL_MS.to_string());
        let (fence, ballot) = (format!("quorumlock:fence:{resource}"), number.to_string());
        let taken = [token.as_str(), &ttl, &ballot, WINDOW_US, WINDOW_US, FENCE_MS];
        let given_back = [token.as_str(), &ballot, WINDOW_US, FENCE_MS];
        let template = |call: [&str; 2], arguments: &[&str]| {
            let keys = ["2", resource, &fence];
            Template::new(&[&call, keys.as_slice(), arguments].concat(), &token, Some(&ballot))
        };
        let acquire = template(["EVALSHA", &hash(ACQUIRE_FENCED)], &taken);
        let release = template(["EVAL", RELEASE_FENCED], &given_back);
        Self { acquire, release, publish: None, cycles: 0, ballot: number }
    }

    /// Returns the notification after this step, and its master among this many.
    pub(super) fn notification(&self, step: u64, masters: usize) -> Option<(usize, &[u8])> {
        let (node, publish) = self.publish.as_ref().filter(|_| step.is_multiple_of(2))?;
        Some((node % masters, publish))
    }

    /// Returns the command of this step; each acquire has its own token.
    pub(super) fn step(&mut self, step: u64) -> &[u8] {
        if step.is_multiple_of(2) {
            return &self.release.bytes;
        }
        self.cycles += 1;
        for template in [&mut self.acquire, &mut self.release] {
            // The first half of the token counts, the second stays as drawn.
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

/// Writes all digits of `number`, with leading zeros.
fn write(into: &mut [u8], number: u64, base: u64) {
    let mut rest = number;
    for digit in into.iter_mut().rev() {
        *digit = b"0123456789abcdef"[(rest % base) as usize];
        rest /= base;
    }
}

pub(super) fn hash(script: &str) -> String {
    redis::Script::new(script).get_hash().to_owned()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> String {
        String::from_utf8(bytes.to_vec()).expect("text")
    }

    #[test]
    fn each_way_to_release_is_sent_as_itself() {
        let release = |release| {
            let mut commands = Commands::new("it", Way { release, notifies: false });
            assert!(text(commands.step(1)).starts_with("*6\r\n$3\r\nSET\r\n$2\r\nit\r\n"));
            assert_eq!(commands.notification(2, 5), None);
            text(commands.step(2))
        };
        assert!(release(Release::Full).starts_with("*5\r\n$4\r\nEVAL\r\n"));
        let by_hash = format!("*5\r\n$7\r\nEVALSHA\r\n$40\r\n{}\r\n", hash(RELEASE));
        assert!(release(Release::Hash).starts_with(&by_hash));
        assert!(release(Release::DelIfEq).starts_with("*3\r\n$7\r\nDELIFEQ\r\n$2\r\nit\r\n"));
        let delex = "*4\r\n$5\r\nDELEX\r\n$2\r\nit\r\n$4\r\nIFEQ\r\n";
        assert!(release(Release::DelEx).starts_with(delex));
    }

    #[test]
    fn one_master_notifies_after_a_release_and_not_after_an_acquire() {
        let commands = Commands::new("it", Way { release: Release::DelIfEq, notifies: true });
        assert_eq!(commands.notification(1, 5), None);
        let (node, publish) = commands.notification(2, 5).expect("a connection that publishes");
        assert!(node < 5);
        let channel = "*3\r\n$7\r\nPUBLISH\r\n$20\r\nquorumlock:free:0:it\r\n$0\r\n\r\n";
        assert_eq!(text(publish), channel);
    }
}
