//! Masters whose persistence is trusted, some of which are replaced by empty machines.

use super::*;
use crate::RestartGuard;
use crate::embedded::Memory;
use std::sync::atomic::{AtomicBool, AtomicI64};

/// Sends a command, and returns the beginning of the answer.
async fn asked(master: &Master, parts: &[&str]) -> String {
    let mut stream = master.dialer()().await.unwrap();
    let words = parts.iter().map(|part| format!("${}\r\n{part}\r\n", part.len()));
    let command = format!("*{}\r\n{}", parts.len(), words.collect::<String>());
    stream.write_all(command.as_bytes()).await.unwrap();
    let mut answer = vec![0; 4096];
    let len = stream.read(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer[..len]).into_owned()
}

/// Three masters that keep every write, and how far their clocks are ahead, in seconds.
async fn durable() -> (Masters, Arc<AtomicI64>) {
    let masters = Masters::start_in_memory(3).unwrap();
    let ahead = Arc::new(AtomicI64::new(1_000_000));
    for master in masters.iter() {
        let ahead = ahead.clone();
        master.set_clock(move || {
            let steps = Duration::from_secs(ahead.load(SeqCst).unsigned_abs());
            SystemTime::UNIX_EPOCH + steps + Duration::from_nanos(Clock::tokio().now().as_nanos())
        });
        for (name, value) in [("appendonly", "yes"), ("appendfsync", "always")] {
            assert_eq!(asked(master, &["CONFIG", "SET", name, value]).await, "+OK\r\n");
        }
    }
    (masters, ahead)
}

/// A client of these masters, which reaches the last two of them while the switch is on.
fn trusting(masters: &Masters, reaches: &Arc<AtomicBool>) -> RedlockBuilder {
    let mut builder = Redlock::builder().restart_guard(RestartGuard::TrustPersistence);
    for (place, master) in masters.iter().enumerate() {
        let (dial, reaches) = (master.dialer(), reaches.clone());
        builder = builder.node_with_connector(master.url(), move || {
            let (open, dialed) = (place == 0 || reaches.load(SeqCst), dial());
            async move { if open { dialed.await } else { Err(std::io::Error::other("cut off")) } }
        });
    }
    builder
}

/// The machines are empty. Their clocks step once their servers have started, so uptimes and what
/// others note there may look like anything.
#[tokio::test(start_paused = true)]
async fn a_replaced_machine_is_not_trusted_whatever_its_clock_does() {
    for step in [0, 2, 20, 600, -20] {
        for cut_off in [0, 25] {
            let (masters, ahead) = durable().await;
            let (always, reaches) =
                (Arc::new(AtomicBool::new(true)), Arc::new(AtomicBool::new(true)));
            let ours = connect(trusting(&masters, &reaches)).await;
            let theirs = connect(trusting(&masters, &always)).await;
            let held = theirs.acquire(KEY).ttl(30 * SECOND).await.unwrap();
            reaches.store(cut_off == 0, SeqCst);
            for master in &masters[1..] {
                master.restart(Memory::Lost).unwrap();
            }
            ahead.fetch_sub(step, SeqCst);
            sleep(cut_off * SECOND).await;
            reaches.store(true, SeqCst);
            let second = ours.acquire(KEY).timeout(4 * SECOND).await;
            assert!(second.is_err() && held.is_valid(), "back {step} s, cut off {cut_off} s");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_machine_that_kept_its_memory_votes_at_once_however_often_it_restarts() {
    let (masters, _) = durable().await;
    let always = Arc::new(AtomicBool::new(true));
    let ours = connect(trusting(&masters, &always)).await;
    settle().await;
    for _ in 0..12 {
        for master in masters.iter() {
            master.restart(Memory::Kept).unwrap();
        }
        sleep(4 * SECOND).await;
        ours.try_acquire(KEY).await.unwrap().release().await.unwrap();
    }
    let noted = asked(&masters[0], &["HGETALL", "quorumlock:agreement"]).await;
    assert_eq!(noted.matches("\r\nrun ").count(), 8, "the number of processes is bounded: {noted}");
}
