//! A master that grants everything. It finds the answer by the first word of each command, and
//! answers within the write. It is a stream, not a task.
//!
//! Before the first lock, it recognises the clients' agreement by its length. No release is as
//! long, and looking into each command would be counted.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mood {
    Grants,
    /// Grants nothing and gives no answer from the first SET on.
    Hangs,
}

pub(crate) struct Master {
    node: usize,
    mood: Mood,
    silent: bool,
    received: Vec<u8>,
    answers: Vec<u8>,
    /// Number of bytes of the answers that were read.
    read: usize,
    reader: Option<Waker>,
}

impl Master {
    pub(crate) fn new(node: usize, mood: Mood) -> Self {
        let (received, answers) = (Vec::with_capacity(1 << 16), Vec::with_capacity(1 << 16));
        Self { node, mood, silent: false, received, answers, read: 0, reader: None }
    }

    fn answer_all(&mut self) {
        let mut done = 0;
        while let Some((name, parts, length)) = command(&self.received[done..]) {
            self.silent |= self.mood == Mood::Hangs && name == b"SET";
            if !self.silent {
                answer(name, parts, length, self.node, &mut self.answers);
            }
            done += length;
        }
        self.received.drain(..done);
    }
}

impl AsyncWrite for Master {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.received.extend_from_slice(bytes);
        self.answer_all();
        if let Some(reader) = self.reader.take().filter(|_| self.read < self.answers.len()) {
            reader.wake();
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for Master {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.read == self.answers.len() {
            self.answers.clear();
            self.read = 0;
            if !self.reader.as_ref().is_some_and(|reader| reader.will_wake(cx.waker())) {
                self.reader = Some(cx.waker().clone());
            }
            return Poll::Pending;
        }
        let len = into.remaining().min(self.answers.len() - self.read);
        into.put_slice(&self.answers[self.read..self.read + len]);
        self.read += len;
        Poll::Ready(Ok(()))
    }
}

/// Returns the first command's name, number of parts and length, if all of it is there.
fn command(bytes: &[u8]) -> Option<(&[u8], usize, usize)> {
    let (parts, mut at) = number(bytes, b'*')?;
    let mut name = None;
    for _ in 0..parts {
        let (length, header) = number(&bytes[at..], b'$')?;
        let part = bytes.get(at + header..at + header + length + 2)?;
        name.get_or_insert(&part[..length]);
        at += header + length + 2;
    }
    Some((name?, parts, at))
}

/// Returns the number in the first line, after `sign`, and the length of that line.
fn number(bytes: &[u8], sign: u8) -> Option<(usize, usize)> {
    let (first, rest) = bytes.split_first()?;
    assert_eq!(*first, sign, "no command");
    let mut number = 0;
    for (place, byte) in rest.iter().enumerate() {
        match byte {
            b'0'..=b'9' => number = number * 10 + usize::from(byte - b'0'),
            // The sign, and the two bytes that end the line.
            b'\r' => return Some((number, place + 3)).filter(|(_, line)| *line <= bytes.len()),
            other => panic!("no digit: {other}"),
        }
    }
    None
}

/// Least length in bytes of the request that checks the clients' agreement.
const AGREEMENT: usize = 3_000;

/// Appends the answer. The master has been up for a day: old enough to vote.
fn answer(command: &[u8], parts: usize, length: usize, node: usize, answers: &mut Vec<u8>) {
    match command {
        // The client's settings are noted from now on.
        b"EVAL" if length >= AGREEMENT => {
            answers.extend_from_slice(b"*2\r\n:1\r\n:0\r\n");
        }
        // The script that acquires a fenced lock answers like SET; those that release have fewer
        // parts.
        b"EVALSHA" if parts < 10 => answers.extend_from_slice(b":1\r\n"),
        b"SET" | b"EVALSHA" => answers.extend_from_slice(b"+OK\r\n"),
        b"EVAL" => answers.extend_from_slice(b":1\r\n"),
        b"PUBLISH" => answers.extend_from_slice(b":0\r\n"),
        b"HELLO" => answers.extend_from_slice(b"%1\r\n$2\r\nid\r\n:1\r\n"),
        b"SCRIPT" => answers.extend_from_slice(b"$4\r\nhash\r\n"),
        b"INFO" => {
            let info = format!("run_id:run{node}\r\nuptime_in_seconds:86400\r\nrole:master\r\n");
            answers.extend(format!("${}\r\n{info}\r\n", info.len()).bytes());
        }
        b"SUBSCRIBE" => answers.extend_from_slice(b"-NOPERM no channels here\r\n"),
        other => panic!("no answer to {}", String::from_utf8_lossy(other)),
    }
}
