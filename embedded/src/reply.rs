//! Replies to clients, in RESP2 or RESP3.

/// The protocol version of a connection: RESP2 until it sends `HELLO 3`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Protocol {
    #[default]
    Resp2,
    Resp3,
}

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
    /// An array of twice the length in RESP2.
    Map(Vec<(Reply, Reply)>),
    /// An array of arrays of two; in RESP2 an array of twice the length.
    Pairs(Vec<(Reply, Reply)>),
    /// Something that was not asked for; an array in RESP2.
    Push(Vec<Reply>),
    /// One command, several answers.
    Several(Vec<Reply>),
}

impl Reply {
    pub(super) const OK: &'static [u8] = b"OK";

    pub(super) fn ok() -> Self {
        Self::Status(Self::OK.to_vec())
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

    pub(super) fn encode(&self, protocol: Protocol, out: &mut Vec<u8>) {
        let resp3 = protocol == Protocol::Resp3;
        match self {
            Self::Status(text) => line(out, b'+', &one_line(text)),
            Self::Error(text) => line(out, b'-', &one_line(trimmed(text))),
            Self::Integer(number) => line(out, b':', number.to_string().as_bytes()),
            Self::Bulk(bytes) => bulk(out, b'$', &[bytes]),
            Self::Text(text) if resp3 => bulk(out, b'=', &[b"txt:", text]),
            Self::Text(text) => bulk(out, b'$', &[text]),
            Self::Double(number) if resp3 => line(out, b',', double(*number).as_bytes()),
            Self::Double(number) => bulk(out, b'$', &[double(*number).as_bytes()]),
            Self::Null if resp3 => line(out, b'_', b""),
            Self::Null => line(out, b'$', b"-1"),
            Self::Array(items) => sequence(out, b'*', items, protocol),
            Self::Push(items) => sequence(out, if resp3 { b'>' } else { b'*' }, items, protocol),
            Self::Map(fields) => {
                let (sign, len) = if resp3 { (b'%', 1) } else { (b'*', 2) };
                line(out, sign, (len * fields.len()).to_string().as_bytes());
                for (name, value) in fields {
                    name.encode(protocol, out);
                    value.encode(protocol, out);
                }
            }
            Self::Pairs(pairs) => {
                let len = if resp3 { 1 } else { 2 };
                line(out, b'*', (len * pairs.len()).to_string().as_bytes());
                for (first, second) in pairs {
                    if resp3 {
                        line(out, b'*', b"2");
                    }
                    first.encode(protocol, out);
                    second.encode(protocol, out);
                }
            }
            Self::Several(replies) => replies.iter().for_each(|reply| reply.encode(protocol, out)),
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

fn sequence(out: &mut Vec<u8>, sign: u8, items: &[Reply], protocol: Protocol) {
    line(out, sign, items.len().to_string().as_bytes());
    items.iter().for_each(|item| item.encode(protocol, out));
}

/// Returns a number as C prints it with `%.17g`.
pub(super) fn double(number: f64) -> String {
    let scientific = format!("{number:.16e}");
    let Some((digits, exponent)) = scientific.split_once('e') else {
        return scientific; // An infinity.
    };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    match usize::try_from(16 - exponent) {
        Ok(decimals) if exponent >= -4 => shortest(&format!("{number:.decimals$}")).to_owned(),
        _ => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{}e{sign}{:02}", shortest(digits), exponent.abs())
        }
    }
}

/// Returns a decimal number without the zeros at its end.
fn shortest(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

/// A status or an error is one line; a line end within it becomes spaces.
fn one_line(text: &[u8]) -> Vec<u8> {
    text.iter().map(|byte| if matches!(byte, b'\r' | b'\n') { b' ' } else { *byte }).collect()
}

fn trimmed(mut text: &[u8]) -> &[u8] {
    while let [rest @ .., b'\r' | b'\n'] = text {
        text = rest;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_encoded_as_its_protocol_has_it() {
        let items = || vec![Reply::Integer(1)];
        for (reply, resp2, resp3) in [
            (Reply::ok(), "+OK\r\n", "+OK\r\n"),
            (Reply::error("ERR a\r\nb\r\n"), "-ERR a  b\r\n", "-ERR a  b\r\n"),
            (Reply::bulk("a\r\n"), "$3\r\na\r\n\r\n", "$3\r\na\r\n\r\n"),
            (Reply::Text(b"a".to_vec()), "$1\r\na\r\n", "=5\r\ntxt:a\r\n"),
            (Reply::Double(-0.5), "$4\r\n-0.5\r\n", ",-0.5\r\n"),
            (
                Reply::Pairs(vec![(Reply::bulk("a"), Reply::Double(1e17))]),
                "*2\r\n$1\r\na\r\n$5\r\n1e+17\r\n",
                "*1\r\n*2\r\n$1\r\na\r\n,1e+17\r\n",
            ),
            (Reply::Null, "$-1\r\n", "_\r\n"),
            (Reply::Array(items()), "*1\r\n:1\r\n", "*1\r\n:1\r\n"),
            (Reply::Push(items()), "*1\r\n:1\r\n", ">1\r\n:1\r\n"),
            (
                Reply::Map(vec![(Reply::bulk(""), Reply::Null)]),
                "*2\r\n$0\r\n\r\n$-1\r\n",
                "%1\r\n$0\r\n\r\n_\r\n",
            ),
        ] {
            for (protocol, expected) in [(Protocol::Resp2, resp2), (Protocol::Resp3, resp3)] {
                let mut out = Vec::new();
                reply.encode(protocol, &mut out);
                assert_eq!(String::from_utf8(out).unwrap(), expected, "{reply:?} {protocol:?}");
            }
        }
    }

    /// What redis-server 7.0 prints for each score.
    #[test]
    fn a_double_has_seventeen_digits_and_no_zeros_at_its_end() {
        for (number, text) in [
            (0.0, "0"),
            (0.1, "0.10000000000000001"),
            (1.5, "1.5"),
            (300.0, "300"),
            (1_790_000_000_000.0, "1790000000000"),
            (1e16, "10000000000000000"),
            (1e17, "1e+17"),
            (1e22, "1e+22"),
            (123_456_789_012_345_678.0, "1.2345678901234568e+17"),
            (0.0001, "0.0001"),
            (1e-5, "1.0000000000000001e-05"),
            (4.9e-324, "4.9406564584124654e-324"),
            (-1e300, "-1.0000000000000001e+300"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(double(number), text);
        }
    }
}
