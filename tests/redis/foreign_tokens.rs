//! Locks of other clients, whose tokens may be any bytes, seen and taken away from outside.

use crate::support::prelude::*;
use quorumlock::AcquireError;
use quorumlock::report::Answer;
use redis::cmd;
use std::time::Duration;

const NO_TEXT: [u8; 6] = [0xf7, 0, b'\r', b'\n', 0xc3, 0x28];

/// Sets a lock as another client would.
async fn held(masters: &Masters, token: &[u8]) {
    for server in masters.iter() {
        let mut set = cmd("SET");
        set.arg("r").arg(token).arg("NX").arg("PX").arg(30_000);
        witness::ask::<()>(server, &set).await.unwrap();
    }
}

#[tokio::test]
async fn a_binary_token_can_be_inspected_and_force_released() {
    let masters = Masters::start(3);
    held(&masters, &NO_TEXT).await;
    let redlock = masters.builder().connect().await.unwrap();
    let inspection = redlock.inspect("r").await.unwrap();
    let holder = inspection.holder().unwrap_or_else(|| panic!("{inspection}"));
    assert_eq!(holder.label(), None);
    assert!(holder.remaining().is_some_and(|left| left <= Duration::from_secs(30)));
    let shown = format!("{inspection} {inspection:?}");
    // Ports and times may contain its numbers.
    let is_shown = ["247, 0", "\\xf7", "\u{fffd}"].iter().any(|part| shown.contains(part));
    assert!(!is_shown, "the token is shown: {shown}");

    let answers = redlock.force_release(&inspection).await.unwrap();
    assert!(answers.iter().all(|node| node.answer == Answer::Deleted), "{answers:?}");
    redlock.acquire("r").await.unwrap().release().await.unwrap();
}

#[tokio::test]
async fn only_those_very_bytes_are_taken_away() {
    let masters = Masters::start(3);
    held(&masters, &NO_TEXT).await;
    let redlock = masters.builder().connect().await.unwrap();
    let earlier = redlock.inspect("r").await.unwrap();
    for server in masters.iter() {
        witness::ask::<()>(server, cmd("DEL").arg("r")).await.unwrap();
    }
    // As text without the bytes that are not text, both would be the same.
    let mut next = NO_TEXT;
    next[0] = 0xf8;
    held(&masters, &next).await;
    let answers = redlock.force_release(&earlier).await.unwrap();
    assert!(answers.iter().all(|node| node.answer == Answer::Vacant), "{answers:?}");
    let contended = redlock.try_acquire("r").await.unwrap_err();
    assert!(matches!(contended, AcquireError::Contended(_)), "{contended}");
    let now = redlock.inspect("r").await.unwrap();
    assert!(!now.holder().unwrap().same_hold_as(earlier.holder().unwrap()));
}
