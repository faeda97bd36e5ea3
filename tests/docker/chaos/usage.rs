//! Memory and open files over time: of the client that no fault strikes, and of the masters.

use super::clock::{Nanos, between, now};
use crate::support::docker::Containers;
use futures::future::join_all;
use std::fmt;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

const EVERY: Duration = Duration::from_secs(5);
/// The shortest run of which the growth is judged.
const TELLING: Duration = Duration::from_secs(240);
/// By how much more than before the memory may be: what is rare comes late, such as a page for a larger map.
const MEMORY: u64 = 4 << 20;
/// The same of open files: a connection more at each of five masters, for each client of the process.
const FILES: u64 = 30;

/// What a client uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Client {
    /// Resident, in bytes.
    memory: u64,
    files: u64,
}

/// What a master uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Master {
    /// Allocated, in bytes.
    memory: u64,
    connections: u64,
}

#[derive(Clone, Debug)]
struct Sample {
    at: Nanos,
    client: Client,
    /// Of each; `None` if it did not answer.
    masters: Vec<Option<Master>>,
}

#[derive(Debug, Default)]
pub(crate) struct Usage {
    samples: Mutex<Vec<Sample>>,
    /// Process id of the client, once it is known.
    pub(crate) client: AtomicU32,
}

impl Usage {
    /// Looks until it is dropped.
    pub(crate) async fn watch(&self, containers: &Containers) {
        loop {
            tokio::time::sleep(EVERY).await;
            let Some(client) = client(self.client.load(SeqCst)) else { continue };
            let masters = (0..containers.len()).map(|node| look(containers, node));
            let masters = join_all(masters).await;
            let sample = Sample { at: now(), client, masters };
            self.samples.lock().expect("samples").push(sample);
        }
    }

    /// Writes a line for each look, in columns.
    pub(crate) fn write(&self, path: &Path) {
        let samples = self.samples.lock().expect("samples");
        let mut lines =
            String::from("seconds\tclient_bytes\tclient_files\tmaster_bytes\tconnections\n");
        let began = samples.first().map_or(0, |sample| sample.at);
        for Sample { at, client, masters } in &*samples {
            let seconds = between(began, *at).as_secs();
            let all = |of: fn(&Master) -> u64| {
                let each = masters
                    .iter()
                    .map(|seen| seen.as_ref().map_or("-".into(), |node| of(node).to_string()));
                each.collect::<Vec<String>>().join(",")
            };
            let Client { memory, files } = client;
            let (bytes, connections) = (all(|node| node.memory), all(|node| node.connections));
            lines.push_str(&format!("{seconds}\t{memory}\t{files}\t{bytes}\t{connections}\n"));
        }
        std::fs::write(path, lines).expect("samples that can be written");
    }

    /// Returns what has grown between the second quarter of a long run and its last.
    pub(crate) fn growth(&self) -> Option<String> {
        let samples = self.samples.lock().expect("samples");
        growth(&samples)
    }
}

fn growth(samples: &[Sample]) -> Option<String> {
    let lasted = between(samples.first()?.at, samples.last()?.at);
    if lasted < TELLING {
        return None;
    }
    let quarter = samples.len() / 4;
    let (early, late) = (&samples[quarter..2 * quarter], &samples[3 * quarter..]);
    let grown = |what: &str, more: u64, of: fn(&Sample) -> Option<u64>| {
        let (early, late) = (median(early, of)?, median(late, of)?);
        let is_grown = late > early + early / 4 + more;
        is_grown.then(|| format!("{what} from {early} to {late} in {lasted:.0?}"))
    };
    grown("the client's bytes", MEMORY, |sample| Some(sample.client.memory))
        .or_else(|| grown("the client's files", FILES, |sample| Some(sample.client.files)))
        .or_else(|| grown("the masters' bytes", MEMORY, |sample| sum(sample, |node| node.memory)))
        .or_else(|| {
            grown("the masters' connections", 5 * FILES, |sample| {
                sum(sample, |node| node.connections)
            })
        })
}

/// Adds up what all masters use, if all have answered.
fn sum(sample: &Sample, of: fn(&Master) -> u64) -> Option<u64> {
    sample.masters.iter().map(|master| master.as_ref().map(of)).sum()
}

fn median(samples: &[Sample], of: fn(&Sample) -> Option<u64>) -> Option<u64> {
    let mut values: Vec<u64> = samples.iter().filter_map(of).collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

fn client(id: u32) -> Option<Client> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let memory: u64 = field(&status, "VmRSS:")?;
    let files = std::fs::read_dir(format!("/proc/{id}/fd")).ok()?.count();
    Some(Client { memory: memory * 1024, files: u64::try_from(files).ok()? })
}

async fn look(containers: &Containers, node: usize) -> Option<Master> {
    let command = redis::cmd("INFO");
    let asked = containers.ask::<String>(node, &command);
    let answer = tokio::time::timeout(Duration::from_millis(500), asked).await.ok()?.ok()?;
    let memory = field(&answer, "used_memory:")?;
    Some(Master { memory, connections: field(&answer, "connected_clients:")? })
}

/// Returns the number after a name at the start of a line.
fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let samples = self.samples.lock().expect("samples");
        if samples.is_empty() {
            return f.write_str("  usage: not looked at");
        }
        let half = samples.len() / 2;
        let (early, late) = samples.split_at(half);
        let both = |of: fn(&Sample) -> Option<u64>| {
            let each = [early, late].map(|half| median(half, of));
            each.map(|half| half.map_or("?".to_owned(), |n| n.to_string())).join(", then ")
        };
        write!(
            f,
            "  usage, medians of both halves: the client no fault strikes has {} KiB and {} files open; all masters \
             {} KiB and {} connections",
            both(|sample| Some(sample.client.memory / 1024)),
            both(|sample| Some(sample.client.files)),
            both(|sample| sum(sample, |node| node.memory / 1024)),
            both(|sample| sum(sample, |node| node.connections)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(of: impl Fn(u64) -> Sample) -> Vec<Sample> {
        let seconds = (0..300).step_by(5);
        seconds.map(|second| Sample { at: second * 1_000_000_000, ..of(second) }).collect()
    }

    fn sample(memory: u64, files: u64, connections: u64) -> Sample {
        let master = Master { memory: 1 << 20, connections };
        Sample {
            at: 0,
            client: Client { memory, files },
            masters: vec![Some(master), None, Some(master)],
        }
    }

    #[test]
    fn what_grows_is_found_and_what_has_grown_at_first_is_not() {
        let whole = |connections| {
            let mut all = sample(20 << 20, 60, connections);
            all.masters[1] = all.masters[0];
            all
        };
        assert_eq!(growth(&run(|_| whole(30))), None);
        assert_eq!(
            growth(&run(|second| sample((20 << 20) + second.min(70) * (1 << 20), 60, 1))),
            None
        );
        let found = |samples: Vec<Sample>| growth(&samples).expect("growth");
        assert!(
            found(run(|second| sample((20 << 20) + second * (1 << 17), 60, 1))).contains("bytes")
        );
        assert!(found(run(|second| sample(1, 60 + second, 1))).contains("files"));
        assert!(found(run(|second| whole(30 + second * 2))).contains("connections"));
    }

    #[test]
    fn a_short_run_says_nothing() {
        let samples = run(|second| sample(second << 20, second, second));
        assert_eq!(growth(&samples[..40]), None);
    }
}
