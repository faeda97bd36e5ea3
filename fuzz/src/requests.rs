//! Requests of clients to an embedded master, in pieces, over two connections.

use super::bytes::Bytes;
use quorumlock_core::coordinator::wire::Replies;
use quorumlock_embedded::{Machine, Output};
use std::time::Duration;

pub(super) fn run(data: &[u8]) {
    let mut data = Bytes(data);
    let mut now = Duration::from_secs(1_000_000);
    let mut machine = Machine::new(1, now);
    let clients = [machine.open(), machine.open()];
    let mut answers = [Replies::default(), Replies::default()];
    let mut closed = [false; 2];
    while !data.is_empty() {
        let what = data.byte();
        let piece = match what >> 1 {
            127 => {
                now += Duration::from_millis(u64::from(data.byte()) * 10);
                continue;
            }
            // All remaining bytes.
            126 => data.take(usize::MAX),
            len => data.take(usize::from(len)),
        };
        machine.receive(clients[usize::from(what & 1)], now, piece);
        while let Some(output) = machine.poll_output() {
            let place =
                |client| clients.iter().position(|known| *known == client).unwrap_or_default();
            match output {
                Output::Send(to, bytes) => {
                    let place = place(to);
                    assert!(!closed[place], "says something after its end");
                    answers[place].receive(&bytes);
                    while answers[place].next().is_ok_and(|answer| answer.is_some()) {}
                    let left = answers[place].next();
                    assert_eq!(left, Ok(None), "no reply: {}", String::from_utf8_lossy(&bytes));
                }
                Output::Close(client) => closed[place(client)] = true,
            }
        }
    }
}
