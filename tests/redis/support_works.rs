//! The harness tests itself: servers live and die on command, the witness sees what is there, and
//! the network misbehaves exactly as instructed.

mod network;

use crate::support::prelude::*;
use crate::support::samples::Samples;
use crate::support::seed::Seed;
use crate::support::witness::Unseen;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Time for which the test listens to a silent connection.
const SILENCE: Duration = Duration::from_millis(50);
const SET: &[u8] = b"SET key value\r\n";

async fn dial(addr: SocketAddr) -> TcpStream {
    TcpStream::connect(addr).await.unwrap()
}

async fn dial_and_set(addr: SocketAddr) -> TcpStream {
    let mut client = dial(addr).await;
    client.write_all(SET).await.unwrap();
    client
}

async fn answer(client: &mut TcpStream) -> std::io::Result<String> {
    let mut bytes = [0; 256];
    let n = tokio::time::timeout(SOON, client.read(&mut bytes)).await.expect("an answer")?;
    Ok(String::from_utf8_lossy(&bytes[..n]).into_owned())
}

async fn is_silent(client: &mut TcpStream) -> bool {
    tokio::time::timeout(SILENCE, client.read_u8()).await.is_err()
}

async fn eventually_set(server: &Server) {
    let set = async || witness::value(server, "key").await.is_some();
    eventually("the SET has arrived", SOON, set).await;
}

#[tokio::test]
async fn a_stopped_server_is_silent_until_it_goes_on() {
    let server = Server::start();
    let mut client = dial(server.addr()).await;
    server.stop();
    client.write_all(SET).await.unwrap();
    assert!(is_silent(&mut client).await);
    assert!(matches!(witness::keys(&server).await, Err(Unseen::Silent(_))));
    server.cont();
    assert_eq!(answer(&mut client).await.unwrap(), "+OK\r\n");
    assert_eq!(witness::value(&server, "key").await.as_deref(), Some("value"));
}

#[tokio::test]
async fn a_killed_server_refuses_and_comes_back_empty_on_its_port() {
    let server = Server::start();
    let (addr, run_id) = (server.addr(), witness::info(&server, "server").await["run_id"].clone());
    witness::set_foreign(&server, "key", "value", SOON).await;
    server.kill();
    assert!(!server.is_running());
    assert_eq!(witness::keys(&server).await, Err(Unseen::Down));
    let refused = TcpStream::connect(addr).await.unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
    server.restart();
    assert_eq!(server.addr(), addr);
    assert_eq!(witness::keys(&server).await, Ok(vec![]));
    assert_ne!(witness::info(&server, "server").await["run_id"], run_id);
}

#[test]
fn no_process_outlives_its_server_not_even_a_stopped_one() {
    let server = Server::start();
    let process = format!("/proc/{}", server.pid());
    server.stop();
    assert!(std::fs::exists(&process).unwrap());
    drop(server);
    assert!(!std::fs::exists(&process).unwrap());
}

#[test]
#[should_panic(expected = ">>> 'no-such-option")]
fn a_server_that_can_not_start_shows_its_log() {
    Server::start_with(&["--no-such-option", "1"]);
}

#[tokio::test]
async fn the_witness_sees_each_master_for_itself() {
    let masters = Masters::start(5);
    for node in [1, 3] {
        witness::set_foreign(&masters[node], "key", "value", SOON).await;
    }
    masters.kill(3);
    masters[4].stop();
    let silent = Err(Unseen::Silent("stopped".to_owned()));
    let expected = [Ok(0), Ok(1), Ok(0), Err(Unseen::Down), silent];
    assert_eq!(witness::total_keys(&masters).await, expected);
    masters[4].cont();
    assert_eq!(witness::holders(&masters, "key").await, [1]);
    let left = witness::pttl(&masters[1], "key").await.unwrap();
    assert!(left <= SOON && left > Duration::ZERO);
    assert_eq!(witness::pttl(&masters[0], "key").await, None);
}

#[tokio::test]
async fn an_expired_key_is_no_key() {
    let masters = [Server::start_for_debug()];
    let mut no_collection = redis::cmd("DEBUG");
    no_collection.arg("SET-ACTIVE-EXPIRE").arg(0);
    witness::ask::<()>(&masters[0], &no_collection).await.unwrap();
    witness::set_foreign(&masters[0], "key", "value", Duration::from_millis(1)).await;
    witness::eventually_no_keys(&masters, SOON).await;
    witness::assert_no_keys_now(&masters).await;
}

#[tokio::test]
#[should_panic(expected = "keys are left: {1: Ok([\"key\"])}")]
async fn a_key_that_stays_is_reported_with_its_master() {
    let masters = Masters::start(2);
    witness::set_foreign(&masters[1], "key", "value", SOON).await;
    witness::set_foreign(&masters[0], "fence", "1", SOON).await;
    witness::eventually_none(&masters, |key| key != "fence", SILENCE).await;
}

#[tokio::test]
async fn the_witness_does_not_count_itself() {
    let server = Server::start_with(&["--requirepass", "secret"]);
    let before = witness::command_count(&server).await;
    assert_eq!(witness::keys(&server).await, Ok(vec![]));
    let mut client = dial(server.addr()).await;
    client.write_all(b"AUTH secret\r\nSET key value\r\n").await.unwrap();
    eventually_set(&server).await;
    assert_eq!(witness::command_count(&server).await, before + 2);
    assert_eq!(witness::client_count(&server).await, 1);
}

#[test]
fn the_same_seed_gives_the_same_numbers() {
    let seed = Seed::from_env("QUORUMLOCK_SEED_OF_NO_TEST");
    assert_eq!(Seed::parse(&seed.to_string()), Some(seed));
    let (mut rng, mut same) = (seed.rng(), seed.rng());
    assert_eq!(rng.next(), same.next());
    assert_ne!(rng.fork().next(), rng.next());
    // The first number that the published SplitMix64 gives for 0.
    assert_eq!(Seed(0).rng().next(), 0xe220_a839_7b1d_cdaf);
    for _ in 0..1_000 {
        assert!((3..6).contains(&rng.within(3..6)));
    }
    let mut items = [1, 2, 3, 4, 5];
    rng.shuffle(&mut items);
    items.sort_unstable();
    assert_eq!(items, [1, 2, 3, 4, 5]);
}

#[test]
fn percentiles_are_samples_that_were_taken() {
    let mut samples: Samples = (1..=199).rev().map(Duration::from_millis).collect();
    samples.record(Duration::from_millis(200));
    assert_eq!(samples.p50(), Duration::from_millis(100));
    assert_eq!(samples.p99(), Duration::from_millis(198));
    assert_eq!(samples.to_string(), "n=200 p50=100.00ms p99=198.00ms max=200.00ms");
    assert_eq!(Samples::new().to_string(), "n=0");
}
