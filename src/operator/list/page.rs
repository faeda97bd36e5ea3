//! The questions to a master while it is scanned, and the meaning of its answers, without I/O.

use crate::options::Options;
use crate::report::{Answer, UnknownCause};
use quorumlock_core::coordinator::wire::{self, Mailbox, Reply};
use quorumlock_core::coordinator::{Seen, StoredValue, Waitlist};
use std::sync::Arc;

/// Looks at some keys.
const LOOK: &str = include_str!("look.lua").trim_ascii_end();

/// Looks at the waitlists of some locks.
const WAITLISTS: &str = include_str!("waitlists.lua").trim_ascii_end();

/// The number of keys that a master looks at for one SCAN: well below a millisecond of its time.
const COUNT: &str = "500";

/// The number of keys that one script reads.
pub(super) const KEYS_PER_LOOK: usize = 100;

/// The longest value that is taken for a lock's. Ours have 583 bytes at most: a mark, a token, a label
/// and a term.
const LONGEST_VALUE: &str = "600";

/// The value is not text, or is longer than any lock's.
const NO_LOCK: &str = "not a value that a lock has";

/// The keys of one page, and where the next one begins.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) keys: Vec<Arc<str>>,
    /// `None` on the last page.
    pub(super) next: Option<Box<str>>,
}

/// Returns the patterns of the keys that may be locks or permits whose names begin with `prefix`.
/// They match other keys, too.
pub(super) fn patterns(options: &Options, prefix: &str) -> Vec<String> {
    let locks = format!("{}*", escaped(&format!("{}{prefix}", options.key_prefix)));
    let permits = format!("{}*:{}*", escaped(&options.slots_prefix()), escaped(prefix));
    // All keys are among the locks then, those of permits included.
    if prefix.is_empty() { vec![locks] } else { vec![locks, permits] }
}

fn escaped(text: &str) -> String {
    let escape = |letter| matches!(letter, '*' | '?' | '[' | ']' | '\\').then_some('\\');
    text.chars().flat_map(|letter| escape(letter).into_iter().chain([letter])).collect()
}

/// Packs the question for the page at `cursor`.
pub(super) fn scan(cursor: &str, pattern: &str) -> Vec<u8> {
    wire::pack(&["SCAN", cursor, "MATCH", pattern, "COUNT", COUNT, "TYPE", "string"])
}

/// Reads a page. Keys that are not text are left out: resources have no such key.
pub(super) fn scanned(reply: &Reply) -> Result<Page, Arc<str>> {
    let Reply::Array(parts) = reply else { return Err(reply.unexpected()) };
    let [cursor, Reply::Array(keys)] = &parts[..] else { return Err(reply.unexpected()) };
    let cursor = cursor.text().ok_or_else(|| reply.unexpected())?;
    let next = (cursor != "0").then(|| cursor.into());
    Ok(Page { keys: keys.iter().filter_map(|key| Some(key.text()?.into())).collect(), next })
}

/// Packs the question for what is under these keys, and their readers', which come in the same order.
pub(super) fn look(keys: &[Arc<str>], readers: &[Arc<str>]) -> Vec<u8> {
    let count = (keys.len() + readers.len()).to_string();
    let mut command = vec!["EVAL", LOOK, &count];
    command.extend(keys.iter().chain(readers).map(|key| &**key));
    command.push(LONGEST_VALUE);
    wire::pack(&command)
}

/// Reads what is under each of so many keys.
pub(super) fn looked(reply: &Reply, keys: usize) -> Result<Vec<Seen>, Arc<str>> {
    match reply {
        Reply::Array(parts) if parts.len() == 3 * keys => {
            Ok(parts.chunks_exact(3).map(seen).collect())
        }
        other => Err(other.unexpected()),
    }
}

fn seen(three: &[Reply]) -> Seen {
    let read = match three {
        [value, Reply::Int(left), readers] => StoredValue::read(value, *left, Some(readers)),
        _ => None,
    };
    let stored = read.ok_or_else(|| unknown(NO_LOCK))?;
    // No client holds what is kept.
    Ok(stored.filter(|stored| !stored.value.is_kept()))
}

/// Returns the answer of a master that said something else.
pub(super) fn unknown(words: impl Into<Arc<str>>) -> Answer {
    Answer::Unknown(UnknownCause::Server(words.into()))
}

/// Packs the question for the waiters in these lists.
pub(super) fn waitlists(lists: &[Waitlist]) -> Vec<u8> {
    let count = (2 * lists.len()).to_string();
    let mut command = vec!["EVAL", WAITLISTS, &count];
    command.extend(lists.iter().map(|list| &*list.places));
    command.extend(lists.iter().map(|list| &*list.due));
    wire::pack(&command)
}

/// Reads, of each of so many waitlists, how many wait in it, and their processes; `None` if the master does not say.
pub(super) fn listed(reply: &Reply, lists: usize) -> Option<Vec<(u64, Vec<Mailbox>)>> {
    let Reply::Array(parts) = reply else { return None };
    let list = |part: &Reply| {
        let Reply::Array(parts) = part else { return None };
        let (Reply::Int(count), processes) = parts.split_first()? else { return None };
        let processes = processes
            .iter()
            .filter_map(|name| Mailbox::at_the_beginning_of(name.text()?))
            .collect();
        Some((u64::try_from(*count).ok()?, processes))
    };
    parts.iter().map(list).collect::<Option<Vec<_>>>().filter(|found| found.len() == lists)
}

/// Packs the question for how many connections listen to each of these channels.
pub(super) fn count_waiting(database: &str, channels: &[Arc<str>]) -> Vec<u8> {
    let mut command = vec!["PUBSUB".to_owned(), "NUMSUB".to_owned()];
    command.extend(channels.iter().map(|channel| format!("{database}{channel}")));
    wire::pack(&command)
}

/// Reads how many listen to each of so many channels; `None` if the master does not say.
pub(super) fn counted(reply: &Reply, keys: usize) -> Option<Vec<u64>> {
    let Reply::Array(parts) = reply else { return None };
    let count = |pair: &[Reply]| match pair {
        [_, Reply::Int(count)] => u64::try_from(*count).ok(),
        _ => None,
    };
    parts.chunks(2).map(count).collect::<Option<Vec<_>>>().filter(|counts| counts.len() == keys)
}
