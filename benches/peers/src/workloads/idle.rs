//! W12: what clients cost that use no lock, and what it takes to connect all of them again.

use crate::contenders::one_thread;
use crate::meter::used_by;
use crate::support::server::Server;
use crate::support::witness;
use crate::worker::{Failed, RESOURCE, Worker};
use crate::workloads::micros;
use std::slice;
use std::thread;
use std::time::{Duration, Instant};

pub(crate) const ABOUT: &str = "1,000 clients with connections of their own, which have just wanted a lock, and \
                                which have wanted none for a minute: CPU of each master, in % of a core. Then \
                                one master cuts all of them";

pub(crate) const METRICS: [&str; 5] =
    ["awake %", "at rest %", "all back after s", "CPU ms/redial", "connections/client"];

const CLIENTS: usize = 1_000;

/// They all want one lock for so long.
const WANTING: Duration = Duration::from_secs(4);

/// Two heartbeats of clients that are awake, and of those that rest.
const AWAKE: Duration = Duration::from_secs(20);
const ASLEEP: Duration = Duration::from_secs(40);

/// They rest after a minute, from their next heartbeat on.
const FALLS_ASLEEP: Duration = Duration::from_secs(55);

/// Bound on the time for all of them to connect again.
const RETURNING: Duration = Duration::from_secs(30);

const LOOKS_EVERY: Duration = Duration::from_millis(20);

/// How long a turn takes.
pub(crate) const TAKES: Duration = Duration::from_secs(135);

pub(crate) fn turn(contender: &str, masters: &[Server], round: usize) -> Result<Vec<f64>, Failed> {
    let mut worker = Worker::start(contender, masters)?;
    worker.gather(CLIENTS)?;
    worker.order_crowd(RESOURCE, Duration::ZERO, WANTING);
    worker.crowded(WANTING)?;
    let awake = busy(masters, AWAKE);
    thread::sleep(FALLS_ASLEEP);
    let asleep = busy(masters, ASLEEP);
    let redialled = cut(&masters[round % masters.len()]);
    worker.end()?;
    let Redialled { took, used, connections } = redialled;
    let clients = CLIENTS as f64;
    let each = [micros(used) / 1_000.0 / clients, connections as f64 / clients];
    Ok(vec![awake, asleep, took.as_secs_f64(), each[0], each[1]])
}

/// Returns how busy a master is on average, in percent of a core.
fn busy(masters: &[Server], span: Duration) -> f64 {
    let (before, began) = (used(masters), Instant::now());
    thread::sleep(span);
    let each = (used(masters) - before) / masters.len() as u32;
    100.0 * each.as_secs_f64() / began.elapsed().as_secs_f64()
}

fn used(masters: &[Server]) -> Duration {
    let processes: Vec<u32> = masters.iter().map(Server::pid).collect();
    used_by(&processes).expect("a kernel that counts the time of threads")
}

/// What it takes to connect all clients again.
struct Redialled {
    took: Duration,
    /// CPU time of the master.
    used: Duration,
    connections: u64,
}

/// Cuts all clients of a master, and waits until as many are connected.
fn cut(master: &Server) -> Redialled {
    let runtime = one_thread();
    let count = |section, name| runtime.block_on(count(master, section, name));
    let (connected, accepted) =
        (count("clients", "connected_clients"), count("stats", "total_connections_received"));
    let mut kill = redis::cmd("CLIENT");
    kill.arg("KILL").arg("SKIPME").arg("yes");
    let (used_before, began) = (used(slice::from_ref(master)), Instant::now());
    runtime.block_on(witness::ask::<u64>(master, &kill)).expect("clients that are cut");
    let mut looks = 1;
    while count("clients", "connected_clients") < connected {
        assert!(began.elapsed() < RETURNING, "clients that do not come back");
        looks += 1;
        thread::sleep(LOOKS_EVERY);
    }
    let (took, used) = (began.elapsed(), used(slice::from_ref(master)) - used_before);
    // Each look of ours is a connection, and so is the cut.
    let own = looks + 2;
    let connections = count("stats", "total_connections_received") - accepted - own;
    Redialled { took, used, connections }
}

async fn count(master: &Server, section: &str, name: &str) -> u64 {
    let info = witness::info(master, section).await;
    info[name].parse().expect("a number")
}
