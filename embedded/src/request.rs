//! Commands from clients: arrays of bulk strings, however they were cut.

/// The server's limit (`proto-max-bulk-len`).
const LONGEST_BULK: i64 = 512 << 20;

/// Why bytes are no command; `None` if more of them are needed.
type Lack = Option<String>;

/// Takes the next complete command out of what a connection has sent; `None` if more bytes are needed. A command that
/// comes in pieces is read from its beginning with each: commands are short.
///
/// # Errors
///
/// In the server's own words, if this is not a command; the connection is closed then.
pub(super) fn next(received: &mut Vec<u8>) -> Result<Option<Vec<Vec<u8>>>, String> {
    loop {
        let mut rest = Rest(received);
        let words: Vec<_> = match rest.command() {
            Ok(words) => words.into_iter().map(<[u8]>::to_vec).collect(),
            Err(lack) => return lack.map_or(Ok(None), Err),
        };
        let read = received.len() - rest.0.len();
        received.drain(..read);
        if !words.is_empty() {
            return Ok(Some(words));
        }
    }
}

/// The bytes that are still to be read.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    /// Reads the words of a command. Zero or fewer are not a command, and not an error either.
    fn command(&mut self) -> Result<Vec<&'a [u8]>, Lack> {
        match self.0 {
            // A client in which a person types.
            [b'\r' | b'\n', rest @ ..] => {
                self.0 = rest;
                return Ok(Vec::new());
            }
            [] | [b'*', ..] => {}
            _ => return Err(protocol("inline commands are not spoken here")),
        }
        let (_, digits) = self.line()?;
        let count = integer(digits).filter(|count| *count <= i64::from(i32::MAX));
        let count = count.ok_or_else(|| protocol("invalid multibulk length"))?;
        (0..count).map(|_| self.argument()).collect()
    }

    fn argument(&mut self) -> Result<&'a [u8], Lack> {
        // The line must be complete before the server complains about its first byte.
        let (sign, digits) = self.line()?;
        if sign != b'$' {
            return Err(protocol(&format!("expected '$', got '{}'", char::from(sign))));
        }
        let len = integer(digits).filter(|len| (0..=LONGEST_BULK).contains(len));
        let len = len.and_then(|len| usize::try_from(len).ok());
        let len = len.ok_or_else(|| protocol("invalid bulk length"))?;
        // The server does not look at the two bytes after it either.
        let (argument, rest) = self.0.split_at_checked(len + 2).ok_or(None)?;
        self.0 = rest;
        Ok(&argument[..len])
    }

    /// Reads a line, up to a CR, as its first byte and the others; the LF is assumed, as in the
    /// server.
    fn line(&mut self) -> Result<(u8, &'a [u8]), Lack> {
        let len = self.0.iter().position(|byte| *byte == b'\r').ok_or(None)?;
        let (line, rest) = self.0.split_at_checked(len + 2).ok_or(None)?;
        self.0 = rest;
        Ok((line[0], line[..len].get(1..).unwrap_or_default()))
    }
}

fn protocol(problem: &str) -> Lack {
    Some(format!("ERR Protocol error: {problem}"))
}

/// Reads an integer as the server does: no plus, no leading zeros, no spaces.
pub(super) fn integer(digits: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(digits).ok()?;
    text.parse().ok().filter(|number: &i64| number.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(received: &mut Vec<u8>) -> Vec<Vec<Vec<u8>>> {
        std::iter::from_fn(|| next(received).unwrap()).collect()
    }

    #[test]
    fn a_command_is_the_same_wherever_it_is_cut() {
        let bytes = b"*2\r\n$3\r\nGET\r\n$5\r\na\r\n*1\r\n\r\n*0\r\n*-1\r\n*1\r\n$4\r\nPING\r\n";
        let expected = [vec![b"GET".to_vec(), b"a\r\n*1".to_vec()], vec![b"PING".to_vec()]];
        for cut in 0..=bytes.len() {
            let mut received = bytes[..cut].to_vec();
            let mut commands = all(&mut received);
            received.extend_from_slice(&bytes[cut..]);
            commands.extend(all(&mut received));
            assert_eq!(commands, expected, "cut at {cut}");
        }
    }

    #[test]
    fn what_is_no_command_is_an_error() {
        for (bytes, problem) in [
            (&b"PING\r\n"[..], "inline commands are not spoken here"),
            (b"*x\r\n", "invalid multibulk length"),
            (b"*01\r\n", "invalid multibulk length"),
            (b"*1\r\n:4\r\n", "expected '$', got ':'"),
            (b"*1\r\n$-1\r\n", "invalid bulk length"),
            (b"*1\r\n$536870913\r\n", "invalid bulk length"),
        ] {
            assert_eq!(next(&mut bytes.to_vec()), Err(format!("ERR Protocol error: {problem}")));
        }
    }
}
