//! Masters on ports, which run on a thread of their own: a fork has no part of them.

use quorumlock::embedded;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::ops::Deref;
use std::sync::mpsc::channel;
use std::thread;
use tokio::runtime::Builder;
use tokio::sync::oneshot;

pub(crate) struct Masters {
    masters: embedded::Masters,
    /// Ends their thread.
    _running: oneshot::Sender<()>,
}

impl Masters {
    pub(crate) fn start(count: usize) -> Self {
        let (running, ended) = oneshot::channel::<()>();
        let (hand, handed) = channel();
        thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                hand.send(embedded::Masters::start(count).unwrap()).unwrap();
                let _ = ended.await;
            });
        });
        Self { masters: handed.recv().unwrap(), _running: running }
    }

    /// Returns how often the masters were called by this name, all together.
    pub(crate) fn calls(&self, command: &str) -> usize {
        let line = format!("cmdstat_{command}:calls=");
        let count = |url: &String| {
            let mut stream = TcpStream::connect(url.trim_start_matches("redis://")).unwrap();
            stream.write_all(b"*2\r\n$4\r\nINFO\r\n$12\r\ncommandstats\r\n").unwrap();
            let (mut reply, mut buffer) = (Vec::new(), [0; 4_096]);
            while !reply.ends_with(b"\r\n\r\n") {
                let len = stream.read(&mut buffer).unwrap();
                reply.extend(&buffer[..len]);
            }
            let reply = String::from_utf8(reply).unwrap();
            reply.lines().find_map(|count| count.strip_prefix(&line)?.parse::<usize>().ok())
        };
        self.urls().iter().filter_map(count).sum()
    }
}

impl Deref for Masters {
    type Target = embedded::Masters;

    fn deref(&self) -> &embedded::Masters {
        &self.masters
    }
}
