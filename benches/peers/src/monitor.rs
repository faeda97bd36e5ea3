//! Commands from clients, as the masters see them: a count of MONITOR's lines. The masters' own
//! counters also count the calls from scripts.

use crate::support::server::Server;
use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

pub(crate) struct Monitor {
    streams: Vec<TcpStream>,
    readers: Vec<JoinHandle<()>>,
    sent: Arc<AtomicU64>,
}

impl Monitor {
    /// Starts to monitor. Every master must be up.
    pub(crate) fn start(masters: &[Server]) -> Self {
        let mut monitor = Self { streams: Vec::new(), readers: Vec::new(), sent: Arc::default() };
        for server in masters.iter() {
            let mut stream = TcpStream::connect(server.addr()).expect("a connection");
            stream.write_all(b"MONITOR\r\n").expect("MONITOR sent");
            let mut lines = BufReader::new(stream.try_clone().expect("a second handle"));
            let mut line = Vec::new();
            lines.read_until(b'\n', &mut line).expect("an answer to MONITOR");
            assert_eq!(line, b"+OK\r\n");
            let sent = monitor.sent.clone();
            monitor.readers.push(thread::spawn(move || count(lines, &sent)));
            monitor.streams.push(stream);
        }
        monitor
    }

    /// Returns the number of commands until now, all masters together.
    pub(crate) fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        for stream in &self.streams {
            let _already_closed = stream.shutdown(Shutdown::Both);
        }
        for reader in self.readers.drain(..) {
            let _told_already = reader.join();
        }
    }
}

fn count(mut lines: BufReader<TcpStream>, sent: &AtomicU64) {
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        // `+1339518083.107412 [0 127.0.0.1:60866] "get" "a"`, or `[0 lua]` for a call from a
        // script.
        let sender = line.split(|&byte| byte == b']').next().unwrap_or_default();
        if !sender.ends_with(b" lua") {
            sent.fetch_add(1, Ordering::Relaxed);
        }
        line.clear();
    }
}
