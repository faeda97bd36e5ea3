//! The rules by which answers count as the same.

use super::generate::Word;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Commands reach the two servers one after another, so times differ slightly.
const TOLERANCE_MS: u64 = 100;

/// The longest exchange yet: so far apart the two may have set a key, and may have answered.
static LONGEST_MS: AtomicU64 = AtomicU64::new(0);

pub(crate) fn note_exchange(took: Duration) {
    LONGEST_MS.fetch_max(took.as_millis() as u64, Ordering::Relaxed);
}

fn tolerance_ms() -> u64 {
    TOLERANCE_MS + 2 * LONGEST_MS.load(Ordering::Relaxed)
}

/// Longest part of an answer in a message: INFO is long.
const MOST_SHOWN: usize = 800;

/// Fields of INFO that belong to a server alone.
const OWN_FIELDS: [&str; 4] = ["redis_version", "run_id", "uptime_in_seconds", "master_replid"];

/// The settings that both have.
const SETTINGS: [&str; 5] =
    ["appendfsync", "appendonly", "maxmemory", "maxmemory-policy", "no-appendfsync-on-rewrite"];

/// How errors begin that the embedded one words more briefly.
const BRIEF: [&[u8]; 2] = [b"-ERR unknown command", b"-ERR CONFIG SET failed"];

/// A server's errors for a command whose subcommand is unknown or missing.
const NO_SUBCOMMAND: [&[u8]; 2] = [b"-ERR unknown subcommand", b"-ERR wrong number of arguments"];

/// All answers before the fence, and whether the server closed the connection.
type Answers<'a> = (&'a [Vec<u8>], bool);

/// The two answered differently.
#[derive(Debug)]
pub(crate) struct Difference {
    command: String,
    real: String,
    embedded: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { command, real, embedded } = self;
        write!(f, "{command}\n      real: {real}\n  embedded: {embedded}")
    }
}

pub(crate) fn compare(
    words: &[Word],
    real: Answers<'_>,
    embedded: Answers<'_>,
) -> Result<(), Box<Difference>> {
    if real.1 == embedded.1 && same(words, real.0, embedded.0) {
        return Ok(());
    }
    let command = words.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let shown = |(answers, closed): Answers<'_>| {
        let answers = answers.iter().map(|answer| answer.escape_ascii().to_string());
        let mut answers = answers.collect::<Vec<_>>().join(" | ");
        answers.truncate(MOST_SHOWN);
        if closed { format!("{answers} (closed)") } else { answers }
    };
    let (real, embedded) = (shown(real), shown(embedded));
    Err(Box::new(Difference { command, real, embedded }))
}

fn same(words: &[Word], real: &[Vec<u8>], embedded: &[Vec<u8>]) -> bool {
    if real == embedded {
        return true;
    }
    let each = |alike: fn(&[u8], &[u8]) -> bool| {
        let both = || real.iter().zip(embedded);
        real.len() == embedded.len()
            && both().all(|(real, other)| real == other || alike(real, other))
    };
    let word = |place: usize| match words.get(place) {
        Some(Word::Bytes(word)) => String::from_utf8_lossy(word).to_ascii_uppercase(),
        _ => String::new(),
    };
    if each(brief) {
        return true;
    }
    match (word(0).as_str(), word(1).as_str()) {
        ("PTTL", _) => each(near),
        ("EVAL", script) if script.contains("RETURN REDIS.CALL('PTTL'") => each(near),
        // The remaining ttl of the key that refuses, and the clock. No vote is as large a number.
        ("EVAL" | "EVALSHA", _) => each(|real, other| {
            let has_time = real.starts_with(b"*") || number(real).is_some_and(|n| n > 1_000);
            has_time && near(real, other)
        }),
        // The embedded one has fewer options of these.
        ("AUTH" | "FLUSHALL" | "HELLO" | "PEXPIRE", _) | ("SCRIPT", "FLUSH")
            if real.iter().all(|answer| answer.starts_with(b"-")) =>
        {
            each(|_, other| other.starts_with(b"-"))
        }
        // Scripts of ours give readers scores that are times.
        ("ZSCORE" | "ZRANGE", _) => each(near),
        ("TIME", _) => each(both_times),
        ("CLIENT", "ID") => each(both_integers),
        ("HELLO", _) => each(hello),
        ("INFO", _) => each(info),
        ("CONFIG", "GET") => each(settings),
        ("REPLICAOF", _) => {
            each(|real, other| [real, other].iter().all(|answer| answer.starts_with(b"+OK")))
        }
        ("KEYS" | "SCAN", _) => each(|real, other| sorted(real) == sorted(other)),
        _ => false,
    }
}

fn brief(real: &[u8], embedded: &[u8]) -> bool {
    let is_brief = BRIEF.iter().any(|begins| embedded.starts_with(begins));
    let is_begin = embedded.strip_suffix(b"\r\n").is_some_and(|begins| real.starts_with(begins));
    let no_subcommand = NO_SUBCOMMAND.iter().any(|begins| real.starts_with(begins));
    // The place in a script that raised it.
    let place = real.windows(9).position(|nine| nine == b" script: ");
    let has_no_place = place.is_some_and(|at| embedded.strip_suffix(b"\r\n") == Some(&real[..at]));
    is_brief && is_begin
        || embedded.starts_with(BRIEF[0]) && no_subcommand
        || real.starts_with(b"-") && has_no_place
}

fn number(answer: &[u8]) -> Option<i64> {
    std::str::from_utf8(answer).ok()?.strip_prefix(':')?.trim_end().parse().ok()
}

/// Compares remaining times, alone or among equal parts, and clock values.
fn near(real: &[u8], embedded: &[u8]) -> bool {
    let (real, embedded) = (String::from_utf8_lossy(real), String::from_utf8_lossy(embedded));
    let (mut theirs, mut ours) = (real.split("\r\n"), embedded.split("\r\n"));
    theirs.by_ref().zip(ours.by_ref()).all(|(real, other)| real == other || close(real, other))
        && real.lines().count() == embedded.lines().count()
}

/// Compares two lines: remaining milliseconds, or milliseconds or microseconds since 1970.
fn close(real: &str, embedded: &str) -> bool {
    let both = |parse: fn(&str) -> Option<u64>| parse(real).zip(parse(embedded));
    let left = both(|line| line.strip_prefix(':')?.parse().ok());
    let clocks = both(|line| line.parse().ok().filter(|micros| *micros > 1_000_000_000_000_000));
    let score = |line: &str| {
        let digits = line.strip_prefix(',').unwrap_or(line);
        digits.parse().ok().filter(|millis| (1_000_000_000_000..2_000_000_000_000).contains(millis))
    };
    let within = |most: u64| move |(real, other): (u64, u64)| real.abs_diff(other) <= most;
    let scores = both(score);
    left.or(scores).is_some_and(within(tolerance_ms()))
        || clocks.is_some_and(within(1000 * tolerance_ms()))
}

fn both_integers(real: &[u8], embedded: &[u8]) -> bool {
    number(real).is_some() && number(embedded).is_some()
}

fn both_times(real: &[u8], embedded: &[u8]) -> bool {
    let micros = |answer: &[u8]| {
        let [seconds, micros] = &bulks(answer)[..] else { return None };
        let parse = |text: &str| text.parse::<u64>().ok();
        (parse(micros)? < 1_000_000).then_some(parse(seconds)? * 1_000_000 + parse(micros)?)
    };
    match (micros(real), micros(embedded)) {
        (Some(real), Some(embedded)) => real.abs_diff(embedded) < 1000 * tolerance_ms(),
        _ => false,
    }
}

/// Returns the bulk strings of an array that has nothing else, by their lines.
fn bulks(answer: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(answer).into_owned();
    let lines = text.split("\r\n").skip(1);
    lines.skip(1).step_by(2).map(str::to_owned).filter(|line| !line.is_empty()).collect()
}

fn hello(real: &[u8], embedded: &[u8]) -> bool {
    let common = |answer: &[u8]| {
        let text = String::from_utf8_lossy(answer).into_owned();
        let mut lines: Vec<String> = text.split("\r\n").map(str::to_owned).collect();
        for place in 1..lines.len() {
            match lines[place - 1].as_str() {
                "id" if lines[place].starts_with(':') => lines[place] = ":id".into(),
                "version" if place + 1 < lines.len() => lines[place + 1] = "version".into(),
                _ => {}
            }
        }
        lines
    };
    common(real) == common(embedded)
}

/// Checks that both answer with a map, and the embedded one with all its settings that the real one
/// shows, by their names.
fn settings(real: &[u8], embedded: &[u8]) -> bool {
    let mut shown = fields(real);
    shown.retain(|[name, _]| SETTINGS.contains(&name.as_str()));
    let is_map = matches!(embedded.first(), Some(b'*' | b'%'));
    is_map && real.first() == embedded.first() && shown == fields(embedded)
}

/// Returns the names and values of a map, which has no order.
fn fields(answer: &[u8]) -> Vec<[String; 2]> {
    let text = String::from_utf8_lossy(answer).into_owned();
    let lines: Vec<&str> = text.split("\r\n").skip(1).collect();
    // Each follows a line with its length.
    let pair = |four: &[&str]| [1, 3].map(|place| four.get(place).unwrap_or(&"").to_string());
    let mut fields: Vec<[String; 2]> = lines.chunks_exact(4).map(pair).collect();
    fields.sort();
    fields
}

/// Checks that each field of the embedded one is a field of the real one, in the same order and
/// with the same value, unless the value belongs to the server alone.
fn info(real: &[u8], embedded: &[u8]) -> bool {
    let fields = |answer: &[u8]| -> Vec<(String, String)> {
        let text = String::from_utf8_lossy(answer).into_owned();
        let lines = text.split("\r\n").skip(1).map(|line| line.trim_start_matches("txt:"));
        let field = |line: &str| {
            let (name, value) = line.split_once(':').unwrap_or((line, ""));
            let own = OWN_FIELDS.contains(&name)
                // Zeros mean that it was never a replica.
                || name == "master_replid2" && value.bytes().any(|digit| digit != b'0');
            (name.to_owned(), if own { "its own".to_owned() } else { value.to_owned() })
        };
        lines.map(field).collect()
    };
    let mut theirs = fields(real).into_iter();
    let all_there = fields(embedded).iter().all(|field| theirs.any(|their| their == *field));
    real.first() == embedded.first() && all_there
}

fn sorted(answer: &[u8]) -> (Option<usize>, Vec<Vec<u8>>) {
    let head = answer.windows(2).position(|two| two == b"\r\n");
    let mut items: Vec<Vec<u8>> =
        answer.split(|byte| *byte == b'$').skip(1).map(<[u8]>::to_vec).collect();
    items.sort();
    (head, items)
}
