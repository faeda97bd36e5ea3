//! The use of the machine's processors by other processes while a cell was played: neither this
//! process nor the masters, workers and proxies that it has started. `None` if the kernel does not
//! report it, as outside Linux.

use crate::cpu;
use rustix::param::clock_ticks_per_second;
use std::fs;
use std::path::Path;
use std::time::Duration;

pub(crate) struct Watch {
    machine: Option<Machine>,
    ours: Option<Duration>,
}

impl Watch {
    pub(crate) fn start() -> Self {
        Self { machine: Machine::now(), ours: used_by_ours() }
    }

    /// Returns their share of the time of all processors since then.
    pub(crate) fn others(&self) -> Option<f64> {
        let (machine, ours) = (Machine::now()?, used_by_ours()?);
        Some(machine.others(self.machine?, ours.checked_sub(self.ours?)?))
    }
}

/// Returns the time of this process and of all that it has started: masters, workers, proxies,
/// alive or reaped.
fn used_by_ours() -> Option<Duration> {
    let own = std::process::id();
    let mut all = cpu::used() + ticks(Stat::of(&own.to_string())?.reaped);
    for process in fs::read_dir("/proc").ok()?.flatten() {
        let name = process.file_name();
        let Some(number) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        // A process that has ended in the meantime is counted among the reaped.
        if let Some(child) = Stat::of(&number.to_string()).filter(|stat| stat.parent == own) {
            all += ticks(child.used + child.reaped);
        }
    }
    Some(all)
}

/// Work of all processors together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Machine {
    /// Includes the time of other guests of the host.
    busy: Duration,
    /// The available time.
    whole: Duration,
}

impl Machine {
    fn now() -> Option<Self> {
        Self::parse(&fs::read_to_string("/proc/stat").ok()?)
    }

    /// Returns the work since `before` minus ours. The kernel counts the machine's work by ticks
    /// and ours exactly, so it may be slightly negative.
    fn others(self, before: Self, ours: Duration) -> f64 {
        let (busy, whole) = (self.busy - before.busy, self.whole - before.whole);
        busy.saturating_sub(ours).as_secs_f64() / whole.as_secs_f64().max(f64::MIN_POSITIVE)
    }

    /// Parses `cpu  user nice system idle iowait irq softirq steal ..`; guests are included in the
    /// first two.
    fn parse(stat: &str) -> Option<Self> {
        let line = stat.lines().next()?.strip_prefix("cpu ")?;
        let fields: Vec<u64> =
            line.split_whitespace().map_while(|word| word.parse().ok()).collect();
        let whole: u64 = fields.get(..8)?.iter().sum();
        Some(Self { busy: ticks(whole - fields[3] - fields[4]), whole: ticks(whole) })
    }
}

/// Fields of `/proc/PID/stat`.
struct Stat {
    parent: u32,
    /// Its own ticks, including those of threads that have ended: a proxy has one for each
    /// connection.
    used: u64,
    /// Ticks of the children that it has waited for.
    reaped: u64,
}

impl Stat {
    fn of(process: &str) -> Option<Self> {
        Self::parse(&fs::read_to_string(Path::new("/proc").join(process).join("stat")).ok()?)
    }

    /// Parses the fields after the name, which may contain anything.
    fn parse(stat: &str) -> Option<Self> {
        let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
        let number = |place: usize| fields.get(place)?.parse::<u64>().ok();
        let parent = u32::try_from(number(1)?).ok()?;
        let (used, reaped) = (number(11)? + number(12)?, number(13)? + number(14)?);
        Some(Self { parent, used, reaped })
    }
}

fn ticks(count: u64) -> Duration {
    Duration::from_secs(1) * u32::try_from(count).unwrap_or(u32::MAX)
        / u32::try_from(clock_ticks_per_second()).unwrap_or(100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_that_waits_is_not_busy() {
        let machine = Machine::parse("cpu  10 20 30 400 50 6 7 8 5 5\ncpu0 1 2 3 4\n");
        let tick = ticks(1);
        assert_eq!(machine, Some(Machine { busy: tick * 81, whole: tick * 531 }));
        assert_eq!(Machine::parse("intr 1 2 3"), None);
    }

    #[test]
    fn others_have_had_what_is_not_ours() {
        let machine = |busy, whole| Machine { busy: ticks(busy), whole: ticks(whole) };
        let others = machine(180, 300).others(machine(100, 200), ticks(60));
        assert!((others - 0.2).abs() < 1e-9, "{others}");
        assert_eq!(machine(180, 300).others(machine(100, 200), ticks(81)), 0.0);
        assert_eq!(machine(100, 200).others(machine(100, 200), ticks(0)), 0.0);
    }

    #[test]
    fn a_name_with_parentheses_is_no_field() {
        let stat = "7 (a) b) S 3 7 7 0 -1 0 0 0 0 0 11 12 13 14 20 0 1 0 99";
        let stat = Stat::parse(stat).expect("its fields");
        assert_eq!((stat.parent, stat.used, stat.reaped), (3, 11 + 12, 13 + 14));
    }

    #[test]
    fn what_a_child_has_used_is_ours_alive_or_reaped() {
        let before = used_by_ours().expect("a kernel that reports it");
        let mut child = std::process::Command::new("sh");
        let spin = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo; read _";
        child.args(["-c", spin]).stdin(std::process::Stdio::piped());
        let mut child = child.stdout(std::process::Stdio::piped()).spawn().expect("a shell");
        let mut byte = [0];
        let stdout = child.stdout.as_mut().expect("its output");
        std::io::Read::read_exact(stdout, &mut byte).expect("a line");
        let spent = cpu::used_by(child.id()).expect("a process that lives");
        // A tick is ten milliseconds or less.
        let now = || used_by_ours().expect("a kernel that reports it") + Duration::from_millis(20);
        let alive = now();
        assert!(alive >= before + spent, "{alive:?} {before:?} {spent:?}");
        child.wait().expect("a shell that ends");
        let after = now();
        assert!(after >= before + spent, "{after:?} {before:?} {spent:?}");
    }

    #[test]
    fn a_thread_that_has_ended_still_counts() {
        let used = || Stat::of("self").expect("a kernel that reports it").used;
        let before = used();
        let spin = || {
            let until = cpu::used_by_this_thread() + ticks(20);
            while cpu::used_by_this_thread() < until {}
        };
        std::thread::spawn(spin).join().expect("a thread that ends");
        assert!(used() >= before + 18, "{} {before}", used());
    }
}
