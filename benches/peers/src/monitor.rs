//! What the masters see of their clients: counts of MONITOR's lines. The masters' own counters also count the
//! calls from scripts, and do not count deliveries.

use crate::support::server::Server;
use crate::support::witness::AGREEMENT;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

/// Keeps so many counts.
pub(crate) struct Monitor<const N: usize> {
    streams: Vec<TcpStream>,
    readers: Vec<JoinHandle<()>>,
    counts: Arc<[AtomicU64; N]>,
}

impl Monitor<1> {
    /// Starts to count the commands from clients. Every master must be up.
    pub(crate) fn of_commands(masters: &[Server]) -> Self {
        Self::start(masters, || |line: &str| [u64::from(Call::read(line).is_from_client)])
    }
}

impl Monitor<3> {
    /// Starts to count, of these commands, those from clients and all calls, and the messages that masters
    /// deliver. No client may listen yet.
    pub(crate) fn of_crowd(masters: &[Server], commands: &'static [&'static str]) -> Self {
        Self::start(masters, move || {
            let mut listeners = Listeners::default();
            move |line: &str| {
                let call = Call::read(line);
                // Part of each heartbeat.
                let counts = commands.contains(&&*call.name) && !line.contains(AGREEMENT);
                let from_client = counts && call.is_from_client;
                [u64::from(from_client), u64::from(counts), listeners.delivered(&call)]
            }
        })
    }
}

impl<const N: usize> Monitor<N> {
    /// Counts by a function for each master, which returns what a line adds.
    fn start<F: FnMut(&str) -> [u64; N] + Send + 'static>(
        masters: &[Server],
        weigh: impl Fn() -> F,
    ) -> Self {
        let counts = Arc::new([const { AtomicU64::new(0) }; N]);
        let mut monitor = Self { streams: Vec::new(), readers: Vec::new(), counts };
        for server in masters.iter() {
            let mut stream = TcpStream::connect(server.addr()).expect("a connection");
            stream.write_all(b"MONITOR\r\n").expect("MONITOR sent");
            let mut lines = BufReader::new(stream.try_clone().expect("a second handle"));
            let mut line = Vec::new();
            lines.read_until(b'\n', &mut line).expect("an answer to MONITOR");
            assert_eq!(line, b"+OK\r\n");
            let (counts, weigh) = (monitor.counts.clone(), weigh());
            monitor.readers.push(thread::spawn(move || count(lines, weigh, &counts)));
            monitor.streams.push(stream);
        }
        monitor
    }

    /// Returns the counts until now, all masters together.
    pub(crate) fn counts(&self) -> [u64; N] {
        self.counts.each_ref().map(|count| count.load(Ordering::Relaxed))
    }
}

impl<const N: usize> Drop for Monitor<N> {
    fn drop(&mut self) {
        for stream in &self.streams {
            let _already_closed = stream.shutdown(Shutdown::Both);
        }
        for reader in self.readers.drain(..) {
            let _already_ended = reader.join();
        }
    }
}

fn count<const N: usize>(
    mut lines: BufReader<TcpStream>,
    mut weigh: impl FnMut(&str) -> [u64; N],
    counts: &[AtomicU64; N],
) {
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        for (count, more) in counts.iter().zip(weigh(&String::from_utf8_lossy(&line))) {
            count.fetch_add(more, Ordering::Relaxed);
        }
        line.clear();
    }
}

/// `+1339518083.107412 [0 127.0.0.1:60866] "get" "a"`, or `[0 lua]` for a call from a script.
struct Call<'a> {
    sender: &'a str,
    is_from_client: bool,
    name: String,
    arguments: Vec<&'a str>,
}

impl<'a> Call<'a> {
    fn read(line: &'a str) -> Self {
        let (sender, words) = line.split_once(']').unwrap_or((line, ""));
        let sender = sender.split_once('[').map_or(sender, |(_time, sender)| sender);
        let mut words = words.split('"').skip(1).step_by(2);
        let name = words.next().unwrap_or_default().to_ascii_lowercase();
        Self { sender, is_from_client: !sender.ends_with(" lua"), name, arguments: words.collect() }
    }
}

/// The connections that listen to each channel of one master.
#[derive(Default)]
struct Listeners(BTreeMap<String, BTreeSet<String>>);

impl Listeners {
    /// Returns how many messages a call has delivered.
    fn delivered(&mut self, call: &Call<'_>) -> u64 {
        let channels = call.arguments.iter().map(|channel| (*channel).to_owned());
        match call.name.as_str() {
            "subscribe" => channels.for_each(|channel| {
                self.0.entry(channel).or_default().insert(call.sender.to_owned());
            }),
            "unsubscribe" => channels.for_each(|channel| {
                self.0.entry(channel).or_default().remove(call.sender);
            }),
            "publish" => {
                let listeners = call.arguments.first().and_then(|channel| self.0.get(*channel));
                return listeners.map_or(0, |listeners| listeners.len() as u64);
            }
            _ => {}
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_delivered_to_each_that_listens_then() {
        let mut listeners = Listeners::default();
        let lines = [
            (r#"+1.1 [0 127.0.0.1:1] "SUBSCRIBE" "a" "b""#, 0),
            (r#"+1.2 [0 127.0.0.1:2] "subscribe" "a""#, 0),
            (r#"+1.3 [0 127.0.0.1:2] "subscribe" "a""#, 0),
            (r#"+1.4 [0 127.0.0.1:3] "PUBLISH" "a" "x""#, 2),
            (r#"+1.5 [0 127.0.0.1:1] "UNSUBSCRIBE" "a""#, 0),
            (r#"+1.6 [0 lua] "publish" "a" """#, 1),
            (r#"+1.7 [0 lua] "publish" "b" """#, 1),
            (r#"+1.8 [0 lua] "publish" "c" """#, 0),
        ];
        for (line, delivered) in lines {
            assert_eq!(listeners.delivered(&Call::read(line)), delivered, "{line}");
        }
    }

    #[test]
    fn a_call_from_a_script_is_no_command_of_a_client() {
        for (line, is_from_client) in
            [(r#"+1.1 [0 127.0.0.1:1] "GET" "a""#, true), (r#"+1.1 [0 lua] "GET" "a""#, false)]
        {
            let call = Call::read(line);
            assert_eq!((call.name.as_str(), call.is_from_client), ("get", is_from_client));
        }
    }
}
