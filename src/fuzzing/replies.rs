//! What a master says, whole and in pieces.

use super::bytes::Bytes;
use crate::coordinator::wire::{self, Replies, Reply};

/// The first byte says how long the pieces are.
pub(super) fn run(data: &[u8]) {
    let mut data = Bytes(data);
    let (piece, bytes) = (1 + data.below(64), data.0);
    let whole = read(bytes.chunks(bytes.len().max(1)));
    assert_eq!(whole, read(bytes.chunks(piece)), "in pieces of {piece}");
}

/// What was said, and how it ended.
fn read<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (Vec<String>, bool) {
    let (mut replies, mut said) = (Replies::new(), Vec::new());
    // The last byte of a piece may wait for the next one.
    for piece in pieces.chain([&b"\r\n"[..]]) {
        replies.receive(piece);
        loop {
            match replies.next() {
                Ok(Some(reply)) => said.push(words(&reply)),
                Ok(None) => break,
                Err(problem) => {
                    assert!(!problem.contains('\n'), "more than a line: {problem}");
                    return (said, true);
                }
            }
        }
    }
    (said, false)
}

/// As everybody who asks something of a reply sees it.
fn words(reply: &Reply) -> String {
    let text = reply.text().map(|text| wire::info_field(text, "run_id").map(str::to_owned));
    let field = (reply.field("proto").map(str::to_owned), reply.hello_id());
    let error = (reply.error(), reply.is_noscript(), reply.is_denied());
    format!("{reply:?} {text:?} {field:?} {error:?} {}", reply.unexpected())
}
