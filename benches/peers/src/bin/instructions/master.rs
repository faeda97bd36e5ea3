//! A master that grants everything: by the first word of each command it knows the answer.

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

const BUFFER: usize = 64 << 10;

/// Starts it on this runtime; the other end is the client's.
pub(crate) fn start(node: usize) -> DuplexStream {
    let (ours, theirs) = tokio::io::duplex(BUFFER);
    tokio::spawn(serve(ours, node));
    theirs
}

async fn serve(mut stream: DuplexStream, node: usize) {
    let (mut received, mut answers) = (Vec::new(), Vec::new());
    while stream.read_buf(&mut received).await.is_ok_and(|read| read > 0) {
        let mut done = 0;
        while let Some((name, length)) = command(&received[done..]) {
            answer(name, node, &mut answers);
            done += length;
        }
        received.drain(..done);
        stream.write_all(&answers).await.expect("a client that reads");
        answers.clear();
    }
}

/// The name of the first command, if all of it is there, and its length.
fn command(bytes: &[u8]) -> Option<(&[u8], usize)> {
    let (parts, mut at) = number(bytes, b'*')?;
    let mut name = None;
    for _ in 0..parts {
        let (length, header) = number(&bytes[at..], b'$')?;
        let part = bytes.get(at + header..at + header + length + 2)?;
        name.get_or_insert(&part[..length]);
        at += header + length + 2;
    }
    Some((name?, at))
}

/// The number in the first line, behind `sign`, and the length of that line.
fn number(bytes: &[u8], sign: u8) -> Option<(usize, usize)> {
    let end = bytes.iter().position(|&byte| byte == b'\r').filter(|end| end + 1 < bytes.len())?;
    let [first, digits @ ..] = &bytes[..end] else { return None };
    assert_eq!(*first, sign, "no command");
    let number = std::str::from_utf8(digits).expect("digits").parse().expect("a number");
    Some((number, end + 2))
}

/// It has been up for a day: old enough to vote.
fn answer(command: &[u8], node: usize, answers: &mut Vec<u8>) {
    match command {
        b"SET" => answers.extend(b"+OK\r\n"),
        b"EVAL" => answers.extend(b":1\r\n"),
        b"HELLO" => answers.extend(b"%1\r\n$2\r\nid\r\n:1\r\n"),
        b"SCRIPT" => answers.extend(b"$4\r\nhash\r\n"),
        b"INFO" => {
            let info = format!("run_id:run{node}\r\nuptime_in_seconds:86400\r\nrole:master\r\n");
            answers.extend(format!("${}\r\n{info}\r\n", info.len()).bytes());
        }
        other => panic!("no answer to {}", String::from_utf8_lossy(other)),
    }
}
