//! The proxy, between a client that writes bytes by hand and a real server.

use super::{SET, SILENCE, SOON, answer, dial, dial_and_set, eventually_set, is_silent};
use crate::support::prelude::*;
use crate::support::proxy::{Cut, Direction::*, Proxy};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::Instant;

#[tokio::test]
async fn delayed_bytes_arrive_late_and_in_order() {
    let server = Server::start();
    let proxy = Proxy::start(server.addr());
    let delay = Duration::from_millis(30);
    proxy.delay(ToServer, delay);
    proxy.delay(ToClient, delay);
    let mut client = dial(proxy.addr()).await;
    let start = Instant::now();
    for n in 0..100 {
        client.write_all(format!("RPUSH list {n}\r\n").as_bytes()).await.unwrap();
    }
    assert!(answer(&mut client).await.unwrap().starts_with(":1\r\n:2\r\n"));
    assert!(start.elapsed() >= 2 * delay, "{:?}", start.elapsed());
    let mut list = redis::cmd("LRANGE");
    list.arg("list").arg(0).arg(-1);
    eventually("all bytes are delivered", SOON, async || proxy.waiting(ToServer) == 0).await;
    let list: Vec<u64> = witness::ask(&server, &list).await.unwrap();
    assert_eq!(list, (0..100).collect::<Vec<_>>());
}

#[tokio::test]
async fn held_bytes_arrive_when_let_go_and_only_on_that_connection() {
    let server = Server::start();
    let proxy = Proxy::start(server.addr());
    let mut client = dial(proxy.addr()).await;
    eventually("the proxy accepts", SOON, async || proxy.connections() == 1).await;
    proxy.link(0).hold(ToServer);
    client.write_all(SET).await.unwrap();
    let mut other = dial(proxy.addr()).await;
    other.write_all(b"EXISTS key\r\n").await.unwrap();
    assert_eq!(answer(&mut other).await.unwrap(), ":0\r\n");
    eventually("it is read", SOON, async || proxy.waiting(ToServer) == SET.len() as u64).await;
    assert_eq!(witness::value(&server, "key").await, None);
    let before = Instant::now();
    proxy.let_go(ToServer);
    assert_eq!(answer(&mut client).await.unwrap(), "+OK\r\n");
    assert!(proxy.last_byte_delivered_at(ToServer).unwrap() >= before);
}

#[tokio::test]
async fn a_late_set_arrives_after_its_client_has_gone() {
    let server = Server::start();
    let proxy = Proxy::start(server.addr());
    proxy.hold(ToServer);
    drop(dial_and_set(proxy.addr()).await);
    eventually("it is read", SOON, async || proxy.waiting(ToServer) == SET.len() as u64).await;
    assert_eq!(witness::client_count(&server).await, 1);
    assert_eq!(witness::value(&server, "key").await, None);
    proxy.let_go(ToServer);
    eventually_set(&server).await;
    eventually("the link has ended", SOON, async || proxy.live() == 0).await;
}

#[tokio::test]
async fn without_deliver_after_close_what_waits_dies_with_its_client() {
    let server = Server::start();
    let proxy = Proxy::start(server.addr());
    proxy.deliver_after_close(false);
    proxy.delay(ToServer, SOON);
    drop(dial_and_set(proxy.addr()).await);
    eventually("the link has ended", SOON / 2, async || {
        proxy.connections() == 1 && proxy.live() == 0
    })
    .await;
    assert_eq!(witness::value(&server, "key").await, None);
}

#[tokio::test]
async fn a_discarded_reply_is_lost_after_the_set_was_applied() {
    let server = Server::start();
    let proxy = Proxy::start(server.addr());
    proxy.discard(ToClient);
    let mut client = dial_and_set(proxy.addr()).await;
    eventually_set(&server).await;
    assert!(is_silent(&mut client).await);
    assert_eq!(proxy.delivered(ToClient), 0);
}

#[tokio::test]
async fn a_half_open_connection_swallows_all_and_a_new_one_works() {
    let server = Server::start();
    let proxy = Proxy::start(server.addr());
    let mut old = dial_and_set(proxy.addr()).await;
    assert_eq!(answer(&mut old).await.unwrap(), "+OK\r\n");
    proxy.half_open();
    old.write_all(b"DEL key\r\n").await.unwrap();
    assert!(is_silent(&mut old).await);
    let mut new = dial_and_set(proxy.addr()).await;
    assert_eq!(answer(&mut new).await.unwrap(), "+OK\r\n");
    assert_eq!(witness::value(&server, "key").await.as_deref(), Some("value"));
    drop(old);
    tokio::time::sleep(SILENCE).await;
    assert_eq!(witness::client_count(&server).await, 2, "the server must not hear of the end");
}

#[tokio::test]
async fn a_connection_with_a_gap_stays_silent() {
    let server = Server::start();
    let proxy = Proxy::start(server.addr());
    proxy.discard(ToClient);
    let mut client = dial_and_set(proxy.addr()).await;
    eventually_set(&server).await;
    proxy.hold(ToClient);
    proxy.let_go(ToClient);
    client.write_all(b"DEL key\r\n").await.unwrap();
    eventually("the key is deleted", SOON, async || witness::value(&server, "key").await.is_none())
        .await;
    assert!(is_silent(&mut client).await, "no network delivers what follows a gap");
    let mut client = dial_and_set(proxy.addr()).await;
    assert_eq!(answer(&mut client).await.unwrap(), "+OK\r\n");
}

#[tokio::test]
async fn a_cut_is_an_end_of_stream_or_a_reset() {
    let server = Server::start();
    let proxy = Proxy::start(server.addr());
    for how in [Cut::Fin, Cut::Reset] {
        let mut client = dial_and_set(proxy.addr()).await;
        assert_eq!(answer(&mut client).await.unwrap(), "+OK\r\n");
        proxy.cut(how);
        let end = answer(&mut client).await.map_err(|error| error.kind());
        match how {
            Cut::Fin => assert_eq!(end, Ok(String::new())),
            Cut::Reset => assert_eq!(end, Err(std::io::ErrorKind::ConnectionReset)),
        }
        eventually("the server's side has ended", SOON, async || {
            witness::client_count(&server).await == 0
        })
        .await;
    }
}

#[tokio::test]
async fn a_connection_is_cut_after_exactly_so_many_bytes() {
    let server = Server::start();
    let proxy = Proxy::start(server.addr());
    proxy.cut_after(ToServer, SET.len() as u64);
    proxy.hold(ToClient);
    let mut client = dial_and_set(proxy.addr()).await;
    let _may_be_cut_already = client.write_all(b"DEL key\r\n").await;
    eventually_set(&server).await;
    assert_eq!(proxy.delivered(ToServer), SET.len() as u64);
    assert!(matches!(answer(&mut client).await.as_deref(), Ok("") | Err(_)));
    proxy.cut_after(ToClient, 2);
    proxy.cut_after(ToServer, None);
    proxy.let_go(ToClient);
    let mut client = dial_and_set(proxy.addr()).await;
    assert_eq!(answer(&mut client).await.unwrap(), "+O");
}

#[tokio::test]
async fn new_connections_are_refused_or_swallowed_but_old_ones_work() {
    let server = Server::start();
    let proxy = Proxy::start(server.addr());
    let mut old = dial_and_set(proxy.addr()).await;
    assert_eq!(answer(&mut old).await.unwrap(), "+OK\r\n");
    proxy.refuse_new(true).await;
    let refused = TcpStream::connect(proxy.addr()).await.unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
    proxy.swallow_new(true);
    proxy.refuse_new(false).await;
    let mut swallowed = dial_and_set(proxy.addr()).await;
    assert!(is_silent(&mut swallowed).await);
    proxy.swallow_new(false);
    assert!(is_silent(&mut swallowed).await);
    for mut client in [old, dial(proxy.addr()).await] {
        client.write_all(SET).await.unwrap();
        assert_eq!(answer(&mut client).await.unwrap(), "+OK\r\n");
    }
    assert_eq!(proxy.connections(), 3);
}
