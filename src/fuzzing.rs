//! Internals that `fuzz/` reaches besides the public API: the arguments that a builder passes to the machine, and
//! the checks of an acquire. Compiled with the feature `__fuzzing` alone.

use crate::RedlockBuilder;
use crate::failure::InvalidSetting;
use quorumlock_core::coordinator::Settings;
use quorumlock_core::coordinator::wire::Login;
use std::sync::Arc;
use std::time::Duration;

/// Returns each master's name, and our identity at that master.
pub fn masters(builder: &RedlockBuilder) -> Result<Vec<(Arc<str>, Login)>, InvalidSetting> {
    let (masters, _) = builder.masters()?;
    Ok(masters.into_iter().map(|master| (master.name, master.login)).collect())
}

/// Returns the settings of the machine, if the options can work.
pub fn settings(builder: &RedlockBuilder) -> Result<Settings, InvalidSetting> {
    builder.options.check()?;
    let (masters, membership) = builder.masters()?;
    let _no_panic = builder.options.linger();
    Ok(builder.options.settings(membership, &masters))
}

/// Returns the key, the ttl and the lock-delay of an acquire of `resource`, if it is allowed.
pub fn claim(
    builder: &RedlockBuilder,
    resource: &Arc<str>,
    (ttl, lock_delay, max_hold): (Duration, Duration, Duration),
) -> Result<(Arc<str>, Duration, Duration), InvalidSetting> {
    let options = &builder.options;
    let _no_panic = options.check_max_hold("max_hold", max_hold, ttl);
    let ttl = options.check_ttl("ttl", ttl)?;
    options.check_resource(resource)?;
    Ok((options.key(resource), ttl, options.check_lock_delay(lock_delay, ttl)?))
}
