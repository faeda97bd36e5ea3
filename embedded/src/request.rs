//! Commands from clients: arrays of bulk strings, however they were cut.

/// The server's limit (`proto-max-bulk-len`).
const LONGEST_BULK: i64 = 512 << 20;

/// The longest line that holds a count, in digits and a line end.
const LONGEST_LINE: usize = 64 << 10;

/// The bytes that a connection has sent and that were not executed yet.
#[derive(Default)]
pub(super) struct Requests {
    received: Vec<u8>,
    at: usize,
    /// The command in progress: the number of arguments still to come, and those that have arrived.
    missing: usize,
    arguments: Vec<Vec<u8>>,
    /// The length of the bulk string that is due, once known.
    bulk: Option<usize>,
}

impl Requests {
    pub(super) fn receive(&mut self, bytes: &[u8]) {
        self.received.drain(..self.at);
        self.at = 0;
        self.received.extend_from_slice(bytes);
    }

    /// Returns the next complete command; `None` if more bytes are needed.
    ///
    /// # Errors
    ///
    /// In the server's own words, if this is not a command; the connection is closed then.
    pub(super) fn next(&mut self) -> Result<Option<Vec<Vec<u8>>>, String> {
        while self.missing == 0 {
            let Some(count) = self.count()? else { return Ok(None) };
            self.missing = count;
        }
        while self.missing > 0 {
            let Some(argument) = self.argument()? else { return Ok(None) };
            self.arguments.push(argument);
            self.missing -= 1;
        }
        Ok(Some(std::mem::take(&mut self.arguments)))
    }

    /// Reads the head of a command. Zero or fewer arguments are not a command, and not an error
    /// either.
    fn count(&mut self) -> Result<Option<usize>, String> {
        loop {
            match self.received.get(self.at) {
                None => return Ok(None),
                Some(b'*') => break,
                // A client in which a person types.
                Some(b'\r' | b'\n') => self.at += 1,
                Some(_) => return Err(protocol("inline commands are not spoken here")),
            }
        }
        let Some(line) = self.line("too big mbulk count string")? else { return Ok(None) };
        let count = integer(&line).filter(|count| *count <= i64::from(i32::MAX));
        let count = count.ok_or_else(|| protocol("invalid multibulk length"))?;
        Ok(Some(usize::try_from(count).unwrap_or(0)))
    }

    fn argument(&mut self) -> Result<Option<Vec<u8>>, String> {
        let len = match self.bulk {
            Some(len) => len,
            None => {
                let Some(len) = self.bulk_length()? else { return Ok(None) };
                *self.bulk.insert(len)
            }
        };
        // The server does not look at the two bytes after it either.
        let (start, end) = (self.at, self.at + len);
        if self.received.len() < end + 2 {
            return Ok(None);
        }
        self.bulk = None;
        self.at = end + 2;
        Ok(Some(self.received[start..end].to_vec()))
    }

    fn bulk_length(&mut self) -> Result<Option<usize>, String> {
        // The line must be complete before the server complains about its first byte.
        let mark = self.at;
        let Some(line) = self.line("too big bulk count string")? else { return Ok(None) };
        match self.received.get(mark) {
            Some(b'$') => {}
            other => {
                let got = other.map_or(' ', |byte| char::from(*byte));
                return Err(protocol(&format!("expected '$', got '{got}'")));
            }
        }
        let len = integer(&line).filter(|len| (0..=LONGEST_BULK).contains(len));
        let len = len.and_then(|len| usize::try_from(len).ok());
        len.map(Some).ok_or_else(|| protocol("invalid bulk length"))
    }

    /// Returns a line without its first byte, up to a CR; the LF is assumed, as in the server.
    fn line(&mut self, too_long: &str) -> Result<Option<Vec<u8>>, String> {
        let rest = &self.received[self.at..];
        let Some(len) = rest.iter().position(|byte| *byte == b'\r') else {
            return if rest.len() > LONGEST_LINE { Err(protocol(too_long)) } else { Ok(None) };
        };
        if rest.len() < len + 2 {
            return Ok(None);
        }
        let line = rest[..len].get(1..).unwrap_or_default().to_vec();
        self.at += len + 2;
        Ok(Some(line))
    }
}

fn protocol(problem: &str) -> String {
    format!("ERR Protocol error: {problem}")
}

/// Reads an integer as the server does: no plus, no leading zeros, no spaces.
pub(super) fn integer(digits: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(digits).ok()?;
    text.parse().ok().filter(|number: &i64| number.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(requests: &mut Requests) -> Vec<Vec<Vec<u8>>> {
        std::iter::from_fn(|| requests.next().unwrap()).collect()
    }

    #[test]
    fn a_command_is_the_same_wherever_it_is_cut() {
        let bytes = b"*2\r\n$3\r\nGET\r\n$5\r\na\r\n*1\r\n\r\n*0\r\n*-1\r\n*1\r\n$4\r\nPING\r\n";
        let expected = [vec![b"GET".to_vec(), b"a\r\n*1".to_vec()], vec![b"PING".to_vec()]];
        for cut in 0..=bytes.len() {
            let mut requests = Requests::default();
            requests.receive(&bytes[..cut]);
            let mut commands = all(&mut requests);
            requests.receive(&bytes[cut..]);
            commands.extend(all(&mut requests));
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
            let mut requests = Requests::default();
            requests.receive(bytes);
            assert_eq!(requests.next(), Err(format!("ERR Protocol error: {problem}")));
        }
    }
}
