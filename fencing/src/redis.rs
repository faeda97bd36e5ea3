//! A fence in a script, for data in Redis.
//!
//! ```no_run
//! use quorumlock_fencing::{FenceError, FencingToken, redis::FencedScript};
//! use redis::{Connection, RedisError};
//!
//! fn pay(con: &mut Connection, token: FencingToken) -> Result<(), FenceError<RedisError>> {
//!     let set = FencedScript::new("return redis.call('SET', KEYS[1], ARGV[1])");
//!     let mut call = set.present("{order:42}:fence", token);
//!     Ok(call.key("{order:42}").arg("paid").invoke(con)?)
//! }
//! ```

use crate::{FenceError, FencingToken, InvalidToken, StaleToken};
use redis::{RedisError, Script, ScriptInvocation, ToRedisArgs};

const CHECK: &str = include_str!("redis.lua");

/// A Lua script of the user's own behind the check of a token, as one script.
///
/// The server runs a script in one step, so nothing comes between the check and the writes. The
/// script is used as it is: it has its own `KEYS` and `ARGV`, from 1 on. A script that only reads
/// has raised the token before it reads.
///
/// # Limits
///
/// The server must not forget the fence while it keeps the data: no eviction of keys without a
/// time to live, no expiry, and `appendfsync always` to survive a crash of the machine. A failover to a
/// replica may lose the last raise, and a stale write is then accepted: `WAIT` makes that rare, and
/// nothing rules it out. The fence is raised even if the script fails after the check: Redis rolls
/// nothing back. In a cluster all keys need one hash tag, as in the [module's](self) example.
#[derive(Debug, Clone)]
pub struct FencedScript(Script);

impl FencedScript {
    /// Takes a script in Lua, which runs if the token is not stale.
    #[must_use]
    pub fn new(lua: &str) -> Self {
        Self(Script::new(&format!("{CHECK}{lua}")))
    }

    /// Begins a call that presents `token` to the key `fence`, which has the greatest token of one
    /// lock as text. The caller adds the script's own keys and arguments, and invokes it.
    ///
    /// # Errors
    ///
    /// `FenceError::from` divides the errors of the invocation: [`FenceError::Stale`] if a later
    /// holder has been here; [`FenceError::Damaged`] if the key has a text that is no token;
    /// [`FenceError::Store`] otherwise. With its reply lost, the script may have run.
    pub fn present(&self, fence: impl ToRedisArgs, token: FencingToken) -> ScriptInvocation<'_> {
        let mut call = self.0.prepare_invoke();
        call.key(fence).arg(token.to_string());
        call
    }
}

impl From<RedisError> for FenceError<RedisError> {
    fn from(error: RedisError) -> Self {
        let detail = error.detail().unwrap_or_default();
        let token = |at| detail.split(' ').nth(at)?.parse().ok();
        match (error.code(), token(0), token(3)) {
            (Some("STALETOKEN"), Some(presented), Some(greatest)) => {
                StaleToken { presented, greatest }.into()
            }
            (Some("BADFENCE"), ..) => match detail.parse::<FencingToken>() {
                Err(invalid) => invalid.into(),
                Ok(_) => InvalidToken::new(detail, "the fence has leading zeros").into(),
            },
            _ => Self::Store(error),
        }
    }
}
