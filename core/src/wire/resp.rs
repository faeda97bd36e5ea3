//! Commands in RESP, written by hand: nearly all that is sent is one of five commands, and each
//! microsecond that a client spends here is added to a master's answer. The rest takes a few more
//! lines.
//!
//! <https://redis.io/docs/latest/develop/reference/protocol-spec/>: an array of bulk strings.

use super::Token;
use std::sync::Arc;

/// One command: the number of its arguments comes first, and its name counts as one.
pub(super) struct Command<'a> {
    room: &'a mut Vec<u8>,
    /// The number of arguments still to come.
    due: usize,
}

impl<'a> Command<'a> {
    /// Begins a command in `room`, whatever is in it.
    pub(super) fn new(room: &'a mut Vec<u8>, arguments: usize) -> Self {
        room.clear();
        head(room, b'*', arguments as u64);
        Self { room, due: arguments }
    }

    pub(super) fn arg(self, argument: impl AsRef<[u8]>) -> Self {
        self.parts(&[argument.as_ref()])
    }

    /// Appends one argument, made of several parts.
    #[inline]
    pub(super) fn parts(mut self, parts: &[&[u8]]) -> Self {
        self.due = self.due.saturating_sub(1);
        let len: usize = parts.iter().map(|part| part.len()).sum();
        head(self.room, b'$', len as u64);
        parts.iter().for_each(|part| self.room.extend_from_slice(part));
        self.room.extend_from_slice(b"\r\n");
        self
    }

    pub(super) fn number(self, number: u64) -> Self {
        self.arg(decimal(number, &mut [0; 20]))
    }

    /// Appends a token, followed by the label if there is one.
    pub(super) fn token(self, token: Token, label: Option<&str>) -> Self {
        match label {
            Some(label) => self.parts(&[&token.digits(), b":", label.as_bytes()]),
            None => self.arg(token.digits()),
        }
    }

    pub(super) fn keys<'b>(self, keys: impl Iterator<Item = &'b Arc<str>>) -> Self {
        keys.fold(self, |command, key| command.arg(&**key))
    }

    pub(super) fn done(self) -> &'a [u8] {
        debug_assert_eq!(self.due, 0, "as many arguments as were announced");
        self.room
    }
}

/// Packs a command that is sent now and then.
pub fn pack<A: AsRef<[u8]>>(arguments: &[A]) -> Vec<u8> {
    let mut room = Vec::new();
    let command = Command::new(&mut room, arguments.len());
    arguments.iter().fold(command, |command, argument| command.arg(argument)).done();
    room
}

#[inline]
fn head(room: &mut Vec<u8>, sign: u8, number: u64) {
    let digit = |number: u64| b'0' + (number % 10) as u8;
    // Nearly all lengths are here.
    match number {
        0..10 => room.extend_from_slice(&[sign, digit(number), b'\r', b'\n']),
        10..100 => room.extend_from_slice(&[sign, digit(number / 10), digit(number), b'\r', b'\n']),
        _ => {
            room.push(sign);
            room.extend_from_slice(decimal(number, &mut [0; 20]));
            room.extend_from_slice(b"\r\n");
        }
    }
}

/// Writes the digits of `number` at the end of `digits`.
fn decimal(mut number: u64, digits: &mut [u8; 20]) -> &[u8] {
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &digits[at..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_all_its_digits() {
        for number in [0, 9, 10, 1_234_567_890, u64::MAX] {
            assert_eq!(decimal(number, &mut [0; 20]), number.to_string().as_bytes());
        }
    }

    #[test]
    fn it_is_written_as_the_redis_crate_writes_it() {
        let (token, label) = (Token::new(7), "web 3");
        let keys: [Arc<str>; 2] = ["a\r\nb".into(), "".into()];
        let mut room = b"what was there before".to_vec();
        let command = Command::new(&mut room, 6).arg("EVALSHA").number(0).number(u64::MAX);
        let written = command.token(token, Some(label)).keys(keys.iter()).done();
        let mut expected = redis::cmd("EVALSHA");
        expected.arg(0).arg(u64::MAX).arg(format!("{token}:{label}")).arg("a\r\nb").arg("");
        assert_eq!(written, expected.get_packed_command());
    }
}
