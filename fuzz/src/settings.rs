//! Settings given to a builder. If they pass its check, they are used: one lock is won, and its
//! deadline is where it must be.

use super::bytes::Bytes;
use super::session::Play;
use quorumlock::{Backoff, ClockDrift, FencingWindow, Redlock, RedlockBuilder, fuzzing};
use quorumlock_core::coordinator::{AcquireRequest, Keys};
use quorumlock_core::quorum::Nanos;
use std::time::Duration;

pub(super) fn run(data: &[u8]) {
    let mut data = Bytes(data);
    let (builder, drift) = builder(&mut data);
    let settings = match fuzzing::settings(&builder) {
        Ok(settings) => settings,
        Err(problem) => return drop(problem.to_string()),
    };
    let spans = (data.span(), data.span(), data.span());
    let resource = data.text().into();
    let Ok((key, ttl, lock_delay)) = fuzzing::claim(&builder, &resource, spans) else { return };
    assert!(!key.contains("quorumlock:"), "{key:?} is one of our own");

    let mut play = Play::new(settings);
    play.open_all();
    play.acquire(AcquireRequest {
        keys: Keys::one(key),
        fences: None,
        ttl: ttl.into(),
        lock_delay: lock_delay.into(),
        wait: Nanos::ZERO,
        keep_alive: None,
        label: None,
        at_least: None,
        keep_warm: Nanos::ZERO,
        is_fair: false,
        probes: false,
    });
    let began = play.now;
    for node in 0..3 {
        play.reply(node, b"+OK\r\n");
    }
    let drift = drift.of(ttl);
    for deadline in &play.won {
        let validity = deadline.since(began);
        assert!(validity <= ttl.saturating_sub(drift), "{validity:?} of {ttl:?} and {drift:?}");
    }
}

/// Returns a builder, and the drift that it was given.
fn builder(data: &mut Bytes<'_>) -> (RedlockBuilder, ClockDrift) {
    let mut builder = Redlock::builder().nodes((1..=3).map(|node| format!("redis://n{node}")));
    let mut drift = ClockDrift::default();
    // Settings that are not set keep their defaults, or hardly anything would pass.
    let set = data.number();
    let spans: [fn(RedlockBuilder, Duration) -> RedlockBuilder; 7] = [
        RedlockBuilder::ttl,
        RedlockBuilder::max_ttl,
        RedlockBuilder::acquire_timeout,
        RedlockBuilder::max_hold,
        RedlockBuilder::operation_timeout,
        RedlockBuilder::connect_timeout,
        RedlockBuilder::lock_delay,
    ];
    let is_set = |bit: usize| set >> bit & 1 == 1;
    for (_, setter) in spans.into_iter().enumerate().filter(|(bit, _)| is_set(*bit)) {
        builder = setter(builder, data.span());
    }
    if is_set(7) {
        drift = ClockDrift { rate_ppm: data.number() as u32, constant: data.span() };
        builder = builder.drift(drift);
    }
    if is_set(8) {
        builder = builder.backoff(Backoff { base: data.span(), cap: data.span() });
    }
    if is_set(9) {
        builder = builder.fencing_window(FencingWindow { back: data.span(), ahead: data.span() });
    }
    if is_set(10) {
        builder = builder.key_prefix(data.text());
    }
    if is_set(11) {
        builder = builder.label(data.text());
    }
    (builder, drift)
}
