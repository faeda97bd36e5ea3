//! Holders in processes of their own are really stopped between their read and their write. Each adds
//! a word to the content; a word that was confirmed must still be there in the end.

use crate::support::other::{OneFile, OneKey};
use crate::support::sql::{SqlxPostgres, SqlxSqlite, TokioPostgres};
use crate::support::{Store, token};
use quorumlock_fencing::FenceError;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::{env, io};
use tokio::sync::broadcast;

const KIND: &str = "FENCE_STORM_KIND";
const ADDRESS: &str = "FENCE_STORM_ADDRESS";
const ROUNDS: u64 = 6;
const PAUSED: u64 = 3;
/// Marks a worker's lines among those of the test harness.
const MARK: &str = "worker: ";

#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Writes that the store has accepted from a paused holder after a later one had written.
    pub(crate) accepted: u64,
    pub(crate) refused: u64,
    /// Words that the store has confirmed, and that are not there any more.
    pub(crate) lost: usize,
}

/// Plays the same storm with the kit and without it.
pub(crate) async fn both<S: Store>(address: &str) {
    let fenced = play::<S>(address, true).await;
    assert_eq!((fenced.accepted, fenced.lost), (0, 0), "{}: {fenced:?}", S::KIND);
    assert_eq!(fenced.refused, ROUNDS * PAUSED, "{}: {fenced:?}", S::KIND);
    let unfenced = play::<S>(address, false).await;
    assert!(unfenced.accepted > 0 && unfenced.lost > 0, "{}: {unfenced:?}", S::KIND);
    eprintln!("{}: fenced {fenced:?}, unfenced {unfenced:?}", S::KIND);
}

async fn play<S: Store>(address: &str, fenced: bool) -> Tally {
    let store = S::open(address).await;
    // Above what other tests have left there.
    let mut number = 2_000_000;
    store.write(fenced.then(|| token(number)), "").await.unwrap();
    let mut paused: Vec<Worker> = (0..PAUSED).map(|_| Worker::start::<S>(address)).collect();
    let mut tally = Tally::default();
    let mut confirmed = Vec::new();
    for _ in 0..ROUNDS {
        for worker in &mut paused {
            number += 1;
            let presented = if fenced { number } else { 0 };
            worker.send(&format!("read {presented} word{number}"));
            assert_eq!(worker.hear(), "read");
            worker.stop();
            // The order to write is on its way to a process that is stopped.
            worker.send("write");
        }
        number += 1;
        let newest = fenced.then(|| token(number));
        let mut content = store.read(newest).await.unwrap();
        for last in ["a", "b"] {
            write!(content, " word{number}{last}").unwrap();
            store.write(newest, &content).await.unwrap();
            confirmed.push(format!("word{number}{last}"));
            // They go on, all at once, while the newest holder writes again.
            paused.iter().for_each(|worker| worker.signal(Signal::CONT));
        }
        for worker in &mut paused {
            match worker.hear().split_once(' ') {
                Some(("written", word)) => {
                    tally.accepted += 1;
                    confirmed.push(word.to_owned());
                }
                Some(("stale", _)) => tally.refused += 1,
                other => panic!("{other:?}"),
            }
        }
    }
    let content = store.read(fenced.then(|| token(number))).await.unwrap();
    let words: Vec<&str> = content.split_whitespace().collect();
    tally.lost = confirmed.iter().filter(|word| !words.contains(&word.as_str())).count();
    tally
}

/// Plays both storms in tasks, for a store that lives in this process.
pub(crate) async fn in_tasks<S: Store>(store: Arc<S>) {
    for fenced in [true, false] {
        let mut number = if fenced { 2_000_000 } else { 3_000_000 };
        let present = |number| fenced.then(|| token(number));
        let (mut accepted, mut lost) = (0, 0);
        for _ in 0..ROUNDS {
            let (go, _) = broadcast::channel(1);
            let mut paused = Vec::new();
            for _ in 0..PAUSED {
                number += 1;
                store.write(present(number), "").await.unwrap();
                let (store, presented, mut go) =
                    (Arc::clone(&store), present(number), go.subscribe());
                let content = store.read(presented).await.unwrap();
                paused.push(tokio::spawn(async move {
                    go.recv().await.unwrap();
                    store.write(presented, &format!("{content} late")).await
                }));
            }
            number += 1;
            store.write(present(number), "first").await.unwrap();
            go.send(()).unwrap();
            if fenced {
                store.write(present(number), "first second").await.unwrap();
            }
            for write in paused {
                accepted += u64::from(write.await.unwrap().is_ok());
            }
            let content = store.read(present(number)).await.unwrap();
            lost += u64::from(!content.contains("first"));
        }
        if fenced {
            assert_eq!((accepted, lost), (0, 0), "{}", S::KIND);
        } else {
            assert!(accepted > 0 && lost > 0, "{}: {accepted}, {lost}", S::KIND);
        }
    }
}

/// A holder, in a process of its own. Killed on drop, even if it is stopped.
struct Worker {
    process: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Worker {
    fn start<S: Store>(address: &str) -> Self {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "storm::worker", "--ignored", "--nocapture"]);
        command.env(KIND, S::KIND).env(ADDRESS, address);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let orders = process.stdin.take().unwrap();
        let answers = BufReader::new(process.stdout.take().unwrap());
        Self { process, orders, answers }
    }

    fn send(&mut self, order: &str) {
        writeln!(self.orders, "{order}").unwrap();
    }

    fn hear(&mut self) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(self.answers.read_line(&mut line).unwrap(), 0, "the worker has ended");
            if let Some((_, answer)) = line.trim_end().split_once(MARK) {
                return answer.to_owned();
            }
        }
    }

    /// Stops all its threads, and waits until they are stopped: a holder that is stopped in the
    /// middle of a transaction would make the others wait for it.
    fn stop(&self) {
        self.signal(Signal::STOP);
        let process = Pid::from_child(&self.process);
        let status = waitpid(Some(process), WaitOptions::UNTRACED).unwrap().unwrap().1;
        assert!(status.stopped(), "{status:?}");
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).unwrap();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _already_gone = self.process.kill();
        let _already_reaped = self.process.wait();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a part of the storms: it runs in a process of its own"]
async fn worker() {
    let (Ok(kind), Ok(address)) = (env::var(KIND), env::var(ADDRESS)) else { return };
    match kind.as_str() {
        OneFile::KIND => work::<OneFile>(&address).await,
        OneKey::KIND => work::<OneKey>(&address).await,
        SqlxPostgres::KIND => work::<SqlxPostgres>(&address).await,
        SqlxSqlite::KIND => work::<SqlxSqlite>(&address).await,
        TokioPostgres::KIND => work::<TokioPostgres>(&address).await,
        kind => panic!("no store is called {kind}"),
    }
}

async fn work<S: Store>(address: &str) {
    let store = S::open(address).await;
    let mut orders = io::stdin().lines();
    let mut order = || orders.next()?.ok();
    let answer = |text: &str| {
        let mut out = io::stdout();
        writeln!(out, "{MARK}{text}").unwrap();
        out.flush().unwrap();
    };
    while let Some(read) = order() {
        let [_, number, word] = read.split(' ').collect::<Vec<_>>()[..] else { panic!("{read}") };
        let number: u64 = number.parse().unwrap();
        let presented = (number > 0).then(|| token(number));
        let content = store.read(presented).await.unwrap();
        answer("read");
        assert_eq!(order().as_deref(), Some("write"));
        match store.write(presented, &format!("{content} {word}")).await {
            Ok(()) => answer(&format!("written {word}")),
            Err(FenceError::Stale(stale)) => answer(&format!("stale {stale}")),
            Err(error) => panic!("{error}"),
        }
    }
}
