//! Replies to clients, in RESP2 or RESP3.

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Reply {
    Status(Vec<u8>),
    /// An error with its code, in the server's own words.
    Error(Vec<u8>),
    Integer(i64),
    Bulk(Vec<u8>),
    /// Text for people; a bulk string in RESP2.
    Text(Vec<u8>),
    /// A bulk string in RESP2.
    Double(f64),
    Null,
    Array(Vec<Reply>),
    /// Names and values, by turns; an array in RESP2.
    Map(Vec<Reply>),
    /// Firsts and seconds, by turns, of an array of arrays of two; in RESP2 an array of all.
    Pairs(Vec<Reply>),
    /// Something that was not asked for; an array in RESP2.
    Push(Vec<Reply>),
    /// One command, several answers.
    Several(Vec<Reply>),
}

impl Reply {
    pub(super) fn ok() -> Self {
        Self::Status(b"OK".to_vec())
    }

    /// Creates an error from `text`, which begins with its code: `ERR syntax error`.
    pub(super) fn error(text: impl Into<Vec<u8>>) -> Self {
        Self::Error(text.into())
    }

    pub(super) fn bulk(bytes: impl Into<Vec<u8>>) -> Self {
        Self::Bulk(bytes.into())
    }

    pub(super) fn count(count: usize) -> Self {
        Self::Integer(i64::try_from(count).unwrap_or(i64::MAX))
    }

    pub(super) fn encode(&self, resp3: bool, out: &mut Vec<u8>) {
        match self {
            Self::Status(text) => line(out, b'+', &one_line(text)),
            Self::Error(text) => line(out, b'-', &one_line(text)),
            Self::Integer(number) => line(out, b':', number.to_string().as_bytes()),
            Self::Text(text) if resp3 => bulk(out, b'=', &[b"txt:", text]),
            Self::Bulk(bytes) | Self::Text(bytes) => bulk(out, b'$', &[bytes]),
            Self::Double(number) if resp3 => line(out, b',', number.to_string().as_bytes()),
            Self::Double(number) => bulk(out, b'$', &[number.to_string().as_bytes()]),
            Self::Null if resp3 => line(out, b'_', b""),
            Self::Null => line(out, b'$', b"-1"),
            Self::Push(items) if resp3 => sequence(out, b'>', items.len(), items, resp3),
            Self::Map(items) if resp3 => sequence(out, b'%', items.len() / 2, items, resp3),
            Self::Pairs(items) if resp3 => {
                line(out, b'*', (items.len() / 2).to_string().as_bytes());
                items.chunks(2).for_each(|pair| sequence(out, b'*', 2, pair, resp3));
            }
            Self::Array(items) | Self::Push(items) | Self::Map(items) | Self::Pairs(items) => {
                sequence(out, b'*', items.len(), items, resp3);
            }
            Self::Several(replies) => replies.iter().for_each(|reply| reply.encode(resp3, out)),
        }
    }
}

fn line(out: &mut Vec<u8>, sign: u8, text: &[u8]) {
    out.push(sign);
    out.extend_from_slice(text);
    out.extend_from_slice(b"\r\n");
}

fn bulk(out: &mut Vec<u8>, sign: u8, parts: &[&[u8]]) {
    let len: usize = parts.iter().map(|part| part.len()).sum();
    line(out, sign, len.to_string().as_bytes());
    parts.iter().for_each(|part| out.extend_from_slice(part));
    out.extend_from_slice(b"\r\n");
}

fn sequence(out: &mut Vec<u8>, sign: u8, len: usize, items: &[Reply], resp3: bool) {
    line(out, sign, len.to_string().as_bytes());
    items.iter().for_each(|item| item.encode(resp3, out));
}

/// A status or an error is one line; a line end within it becomes spaces.
fn one_line(text: &[u8]) -> Vec<u8> {
    text.iter().map(|byte| if matches!(byte, b'\r' | b'\n') { b' ' } else { *byte }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_encoded_as_its_protocol_has_it() {
        let items = || vec![Reply::Integer(1)];
        for (reply, resp2, resp3) in [
            (Reply::ok(), "+OK\r\n", "+OK\r\n"),
            (Reply::error("ERR a\r\nb"), "-ERR a  b\r\n", "-ERR a  b\r\n"),
            (Reply::bulk("a\r\n"), "$3\r\na\r\n\r\n", "$3\r\na\r\n\r\n"),
            (Reply::Text(b"a".to_vec()), "$1\r\na\r\n", "=5\r\ntxt:a\r\n"),
            (Reply::Double(-0.5), "$4\r\n-0.5\r\n", ",-0.5\r\n"),
            (Reply::Double(f64::NEG_INFINITY), "$4\r\n-inf\r\n", ",-inf\r\n"),
            (
                Reply::Pairs(vec![Reply::bulk("a"), Reply::Double(1.79e12)]),
                "*2\r\n$1\r\na\r\n$13\r\n1790000000000\r\n",
                "*1\r\n*2\r\n$1\r\na\r\n,1790000000000\r\n",
            ),
            (Reply::Null, "$-1\r\n", "_\r\n"),
            (Reply::Array(items()), "*1\r\n:1\r\n", "*1\r\n:1\r\n"),
            (Reply::Push(items()), "*1\r\n:1\r\n", ">1\r\n:1\r\n"),
            (
                Reply::Map(vec![Reply::bulk(""), Reply::Null]),
                "*2\r\n$0\r\n\r\n$-1\r\n",
                "%1\r\n$0\r\n\r\n_\r\n",
            ),
        ] {
            for (is_resp3, expected) in [(false, resp2), (true, resp3)] {
                let mut out = Vec::new();
                reply.encode(is_resp3, &mut out);
                assert_eq!(String::from_utf8(out).unwrap(), expected, "{reply:?} {is_resp3}");
            }
        }
    }
}
