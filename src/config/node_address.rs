//! The address of a master, as written in a configuration.

use crate::address;
use crate::failure::InvalidSetting;
use crate::report::OneLine;
use quorumlock_core::coordinator::wire::Login;
use redis::{ConnectionAddr, ConnectionInfo, IntoConnectionInfo, RedisResult};
use std::fmt;
use std::str::FromStr;

/// The address of a master: `redis://[user][:password@]host[:port][/db]`, `rediss://` with the
/// feature `tls`, `unix:///path`. When printed, it has neither user nor password. The builder's
/// [`nodes`](crate::RedlockBuilder::nodes) takes it as it takes URLs.
///
/// ```
/// # fn main() -> Result<(), quorumlock::InvalidSetting> {
/// use quorumlock::config::NodeAddress;
///
/// let address: NodeAddress = "redis://me:secret@10.0.0.1/2".parse()?;
/// assert_eq!(address.to_string(), "redis://10.0.0.1:6379/2");
/// assert_eq!(format!("{address:?}"), "\"redis://10.0.0.1:6379/2\"");
/// # Ok(()) }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct NodeAddress {
    /// The address as it was written, credentials included.
    url: String,
    shown: String,
}

impl FromStr for NodeAddress {
    type Err = InvalidSetting;

    /// # Errors
    ///
    /// [`InvalidSetting`] with what is wrong with the address, and a correct one; it shows nothing
    /// of this one.
    fn from_str(url: &str) -> Result<Self, InvalidSetting> {
        let invalid = |problem: String| InvalidSetting::new("nodes", problem);
        if has_stray_sign(url) {
            return Err(invalid(STRAY_SIGN.to_owned()));
        }
        let info = url.into_connection_info();
        let info = info.map_err(|error| invalid(address::parse_error(&error)))?;
        let (name, login) = address::identity(&info).map_err(invalid)?;
        Ok(Self { url: url.to_owned(), shown: shown(&info, &name, &login) })
    }
}

impl IntoConnectionInfo for NodeAddress {
    fn into_connection_info(self) -> RedisResult<ConnectionInfo> {
        self.url.into_connection_info()
    }
}

impl fmt::Display for NodeAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        OneLine(&self.shown).fmt(f)
    }
}

impl fmt::Debug for NodeAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.shown, f)
    }
}

fn shown(info: &ConnectionInfo, name: &str, login: &Login) -> String {
    let (scheme, before_database, end) = match info.addr() {
        ConnectionAddr::TcpTls { insecure: true, .. } => ("rediss", "/", "#insecure"),
        ConnectionAddr::TcpTls { .. } => ("rediss", "/", ""),
        #[cfg(unix)]
        ConnectionAddr::Unix(_) => ("unix", "?db=", ""),
        _ => ("redis", "/", ""),
    };
    let database = match login.database {
        0 => String::new(),
        database => format!("{before_database}{database}"),
    };
    format!("{scheme}://{name}{database}{end}")
}

/// Checks for an `@` behind the host. A password that contains one of `/?#` ends the host for any
/// parser. Its part before that sign would then be taken for a host, and shown:
/// `redis://:pass#word@host`.
fn has_stray_sign(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else { return false };
    let behind_the_host = rest.find(['/', '?', '#']).and_then(|end| rest.get(end..));
    !scheme.to_ascii_lowercase().contains("unix")
        && behind_the_host.is_some_and(|rest| rest.contains('@'))
}

const STRAY_SIGN: &str = "there is an @ behind the host: in a user name or password write / as %2F, \
                          ? as %3F, # as %23 and @ as %40";
