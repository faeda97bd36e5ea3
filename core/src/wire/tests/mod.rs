//! Replies are parsed as the parser of the `redis` crate parses them, however the bytes are cut.

mod scripts;

use super::replies::{LARGEST, LONGEST_LINE};
use super::*;
use redis::{PushKind, Value};

/// One reply of every kind, and those that begin like another.
const REPLIES: [&str; 31] = [
    "+OK\r\n",
    "_\r\n",
    ":0\r\n",
    ":1\r\n",
    ":9\r\n",
    "+O\r\n",
    "+OKAY\r\n",
    "+\r\n",
    ":-1\r\n",
    ":-2\r\n",
    ":10\r\n",
    ":9999\r\n",
    "$-1\r\n",
    "$0\r\n\r\n",
    "$9\r\n+OK\r\n:1\r\n\r\n",
    "=15\r\ntxt:run_id:ab\r\n\r\n",
    "%2\r\n$2\r\nid\r\n:1\r\n$5\r\nproto\r\n:3\r\n",
    "*3\r\n+OK\r\n_\r\n:1\r\n",
    "-ERR unknown command\r\n",
    "-LOADING Redis is loading\r\n",
    ">3\r\n+message\r\n+c\r\n+OK\r\n",
    ">3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n",
    "$2\r\nOK\r\n",
    "$-1\r\n",
    "*-1\r\n",
    "*0\r\n",
    "~2\r\n+a\r\n:-9223372036854775808\r\n",
    "#t\r\n",
    "!5\r\nERR a\r\n",
    "|1\r\n+ttl\r\n:9\r\n*1\r\n%1\r\n+a\r\n*2\r\n_\r\n$0\r\n\r\n",
    "*2\r\n*2\r\n+OK\r\n=5\r\ntxt:a\r\n*1\r\n-NOSCRIPT No matching script.\r\n",
];

/// Parses a reply with the `redis` crate.
fn plain(reply: &str) -> Reply {
    ours(redis::parse_redis_value(reply.as_bytes()).unwrap())
}

fn ours(value: Value) -> Reply {
    let all = |parts: Vec<Value>| parts.into_iter().map(ours).collect::<Vec<_>>();
    let text = |text: &str| Reply::Text(text.as_bytes().into());
    match value {
        Value::Okay => Reply::Okay,
        Value::Nil => Reply::Nil,
        Value::Int(number) => Reply::Int(number),
        Value::BulkString(bytes) => Reply::Text(bytes.into()),
        Value::SimpleString(words) => text(&words),
        Value::VerbatimString { text: words, .. } => text(&words),
        Value::Boolean(truth) => text(if truth { "t" } else { "f" }),
        Value::ServerError(error) => Reply::Error(match error.details() {
            Some(details) => format!("{} {details}", error.code()).into(),
            None => error.code().into(),
        }),
        Value::Array(parts) | Value::Set(parts) => Reply::Array(all(parts)),
        Value::Map(fields) => {
            Reply::Map(fields.into_iter().map(|(name, value)| (ours(name), ours(value))).collect())
        }
        Value::Attribute { data, .. } => ours(*data),
        Value::Push { kind, data } => {
            let kind = match kind {
                PushKind::Message => "message",
                PushKind::Subscribe => "subscribe",
                other => panic!("{other:?}"),
            };
            Reply::Push(std::iter::once(text(kind)).chain(all(data)).collect())
        }
        other => panic!("{other:?}"),
    }
}

/// Returns all replies that come out of these pieces, received one by one.
fn received<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Reply> {
    let mut replies = Replies::default();
    let mut values = Vec::new();
    for piece in pieces {
        replies.receive(piece);
        while let Some(value) = replies.next().unwrap() {
            values.push(value);
        }
    }
    values
}

#[test]
fn two_replies_are_what_they_are_at_every_cut() {
    for first in REPLIES {
        for second in REPLIES {
            let bytes = [first, second].concat().into_bytes();
            let expected = [plain(first), plain(second)];
            for cut in 0..=bytes.len() {
                let pieces = [&bytes[..cut], &bytes[cut..]];
                assert_eq!(received(pieces), expected, "{first:?} {second:?} cut at {cut}");
            }
            assert_eq!(received(bytes.chunks(1)), expected, "{first:?} {second:?} byte by byte");
        }
    }
}

#[test]
fn a_session_reads_the_same_in_pieces_of_any_size() {
    let bytes = REPLIES.concat().into_bytes();
    let expected = REPLIES.map(plain);
    for size in 1..=bytes.len() {
        assert_eq!(received(bytes.chunks(size)), expected, "pieces of {size}");
    }
}

#[test]
fn a_reply_without_end_is_refused_at_its_bound() {
    let mut replies = Replies::default();
    let head = format!("*2\r\n${LARGEST}\r\n");
    replies.receive(head.as_bytes());
    assert_eq!(replies.next(), Ok(None));
    replies.receive(&vec![b'x'; LARGEST - head.len()]);
    assert_eq!(replies.next(), Ok(None), "a mebibyte and no more");
    replies.receive(b"x");
    assert_eq!(replies.next(), Err(format!("a reply of more than {LARGEST} bytes").into()));
}

/// A server that announces a large reply may take a while to send it.
#[test]
fn a_reply_that_is_to_be_too_large_is_refused_at_once() {
    let mut replies = Replies::default();
    replies.receive(format!("${}\r\n", LARGEST + 1).as_bytes());
    assert_eq!(replies.next(), Err(format!("a reply of more than {LARGEST} bytes").into()));
}

#[test]
fn what_is_no_reply_is_refused() {
    for bytes in [
        "OK\r\n",
        "+OK\r\nHTTP/1.1 400 Bad Request\r\n",
        "x+OK\r\n",
        "*1\r\nx:1\r\n",
        "$1\r\nab\r\n",
        "$-2\r\n",
    ] {
        for size in [bytes.len(), 1] {
            let mut replies = Replies::default();
            let refused = bytes.as_bytes().chunks(size).any(|piece| {
                replies.receive(piece);
                std::iter::from_fn(|| replies.next().transpose()).any(|reply| reply.is_err())
            });
            assert!(refused, "{bytes:?} in pieces of {size}");
        }
    }
}

#[test]
fn a_reply_claiming_to_be_vast_or_deep_takes_only_its_bytes() {
    let vast = ["*2000000000", "%2000000000", "~2000000000", ">2000000000", "$9000000000000000000"];
    let vast = vast.map(|head| format!("{head}\r\n"));
    let deep = [
        "|1\r\n+k\r\n+v\r\n".repeat(100_000) + "+OK\r\n",
        "*1\r\n".repeat(100_000) + "+OK\r\n",
        "*1\r\n".repeat(100_000),
        "%1\r\n+k\r\n".repeat(100_000),
    ];
    for bytes in vast.iter().chain(&deep) {
        let mut replies = Replies::default();
        replies.receive(bytes.as_bytes());
        let reply = replies.next();
        assert!(matches!(reply, Ok(None) | Err(_)), "{reply:?}");
    }
}

/// The answers of real servers: Redis 6.2, 7.0 and 8.0, Valkey 8.1 and 9.1. Redis 7.4 uses the
/// words of 8.0, and KeyDB 6.3 those of 6.2; no test runs on these two.
#[test]
fn what_is_denied_is_known_in_the_words_of_each_server() {
    let denied = |line: &str| plain(&format!("-{line}\r\n")).is_denied();
    for line in [
        "NOPERM this user has no permissions to run the 'client' command or its subcommand",
        "NOPERM this user has no permissions to run the 'client|kill' command",
        "NOPERM User app has no permissions to run the 'client|kill' command",
        "NOPERM No permissions to access a key",
        "ERR unknown command `CLIENT`, with args beginning with: `KILL`, `ID`, `1`, ",
        "ERR unknown command 'CLIENT', with args beginning with: 'KILL' 'ID' '1' ",
        "ERR Unknown subcommand or wrong number of arguments for 'KILL'. Try CLIENT HELP.",
        "ERR unknown subcommand 'KILL'. Try CLIENT HELP.",
        "ERR Error running script (call to f_1): @user_script:1: @user_script: 1: The user executing \
         the script can't run this command or subcommand",
        "ERR The user executing the script can't run this command or subcommand script: 1, on \
         @user_script:1.",
        "ERR ACL failure in script: User app has no permissions to run the 'hget' command script: 1, \
         on @user_script:1.",
        "ERR ACL failure in script: User app has no permissions to run the 'hget' command script: on \
         @user_script:1.",
        "ERR Error running script (call to f_1): @user_script:1: @user_script: 1: Unknown Redis \
         command called from Lua script",
        "ERR Unknown Redis command called from script script: 1, on @user_script:1.",
        "ERR Unknown command called from script script: on @user_script:1.",
    ] {
        assert!(denied(line), "{line}");
    }
    for line in [
        "LOADING Redis is loading the dataset in memory",
        "BUSY Redis is busy running a script.",
        "NOSCRIPT No matching script. Please use EVAL.",
        "ERR max number of clients reached",
        "ERR Error running script (call to f_1): @user_script:1: @user_script: 1: -OOM command not \
         allowed when used memory > 'maxmemory'.",
        "NOREPLICAS Not enough good replicas to write. script: 1, on @user_script:1.",
        "ERR Wrong number of args calling command from script script: on @user_script:1.",
    ] {
        assert!(!denied(line), "{line}");
    }
}

#[test]
fn what_answers_instead_of_a_server_is_quoted() {
    for (bytes, quote) in [
        (&b"HTTP/1.1 400 Bad Request\r\nServer: x\r\n\r\n"[..], "\"HTTP/1.1 400 Bad Request\""),
        (b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n", "\"SSH-2.0-OpenSSH_9.2p1 Debian-2\""),
        (&[b'x'; 100], &format!("\"{}\"", "x".repeat(LONGEST_LINE))),
    ] {
        let mut replies = Replies::default();
        replies.receive(bytes);
        assert_eq!(replies.next(), Err(format!("not a RESP3 reply: {quote}").into()));
    }
    let mut replies = Replies::default();
    replies.receive(b"\x15\x03\x01\x00\x02\x02\n");
    let error = replies.next().unwrap_err();
    assert!(error.starts_with("not a RESP3 reply: ") && !error.contains('"'), "{error}");
}
