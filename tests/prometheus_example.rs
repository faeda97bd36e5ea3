//! The example is scraped over HTTP, and serves what the page lists. It has a binary of its own,
//! since the recorder of the example belongs to the whole process.

#![cfg(all(feature = "embedded", feature = "metrics"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[allow(dead_code)] // This test uses only a part of it.
#[path = "observability/exposed.rs"]
mod exposed;
#[allow(dead_code)]
#[path = "observability/page.rs"]
mod page;
#[allow(dead_code)] // Its `main` does not run here.
#[path = "../examples/prometheus.rs"]
mod prometheus;
mod support;

use exposed::Exposed;
use std::net::SocketAddr;
use std::time::Duration;
use support::poll::eventually;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const PATIENCE: Duration = Duration::from_secs(60);

/// Returns status and body.
async fn get(address: SocketAddr, path: &str) -> std::io::Result<(String, String)> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\naccept: */*\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
    let length = format!("content-length: {}\r\n", body.len());
    assert!(format!("{head}\r\n").contains(&length), "{head}");
    Ok((head.lines().next().unwrap_or_default().to_owned(), body.to_owned()))
}

#[tokio::test]
async fn the_example_serves_every_metric_of_the_page_with_sane_values() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let playing = tokio::spawn(prometheus::run(listener));

    let complete = async || {
        let Ok((status, body)) = get(address, "/metrics").await else { return false };
        assert_eq!(status, "HTTP/1.1 200 OK");
        let exposed = Exposed::parse(&body);
        let held = exposed.sum("quorumlock_hold_duration_seconds_count", &[]);
        let released = exposed.sum("quorumlock_releases_total", &[("outcome", "released")]);
        let extended = exposed.sum("quorumlock_extensions_total", &[("outcome", "extended")]);
        let missing = page::metrics().keys().any(|name| !exposed.types.contains_key(name));
        // A master that changes its standing at that moment is counted nowhere for an instant.
        let is = |name: &str, value: f64| (exposed.sum(name, &[]) - value).abs() < 1e-6;
        let standing = is("quorumlock_node_standing", 5.0) && is("quorumlock_quorum", 1.0);
        held >= 3.0 && released >= 3.0 && extended >= 3.0 && !missing && standing
    };
    eventually("everything is served", PATIENCE, complete).await;

    let (_, body) = get(address, "/metrics").await.unwrap();
    let exposed = Exposed::parse(&body);
    for (name, metric) in page::metrics() {
        assert_eq!(exposed.types.get(&name), Some(&metric.kind), "{name}");
        assert!(body.contains(&format!("# HELP {name} ")), "{name} is not described");
    }
    assert!(exposed.samples.iter().all(|sample| sample.value >= 0.0 && sample.value.is_finite()));
    let acquired = exposed.sum("quorumlock_acquires_total", &[("outcome", "acquired")]);
    assert!(acquired >= 3.0, "{acquired}");
    // No client holds anything for longer than the test has run.
    let held = exposed.sum("quorumlock_hold_duration_seconds_sum", &[]);
    assert!(held > 0.0 && held < 3600.0, "{held} s");

    let (status, _) = get(address, "/").await.unwrap();
    assert_eq!(status, "HTTP/1.1 404 Not Found");
    assert!(!playing.is_finished(), "it goes on until it is interrupted");
    playing.abort();
}
