//! The figures of *How likely* in `SAFETY.md` compared with the crate itself, with rates that are scaled up until hours show
//! what takes centuries: what `scripts/how-likely` computes for them is what happens in virtual time.

use crate::support::seed::{Rng, Seed};
use quorumlock::embedded::{Masters, Memory};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::{Instant, sleep};

const SEED: &str = "QUORUMLOCK_SEED";
const A_YEAR: f64 = 365.25 * 24.0 * 3600.0;

/// Returns what the script computes: the share of time without a quorum, and two holders a second.
fn computed(masters: usize, rates: &[(&str, f64)]) -> (f64, f64) {
    let mut script = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/how-likely"));
    script.args(["--raw", &masters.to_string()]);
    script.args(rates.iter().map(|(name, rate)| format!("--{name}={rate}")));
    let output = script.output().expect("python3 is there");
    let text = String::from_utf8(output.stdout).unwrap();
    let mut figures = text.split_whitespace().map(|figure| figure.parse().unwrap());
    (figures.next().expect("a share"), figures.next().expect("a rate"))
}

/// Draws how long it takes until what happens once in `mean` happens next.
fn next_after(rng: &mut Rng, mean: Duration) -> Duration {
    let share = (rng.within(0..1 << 53) as f64 + 1.0) / (1_u64 << 53) as f64;
    mean.mul_f64(-share.ln())
}

fn assert_near(what: &str, seen: f64, computed: f64, by: f64) {
    eprintln!("{what}: {seen:.5} seen, {computed:.5} computed");
    assert!((seen / computed - 1.0).abs() < by, "{what}: {seen} seen, {computed} computed");
}

/// Restarts masters at random, and returns the share of tries that find no quorum.
async fn share_without_quorum(count: usize, up: Duration, down: Duration, lasts: Duration) -> f64 {
    let masters = Arc::new(Masters::start_in_virtual_time(count).unwrap());
    let mut rng = Seed::from_env(SEED).rng();
    for node in 0..count {
        let (masters, mut rng) = (masters.clone(), rng.fork());
        tokio::spawn(async move {
            loop {
                sleep(next_after(&mut rng, up)).await;
                masters[node].kill();
                sleep(down).await;
                masters[node].restart(Memory::Lost).unwrap();
            }
        });
    }
    let redlock = masters.builder().connect().await.unwrap();
    let (began, mut tries, mut failures) = (Instant::now(), 0_u32, 0_u32);
    while began.elapsed() < lasts {
        tries += 1;
        match redlock.try_acquire("job").ttl(Duration::from_secs(3)).await {
            Ok(guard) => drop(guard.release().await.unwrap()),
            Err(error) => {
                assert!(error.is_no_quorum(), "{error}");
                failures += 1;
            }
        }
        sleep(Duration::from_secs(4)).await;
    }
    f64::from(failures) / f64::from(tries)
}

#[tokio::test(start_paused = true)]
async fn hours_without_locks_are_what_restarts_make_of_them() {
    let (up, down, lasts) =
        (Duration::from_secs(700), Duration::from_secs(70), Duration::from_secs(80_000));
    let rates = [
        ("restarts", A_YEAR / up.as_secs_f64()),
        ("down", down.as_secs_f64()),
        ("machines-lost", 0.0),
    ];
    for count in [1, 3] {
        let seen = share_without_quorum(count, up, down, lasts).await;
        assert_near(&format!("{count} masters"), seen, computed(count, &rates).0, 0.3);
    }
}

/// Sets masters' clocks forward at random, and returns how often a second client got in while a holder
/// kept its lock alive.
async fn two_holders(count: usize, ttl: Duration, step: Duration, lasts: Duration) -> u32 {
    let masters = Masters::start_in_virtual_time(count).unwrap();
    let mut rng = Seed::from_env(SEED).rng();
    for master in masters.iter() {
        let (ahead, began) = (Arc::new(AtomicU64::new(0)), Instant::now());
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let (clock, mut rng) = (ahead.clone(), rng.fork());
        master.set_clock(move || {
            UNIX_EPOCH
                + now
                + began.elapsed()
                + Duration::from_millis(clock.load(Ordering::Relaxed))
        });
        tokio::spawn(async move {
            loop {
                sleep(next_after(&mut rng, step)).await;
                ahead.fetch_add(ttl.as_millis() as u64 + 100, Ordering::Relaxed);
            }
        });
    }
    let [first, second] =
        [masters.builder(), masters.builder()].map(|builder| builder.wake_ups(false));
    let (first, second) = (first.connect().await.unwrap(), second.connect().await.unwrap());
    let (began, mut count) = (Instant::now(), 0);
    while began.elapsed() < lasts {
        let Ok(guard) = first.acquire("job").ttl(ttl).keep_alive().await else { continue };
        while guard.is_valid() && began.elapsed() < lasts {
            if let Ok(other) = second.try_acquire("job").ttl(ttl).await {
                count += u32::from(guard.is_valid());
                other.release().await.unwrap();
                // The holder has lost its lock, and learns that with its next extension.
                guard.lost().await;
            }
            sleep(Duration::from_millis(200)).await;
        }
    }
    count
}

#[tokio::test(start_paused = true)]
async fn two_holders_are_what_steps_of_clocks_make_of_them() {
    let ttl = Duration::from_secs(9);
    for (count, step, lasts) in [(1, 400, 12_000), (3, 30, 4_000)] {
        let (step, lasts) = (Duration::from_secs(step), Duration::from_secs(lasts));
        let rates = [
            ("steps", A_YEAR / step.as_secs_f64()),
            ("ttl", ttl.as_secs_f64()),
            ("cut-off", 0.0),
            ("held", 1.0),
        ];
        let seen = f64::from(two_holders(count, ttl, step, lasts).await);
        let computed = computed(count, &rates).1 * lasts.as_secs_f64();
        assert_near(&format!("{count} masters"), seen, computed, 0.5);
    }
}
