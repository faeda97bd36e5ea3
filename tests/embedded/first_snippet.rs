//! The first snippet of README, on masters that were started a second ago.

use quorumlock::Redlock;
use quorumlock::embedded::Masters;
use quorumlock_fencing::{FenceError, file::FencedFile};
use std::error::Error;
use std::path::Path;
use std::time::Duration;
use tokio::time::Instant;

/// The calls of the snippet, as README has them, in their order.
const CALLS: [&str; 10] = [
    "Redlock::builder()",
    ".ttl(Duration::from_secs(10))",
    ".connect()",
    "redlock.wait_until_ready(Duration::from_secs(60)).await?;",
    "redlock.acquire(\"account:42\").fenced().await?;",
    "(FencedFile::new(\"account-42\"), guard.fencing_token());",
    "account.read(token)?;",
    "account.write(token, &entries)?;",
    "guard.release().await?;",
    "redlock.shutdown().await?",
];

/// Makes these calls in a folder. `is_patient`: with the one that waits until masters may vote.
async fn snippet(masters: &Masters, folder: &Path, is_patient: bool) -> Result<(), Box<dyn Error>> {
    let builder: quorumlock::RedlockBuilder = masters.builder();
    let redlock: Redlock = builder.ttl(Duration::from_secs(10)).connect().await?;
    if is_patient {
        redlock.wait_until_ready(Duration::from_secs(60)).await?;
    }
    let guard = redlock.acquire("account:42").fenced().await?;
    let (account, token) = (FencedFile::new(folder.join("account-42")), guard.fencing_token());
    let mut entries = account.read(token)?;
    entries.extend(b"paid 50\n");
    account.write(token, &entries)?;
    guard.release().await?;
    Ok(redlock.shutdown().await?)
}

fn just_started() -> Masters {
    let masters = Masters::start_in_virtual_time(3).unwrap();
    for master in masters.iter() {
        master.set_uptime(Duration::from_secs(1));
    }
    masters
}

#[test]
fn readme_makes_these_calls_first() {
    let readme =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let snippet = readme.split("```").nth(1).unwrap();
    let mut rest = snippet;
    for call in CALLS {
        let Some((_, behind)) = rest.split_once(call) else { panic!("{call}: {snippet}") };
        rest = behind;
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_snippet_works_on_masters_that_were_started_a_second_ago() {
    let (masters, folder) = (just_started(), tempfile::tempdir().unwrap());
    let began = Instant::now();
    snippet(&masters, folder.path(), true).await.unwrap();
    let took = began.elapsed();
    // README: no vote for half a minute.
    assert!((Duration::from_secs(25)..Duration::from_secs(40)).contains(&took), "{took:?}");

    // Whoever held the lock before is refused, and what comes after it adds to it.
    let account = FencedFile::new(folder.path().join("account-42"));
    let late = account.write("1".parse().unwrap(), b"late");
    assert!(matches!(late, Err(FenceError::Stale(_))), "{late:?}");
    snippet(&masters, folder.path(), true).await.unwrap();
    let entries = account.read("9007199254740991".parse().unwrap()).unwrap();
    assert_eq!(entries, b"paid 50\npaid 50\n");
}

/// The call that waits is what makes it work, and without it what `main` prints says so.
#[tokio::test(start_paused = true)]
async fn without_waiting_it_ends_with_an_error_that_says_when_it_would_work() {
    let error =
        snippet(&just_started(), tempfile::tempdir().unwrap().path(), false).await.unwrap_err();
    let printed = format!("Error: {error:?}");
    for part in ["warming up", "may vote in", "wait"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    assert!(!printed.contains('{'), "{printed}");
}
