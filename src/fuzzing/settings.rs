//! Settings given to a builder. If they pass its check, they are used: one lock is won, and its
//! deadline is where it must be.

use super::bytes::Bytes;
use super::session::{Play, Told};
use crate::lists::{Lists, Named};
use crate::options::Options;
use crate::resource::IntoResource;
use quorumlock_core::coordinator::{AcquireRequest, Keys};
use quorumlock_core::quorum::{Backoff, ClockDrift, FencingWindow, Nanos};
use std::time::Duration;

pub(super) fn run(data: &[u8]) {
    let mut data = Bytes(data);
    let options = options(&mut data);
    if let Err(problem) = options.check() {
        let _one_line = problem.to_string();
        return;
    }
    let (ttl, delay, max_hold) = (data.span(), data.span(), data.span());
    let resource = data.text().into_resource();
    let checked = (
        options.check_ttl("ttl", ttl),
        options.check_resource(&resource),
        options.check_max_hold("max_hold", max_hold, ttl),
    );
    let (Ok(ttl), Ok(()), _) = checked else { return };
    let Ok(lock_delay) = options.check_lock_delay(delay, ttl) else { return };
    let key = options.key(&resource);
    assert!(!key.contains("quorumlock:"), "{key:?} is one of our own");

    let nodes = (1..=3).map(|node| Named::new(format!("redis://n{node}"), None)).collect();
    let Ok((masters, membership)) = (Lists { nodes, joint_with: Vec::new() }).resolve(None) else {
        return;
    };
    let _linger = options.linger();
    let mut play = Play::new(options.settings(membership, &masters));
    play.open_all();
    play.acquire(AcquireRequest {
        keys: Keys::one(key),
        fences: None,
        ttl: ttl.into(),
        lock_delay: lock_delay.into(),
        wait: Some(Nanos::of(Duration::ZERO)),
        keep_alive: None,
        label: None,
        at_least: None,
        probes: false,
    });
    let began = play.now;
    for node in 0..3 {
        play.says(node, b"+OK\r\n");
    }
    let drift = options.drift.of(ttl);
    for told in &play.told {
        if let Told::Acquired { deadline } = told {
            let validity = deadline.since(began);
            assert!(validity <= ttl.saturating_sub(drift), "{validity:?} of {ttl:?} and {drift:?}");
        }
    }
}

fn options(data: &mut Bytes<'_>) -> Options {
    let mut options = Options::default();
    // Settings that are not set keep their defaults, or hardly anything would pass.
    let set = data.number();
    let mut next = |bit: u32, field: &mut Duration| {
        if set >> bit & 1 == 1 {
            *field = data.span();
        }
    };
    next(0, &mut options.ttl);
    next(1, &mut options.max_ttl);
    next(2, &mut options.acquire_timeout);
    next(3, &mut options.max_hold);
    next(4, &mut options.operation_timeout);
    next(5, &mut options.connect_timeout);
    next(6, &mut options.lock_delay);
    if set >> 7 & 1 == 1 {
        options.drift = ClockDrift { rate_ppm: data.number() as u32, constant: data.span() };
    }
    if set >> 8 & 1 == 1 {
        options.backoff = Backoff { base: data.span(), cap: data.span() };
    }
    if set >> 9 & 1 == 1 {
        options.fencing_window = FencingWindow { back: data.span(), ahead: data.span() };
    }
    if set >> 10 & 1 == 1 {
        options.key_prefix = data.text();
    }
    if set >> 11 & 1 == 1 {
        options.label = Some(data.text().into());
    }
    options
}
