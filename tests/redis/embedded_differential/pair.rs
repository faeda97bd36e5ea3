//! One connection to each of the two servers, and an exchange on both.

use super::Alter;
use super::compare::{Difference, compare, note_exchange};
use super::generate::Word;
use crate::support::seed::Rng;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(10);

/// A connection that reads whole answers, as bytes.
pub(crate) struct Connection {
    stream: TcpStream,
    received: Vec<u8>,
}

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("a connection");
        stream.set_nodelay(true).expect("TCP_NODELAY");
        stream.set_read_timeout(Some(PATIENCE)).expect("a read timeout");
        Self { stream, received: Vec::new() }
    }

    pub(crate) fn send(&mut self, words: &[&str]) {
        let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        self.stream.write_all(&encoded(&words)).expect("a command to be sent");
    }

    pub(crate) fn answer(&mut self) -> Vec<u8> {
        self.next_answer().expect("an answer")
    }

    /// Sends the bytes in up to three pieces.
    fn send_cut(&mut self, bytes: &[u8], cuts: &mut Rng) {
        let mut rest = bytes;
        for _ in 0..2 {
            if cuts.chance(10) {
                let (piece, after) = rest.split_at(cuts.within(0..rest.len() as u64 + 1) as usize);
                let _closed = self.stream.write_all(piece);
                rest = after;
            }
        }
        // If it is closed, the next read reports it.
        let _closed = self.stream.write_all(rest);
    }

    /// Returns `None` when the server has closed.
    fn next_answer(&mut self) -> Option<Vec<u8>> {
        loop {
            if let Some(len) = answer_len(&self.received) {
                let rest = self.received.split_off(len);
                return Some(std::mem::replace(&mut self.received, rest));
            }
            let mut chunk = [0; 16 << 10];
            match self.stream.read(&mut chunk) {
                Ok(0) => return None,
                Ok(read) => self.received.extend_from_slice(&chunk[..read]),
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("no answer: {error}; so far {:?}", self.received),
            }
        }
    }

    /// Returns everything up to the answer to the fence, and whether the server closed before that.
    fn answers_until(&mut self, fence: &str) -> (Vec<Vec<u8>>, bool) {
        let end = format!("{fence}\r\n");
        let mut answers = Vec::new();
        while let Some(answer) = self.next_answer() {
            if answer.ends_with(end.as_bytes()) {
                return (answers, false);
            }
            answers.push(answer);
        }
        (answers, true)
    }
}

/// The ids of a pair's connections: the real server's and the embedded master's.
pub(crate) type Ids = (u64, u64);

pub(crate) struct Pair {
    addresses: [SocketAddr; 2],
    real: Connection,
    embedded: Connection,
    ids: Ids,
    exchanges: u64,
}

impl Pair {
    pub(crate) fn open(real: SocketAddr, embedded: SocketAddr) -> Self {
        let addresses = [real, embedded];
        let (mut real, mut embedded) = (Connection::open(real), Connection::open(embedded));
        let ids = (own_id(&mut real), own_id(&mut embedded));
        Self { addresses, real, embedded, ids, exchanges: 0 }
    }

    pub(crate) const fn ids(&self) -> Ids {
        self.ids
    }

    /// Sends the words, if there are any, to both, and compares everything that comes back. Opens a
    /// new pair if both were closed.
    pub(crate) fn exchange(
        &mut self,
        words: &[Word],
        ids: &[Ids],
        cuts: &mut Rng,
        alter: Alter,
    ) -> Result<(), Box<Difference>> {
        self.exchanges += 1;
        let fence = format!("fence-{}", self.exchanges);
        let began = Instant::now();
        let ping = encoded(&[b"PING", fence.as_bytes()]);
        for (server, connection) in [&mut self.real, &mut self.embedded].into_iter().enumerate() {
            let mut bytes = bytes_for(server, words, ids);
            bytes.extend_from_slice(&ping);
            connection.send_cut(&bytes, cuts);
        }
        let (real, real_closed) = self.real.answers_until(&fence);
        let (mut embedded, embedded_closed) = self.embedded.answers_until(&fence);
        note_exchange(began.elapsed());
        embedded.iter_mut().for_each(|answer| alter(words, answer));
        compare(words, (&real, real_closed), (&embedded, embedded_closed))?;
        if real_closed {
            *self = Self::open(self.addresses[0], self.addresses[1]);
        }
        Ok(())
    }
}

fn own_id(connection: &mut Connection) -> u64 {
    connection.send(&["CLIENT", "ID"]);
    let answer = String::from_utf8(connection.answer()).expect("a number");
    answer.trim_start_matches(':').trim_end().parse().expect("a number")
}

fn bytes_for(server: usize, words: &[Word], ids: &[Ids]) -> Vec<u8> {
    if let [Word::Raw(bytes)] = words {
        return bytes.clone();
    }
    let words: Vec<Vec<u8>> = words
        .iter()
        .map(|word| match word {
            Word::Bytes(bytes) | Word::Raw(bytes) => bytes.clone(),
            Word::IdOf(pair) => {
                let (real, embedded) = ids[*pair];
                [real, embedded][server].to_string().into_bytes()
            }
        })
        .collect();
    if words.is_empty() {
        return Vec::new();
    }
    encoded(&words.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

fn encoded(words: &[&[u8]]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        bytes.extend_from_slice(word);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}

/// Returns how long the first answer in `bytes` is, if all of it is there.
fn answer_len(bytes: &[u8]) -> Option<usize> {
    let line = bytes.windows(2).position(|two| two == b"\r\n")? + 2;
    let count = || {
        let digits = std::str::from_utf8(&bytes[1..line - 2]).expect("a count");
        usize::try_from(digits.parse::<i64>().expect("a count")).unwrap_or(0)
    };
    let items = match bytes[0] {
        b'$' | b'=' if bytes[1] == b'-' => return Some(line),
        b'$' | b'=' => return Some(line + count() + 2).filter(|len| *len <= bytes.len()),
        b'*' | b'>' | b'~' => count(),
        b'%' => 2 * count(),
        _ => 0,
    };
    (0..items).try_fold(line, |len, _| Some(len + answer_len(&bytes[len..])?))
}
