//! The physical floor: a command to all masters, encoded once, and their replies compared with the
//! expected ones. No limits, no timeouts, no second chance, and no locking.

use crate::NODES;
use crate::master::{Master, Mood};
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

const RELEASE: &str = "if redis.call(\"get\",KEYS[1]) == ARGV[1] then \
                       return redis.call(\"del\",KEYS[1]) else return 0 end";

const TOKEN: &str = "00000000000000000000000000000000";

pub(crate) struct Floor {
    masters: Vec<Master>,
    acquire: Command,
    release: Command,
    cycles: u64,
    buffer: Box<[u8]>,
}

impl Floor {
    pub(crate) fn new(resource: &str) -> Self {
        Self {
            masters: (0..NODES).map(|node| Master::new(node, Mood::Grants)).collect(),
            acquire: Command::new(&["SET", resource, TOKEN, "NX", "PX", "10000"]),
            release: Command::new(&["EVAL", RELEASE, "1", resource, TOKEN]),
            cycles: 0,
            buffer: vec![0; 16 << 10].into(),
        }
    }

    pub(crate) async fn cycles(&mut self, cycles: u64) {
        for _ in 0..cycles {
            self.cycles += 1;
            for command in [&mut self.acquire, &mut self.release] {
                command.number(self.cycles);
            }
            poll_fn(|cx| send(cx, &mut self.masters, &self.acquire.bytes)).await;
            poll_fn(|cx| self.receive(cx, b"+OK\r\n")).await;
            poll_fn(|cx| send(cx, &mut self.masters, &self.release.bytes)).await;
            poll_fn(|cx| self.receive(cx, b":1\r\n")).await;
        }
    }

    fn receive(&mut self, cx: &mut Context<'_>, due: &[u8]) -> Poll<()> {
        for master in &mut self.masters {
            let mut into = ReadBuf::new(&mut self.buffer);
            let read = Pin::new(master).poll_read(cx, &mut into);
            assert!(matches!(read, Poll::Ready(Ok(()))), "a master that does not answer");
            assert_eq!(into.filled(), due, "a lock that was not won");
        }
        Poll::Ready(())
    }
}

fn send(cx: &mut Context<'_>, masters: &mut [Master], command: &[u8]) -> Poll<()> {
    for master in masters {
        let written = Pin::new(master).poll_write(cx, command);
        assert!(matches!(written, Poll::Ready(Ok(_))), "a master that does not read");
    }
    Poll::Ready(())
}

/// Encoded once: only its token changes, in place.
struct Command {
    bytes: Vec<u8>,
    token: usize,
}

impl Command {
    fn new(arguments: &[&str]) -> Self {
        let bytes = encode(arguments);
        let token = bytes.windows(TOKEN.len()).position(|window| window == TOKEN.as_bytes());
        Self { bytes, token: token.expect("a token") }
    }

    /// Sets the token, since each acquire has its own. The first half counts, the second stays as
    /// drawn.
    fn number(&mut self, mut number: u64) {
        for digit in self.bytes[self.token..self.token + 16].iter_mut().rev() {
            *digit = b"0123456789abcdef"[(number % 16) as usize];
            number /= 16;
        }
    }
}

fn encode(arguments: &[&str]) -> Vec<u8> {
    let mut command = format!("*{}\r\n", arguments.len());
    for argument in arguments {
        command += &format!("${}\r\n{argument}\r\n", argument.len());
    }
    command.into_bytes()
}
