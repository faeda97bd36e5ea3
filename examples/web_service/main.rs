//! A web service of several instances. Each order is charged once, whichever instances are asked,
//! and one instance at a time, the leader, ships what was charged:
//!
//! ```text
//! cargo run --example web_service --features config,embedded,metrics
//! curl -X POST http://127.0.0.1:8080/orders/42/charge
//! curl http://127.0.0.1:8080/healthz
//! curl http://127.0.0.1:8080/metrics
//! ```
//!
//! The arguments are the address to listen on and the folder of the store. The masters are those of
//! `QUORUMLOCK_NODES`; if it is not set, the service starts three of its own, and prints the command
//! for a second instance. SIGTERM and Ctrl-C end an instance in order. Needs a Unix, for file locks.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

mod http;
#[path = "../support/signals.rs"]
mod signals;
mod store;

use http::Response;
use metrics::{counter, gauge};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use quorumlock::embedded::Masters;
use quorumlock::{Config, FencedLease, Redlock, RunError};
use quorumlock_fencing::FenceError;
use signals::Signals;
use std::convert::Infallible;
use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::process::{self, ExitCode};
use std::sync::Arc;
use std::time::Duration;
use store::Store;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinSet, block_in_place};
use tokio::time::{interval, sleep, timeout};

type Failure = Box<dyn Error + Send + Sync>;

const LEADER: &str = "web_service/leader";
/// Time until another instance leads if the leader is killed.
const TTL: Duration = Duration::from_secs(3);
const SHIPS_EVERY: Duration = Duration::from_millis(200);
/// Bound on waiting for a lock; below the patience of the clients.
const WAIT: Duration = Duration::from_secs(4);
/// Bound on one request's arrival, and on all requests at the end.
const PATIENCE: Duration = Duration::from_secs(5);
/// Bounds of the histograms, in seconds.
const BUCKETS: [f64; 9] = [0.001, 0.005, 0.025, 0.1, 0.5, 1.0, 5.0, 60.0, 3600.0];

struct Service {
    redlock: Redlock,
    store: Store,
    metrics: PrometheusHandle,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    let scratch = tempfile::tempdir()?;
    let folder = arguments.next().map_or_else(|| scratch.path().join("store"), PathBuf::from);

    let mut signals = Signals::listen()?; // First: from here on, each end is in order.
    // Before `connect`, which registers the metrics of the locks.
    let metrics = PrometheusBuilder::new().set_buckets(&BUCKETS)?.install_recorder()?;
    let config = Config::load()?;
    let own_masters = if config.nodes.is_none() { Some(Masters::start(3)?) } else { None };
    let builder = own_masters.as_ref().map_or_else(Redlock::builder, Masters::builder);
    let label = format!("web_service-{}", process::id());
    // What is configured takes precedence, since it comes last.
    let redlock = builder.ttl(TTL).label(label).config(config).connect().await?;
    let listener =
        TcpListener::bind(&address).await.map_err(|error| format!("{address}: {error}"))?;
    println!("http://{}", listener.local_addr()?);
    if let Some(masters) = &own_masters {
        println!(
            "for a second instance: QUORUMLOCK_NODES={} cargo run --example web_service \
             --features config,embedded,metrics -- 127.0.0.1:8081 {}",
            masters.urls().join(","),
            folder.display()
        );
    }

    let service = Arc::new(Service { redlock, store: Store::open(folder)?, metrics });
    let leader = tokio::spawn(lead(service.clone()));
    let mut requests = JoinSet::new();
    let mut upkeep = interval(Duration::from_secs(5));
    let signal = loop {
        tokio::select! {
            signal = signals.next() => break signal,
            Ok((stream, _)) = listener.accept() => { requests.spawn(serve(service.clone(), stream)); }
            Some(_) = requests.join_next() => {}
            _ = upkeep.tick() => service.metrics.run_upkeep(),
        }
    };

    println!("{signal}: finishes {} requests", requests.len());
    drop(listener); // New connections are refused.
    leader.abort(); // Drops its leadership, which resigns: another instance leads at once.
    let _ = leader.await;
    let _ = timeout(PATIENCE, async { while requests.join_next().await.is_some() {} }).await;
    requests.shutdown().await; // Drops what is left, with its guards.
    if let Err(owed) = service.redlock.shutdown().await {
        eprintln!("{owed}"); // Those keys expire by themselves.
    }
    Ok(())
}

async fn serve(service: Arc<Service>, mut stream: TcpStream) {
    let Ok(Ok((method, path))) = timeout(PATIENCE, http::receive(&mut stream)).await else {
        return;
    };
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    let response = match (method.as_str(), &segments[..]) {
        ("GET", ["healthz"]) => health(&service).await,
        ("GET", ["metrics"]) => ("200 OK", service.metrics.render()),
        ("POST", ["orders", order, "charge"]) => match order.parse() {
            Ok(order) => charge(&service, order).await,
            Err(_) => ("400 Bad Request", "the order's ID is a number\n".to_owned()),
        },
        _ => ("404 Not Found", "POST /orders/ID/charge, GET /healthz, GET /metrics\n".to_owned()),
    };
    counter!("web_service_responses_total", "status" => response.0).increment(1);
    let _ = http::respond(&mut stream, response).await; // The client may be gone.
}

/// Tells a load balancer whether to send requests here. Asks no master.
async fn health(service: &Service) -> Response {
    match service.redlock.status().await {
        Ok(status) if status.can_acquire() => ("200 OK", "ready\n".to_owned()),
        Ok(status) => ("503 Service Unavailable", format!("{status}\n")),
        Err(closed) => ("503 Service Unavailable", format!("{closed}\n")),
    }
}

async fn charge(service: &Service, order: u64) -> Response {
    let (resource, file) = (format!("orders:{order}"), service.store.order(order));
    let body = async |lease: FencedLease| -> Result<bool, Failure> {
        let token = lease.fencing_token();
        // Files block, and must not hold up the thread on which locks are extended.
        let mut charges = block_in_place(|| file.read(token))?; // Now no earlier holder can write.
        if !charges.is_empty() {
            return Ok(false);
        }
        sleep(Duration::from_millis(500)).await; // The bank takes its time.
        lease.check()?; // Narrows the gap; the token closes it.
        charges.extend(b"charged\n");
        block_in_place(|| file.write(token, &charges))?;
        Ok(true)
    };
    let error: Failure =
        match service.redlock.acquire(&resource).fenced().timeout(WAIT).run(body).await {
            Ok(Ok(true)) => return ("201 Created", format!("order {order} is charged\n")),
            Ok(Ok(false)) => return ("200 OK", format!("order {order} was charged before\n")),
            Ok(Err(error)) => error,
            Err(RunError::NotAcquired(error)) if error.is_contended() => {
                return ("423 Locked", format!("order {order} is being charged\n"));
            }
            Err(error) => error.into(),
        };
    eprintln!("{resource}: {error}"); // For operators: it names masters.
    if matches!(error.downcast_ref(), Some(FenceError::<io::Error>::Stale(_))) {
        ("409 Conflict", format!("another request has taken order {order} over\n"))
    } else {
        ("503 Service Unavailable", "try again later\n".to_owned())
    }
}

/// Leads whenever it can, until it is aborted.
async fn lead(service: Arc<Service>) {
    let candidate = format!("web_service-{}", process::id());
    let leads = service.redlock.election(LEADER).run(candidate, async |lease| {
        println!("leads, with token {}", lease.fencing_token());
        let _leads = Leads::begin();
        ship(&service, lease).await
    });
    let Err(error) = leads.await;
    eprintln!("leads no more: {error}");
}

/// Shows in the metrics that this instance leads, until its term is over: then the body is dropped.
struct Leads;

impl Leads {
    fn begin() -> Self {
        gauge!("web_service_leads").set(1);
        Self
    }
}

impl Drop for Leads {
    fn drop(&mut self) {
        gauge!("web_service_leads").set(0);
        eprintln!("does not lead");
    }
}

/// The leader's job, until it is dropped: ships each charged order once.
async fn ship(service: &Service, lease: FencedLease) -> Infallible {
    let mut turns = interval(SHIPS_EVERY);
    loop {
        turns.tick().await;
        let shipped = block_in_place(|| service.store.ship(lease.fencing_token()));
        if let Err(error) = shipped {
            eprintln!("not shipped: {error}"); // A successor's token is there, or the disk has failed.
        }
    }
}
