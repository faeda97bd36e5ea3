//! The workload in which paused clients lost updates under etcd's lock, as the example `paused_clients` runs it:
//! unfenced it loses what `SAFETY.md` says it may, fenced nothing.

use crate::support::example;
use std::process::Command;

/// Runs the example; returns how many numbers were confirmed, and how many of these are missing.
fn paused_clients(options: &[&str]) -> (u32, u32) {
    let mut command = Command::new(example::program("paused_clients"));
    let output = command.args(options).env_remove("QUORUMLOCK_NODES").output().unwrap();
    let line = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    let mut numbers = line.split(' ').filter_map(|word| word.parse().ok());
    let figures = numbers.next().zip(numbers.next());
    let (confirmed, missing) = figures.unwrap_or_else(|| panic!("{line}{complaints}"));
    assert_eq!(output.status.code(), Some(i32::from(missing > 0)), "{line}{complaints}");
    (confirmed, missing)
}

#[test]
fn paused_clients_lose_updates_unfenced_and_none_fenced() {
    // Which pause meets a write is chance, so the unfenced run is repeated until one did.
    for seed in 1..=4 {
        let seed = format!("--seed={seed}");
        let (fenced, unfenced) = std::thread::scope(|scope| {
            let unfenced = scope.spawn(|| paused_clients(&["--unfenced", "--seconds=12", &seed]));
            (paused_clients(&["--seconds=12", &seed]), unfenced.join().unwrap())
        });
        let (confirmed, missing) = fenced;
        assert!(confirmed > 0 && missing == 0, "{confirmed} confirmed, {missing} missing");
        if unfenced.1 > 0 {
            return;
        }
    }
    panic!("no pause met a write, four times");
}
