//! Replies out of received bytes, however they were cut.
//!
//! Source: <https://redis.io/docs/latest/develop/reference/protocol-spec/>, without its streamed strings
//! and aggregates, which no server sends.

use super::Reply;
use std::sync::Arc;

/// In bytes: no reply to anything that is sent here comes near this size.
pub(super) const LARGEST: usize = 1 << 20;

/// The handshake's replies have four levels, those of scripts two.
const DEEPEST: usize = 16;

/// In bytes, of what is no reply.
pub(super) const LONGEST_LINE: usize = 60;

pub(crate) struct Replies {
    received: Vec<u8>,
    /// Where the next reply begins.
    read: usize,
    /// Up to where it is known to be whole: what has come in pieces is looked at once.
    seen: usize,
    /// Parts of it that begin behind that.
    due: u64,
}

impl Replies {
    pub(crate) const fn new() -> Self {
        Self { received: Vec::new(), read: 0, seen: 0, due: 1 }
    }

    pub(crate) fn receive(&mut self, bytes: &[u8]) {
        self.received.drain(..self.read);
        self.seen -= self.read;
        self.read = 0;
        self.received.extend_from_slice(bytes);
    }

    /// The next complete reply, `None` when more bytes are needed.
    ///
    /// # Errors
    ///
    /// When the bytes are no RESP3, or a reply is larger than any that can be due.
    pub(crate) fn next(&mut self) -> Result<Option<Reply>, Arc<str>> {
        while self.due > 0 {
            match Head::of(&self.received[self.seen..]) {
                Ok(Some(head)) => {
                    self.seen += head.len();
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
        let said = first_line(&self.received[self.read..]).filter(|_| self.seen == self.read);
        match (why, said) {
            (NoReply::TooLarge, _) => format!("a reply of more than {LARGEST} bytes").into(),
            (NoReply::NoSign, Some(said)) => format!("not a RESP3 reply: \"{said}\"").into(),
            (NoReply::NoSign, None) => "not a RESP3 reply: it begins like none".into(),
            (NoReply::Malformed(part), _) => format!("not a RESP3 reply: {part}").into(),
        }
    }
}

/// What another server says of itself (HTTP, SSH) is told as it is.
fn first_line(bytes: &[u8]) -> Option<&str> {
    let line = bytes.split(|byte| matches!(byte, b'\r' | b'\n')).next()?;
    let line = std::str::from_utf8(line.get(..LONGEST_LINE).unwrap_or(line)).ok()?;
    let shows =
        |said: &&str| said.len() > 1 && said.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    Some(line).filter(shows)
}

/// Why these bytes are none.
enum NoReply {
    /// No reply begins with that.
    NoSign,
    TooLarge,
    /// In this part.
    Malformed(&'static str),
}

/// The line that a reply begins with, or a part of one.
struct Head<'a> {
    sign: u8,
    /// Behind the sign.
    line: &'a [u8],
    follows: Follows,
}

/// What a line announces.
#[derive(Clone, Copy)]
enum Follows {
    Nothing,
    /// Not even an empty string.
    Null,
    /// As many, and the end of a line.
    Bytes(usize),
    /// As many, or pairs of them.
    Parts(usize),
}

impl<'a> Head<'a> {
    /// `None` if the line is not whole, or the bytes that it announces.
    fn of(bytes: &'a [u8]) -> Result<Option<Self>, NoReply> {
        let Some(&sign) = bytes.first() else { return Ok(None) };
        let announces: fn(usize) -> Follows = match sign {
            b'+' | b'-' | b':' | b'_' | b',' | b'#' | b'(' => |_| Follows::Nothing,
            b'$' | b'=' | b'!' => Follows::Bytes,
            b'*' | b'~' | b'>' | b'%' | b'|' => Follows::Parts,
            // Two bytes say more than one.
            _ if bytes.len() == 1 => return Ok(None),
            _ => return Err(NoReply::NoSign),
        };
        let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else { return Ok(None) };
        let line = bytes.get(1..end).and_then(|line| line.strip_suffix(b"\r"));
        let line = line.ok_or(NoReply::Malformed("a line that does not end as one"))?;
        let follows = match announces(0) {
            Follows::Nothing => Follows::Nothing,
            _ => announced(line)?.map_or(Follows::Null, announces),
        };
        let head = Self { sign, line, follows };
        Ok((head.len() <= bytes.len()).then_some(head))
    }

    /// Bytes of the line, and of the string that it announces.
    const fn len(&self) -> usize {
        let body = if let Follows::Bytes(len) = self.follows { len + 2 } else { 0 };
        1 + self.line.len() + 2 + body
    }

    /// Parts that follow.
    const fn parts(&self) -> usize {
        match (self.follows, self.sign) {
            (Follows::Parts(pairs), b'%') => 2 * pairs,
            // What it tells more about comes behind it.
            (Follows::Parts(pairs), b'|') => 2 * pairs + 1,
            (Follows::Parts(parts), _) => parts,
            _ => 0,
        }
    }
}

/// How much follows; `None` for nothing, not even an empty string.
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

/// The reply at the beginning of `bytes`, which is whole: takes it from them.
fn parse(bytes: &mut &[u8], levels: usize) -> Result<Reply, NoReply> {
    let head = Head::of(bytes)?.ok_or(NoReply::Malformed("a part that is not whole"))?;
    let levels = levels.checked_sub(1).ok_or(NoReply::Malformed("deeper than any"))?;
    let (this, rest) = bytes.split_at(head.len());
    *bytes = rest;
    let Head { sign, line, follows } = head;
    let body = match follows {
        Follows::Null => return Ok(Reply::Nil),
        Follows::Bytes(len) => this.get(this.len() - 2 - len..this.len() - 2).unwrap_or_default(),
        Follows::Nothing | Follows::Parts(_) => line,
    };
    Ok(match sign {
        b':' => Reply::Int(number(body)?),
        b'+' if body == b"OK" => Reply::Okay,
        b'_' => Reply::Nil,
        b'-' | b'!' => Reply::Error(String::from_utf8_lossy(body).into()),
        // The first four bytes say what it is: "txt:".
        b'=' => Reply::Text(body.get(4..).unwrap_or_default().into()),
        b'%' => {
            let pairs = (0..head.parts() / 2).map(|_| pair(bytes, levels));
            Reply::Map(pairs.collect::<Result<_, _>>()?)
        }
        b'#' if body != b"t" && body != b"f" => {
            return Err(NoReply::Malformed("neither true nor false"));
        }
        b'|' => {
            (0..head.parts() / 2).try_for_each(|_| pair(bytes, levels).map(drop))?;
            parse(bytes, levels)?
        }
        b'*' | b'~' => Reply::Array(several(bytes, head.parts(), levels)?),
        b'>' => Reply::Push(several(bytes, head.parts(), levels)?),
        _ => Reply::Text(body.into()),
    })
}

fn several(bytes: &mut &[u8], parts: usize, levels: usize) -> Result<Vec<Reply>, NoReply> {
    (0..parts).map(|_| parse(bytes, levels)).collect()
}

fn pair(bytes: &mut &[u8], levels: usize) -> Result<(Reply, Reply), NoReply> {
    Ok((parse(bytes, levels)?, parse(bytes, levels)?))
}
