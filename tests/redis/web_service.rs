//! The example `web_service`, as its readers run it: two instances, as processes, on the same masters and
//! the same store.
//! On a real clock: they are killed and stopped.

use crate::support::example;
use crate::support::prelude::*;
use futures::future::join_all;
use quorumlock::FencingToken;
use quorumlock_fencing::{envelope, file::FencedFile};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::TcpStream;
use tokio::process::{Child, ChildStdout};
use tokio::time::timeout;

const LEADER: &str = "web_service/leader";
const SOON: Duration = Duration::from_secs(15);

/// One instance of the service. Killed on drop.
struct Instance {
    process: Child,
    output: Lines<BufReader<ChildStdout>>,
    address: SocketAddr,
}

impl Instance {
    async fn start(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = tokio::process::Command::new(example::program("web_service"));
        command.arg("127.0.0.1:0").args(arguments).stdout(Stdio::piped()).kill_on_drop(true);
        // Settings of the test run are not those of the service.
        std::env::vars()
            .map(|(name, _)| name)
            .filter(|name| name.starts_with("QUORUMLOCK_"))
            .for_each(|name| {
                command.env_remove(name);
            });
        let mut process = command.envs(variables.iter().copied()).spawn().unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap()).lines();
        let line = timeout(SOON, output.next_line()).await.unwrap().unwrap().unwrap();
        let address = line.strip_prefix("http://").unwrap().parse().unwrap();
        Self { process, output, address }
    }

    /// Returns status and body of the response; `None` if the connection breaks.
    async fn ask(&self, method: &str, path: &str) -> Option<(u16, String)> {
        let answer = async {
            let mut stream = TcpStream::connect(self.address).await?;
            let request = format!("{method} {path} HTTP/1.1\r\nhost: {}\r\n\r\n", self.address);
            stream.write_all(request.as_bytes()).await?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await?;
            std::io::Result::Ok(answer)
        };
        let answer = timeout(SOON, answer).await.expect("a response").ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some((status, body.to_owned()))
    }

    async fn charge(&self, order: u64) -> Option<u16> {
        Some(self.ask("POST", &format!("/orders/{order}/charge")).await?.0)
    }

    async fn health(&self) -> Option<u16> {
        Some(self.ask("GET", "/healthz").await?.0)
    }

    /// Returns the value of a metric, summed over its labels that contain `label`.
    async fn metric(&self, name: &str, label: &str) -> f64 {
        let (_, body) = self.ask("GET", "/metrics").await.expect("metrics");
        let series = body.lines().filter_map(|line| line.rsplit_once(' '));
        let of = series
            .filter(|(series, _)| series.split('{').next() == Some(name) && series.contains(label));
        of.map(|(_, value)| value.parse::<f64>().expect("a number")).sum()
    }

    async fn leads(&self) -> bool {
        self.metric("web_service_leads", "").await > 0.5
    }

    fn signal(&self, signal: Signal) {
        let id = self.process.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        kill_process(id.expect("a process that runs"), signal).unwrap();
    }

    /// Waits for the end; returns the exit code, and the lines it has printed since the first.
    async fn end(mut self) -> (Option<i32>, Vec<String>) {
        let mut lines = Vec::new();
        let rest = async {
            while let Some(line) = self.output.next_line().await.unwrap() {
                lines.push(line);
            }
            self.process.wait().await.unwrap().code()
        };
        let code = timeout(SOON, rest).await.expect("an end");
        (code, lines)
    }
}

/// Two instances on three masters, and their store.
struct World {
    masters: Masters,
    folder: TempDir,
    instances: Vec<Instance>,
}

impl World {
    async fn start(ttl: &str) -> Self {
        let masters = Masters::start(3);
        let folder = tempfile::tempdir().unwrap();
        let (store, nodes) = (folder.path().to_str().unwrap().to_owned(), masters.urls().join(","));
        let variables = [
            ("QUORUMLOCK_NODES", nodes.as_str()),
            ("QUORUMLOCK_RESTART_GUARD", "off"),
            ("QUORUMLOCK_OPERATION_TIMEOUT", "900ms"),
            ("QUORUMLOCK_TTL", ttl),
        ];
        let start = async || Instance::start(&[&store], &variables).await;
        let instances = vec![start().await, start().await];
        Self { masters, folder, instances }
    }

    /// Returns how often each order was charged.
    fn charges(&self) -> BTreeMap<u64, usize> {
        let files = fs::read_dir(self.folder.path().join("orders")).unwrap().flatten();
        let orders = files.filter_map(|file| file.file_name().to_str()?.parse().ok());
        orders.map(|order| (order, lines(&order_file(self.folder.path(), order)).len())).collect()
    }

    fn shipped(&self) -> Vec<u64> {
        let shipped = lines(&self.folder.path().join("shipped"));
        shipped.iter().map(|line| line.parse().unwrap()).collect()
    }

    /// Waits until one instance leads; returns it and the others.
    async fn split_leader(&mut self) -> Instance {
        let deadline = Instant::now() + SOON;
        loop {
            for index in 0..self.instances.len() {
                if self.instances[index].leads().await {
                    return self.instances.remove(index);
                }
            }
            assert!(Instant::now() < deadline, "no instance leads");
            tokio::time::sleep(10 * MS).await;
        }
    }

    async fn eventually_shipped(&self, order: u64) {
        eventually("the order is shipped", SOON, async || self.shipped().contains(&order)).await;
    }
}

fn order_file(folder: &Path, order: u64) -> PathBuf {
    folder.join("orders").join(order.to_string())
}

/// Returns the lines of a fenced file; none if there is no file yet.
fn lines(file: &Path) -> Vec<String> {
    let Ok(sealed) = fs::read(file) else { return Vec::new() };
    let (_, content) = envelope::open(&sealed).unwrap();
    str::from_utf8(content).unwrap().lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn two_instances_charge_each_order_once() {
    let mut world = World::start("5s").await;
    let asked = (0..8).map(|number| world.instances[number % 2].charge(42));
    let mut statuses: Vec<u16> = join_all(asked).await.into_iter().map(Option::unwrap).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 200, 200, 200, 200, 200, 200, 201]);
    assert_eq!(world.instances[0].charge(7).await, Some(201));
    world.eventually_shipped(42).await;
    world.eventually_shipped(7).await;
    assert_eq!(world.charges(), [(42, 1), (7, 1)].into());
    assert_eq!(world.shipped().len(), 2);

    let mut charged = 0.0;
    for instance in &world.instances {
        charged += instance.metric("web_service_responses_total", "201").await;
        assert!(instance.metric("quorumlock_acquires_total", "outcome=\"acquired\"").await >= 4.0);
        let voting = instance.metric("quorumlock_node_standing", "standing=\"voting\"").await;
        assert!((voting - 3.0).abs() < 0.1, "{voting} masters vote");
    }
    assert!((charged - 2.0).abs() < 0.1, "{charged} charges");
    let leader = world.split_leader().await;
    assert!(leader.leads().await && !world.instances[0].leads().await, "one leads");
}

#[tokio::test]
async fn a_killed_leader_is_replaced_and_its_work_goes_on() {
    let mut world = World::start("2s").await;
    let mut leader = world.split_leader().await;
    let other = &world.instances[0];
    assert!(!other.leads().await);
    leader.process.kill().await.unwrap();
    let killed = Instant::now();
    assert_eq!(other.charge(1).await, Some(201), "the killed leader held no order");
    world.eventually_shipped(1).await;
    assert!(other.leads().await);
    assert!(killed.elapsed() > SECOND, "the lock of a killed leader is kept until it expires");
}

#[tokio::test]
async fn sigterm_finishes_requests_and_leaves_no_lock() {
    // Longer than the test may take: a lock that another instance gets was released.
    let mut world = World::start("30s").await;
    let leader = world.split_leader().await;
    let charging = async {
        let key = async || !witness::holders(&world.masters, "orders:3").await.is_empty();
        eventually("the charge is under way", SOON, key).await;
        leader.signal(Signal::TERM);
        let refused = async || leader.health().await.is_none();
        eventually("new connections are refused", SOON, refused).await;
    };
    let (status, ()) = tokio::join!(leader.charge(3), charging);
    assert_eq!(status, Some(201), "a request that was under way is finished");
    let (code, lines) = leader.end().await;
    assert_eq!(code, Some(0), "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with("terminated: finishes ")), "{lines:?}");
    assert!(witness::holders(&world.masters, "orders:3").await.is_empty());

    let other = world.instances.remove(0);
    eventually("the other one leads", SOON, async || other.leads().await).await;
    world.eventually_shipped(3).await;
    other.signal(Signal::TERM);
    assert_eq!(other.end().await.0, Some(0));
    let is_lock = |key: &str| key == LEADER || key.starts_with("orders:");
    witness::eventually_none(&world.masters, is_lock, Duration::ZERO).await;
}

#[tokio::test]
async fn an_outage_is_a_503_and_ends_by_itself() {
    let world = World::start("2s").await;
    let [instance, _] = &world.instances[..] else { panic!("two instances") };
    eventually("it is ready", SOON, async || instance.health().await == Some(200)).await;
    world.masters.kill(0);
    world.masters.kill(1);
    eventually("it is not ready", SOON, async || instance.health().await == Some(503)).await;
    assert_eq!(instance.charge(5).await, Some(503));
    world.masters[0].restart();
    eventually("it is ready again", SOON, async || instance.health().await == Some(200)).await;
    let charges = async || matches!(instance.charge(5).await, Some(200 | 201));
    eventually("it charges again", SOON, charges).await;
    world.eventually_shipped(5).await;
}

#[tokio::test]
async fn an_instance_stopped_in_a_charge_charges_nothing() {
    let world = World::start("2s").await;
    let [instance, other] = &world.instances[..] else { panic!("two instances") };
    for order in 1..=10 {
        let file = order_file(world.folder.path(), order);
        let stopping = async {
            let began = async || file.exists();
            eventually("the charge is under way", SOON, began).await;
            tokio::time::sleep(100 * MS).await; // It no longer holds the file lock of the store.
            instance.signal(Signal::STOP);
            // The lock expires after 2 s. The file lock does not, if it was held all the same.
            let status = timeout(8 * SECOND, other.charge(order)).await.ok().flatten();
            instance.signal(Signal::CONT);
            status
        };
        match tokio::join!(instance.charge(order), stopping) {
            (Some(409 | 503), Some(201)) => {
                world.eventually_shipped(order).await;
                assert_eq!(world.charges()[&order], 1);
                return;
            }
            // Stopped too late, or within the store: the next order.
            (Some(201), Some(200)) | (_, None | Some(423)) => {}
            statuses => panic!("order {order}: {statuses:?}"),
        }
    }
    panic!("it was never stopped while it charged");
}

#[tokio::test]
async fn without_addresses_it_starts_masters_of_its_own() {
    let instance = Instance::start(&[], &[]).await;
    assert_eq!(instance.health().await, Some(200));
    assert_eq!(instance.charge(42).await, Some(201));
    assert_eq!(instance.charge(42).await, Some(200));
    assert_eq!(instance.ask("POST", "/orders/x/charge").await.unwrap().0, 400);
    assert_eq!(instance.ask("GET", "/orders/42/charge").await.unwrap().0, 404);
    instance.signal(Signal::TERM);
    let (code, lines) = instance.end().await;
    assert_eq!(code, Some(0), "{lines:?}");
    let second = "for a second instance: QUORUMLOCK_NODES=redis://127.0.0.1:";
    assert!(lines.iter().any(|line| line.starts_with(second)), "{lines:?}");
}

#[tokio::test]
async fn the_store_of_the_service_refuses_a_late_token() {
    let folder = tempfile::tempdir().unwrap();
    let order = order_file(folder.path(), 42);
    fs::create_dir(order.parent().unwrap()).unwrap();
    let greatest = FencingToken::try_from((1_u64 << 53) - 1).unwrap();
    FencedFile::new(&order).write(greatest, b"").unwrap(); // A later holder has been here.
    let instance = Instance::start(&[folder.path().to_str().unwrap()], &[]).await;
    assert_eq!(instance.charge(42).await, Some(409));
    assert_eq!(instance.charge(43).await, Some(201), "tokens of other orders are not compared");
    assert_eq!(lines(&order), [""; 0]);
    assert_eq!(lines(&order_file(folder.path(), 43)), ["charged"]);
}
