//! One master: the embedded machine, its process, its clock, and its operator's commands.

use super::clock::{Time, WallClock, nanos};
use super::commands::Words;
use super::flaw::Flaw;
use super::judge::KEYS;
use quorumlock_core::coordinator::wire::DONE;
use quorumlock_embedded::{ClientId, Machine, Output};
use std::collections::BTreeSet;
use std::time::Duration;

/// The prefix of each fence's key.
pub(super) const FENCE: &str = "fence:";

/// The prefixes of the keys beside a resource that is read and written under a lock.
pub(super) const READERS: &str = "in:";
pub(super) const HINT: &str = "next:";

/// What is under the key of a resource while there are readers.
pub(super) const MARK: &str = "quorumlock:shared";

/// What another program has set under a key.
const FOREIGN: &str = "another program's";

pub(super) const AGREEMENT: &str = "quorumlock:agreement";

pub(super) struct Master {
    machine: Machine,
    pub(super) clock: WallClock,
    /// The number of its process.
    pub(super) life: u64,
    pub(super) is_up: bool,
    /// While it is down, dials are not even refused.
    pub(super) is_silent: bool,
    /// The number of times that it has been stopped and not yet continued.
    pub(super) stops: usize,
    /// It is a replica, and executes no write.
    pub(super) is_replica: bool,
    /// How many of its operator's denials have not ended.
    pub(super) denials: usize,
    /// It has commands to execute until then.
    works_until: Time,
    /// The last time that it lost its memory.
    pub(super) forgot_at: Option<Time>,
    /// Readers that had expired when its clock was set back: resource, token, and when each ends.
    expired: BTreeSet<(String, Vec<u8>, u64)>,
    operator: Option<ClientId>,
    flaw: Option<Flaw>,
    seed: u64,
}

/// Returns whether a process is Valkey 9. In a third of all masters each process is Redis. In the
/// others it is Valkey 9 as often as not, so that a restart may be an upgrade, or a downgrade.
fn is_valkey(seed: u64, life: u64) -> bool {
    let mixed = (seed ^ life).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    !seed.is_multiple_of(3) && mixed.is_multiple_of(2)
}

impl Master {
    /// Creates a master that has been up for a day, unless it is `young`.
    pub(super) fn new(seed: u64, clock: WallClock, young: bool, flaw: Option<Flaw>) -> Self {
        let mut machine = Machine::new(seed, clock.at(0));
        if !young {
            machine.set_uptime(86_400_000_000, clock.at(0));
        }
        machine.set_valkey(is_valkey(seed, 0));
        let forgot_at = young.then_some(0);
        Self {
            machine,
            clock,
            life: 0,
            is_up: true,
            is_silent: false,
            stops: 0,
            is_replica: false,
            denials: 0,
            works_until: 0,
            forgot_at,
            expired: BTreeSet::new(),
            operator: None,
            flaw,
            seed,
        }
    }

    /// Returns whether it reads what arrives.
    pub(super) const fn reads(&self) -> bool {
        self.is_up && self.stops == 0
    }

    /// Lets it execute so many commands, each of which takes so long.
    pub(super) fn works(&mut self, now: Time, commands: u64, service: Duration) {
        self.works_until = self.works_until.max(now) + commands * nanos(service);
    }

    /// Returns for how long it executes what it has read.
    pub(super) const fn works_for(&self, now: Time) -> Time {
        self.works_until.saturating_sub(now)
    }

    pub(super) fn deny(&mut self, commands: &[&str]) {
        self.machine.deny(commands).expect("commands that can be denied");
    }

    pub(super) fn kill(&mut self, silent: bool) {
        self.is_up = false;
        self.is_silent = silent;
        self.stops = 0;
        self.life += 1;
        self.operator = None;
    }

    pub(super) fn start(&mut self, keeps: bool, now: Time) {
        if !keeps {
            self.forgot_at = Some(now);
        }
        self.machine.restart(keeps, self.clock.at(now));
        self.is_up = true;
        self.life += 1;
        self.machine.set_valkey(is_valkey(self.seed, self.life));
    }

    pub(super) fn accept(&mut self) -> ClientId {
        self.machine.open()
    }

    pub(super) fn hang_up(&mut self, client: ClientId) {
        self.machine.close(client);
    }

    pub(super) fn execute(&mut self, client: ClientId, now: Time, mut words: Words) {
        if let Some(flaw) = self.flaw.filter(|flaw| flaw.spoils()) {
            flaw.spoil(&mut words);
        }
        self.machine.receive(client, self.clock.at(now), &packed(&words));
    }

    pub(super) fn poll_output(&mut self) -> Option<Output> {
        self.machine.poll_output()
    }

    /// Executes a command of an operator, or of the flaw of the master.
    pub(super) fn operate(&mut self, now: Time, command: &[&str]) {
        if !self.is_up {
            return;
        }
        let operator = *self.operator.get_or_insert_with(|| self.machine.open());
        let words: Vec<Vec<u8>> = command.iter().map(|word| word.as_bytes().to_vec()).collect();
        self.machine.receive(operator, self.clock.at(now), &packed(&words));
    }

    /// Lets what is under a key stay for good. If nothing is, another program sets it.
    pub(super) fn stick(&mut self, key: &str, now: Time) {
        // A plain SET takes the life of what it replaces.
        let value = self.raw(key, now).unwrap_or(FOREIGN).to_owned();
        self.operate(now, &["SET", key, &value]);
        while self.poll_output().is_some() {}
    }

    /// Deletes what has stuck.
    pub(super) fn unstick(&mut self, key: &str, now: Time) {
        if self.raw(key, now).is_some() && self.remaining(key, now).is_none() {
            self.operate(now, &["DEL", key]);
            while self.poll_output().is_some() {}
        }
    }

    /// Lets it report that it writes each command to disk.
    pub(super) fn set_durable(&mut self, now: Time) {
        self.operate(now, &["CONFIG", "SET", "appendonly", "yes", "appendfsync", "always"]);
    }

    /// Returns what is under a key, without the mark of work that has ended well.
    pub(super) fn value(&self, key: &str, now: Time) -> Option<&str> {
        let value = self.raw(key, now)?;
        Some(value.strip_prefix(DONE).unwrap_or(value))
    }

    /// Returns what is under a key.
    pub(super) fn raw(&self, key: &str, now: Time) -> Option<&str> {
        std::str::from_utf8(self.machine.value(key.as_bytes(), self.clock.at(now))?).ok()
    }

    pub(super) fn remaining(&self, key: &str, now: Time) -> Option<Duration> {
        let remaining = self.machine.time_to_live(key.as_bytes(), self.clock.at(now));
        remaining.filter(|left| *left != Duration::MAX)
    }

    /// Returns the settings that clients have noted there: fields and values.
    pub(super) fn noted(&self, now: Time) -> &[(Vec<u8>, Vec<u8>)] {
        self.machine.hash(AGREEMENT.as_bytes(), self.clock.at(now))
    }

    /// Returns the keys of locks that are there.
    pub(super) fn locks(&self, now: Time) -> Vec<String> {
        let keys = self.machine.keys(self.clock.at(now));
        let keys = keys.map(|key| String::from_utf8_lossy(key).into_owned());
        let is_lock = |key: &String| {
            ![FENCE, READERS, HINT].iter().any(|prefix| key.starts_with(prefix)) && key != AGREEMENT
        };
        keys.filter(is_lock).collect()
    }

    /// Returns whether there is a key, of any kind.
    pub(super) fn is_there(&self, key: &str, now: Time) -> bool {
        self.machine.time_to_live(key.as_bytes(), self.clock.at(now)).is_some()
    }

    /// Returns what stands in a list: the waiters and their stamps, and the marks behind them.
    pub(super) fn listed(&self, list: &str, now: Time) -> Vec<(String, u64)> {
        let entries = self.machine.sorted_set(list.as_bytes(), self.clock.at(now)).iter();
        entries.map(|(name, at)| (String::from_utf8_lossy(name).into_owned(), *at as u64)).collect()
    }

    /// Returns the readers of a resource that have not expired, and how long each lives. Those that
    /// had expired before the clock was set back do not count, unless their mark has come back, too.
    pub(super) fn readers(&self, key: &str, now: Time) -> Vec<(String, Duration)> {
        let is_marked = self.value(key, now) == Some(MARK);
        let has_expired = |reader: &[u8], ends: f64| {
            let entry = (key.to_owned(), reader.to_owned(), ends as u64);
            !is_marked && !self.expired.is_empty() && self.expired.contains(&entry)
        };
        let now = self.clock.at(now);
        let readers = self.entries(key, now).iter();
        let left = |(reader, ends): &(Vec<u8>, f64)| {
            let left = Duration::from_millis(*ends as u64).checked_sub(whole_millis(now))?;
            let counts = !has_expired(reader, *ends);
            counts.then(|| (String::from_utf8_lossy(reader).into_owned(), left))
        };
        readers.filter_map(left).collect()
    }

    /// Returns the number of readers' entries of a resource, expired or not.
    pub(super) fn entries_of_readers(&self, key: &str, now: Time) -> usize {
        self.entries(key, self.clock.at(now)).len()
    }

    fn entries(&self, key: &str, now: Duration) -> &[(Vec<u8>, f64)] {
        self.machine.sorted_set(format!("{READERS}{key}").as_bytes(), now)
    }

    /// Sets the clock back.
    pub(super) fn step_back(&mut self, by: Duration, now: Time) {
        let shows = self.clock.at(now);
        for key in KEYS {
            // Those of a set that has expired as a whole come back, too.
            for (reader, ends) in self.entries(key, Duration::ZERO).to_vec() {
                if Duration::from_millis(ends as u64) < whole_millis(shows) {
                    self.expired.insert((key.to_owned(), reader, ends as u64));
                }
            }
        }
        self.clock.stepped -= nanos(by) as i64;
    }
}

/// Returns the time as a script reads it.
const fn whole_millis(now: Duration) -> Duration {
    Duration::from_millis(now.as_millis() as u64)
}

fn packed(words: &[Vec<u8>]) -> Vec<u8> {
    let mut command = redis::Cmd::new();
    words.iter().for_each(|word| _ = command.arg(&word[..]));
    command.get_packed_command()
}
