//! Replies parsed from received bytes, however the bytes were cut.
//!
//! What has arrived in pieces is read from its beginning again: hardly any reply is that long.
//!
//! Source: <https://redis.io/docs/latest/develop/reference/protocol-spec/>, without its streamed strings
//! and aggregates, which no server sends.

use super::Reply;
use std::sync::Arc;

/// The largest reply, in bytes: no reply to anything that is sent here comes near this size.
pub(super) const LARGEST: usize = 1 << 20;

/// The deepest nesting: the handshake's replies have four levels, those of scripts two.
const DEEPEST: usize = 16;

/// The longest excerpt, in bytes, of something that is not a reply.
pub(super) const LONGEST_LINE: usize = 60;

#[derive(Default)]
pub struct Replies {
    received: Vec<u8>,
    /// The position at which the next reply begins.
    read: usize,
}

impl Replies {
    pub fn receive(&mut self, bytes: &[u8]) {
        self.received.drain(..self.read);
        self.read = 0;
        self.received.extend_from_slice(bytes);
    }

    /// Returns the next complete reply; `None` if more bytes are needed.
    ///
    /// # Errors
    ///
    /// If the bytes are not RESP3, or a reply is larger than any that can be due.
    pub fn next(&mut self) -> Result<Option<Reply>, Arc<str>> {
        let due = &self.received[self.read..];
        let mut rest = due;
        match parse(&mut rest, DEEPEST) {
            Ok(Some(reply)) => {
                self.read += due.len() - rest.len();
                Ok(Some(reply))
            }
            Ok(None) if due.len() <= LARGEST => Ok(None),
            Ok(None) => Err(cause(NoReply::TooLarge, due)),
            Err(why) => Err(cause(why, due)),
        }
    }
}

fn cause(why: NoReply, received: &[u8]) -> Arc<str> {
    // Within a reply there is nothing to quote.
    let is_within = received.first().is_some_and(|sign| SIGNS.contains(sign));
    match (why, first_line(received).filter(|_| !is_within)) {
        (NoReply::TooLarge, _) => format!("a reply of more than {LARGEST} bytes").into(),
        (NoReply::NoSign, Some(line)) => format!("not a RESP3 reply: \"{line}\"").into(),
        (NoReply::NoSign, None) => "not a RESP3 reply: it begins like none".into(),
        (NoReply::Malformed(part), _) => format!("not a RESP3 reply: {part}").into(),
    }
}

/// Returns the line that another kind of server (HTTP, SSH) sent, to be shown as it is.
fn first_line(bytes: &[u8]) -> Option<&str> {
    let line = bytes.split(|byte| matches!(byte, b'\r' | b'\n')).next()?;
    let line = std::str::from_utf8(line.get(..LONGEST_LINE).unwrap_or(line)).ok()?;
    let shows =
        |text: &&str| text.len() > 1 && text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    Some(line).filter(shows)
}

/// The reason why bytes are not a reply.
enum NoReply {
    /// No reply begins with this byte.
    NoSign,
    TooLarge,
    /// A malformed part of a reply.
    Malformed(&'static str),
}

/// The bytes that replies begin with, the most frequent first.
const SIGNS: &[u8] = b":+_-$*>%=~#,(!|";

/// Takes the reply at the beginning of `bytes`; `None` if it is not complete.
fn parse(bytes: &mut &[u8], levels: usize) -> Result<Option<Reply>, NoReply> {
    let Some((sign, line)) = head(bytes)? else { return Ok(None) };
    let levels = levels.checked_sub(1).ok_or(NoReply::Malformed("deeper than any"))?;
    Ok(Some(match (sign, line) {
        (b':', digits) => Reply::Int(number(digits)?),
        (b'+', b"OK") => Reply::Okay,
        (b'_', _) => Reply::Nil,
        (b'-', error) => Reply::Error(String::from_utf8_lossy(error).into()),
        (b'#', truth) if truth != b"t" && truth != b"f" => {
            return Err(NoReply::Malformed("neither true nor false"));
        }
        (b'$' | b'=' | b'!' | b'*' | b'~' | b'>' | b'%' | b'|', length) => {
            match announced(length)? {
                Some(length) => return body(bytes, sign, length, levels),
                None => Reply::Nil,
            }
        }
        (_, text) => Reply::Text(text.into()),
    }))
}

/// Takes the first line of a reply, or of a part of one: its sign, and the rest. `None` if it is not complete.
#[inline]
fn head<'a>(bytes: &mut &'a [u8]) -> Result<Option<(u8, &'a [u8])>, NoReply> {
    let Some((&sign, rest)) = bytes.split_first() else { return Ok(None) };
    // Two bytes reveal more than one.
    if !rest.is_empty() && !SIGNS.contains(&sign) {
        return Err(NoReply::NoSign);
    }
    let Some(end) = rest.iter().position(|byte| *byte == b'\r') else { return Ok(None) };
    match rest.get(end + 1) {
        Some(b'\n') => {}
        Some(_) => return Err(NoReply::Malformed("a line that does not end as one")),
        None => return Ok(None),
    }
    *bytes = &rest[end + 2..];
    Ok(Some((sign, &rest[..end])))
}

/// Takes what a line has announced: so many bytes, and the end of a line; or so many parts, or pairs of them.
fn body(
    bytes: &mut &[u8],
    sign: u8,
    length: usize,
    levels: usize,
) -> Result<Option<Reply>, NoReply> {
    Ok(match sign {
        b'*' | b'~' => several(bytes, length, levels)?.map(Reply::Array),
        b'>' => several(bytes, length, levels)?.map(Reply::Push),
        b'%' => {
            let pairs = (0..length).map(|_| pair(bytes, levels));
            pairs.collect::<Result<Option<_>, _>>()?.map(Reply::Map)
        }
        // The reply that the attributes describe comes after them.
        b'|' => match several(bytes, 2 * length, levels)? {
            Some(_) => parse(bytes, levels)?,
            None => None,
        },
        _ if bytes.len() < length + 2 => None,
        _ => {
            let (text, rest) = bytes.split_at(length);
            let rest = rest.strip_prefix(b"\r\n");
            *bytes =
                rest.ok_or(NoReply::Malformed("a string that does not end where it has to"))?;
            Some(match sign {
                b'!' => Reply::Error(String::from_utf8_lossy(text).into()),
                // The first four bytes name the format: "txt:".
                b'=' => Reply::Text(text.get(4..).unwrap_or_default().into()),
                _ => Reply::Text(text.into()),
            })
        }
    })
}

fn several(bytes: &mut &[u8], parts: usize, levels: usize) -> Result<Option<Vec<Reply>>, NoReply> {
    (0..parts).map(|_| parse(bytes, levels)).collect()
}

fn pair(bytes: &mut &[u8], levels: usize) -> Result<Option<(Reply, Reply)>, NoReply> {
    let Some(name) = parse(bytes, levels)? else { return Ok(None) };
    Ok(parse(bytes, levels)?.map(|value| (name, value)))
}

/// Returns how much follows; `None` for nothing, not even an empty string.
fn announced(line: &[u8]) -> Result<Option<usize>, NoReply> {
    match number(line)? {
        -1 => Ok(None),
        length => match usize::try_from(length) {
            Ok(length) if length <= LARGEST => Ok(Some(length)),
            Ok(_) => Err(NoReply::TooLarge),
            Err(_) => Err(NoReply::Malformed("a length below zero")),
        },
    }
}

fn number(line: &[u8]) -> Result<i64, NoReply> {
    if let [digit @ b'0'..=b'9'] = line {
        return Ok(i64::from(*digit - b'0'));
    }
    let digits = std::str::from_utf8(line).ok();
    digits.and_then(|digits| digits.parse().ok()).ok_or(NoReply::Malformed("a number that is none"))
}
