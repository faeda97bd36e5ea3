//! `quorumlock elect`: one command at a time over all candidates, whichever process is killed or
//! stopped.

use crate::cli::{self, PATIENCE, Running, eventually_gone, is_alive, run};
use crate::support::masters::Masters;
use crate::support::poll::{eventually, eventually_blocking};
use crate::support::witness;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// Candidates whose commands write down their terms as long as they run.
struct Candidates<'a> {
    masters: &'a Masters,
    files: TempDir,
    all: Vec<Running>,
}

/// One moment of a command: its term, the nanoseconds since 1970, and its process.
#[derive(Clone, Copy, Debug)]
struct Stamp {
    term: u64,
    at: u128,
    pid: Pid,
}

fn elect(masters: &Masters, options: &[&str], script: &str) -> Command {
    let mut command = cli::on(masters, &["elect", "e"]);
    command.args(options).args(["--", "sh", "-c", script]);
    command
}

/// Waits until no master has the key. Its fence stays.
async fn eventually_resigned(masters: &Masters) {
    let gone = async || witness::holders(masters, "e").await.is_empty();
    eventually("the key is gone", PATIENCE, gone).await;
}

/// Waits until its time to live rises at a master.
async fn eventually_extended(masters: &Masters) {
    let mut before = None;
    let rises = async || {
        let left = witness::pttl(&masters[0], "e").await;
        before.replace(left).is_some_and(|before| before < left)
    };
    eventually("it is extended", PATIENCE, rises).await;
}

impl<'a> Candidates<'a> {
    fn start(masters: &'a Masters, count: usize) -> Self {
        let mut this = Self { masters, files: tempfile::tempdir().unwrap(), all: Vec::new() };
        for number in 0..count {
            let script = format!(
                "exec >/dev/null 2>&1; while :; do \
                 echo $QUORUMLOCK_FENCING_TOKEN $(date +%s%N) $$ >> {}; sleep 0.02; done",
                this.path(number).display()
            );
            let value = format!("candidate {number}");
            let options = ["--value", &value, "--ttl", "2s"];
            this.all.push(Running::start(&mut elect(masters, &options, &script)));
        }
        this
    }

    fn path(&self, number: usize) -> PathBuf {
        self.files.path().join(number.to_string())
    }

    fn stamps(&self, number: usize) -> Vec<Stamp> {
        let text = fs::read_to_string(self.path(number)).unwrap_or_default();
        let stamp = |line: &str| {
            let mut words = line.split(' ');
            let term = words.next()?.parse().ok()?;
            let at = words.next()?.parse().ok()?;
            Some(Stamp { term, at, pid: Pid::from_raw(words.next()?.parse().ok()?)? })
        };
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole.lines().map(|line| stamp(line).unwrap_or_else(|| panic!("{line}"))).collect()
    }

    /// Waits for a leader in a term above `term`, and returns the number of the candidate.
    fn leader_after(&self, term: u64) -> (usize, Stamp) {
        let leads = || {
            let latest = (0..self.all.len())
                .filter_map(|number| Some((number, *self.stamps(number).last()?)));
            latest.max_by_key(|(_, stamp)| stamp.term).filter(|(_, stamp)| stamp.term > term)
        };
        eventually_blocking("another leads", PATIENCE, || leads().is_some());
        leads().unwrap()
    }

    fn inspection(&self) -> String {
        run(&mut cli::on(self.masters, &["inspect", "e"])).stdout
    }
}

#[tokio::test]
async fn one_leads_at_a_time_whichever_process_is_killed_or_stopped() {
    let masters = Masters::start(3);
    let mut candidates = Candidates::start(&masters, 3);

    // Its own process is killed: the watchdog ends the command.
    let (first, seen) = candidates.leader_after(0);
    assert!(candidates.inspection().contains(&format!("held by candidate {first}")));
    candidates.all[first].signal(Signal::KILL);
    eventually_gone(seen.pid);

    // Its own process is stopped: the same, by the deadline.
    let (second, seen) = candidates.leader_after(seen.term);
    assert_ne!(first, second);
    candidates.all[second].signal(Signal::STOP);
    let (third, seen_third) = candidates.leader_after(seen.term);
    assert_eq!(third, 3 - first - second);
    assert!(!is_alive(seen.pid), "another leads, and the command of the last one runs");

    // The command is stopped: it leads on, since its lock is extended.
    kill_process(seen_third.pid, Signal::STOP).unwrap();
    for _ in 0..2 {
        eventually_extended(&masters).await;
        assert!(candidates.inspection().contains(&format!("held by candidate {third}")));
    }

    // The command is killed: the candidate resigns, and has its code.
    kill_process(seen_third.pid, Signal::KILL).unwrap();
    let gone =
        std::mem::replace(&mut candidates.all[third], Running::start(&mut Command::new("true")));
    assert_eq!(gone.finish().code, Some(128 + 9));

    // The one that was stopped has lost its lead, and campaigns again.
    candidates.all[second].signal(Signal::CONT);
    let (again, fourth) = candidates.leader_after(seen_third.term);
    assert_eq!(again, second);
    let gone =
        std::mem::replace(&mut candidates.all[second], Running::start(&mut Command::new("true")));
    gone.signal(Signal::TERM);
    let output = gone.finish();
    assert_eq!(output.code, Some(128 + 15), "{output:?}");
    assert!(output.stderr.contains("lost \"e\": it was not extended in time"), "{output:?}");
    assert!(output.stderr.contains("; campaigns again\n"), "{output:?}");
    assert!(!is_alive(fourth.pid));
    eventually_resigned(&masters).await;

    let mut terms: Vec<(u64, u128, u128)> = Vec::new();
    for stamp in (0..3).flat_map(|number| candidates.stamps(number)) {
        match terms.iter_mut().find(|(term, ..)| *term == stamp.term) {
            Some((_, from, until)) => {
                (*from, *until) = ((*from).min(stamp.at), (*until).max(stamp.at));
            }
            None => terms.push((stamp.term, stamp.at, stamp.at)),
        }
    }
    terms.sort_unstable();
    assert_eq!(terms.len(), 4, "{terms:?}");
    for two in terms.windows(2) {
        assert!(two[0].2 < two[1].1, "two commands ran at once: {terms:?}");
    }
}

#[tokio::test]
async fn a_lead_that_is_taken_away_is_campaigned_for_again() {
    let masters = Masters::start(3);
    let candidates = Candidates::start(&masters, 1);
    let (_, first) = candidates.leader_after(0);
    let away = run(&mut cli::on(&masters, &["force-release", "--yes", "e"]));
    assert_eq!(away.code, Some(0), "{away:?}");
    let (_, second) = candidates.leader_after(first.term);
    assert!(!is_alive(first.pid) && first.pid != second.pid);
    candidates.all[0].signal(Signal::TERM);
    eventually_gone(second.pid);
    eventually_resigned(&masters).await;
}

#[tokio::test]
async fn a_command_that_ends_by_itself_ends_the_candidate_with_its_code() {
    let masters = Masters::start(3);
    let script = "echo $QUORUMLOCK_RESOURCE; test $QUORUMLOCK_FENCING_TOKEN -gt 1 && exit 7";
    let done = run(&mut elect(&masters, &["--value", "me"], script));
    assert_eq!((done.code, &*done.stdout, &*done.stderr), (Some(7), "e\n", ""));
    eventually_resigned(&masters).await;
    let refused = run(&mut elect(&masters, &["--value", "x;term=99999"], "true"));
    assert_eq!(refused.code, Some(114), "{refused:?}");
    assert!(refused.stderr.contains("ends like the term of an election"), "{refused:?}");
}

#[test]
fn a_candidate_that_waits_is_ended_at_once() {
    let masters = Masters::start(3);
    let candidates = Candidates::start(&masters, 1);
    candidates.leader_after(0);
    let waiting = Running::start(&mut elect(&masters, &["-v"], "true"));
    let process = format!("/proc/{}/net/tcp", waiting.pid().as_raw_nonzero());
    eventually_blocking("it runs", PATIENCE, || fs::metadata(&process).is_ok());
    // It handles signals from its start on; before that, the signal ends it all the same.
    waiting.signal(Signal::TERM);
    let output = waiting.finish();
    assert!(output.code == Some(128 + 15) || output.code.is_none(), "{output:?}");
}
