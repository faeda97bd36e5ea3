//! The resource that the locks protect: a store that checks the fencing token of each write, and
//! records the write.
//!
//! It runs in the process of the test. Clients reach it over TCP, with one line for each write:
//! `c7.2 41 r0 1795158604154900`. The answer is `ok` or `stale`.

use super::history::{STORE, What};
use super::journal::Journal;
use quorumlock::FencingToken;
use quorumlock::fencing::FenceCheck;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// Serves the store on this runtime, for as long as the runtime lives.
pub(crate) async fn serve(journal: Arc<Journal>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port of 127.0.0.1");
    let address = listener.local_addr().expect("its address");
    let check = Arc::new(Mutex::new(FenceCheck::new()));
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let (check, journal) = (check.clone(), journal.clone());
            tokio::spawn(async move { converse(client, &check, &journal).await });
        }
    });
    address
}

async fn converse(client: TcpStream, check: &Mutex<FenceCheck<String>>, journal: &Journal) {
    let _not_essential = client.set_nodelay(true);
    let mut client = BufReader::new(client);
    let mut line = String::new();
    // A killed client says no more, perhaps in the middle of a line.
    while let Ok(1..) = client.read_line(&mut line).await
        && line.ends_with('\n')
    {
        let accepted = write(line.trim_end(), check, journal);
        let answer = if accepted { "ok\n" } else { "stale\n" };
        if client.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
        line.clear();
    }
}

/// Checks, writes and records in one critical section, so that the history has the order of the
/// writes.
fn write(line: &str, check: &Mutex<FenceCheck<String>>, journal: &Journal) -> bool {
    let words: Vec<&str> = line.split(' ').collect();
    let [by, id, resource, token] = words[..] else { panic!("not a write: {line:?}") };
    let token: FencingToken = token.parse().expect("a fencing token");
    let mut check = check.lock().expect("no panic in the store");
    let accepted = check.admit(resource, token).is_ok();
    let (by, resource) = (by.to_owned(), resource.to_owned());
    let id = id.parse().expect("the number of an attempt");
    let write = What::Write { by, id, resource, token: token.as_u64(), accepted };
    journal.note(STORE, write);
    accepted
}

/// One task's connection to it.
pub(crate) struct Store {
    stream: BufReader<TcpStream>,
}

impl Store {
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("the store");
        stream.set_nodelay(true).expect("TCP_NODELAY");
        Self { stream: BufReader::new(stream) }
    }

    /// Returns whether the write was accepted.
    pub(crate) async fn write(
        &mut self,
        who: &str,
        id: u64,
        resource: &str,
        token: FencingToken,
    ) -> bool {
        let line = format!("{who} {id} {resource} {token}\n");
        self.stream.write_all(line.as_bytes()).await.expect("the store is there");
        let mut answer = String::new();
        self.stream.read_line(&mut answer).await.expect("the store answers");
        answer == "ok\n"
    }
}
