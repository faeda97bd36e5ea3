//! Replies of a master, whole and in pieces.

use super::bytes::Bytes;
use quorumlock_core::coordinator::wire::{self, Replies, Reply};

/// Runs the target. The first byte sets the length of the pieces.
pub(super) fn run(data: &[u8]) {
    let mut data = Bytes(data);
    let (piece, bytes) = (1 + data.below(64), data.0);
    let whole = read(bytes.chunks(bytes.len().max(1)));
    assert_eq!(whole, read(bytes.chunks(piece)), "in pieces of {piece}");
}

/// Returns what was read, and how it ended.
fn read<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (Vec<String>, bool) {
    let (mut replies, mut seen) = (Replies::default(), Vec::new());
    // The last byte of a piece may wait for the next one.
    for piece in pieces.chain([&b"\r\n"[..]]) {
        replies.receive(piece);
        loop {
            match replies.next() {
                Ok(Some(reply)) => seen.push(words(&reply)),
                Ok(None) => break,
                Err(problem) => {
                    assert!(!problem.contains('\n'), "more than a line: {problem}");
                    return (seen, true);
                }
            }
        }
    }
    (seen, false)
}

/// Describes a reply as every user of a reply sees it.
fn words(reply: &Reply) -> String {
    let text = reply.text().map(|text| wire::info_field(text, "run_id").map(str::to_owned));
    let field = (reply.field("proto").map(str::to_owned), reply.hello_id());
    let error = (reply.error(), reply.is_noscript(), reply.is_denied());
    format!("{reply:?} {text:?} {field:?} {error:?} {}", reply.unexpected())
}
