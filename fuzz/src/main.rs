//! One fuzzer for all targets of this package: `QUORUMLOCK_FUZZ` selects one.

#![no_main]

use libfuzzer_sys::fuzz_target;
use quorumlock_fuzz::{TARGETS, Target};
use std::sync::LazyLock;

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let wanted = std::env::var("QUORUMLOCK_FUZZ").unwrap_or_default();
    let found = TARGETS.iter().find(|(name, _)| *name == wanted);
    let Some((_, target)) = found else {
        let names: Vec<_> = TARGETS.iter().map(|(name, _)| *name).collect();
        eprintln!("QUORUMLOCK_FUZZ={wanted:?} is none of {}", names.join(", "));
        std::process::exit(2);
    };
    *target
});

fuzz_target!(|data: &[u8]| TARGET(data));
