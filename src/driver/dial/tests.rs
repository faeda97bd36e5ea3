use super::*;
use crate::transport::Stream;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket};

const LONG: Duration = Duration::from_secs(20);

fn tcp_to(address: SocketAddr) -> Transport {
    Transport::Tcp { host: address.ip().to_string(), port: address.port() }
}

fn refusal(result: io::Result<BoxStream>) -> io::Error {
    result.err().expect("a dial that fails")
}

/// Returns an address where no server listens any more.
async fn closed() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap()
}

/// Returns an address that neither accepts nor refuses: its queue is full, and stays full while the
/// sockets live.
#[cfg(target_os = "linux")]
async fn black_hole() -> (SocketAddr, TcpListener, Vec<std::net::TcpStream>) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(0).unwrap();
    let address = listener.local_addr().unwrap();
    let connect = || std::net::TcpStream::connect_timeout(&address, Duration::from_millis(50));
    let queued = std::iter::from_fn(|| connect().ok()).collect();
    (address, listener, queued)
}

/// Sends `ping` from a dialled stream to an accepted one.
async fn reaches(mut ours: impl Stream, mut theirs: impl Stream) {
    ours.write_all(b"ping").await.unwrap();
    ours.flush().await.unwrap();
    let mut heard = [0; 4];
    theirs.read_exact(&mut heard).await.unwrap();
    assert_eq!(&heard, b"ping");
}

#[tokio::test]
async fn a_listener_is_reached_by_address_and_by_name() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    for host in ["127.0.0.1", "localhost"] {
        let ours = Transport::Tcp { host: host.into(), port }.dial(LONG).await.unwrap();
        reaches(ours, listener.accept().await.unwrap().0).await;
    }
}

#[tokio::test]
async fn a_connection_sends_at_once_and_notices_a_vanished_peer() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let stream =
        tcp(("127.0.0.1", listener.local_addr().unwrap().port()), LONG, &AtomicBool::new(false))
            .await
            .unwrap();
    assert!(stream.nodelay().unwrap());
    let socket = SockRef::from(&stream);
    assert!(socket.keepalive().unwrap());
    #[cfg(target_os = "linux")]
    {
        assert_eq!(socket.tcp_keepalive_time().unwrap(), SILENCE);
        assert_eq!(socket.tcp_keepalive_interval().unwrap(), PROBE_INTERVAL);
        assert_eq!(socket.tcp_keepalive_retries().unwrap(), PROBES);
        assert_eq!(socket.tcp_user_timeout().unwrap(), Some(SILENCE));
    }
}

#[tokio::test]
async fn a_closed_port_refuses_without_waiting() {
    let error = refusal(tcp_to(closed().await).dial(LONG).await);
    assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
}

#[tokio::test]
async fn a_name_without_any_address_says_so() {
    let error = first_to_connect(Vec::new(), LONG).await.unwrap_err();
    assert_eq!(error.to_string(), "the name has no address");
}

#[tokio::test(start_paused = true)]
async fn whatever_never_answers_ends_in_time() {
    let silent = Transport::Custom(Arc::new(|| Box::pin(std::future::pending())));
    let dial = async move { silent.dial(Duration::from_millis(500)).await };
    let error = refusal(tokio::spawn(dial).await.unwrap());
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    assert_eq!(
        error.to_string(),
        "no connection within 500 ms: if it is only slow, raise connect_timeout"
    );
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn a_black_hole_ends_in_time() {
    let (address, ..) = &black_hole().await;
    let error = refusal(tcp_to(*address).dial(Duration::from_millis(100)).await);
    assert_eq!(
        error.to_string(),
        "no connection within 100 ms: if it is only slow, raise connect_timeout"
    );
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn one_living_address_is_found_among_dead_ones() {
    let (hole, ..) = &black_hole().await;
    let alive = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let home = alive.local_addr().unwrap();
    for order in [vec![*hole, closed().await, home], vec![closed().await, *hole, home]] {
        let stream = first_to_connect(order, LONG).await.unwrap();
        assert_eq!(stream.peer_addr().unwrap(), home);
    }
}

#[tokio::test]
async fn of_two_living_addresses_the_first_is_taken() {
    let first = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let second = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let order = [&first, &second].map(|listener| listener.local_addr().unwrap());
    let stream = first_to_connect(order.to_vec(), LONG).await.unwrap();
    assert_eq!(stream.peer_addr().unwrap(), order[0]);
}

#[tokio::test]
async fn a_socket_connected_to_itself_is_recognised() {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let own = socket.local_addr().unwrap();
    let itself = socket.connect(own).await.unwrap();
    assert!(talks_to_itself(&itself).unwrap());
}

#[tokio::test]
#[cfg(unix)]
async fn a_unix_socket_is_reached() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("redis.sock");
    let missing = refusal(Transport::Unix(path.clone()).dial(LONG).await);
    assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    let listener = tokio::net::UnixListener::bind(&path).unwrap();
    let ours = Transport::Unix(path).dial(LONG).await.unwrap();
    reaches(ours, listener.accept().await.unwrap().0).await;
}

#[cfg(feature = "tls")]
mod tls;
