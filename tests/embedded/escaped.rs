//! A name with a forged line of a log: what callers print of it stays one line, and what they look
//! up has the very name.

use quorumlock::embedded::Masters;
use quorumlock::report::is_hidden;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const FORGED: &str = "order:1\n2026-11-22 ERROR forged line \u{1b}[31m\u{202e}";
const SHOWN: &str = r#""order:1\n2026-11-22 ERROR forged line \u{1b}[31m\u{202e}""#;

fn assert_is_one_line(text: &str) {
    assert!(text.contains(SHOWN), "{text:?}");
    assert!(!text.contains(|letter: char| letter.is_control() || is_hidden(letter)), "{text:?}");
}

#[tokio::test]
async fn a_forged_line_in_a_name_stays_in_its_line() {
    let masters = Masters::start_in_memory(3).unwrap();
    let (holder, other) = (masters.builder(), masters.builder());
    let holder = holder.connect().await.unwrap();
    let other = other.connect().await.unwrap();
    let guard = holder.acquire(FORGED).await.unwrap();
    assert_eq!(guard.resource(), FORGED);

    let refused = other.try_acquire(FORGED).await.unwrap_err();
    assert_is_one_line(&refused.to_string());
    let waited = holder.acquire(FORGED).timeout(Duration::from_millis(1)).await;
    assert_is_one_line(&waited.unwrap_err().to_string());
    let inspection = other.inspect(FORGED).await.unwrap();
    assert_eq!(inspection.resource(), FORGED);
    assert_is_one_line(&inspection.to_string());
    let mut locks = other.list("");
    let lock = locks.next().await.unwrap().unwrap();
    assert_eq!(lock.resource(), FORGED);
    assert_is_one_line(&lock.to_string());
    assert!(locks.next().await.is_none());

    other.force_release(&inspection).await.unwrap();
    assert_is_one_line(&guard.extend().await.unwrap_err().to_string());
    let free = other.inspect(FORGED).await.unwrap();
    assert_is_one_line(&other.force_release(&free).await.unwrap_err().to_string());
    let full = other.semaphore(FORGED, 1);
    let _permit = full.acquire().await.unwrap();
    assert_is_one_line(&holder.semaphore(FORGED, 1).try_acquire().await.unwrap_err().to_string());
    let reserved = format!("{FORGED}quorumlock:");
    let refused = other.acquire(reserved).await.unwrap_err().to_string();
    assert!(refused.contains(&SHOWN[..SHOWN.len() - 1]) && !refused.contains('\n'), "{refused:?}");
}

/// A master takes any bytes from any client.
#[tokio::test]
async fn a_label_that_another_client_wrote_stays_in_its_line() {
    let masters = Masters::start_in_memory(3).unwrap();
    let label = "A\u{1b}[31mA\n\u{9b}2J";
    for master in masters.iter() {
        let value = format!("0123456789abcdef0123456789abcdef:{label}");
        let mut set = redis::cmd("SET");
        let mut stream = master.dialer()().await.unwrap();
        stream.write_all(&set.arg("lab2").arg(value).get_packed_command()).await.unwrap();
        let mut answer = [0; 5];
        stream.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"+OK\r\n");
    }
    let redlock = masters.builder().connect().await.unwrap();
    let inspection = redlock.inspect("lab2").await.unwrap();
    assert_eq!(inspection.holder().unwrap().label(), Some(label));
    let shown = r#""lab2" is held by A\u{1b}[31mA\n\u{9b}2J, never expires"#;
    assert!(inspection.to_string().starts_with(shown), "{inspection}");
    let lock = redlock.list("").next().await.unwrap().unwrap();
    assert!(lock.to_string().starts_with(shown), "{lock}");
}
