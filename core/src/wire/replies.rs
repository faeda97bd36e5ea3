//! Replies parsed from received bytes, however the bytes were cut.
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

pub struct Replies {
    received: Vec<u8>,
    /// The position at which the next reply begins.
    read: usize,
    /// The position up to which it is known to be whole: what has arrived in pieces is scanned
    /// once.
    seen: usize,
    /// The number of its parts that begin after that.
    due: u64,
}

impl Replies {
    pub const fn new() -> Self {
        Self { received: Vec::new(), read: 0, seen: 0, due: 1 }
    }

    pub fn receive(&mut self, bytes: &[u8]) {
        self.received.drain(..self.read);
        self.seen -= self.read;
        self.read = 0;
        self.received.extend_from_slice(bytes);
    }

    /// Returns the next complete reply; `None` if more bytes are needed.
    ///
    /// # Errors
    ///
    /// If the bytes are not RESP3, or a reply is larger than any that can be due.
    pub fn next(&mut self) -> Result<Option<Reply>, Arc<str>> {
        while self.due > 0 {
            match Head::of(&self.received[self.seen..]) {
                Ok(Some(head)) => {
                    let is_all = self.due == 1 && self.seen == self.read;
                    self.seen += head.len();
                    if is_all && let Follows::Nothing = head.follows {
                        let reply = head.scalar().map_err(|why| self.cause(why))?;
                        self.read = self.seen;
                        return Ok(Some(reply));
                    }
                    self.due = self.due - 1 + head.parts() as u64;
                }
                Ok(None) if self.received.len() - self.read <= LARGEST => return Ok(None),
                Ok(None) => return Err(self.cause(NoReply::TooLarge)),
                Err(why) => return Err(self.cause(why)),
            }
        }
        let mut whole = &self.received[self.read..self.seen];
        let reply = parse(&mut whole, DEEPEST).map_err(|why| self.cause(why))?;
        (self.read, self.due) = (self.seen, 1);
        Ok(Some(reply))
    }

    fn cause(&self, why: NoReply) -> Arc<str> {
        // Within a reply there is nothing to quote.
        let line = first_line(&self.received[self.read..]).filter(|_| self.seen == self.read);
        match (why, line) {
            (NoReply::TooLarge, _) => format!("a reply of more than {LARGEST} bytes").into(),
            (NoReply::NoSign, Some(line)) => format!("not a RESP3 reply: \"{line}\"").into(),
            (NoReply::NoSign, None) => "not a RESP3 reply: it begins like none".into(),
            (NoReply::Malformed(part), _) => format!("not a RESP3 reply: {part}").into(),
        }
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

/// The first line of a reply, or of a part of one.
struct Head<'a> {
    sign: u8,
    /// The rest of the line, after the sign.
    line: &'a [u8],
    follows: Follows,
}

/// The bytes that replies begin with, the most frequent first.
const SIGNS: &[u8] = b":+_-$*>%=~#,(!|";

/// The content that a line announces.
#[derive(Clone, Copy)]
enum Follows {
    Nothing,
    /// Nothing, not even an empty string.
    Null,
    /// This many bytes, and the end of a line.
    Bytes(usize),
    /// This many parts, or pairs of them.
    Parts(usize),
}

impl<'a> Head<'a> {
    /// Reads the head; `None` if the line, or the bytes that it announces, are not complete.
    #[inline]
    fn of(bytes: &'a [u8]) -> Result<Option<Self>, NoReply> {
        let Some((&sign, rest)) = bytes.split_first() else { return Ok(None) };
        let Some(end) = rest.iter().position(|byte| *byte == b'\r') else {
            // Two bytes reveal more than one.
            let may_begin = rest.is_empty() || SIGNS.contains(&sign);
            return if may_begin { Ok(None) } else { Err(NoReply::NoSign) };
        };
        let (line, end) = (&rest[..end], rest.get(end + 1));
        match end {
            Some(b'\n') => {}
            Some(_) => return Err(NoReply::Malformed("a line that does not end as one")),
            None => return Ok(None),
        }
        let follows = match sign {
            b'$' | b'=' | b'!' => announced(line)?.map_or(Follows::Null, Follows::Bytes),
            b'*' | b'~' | b'>' | b'%' | b'|' => {
                announced(line)?.map_or(Follows::Null, Follows::Parts)
            }
            _ if SIGNS.contains(&sign) => Follows::Nothing,
            _ => return Err(NoReply::NoSign),
        };
        let head = Self { sign, line, follows };
        Ok((head.len() <= bytes.len()).then_some(head))
    }

    /// Reads a reply that is all in one line.
    fn scalar(&self) -> Result<Reply, NoReply> {
        Ok(match (self.sign, self.line) {
            (b':', digits) => Reply::Int(number(digits)?),
            (b'+', b"OK") => Reply::Okay,
            (b'_', _) => Reply::Nil,
            (b'-', error) => Reply::Error(String::from_utf8_lossy(error).into()),
            (b'#', truth) if truth != b"t" && truth != b"f" => {
                return Err(NoReply::Malformed("neither true nor false"));
            }
            (_, text) => Reply::Text(text.into()),
        })
    }

    /// Returns the bytes of the line, and of the string that it announces.
    const fn len(&self) -> usize {
        let body = if let Follows::Bytes(len) = self.follows { len + 2 } else { 0 };
        1 + self.line.len() + 2 + body
    }

    /// Returns the number of parts that follow.
    const fn parts(&self) -> usize {
        match (self.follows, self.sign) {
            (Follows::Parts(pairs), b'%') => 2 * pairs,
            // The reply that the attributes describe comes after them.
            (Follows::Parts(pairs), b'|') => 2 * pairs + 1,
            (Follows::Parts(parts), _) => parts,
            _ => 0,
        }
    }
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

/// Takes the reply at the beginning of `bytes`, which is whole.
fn parse(bytes: &mut &[u8], levels: usize) -> Result<Reply, NoReply> {
    let head = Head::of(bytes)?.ok_or(NoReply::Malformed("a part that is not whole"))?;
    let levels = levels.checked_sub(1).ok_or(NoReply::Malformed("deeper than any"))?;
    let (this, rest) = bytes.split_at(head.len());
    *bytes = rest;
    Ok(match (head.follows, head.sign) {
        (Follows::Nothing, _) => head.scalar()?,
        (Follows::Null, _) => Reply::Nil,
        (Follows::Bytes(len), sign) => {
            let body = &this[this.len() - 2 - len..];
            let text = body.strip_suffix(b"\r\n");
            let text =
                text.ok_or(NoReply::Malformed("a string that does not end where it has to"))?;
            match sign {
                b'!' => Reply::Error(String::from_utf8_lossy(text).into()),
                // The first four bytes name the format: "txt:".
                b'=' => Reply::Text(text.get(4..).unwrap_or_default().into()),
                _ => Reply::Text(text.into()),
            }
        }
        (Follows::Parts(pairs), b'%') => {
            let pairs = (0..pairs).map(|_| pair(bytes, levels));
            Reply::Map(pairs.collect::<Result<_, _>>()?)
        }
        (Follows::Parts(pairs), b'|') => {
            (0..pairs).try_for_each(|_| pair(bytes, levels).map(drop))?;
            parse(bytes, levels)?
        }
        (Follows::Parts(parts), b'>') => Reply::Push(several(bytes, parts, levels)?),
        (Follows::Parts(parts), _) => Reply::Array(several(bytes, parts, levels)?),
    })
}

fn several(bytes: &mut &[u8], parts: usize, levels: usize) -> Result<Vec<Reply>, NoReply> {
    (0..parts).map(|_| parse(bytes, levels)).collect()
}

fn pair(bytes: &mut &[u8], levels: usize) -> Result<(Reply, Reply), NoReply> {
    Ok((parse(bytes, levels)?, parse(bytes, levels)?))
}
