//! Clocks of their own for masters and clients, by libfaketime: they run and are set as planned.
//!
//! How far a master's wall clock is ahead is in a file that it reads once a second (`docker/clocks.yaml`). To run at
//! another speed, that is written anew all the time. Every second client process has such a file, too; of the others,
//! all clocks run at a speed that stays.

use super::clock::{nanos, now};
use super::history::{BURST, What};
use super::journal::Journal;
use super::plan::{CLIENTS, LEG, Step, Times};
use super::watch;
use crate::support::clock::{self, Dial};
use crate::support::docker::Containers;
use crate::support::poll::eventually_blocking;
use crate::support::prelude::*;
use crate::support::proxy::{Direction, Proxy};
use crate::support::seed::Rng;
use futures::future::join_all;
use std::collections::BTreeMap;
use std::fs::Permissions;
use std::ops::Range;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant, SystemTime};
use tempfile::TempDir;
use tokio::runtime::Handle;

/// Time between two looks at the plan.
const TICK: Duration = Duration::from_millis(20);
/// Longest life of what a client may rely on, and some time more.
const OUTLIVED: Duration = Duration::from_millis(3_300);
/// How often it is tried to set a minority forward.
const TRIES: usize = 4;
/// The milliseconds of a second in which masters are looked at before that, and in which the file may be written: they
/// read it when the next second begins.
const LOOKED_AT: Range<u32> = 700..800;
const READ_AFTER: Range<u32> = 700..980;
/// By then they have read it, on a busy machine.
const SHOWN_WITHIN: Duration = Duration::from_secs(5);
/// Time in which a master has executed what had reached it.
const QUIET: Duration = Duration::from_millis(10);
/// What a clock may seem to be off, as it is read by a command, on a busy machine.
const READING: i64 = 1_000;
const DAY: i64 = 24 * 3_600_000;

#[derive(Debug)]
pub(crate) struct Dials {
    folder: TempDir,
    library: PathBuf,
    times: Times,
    masters: Vec<Dial>,
    clients: Dial,
    /// How far each master's clock is ahead, in milliseconds, but for its speed; and the most that it ever was.
    ahead: Vec<AtomicI64>,
    most: Vec<AtomicI64>,
    /// Since when each master is well.
    well_since: Vec<AtomicU64>,
    /// Steps forward that were not taken, since some lock was not at a quorum of the others, or a master not well.
    pub(crate) skipped: AtomicU64,
}

/// What it takes to set a clock between two commands.
pub(crate) struct Stage<'a> {
    pub(crate) containers: &'a Containers,
    pub(crate) proxies: &'a [Proxy],
    pub(crate) journal: &'a Journal,
    pub(crate) runtime: Handle,
}

impl Dials {
    /// Returns `None` and prints a line that says so if there is no libfaketime.
    pub(crate) fn new(times: &Times) -> Option<Self> {
        let library = clock::library()?;
        let folder = tempfile::tempdir().expect("a folder for clocks");
        // Servers in containers are another user.
        let open = || Permissions::from_mode(0o755);
        std::fs::set_permissions(folder.path(), open()).expect("a folder for all");
        let dial = |name: String| {
            let path = folder.path().join(name);
            std::fs::create_dir(&path).expect("a folder for a clock");
            std::fs::set_permissions(&path, open()).expect("a folder for all");
            Dial::new(&path)
        };
        let count = times.at_first.len();
        let masters: Vec<Dial> = (1..=count).map(|number| dial(number.to_string())).collect();
        let clients = dial("clients".to_owned());
        let ahead = || times.at_first.iter().map(|ms| AtomicI64::new(*ms)).collect::<Vec<_>>();
        let dials = Self {
            library,
            masters,
            clients,
            ahead: ahead(),
            most: ahead(),
            well_since: (0..count).map(|_| AtomicU64::new(u64::MAX)).collect(),
            skipped: AtomicU64::new(0),
            times: times.clone(),
            folder,
        };
        dials.show(Duration::ZERO);
        dials.clients.set(dials.times.clients[0].1 * 1_000);
        Some(dials)
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns whether a master's clock is one of those that are set.
    pub(crate) fn is_set(&self, node: usize) -> bool {
        self.times.set.contains(&node)
    }

    /// Notes that from now on a master is well, or is not.
    pub(crate) fn note(&self, node: usize, is_well: bool) {
        self.well_since[node].store(if is_well { now() } else { u64::MAX }, SeqCst);
    }

    /// Panics unless each master shows its time.
    pub(crate) async fn assert_shown(&self, containers: &Containers) {
        for (node, ahead) in self.ahead.iter().enumerate() {
            let (shown, ahead) = (shown(containers, node).await, ahead.load(SeqCst));
            assert!(
                (shown - ahead).abs() < READING,
                "master {node} is {shown} ms ahead, not {ahead}"
            );
        }
    }

    /// Lets the clocks run, and sets them, until it is over.
    pub(crate) fn keep(&self, stage: &Stage<'_>, began: Instant, over: &AtomicBool) {
        let (mut steps, mut clients) = (self.times.steps.iter(), self.times.clients.iter());
        let (mut step, mut client) = (steps.next(), clients.next());
        while !over.load(SeqCst) {
            self.show(began.elapsed());
            if let Some(due) = step.filter(|due| due.at <= began.elapsed()) {
                self.take(stage, due, began);
                step = steps.next();
            }
            if let Some((_, ahead)) = client.filter(|(at, _)| *at <= began.elapsed()) {
                self.clients.set(ahead * 1_000);
                client = clients.next();
            }
            std::thread::sleep(TICK);
        }
    }

    /// Sets all clocks that were set beyond what any of them has shown, so that everything expires that may.
    pub(crate) fn outlast(&self) {
        let most = self.most.iter().map(|most| most.load(SeqCst)).max().unwrap_or_default();
        for node in &self.times.set {
            self.ahead[*node].store(most + DAY, SeqCst);
            self.masters[*node].set((most + DAY) * 1_000);
        }
    }

    /// Gives a client process a clock of its own. Returns by how many millionths it is faster.
    pub(crate) fn dress(&self, command: &mut Command, rng: &mut Rng, is_set: bool) -> i64 {
        let library = self.library.with_file_name("libfaketimeMT.so.1");
        command.env("LD_PRELOAD", library);
        if is_set {
            command.env("FAKETIME_TIMESTAMP_FILE", &self.clients.file);
            command.env("FAKETIME_CACHE_DURATION", "1").env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
            return 0;
        }
        let ppm = *rng.pick(&[1, -1]) * rng.within(CLIENTS / 2..CLIENTS + 1) as i64;
        let seconds = rng.within(3_600..36_000);
        let sign = if rng.chance(50) { '+' } else { '-' };
        command.env("FAKETIME", format!("{sign}{seconds} x{:.6}", 1.0 + ppm as f64 / 1e6));
        ppm
    }

    fn show(&self, elapsed: Duration) {
        for (node, dial) in self.masters.iter().enumerate() {
            let gained = gained(&self.times.ppm[node], elapsed);
            dial.set(self.ahead[node].load(SeqCst) * 1_000 + gained);
        }
    }

    fn take(&self, stage: &Stage<'_>, step: &Step, began: Instant) {
        if !step.is_careful {
            self.set(stage, step, began);
            return;
        }
        for _ in 0..TRIES {
            while !LOOKED_AT.contains(&millis()) {
                std::thread::sleep(MS);
                self.show(began.elapsed());
            }
            if !self.all_are_well() {
                break;
            }
            // No command arrives between the look and the step.
            stage.proxies.iter().for_each(|proxy| proxy.hold(Direction::ToServer));
            let is_kept = stage.runtime.block_on(is_kept_without(stage.containers, step));
            let in_time = READ_AFTER.contains(&millis());
            let is_taken = is_kept && in_time && self.all_are_well();
            if is_taken {
                self.set(stage, step, began);
            }
            stage.proxies.iter().for_each(|proxy| proxy.let_go(Direction::ToServer));
            if is_taken {
                return;
            }
        }
        self.skipped.fetch_add(1, SeqCst);
    }

    /// Returns whether all masters have been well for longer than any lock lives: so each lock is at a quorum.
    fn all_are_well(&self) -> bool {
        let well = |since: &AtomicU64| since.load(SeqCst).saturating_add(nanos(OUTLIVED)) < now();
        self.well_since.iter().all(well)
    }

    /// Sets clocks. On return the masters that are up show it.
    fn set(&self, stage: &Stage<'_>, step: &Step, began: Instant) {
        for (node, by) in &step.by {
            let ahead = self.ahead[*node].fetch_add(*by, SeqCst) + by;
            self.most[*node].fetch_max(ahead, SeqCst);
            let what = What::Set { by: by.unsigned_abs(), is_forward: *by > 0 };
            stage.journal.note(&format!("m{node}"), what);
        }
        for (node, _) in &step.by {
            let ahead = self.ahead[*node].load(SeqCst);
            let off = |shows: i64| {
                shows - ahead - gained(&self.times.ppm[*node], began.elapsed()) / 1_000
            };
            let claim = format!("master {node} shows the clock that it was given");
            eventually_blocking(&claim, SHOWN_WITHIN, || {
                self.show(began.elapsed());
                // It may have been struck since.
                let is_well = self.well_since[*node].load(SeqCst) != u64::MAX;
                let shows = async {
                    tokio::time::timeout(watch::PATIENCE, shown(stage.containers, *node)).await
                };
                let shows = stage.runtime.block_on(shows).ok().filter(|_| is_well);
                shows.is_none_or(|shows| off(shows).abs() < READING)
            });
        }
    }
}

/// Returns the milliseconds of the machine's clock since its second began.
fn millis() -> u32 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
    now.subsec_millis()
}

/// Returns the microseconds that a clock has gained by its speed.
fn gained(ppm: &[i64], elapsed: Duration) -> i64 {
    let mut left = elapsed;
    let mut gained = 0;
    for ppm in ppm {
        let span = left.min(LEG);
        left -= span;
        gained += span.as_micros() as i64 * ppm / 1_000_000;
    }
    gained
}

/// Returns how many milliseconds a master's clock is ahead of ours; if it does not answer, never.
async fn shown(containers: &Containers, node: usize) -> i64 {
    let asked = containers.ask::<(i64, i64)>(node, &redis::cmd("TIME")).await;
    let Ok((seconds, micros)) = asked else { return std::future::pending().await };
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
    seconds * 1_000 + micros / 1_000 - now.as_millis() as i64
}

/// Returns whether each lock that a quorum of all has is at a quorum without the masters that are to be set: two looks
/// have to agree, so no command is under way.
async fn is_kept_without(containers: &Containers, step: &Step) -> bool {
    let mut last = None;
    for _ in 0..4 {
        tokio::time::sleep(QUIET).await;
        let Some(found) = holders(containers).await else { return false };
        if last.as_ref() == Some(&found) {
            let quorum = containers.len() / 2 + 1;
            let is_set = |node: &usize| step.by.iter().any(|(set, _)| set == node);
            return found
                .values()
                .filter(|nodes| nodes.len() >= quorum)
                .all(|nodes| nodes.iter().filter(|node| !is_set(node)).count() >= quorum);
        }
        last = Some(found);
    }
    false
}

/// Returns the masters that have each key with each value; `None` if one does not answer. No two clients ask for a name of
/// a burst.
async fn holders(containers: &Containers) -> Option<BTreeMap<(String, String), Vec<usize>>> {
    let scans = (0..containers.len()).map(|node| watch::scan(containers, node, BURST));
    let scans = tokio::time::timeout(watch::PATIENCE, join_all(scans)).await.ok()?;
    let mut found: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (node, keys) in scans.into_iter().enumerate() {
        for (key, value) in
            keys.ok()?.into_iter().filter(|(key, value)| watch::is_locked(key, value))
        {
            found.entry((key, value)).or_default().push(node);
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_gains_what_each_leg_gives() {
        let second = Duration::from_secs(1);
        assert_eq!(gained(&[5_000, -1_000, 0], 3 * second), 15_000);
        assert_eq!(gained(&[5_000, -1_000, 0], 7 * second), 25_000 - 2_000);
        assert_eq!(gained(&[5_000, -1_000, 0], 60 * second), 20_000);
    }
}
