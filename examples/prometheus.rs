//! Workers compete for locks on five embedded masters, one of which goes away and comes back.
//! Everything that `docs/observability.md` lists is served to Prometheus:
//!
//! ```text
//! cargo run --example prometheus --features embedded,metrics
//! curl http://127.0.0.1:9898/metrics
//! ```
//!
//! The only argument is another address to listen on. The example runs until it is interrupted.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use quorumlock::Redlock;
use quorumlock::embedded::{Masters, Memory};
use quorumlock::metrics::BUCKETS;
use std::error::Error;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{interval, sleep, timeout};

type Failure = Box<dyn Error + Send + Sync>;

const WORKERS: usize = 6;

/// Bound on one request; no scraper needs longer to send it.
const PATIENCE: Duration = Duration::from_secs(5);

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:9898".to_owned());
    let listener = TcpListener::bind(&address).await?;
    println!("http://{}/metrics", listener.local_addr()?);
    tokio::select! {
        ended = run(listener) => ended,
        interrupted = tokio::signal::ctrl_c() => Ok(interrupted?),
    }
}

/// Runs the workers and serves the metrics, indefinitely.
pub(crate) async fn run(listener: TcpListener) -> Result<(), Failure> {
    // Before `connect`, which registers everything at zero.
    let exporter = PrometheusBuilder::new().set_buckets(BUCKETS)?.install_recorder()?;
    let masters = Masters::start(5)?;
    let redlock = masters
        .builder()
        .ttl(Duration::from_secs(1))
        .max_ttl(Duration::from_secs(2)) // So that a master that comes back votes soon.
        .connect()
        .await?;
    for _ in 0..WORKERS {
        tokio::spawn(work(redlock.clone()));
    }
    tokio::try_join!(trouble(&masters), serve(&listener, &exporter))?;
    Ok(())
}

/// One worker, typical of many: it waits most of the time.
async fn work(redlock: Redlock) {
    loop {
        let wait = Duration::from_millis(200);
        match redlock.acquire("prometheus:shared").timeout(wait).keep_alive().await {
            Ok(guard) => {
                sleep(Duration::from_millis(20)).await;
                if guard.check().is_ok() && guard.extend().await.is_ok() {
                    let _ = guard.release().await; // the metrics have the outcome
                }
            }
            // Either others hold the lock, or there is an outage: the metrics say which.
            Err(_) => sleep(Duration::from_millis(50)).await,
        }
    }
}

/// Loses one master every now and then.
async fn trouble(masters: &Masters) -> Result<(), Failure> {
    for victim in (0..masters.len()).cycle() {
        sleep(Duration::from_secs(10)).await;
        masters[victim].kill();
        sleep(Duration::from_secs(3)).await;
        masters[victim].restart(Memory::Lost)?;
    }
    Ok(())
}

/// Serves as much HTTP as a scrape needs.
async fn serve(listener: &TcpListener, exporter: &PrometheusHandle) -> Result<(), Failure> {
    let mut upkeep = interval(Duration::from_secs(5));
    loop {
        tokio::select! {
            _ = upkeep.tick() => exporter.run_upkeep(),
            scraper = listener.accept() => {
                let (stream, _) = scraper?;
                // A scraper that disconnects early is no reason to end.
                let _ = timeout(PATIENCE, answer(stream, exporter.render())).await;
            }
        }
    }
}

async fn answer(mut stream: TcpStream, metrics: String) -> io::Result<()> {
    let (reader, mut writer) = stream.split();
    let mut lines = BufReader::new(reader).lines();
    let mut first = None;
    while let Some(line) = lines.next_line().await?.filter(|line| !line.is_empty()) {
        first.get_or_insert(line);
    }
    let (status, body) = match first.as_deref() {
        Some(line) if line.starts_with("GET /metrics") => ("200 OK", metrics),
        _ => ("404 Not Found", "it is /metrics\n".to_owned()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; version=0.0.4\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n",
        body.len()
    );
    writer.write_all(head.as_bytes()).await?;
    writer.write_all(body.as_bytes()).await
}
