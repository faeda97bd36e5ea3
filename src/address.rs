//! One configured master: its name in errors, the way to it, and our login.
//!
//! Of a `ConnectionInfo`, its choice of protocol, its TCP settings and the name of a library are not adopted.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use redis::{ConnectionAddr, ConnectionInfo, RedisError};
use tokio::time::Instant;

use crate::credentials::Source;
#[cfg(feature = "tls")]
use crate::tls;
use crate::transport::{BoxStream, Transport};
use quorumlock_core::coordinator::wire::{Credentials, Login, Renewal};

mod into_node;

pub use into_node::IntoNode;

/// The user's own TLS configuration. Without the feature there can be none, so that callers pass
/// `None` and need no `cfg`.
#[cfg(feature = "tls")]
pub(crate) type TlsConfig = tls::Trust;
#[cfg(not(feature = "tls"))]
pub(crate) type TlsConfig = std::convert::Infallible;

#[derive(Clone)]
pub(crate) struct Address {
    /// The name in errors: `10.0.0.1:6379`, `[::1]:6379` or the path of the socket.
    pub(crate) name: Arc<str>,
    pub(crate) transport: Transport,
    pub(crate) login: Login,
    /// Where the credentials of the login come from, if they change.
    pub(crate) credentials: Option<Source>,
}

/// The result of a dial, or of a renewal of credentials.
pub(crate) struct Brought {
    /// `None` if the address has all.
    pub(crate) credentials: Option<Result<Credentials, Arc<str>>>,
    /// `None` if a connection exists.
    pub(crate) stream: Option<io::Result<BoxStream>>,
}

impl Address {
    /// Reads an address. `tls` is the argument of `RedlockBuilder::tls_config`; without it the
    /// platform's roots decide. The error says what is wrong and what to write instead.
    pub(crate) fn from_info(
        info: &ConnectionInfo,
        tls: Option<&TlsConfig>,
    ) -> Result<Self, String> {
        let (name, login) = identity(info)?;
        let transport = match info.addr() {
            ConnectionAddr::Tcp(host, port) => {
                Transport::Tcp { host: bare(host)?.to_owned(), port: *port }
            }
            ConnectionAddr::TcpTls { host, port, insecure, .. } => {
                encrypted(bare(host)?, *port, *insecure, tls)?
            }
            #[cfg(unix)]
            ConnectionAddr::Unix(path) => Transport::Unix(path.clone()),
            _ => return Err(not_supported()),
        };
        Ok(Self { name: name.into(), transport, login, credentials: None })
    }

    /// Checks whether both are written as one server. A master that hides behind two names is found by
    /// its `run_id`. The database does not matter: two databases of one server fail together, and so are
    /// one vote.
    pub(crate) fn same_place(&self, other: &Self) -> bool {
        let is_custom = |address: &Self| matches!(address.transport, Transport::Custom(_));
        self.name == other.name && !is_custom(self) && !is_custom(other)
    }

    /// Asks for credentials, and then dials: credentials valid for minutes are not kept for a slow network. Without a
    /// time `within` which to dial, they are for an existing connection.
    pub(crate) async fn bring(&self, within: Option<Duration>) -> Brought {
        let mut credentials = match &self.credentials {
            Some(source) => Some(source.ask(&self.name, self.login.username.as_deref()).await),
            None => None,
        };
        let Some(within) = within else { return Brought { credentials, stream: None } };
        if let Some(Err(cause)) = &credentials {
            let failed = Err(io::Error::other(format!("no credentials: {cause}")));
            return Brought { credentials, stream: Some(failed) };
        }
        let given_at = Instant::now();
        let stream = Some(self.transport.dial(within).await);
        if let Some(Ok(Credentials { renewal: Renewal::Within(life), .. })) = &mut credentials {
            *life = life.saturating_sub(given_at.elapsed());
        }
        Brought { credentials, stream }
    }
}

/// Returns the name of a master in errors, and our login. This covers all that can be wrong with an
/// address, except its certificates.
pub(crate) fn identity(info: &ConnectionInfo) -> Result<(String, Login), String> {
    let name = match info.addr() {
        ConnectionAddr::TcpTls { tls_params: Some(_), .. } => return Err(TLS_PARAMS.into()),
        ConnectionAddr::Tcp(host, port) | ConnectionAddr::TcpTls { host, port, .. } => {
            place(bare(host)?, *port)?
        }
        #[cfg(unix)]
        ConnectionAddr::Unix(path) if path.as_os_str().is_empty() => {
            return Err(format!("the address has no path: {EXAMPLE}"));
        }
        #[cfg(unix)]
        ConnectionAddr::Unix(path) => path.display().to_string(),
        _ => return Err(not_supported()),
    };
    let settings = info.redis_settings();
    let database = settings.db();
    if database < 0 {
        return Err(format!("database {database}: the numbers of databases start at 0"));
    }
    let login = Login {
        username: settings.username().map(str::to_owned),
        password: settings.password().map(str::to_owned),
        database,
    };
    Ok((name, login))
}

fn not_supported() -> String {
    format!("this kind of address is not supported here: {EXAMPLE}")
}

#[cfg(feature = "tls")]
fn encrypted(
    host: &str,
    port: u16,
    insecure: bool,
    given: Option<&TlsConfig>,
) -> Result<Transport, String> {
    let config = match given {
        Some(_) if insecure => return Err(INSECURE_AND_CONFIG.into()),
        Some(config) => config.clone(),
        None if insecure => TlsConfig::Fixed(tls::insecure_config()?),
        None => TlsConfig::Fixed(tls::platform_config()?),
    };
    Ok(Transport::Tls { host: host.to_owned(), port, config })
}

#[cfg(not(feature = "tls"))]
fn encrypted(_: &str, _: u16, _: bool, _: Option<&TlsConfig>) -> Result<Transport, String> {
    Err(NO_TLS.into())
}

/// Returns the host without the brackets that a pair like `("[::1]", 6379)` brings along.
fn bare(host: &str) -> Result<&str, String> {
    let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    if inner.is_empty() { Err(format!("the address has no host: {EXAMPLE}")) } else { Ok(inner) }
}

fn place(host: &str, port: u16) -> Result<String, String> {
    match (port, host.contains(':')) {
        (0, _) => Err(format!("port 0 is not a port to connect to: {EXAMPLE}")),
        (_, true) => Ok(format!("[{host}]:{port}")),
        (_, false) => Ok(format!("{host}:{port}")),
    }
}

/// Returns what was wrong with an address that the `redis` crate did not take, and a correct one.
/// The text shows nothing of the address, which may hold a password anywhere.
///
/// The crate's own texts say that a URL did not parse, and no more. `tests.rs` pins ours word by word: if a
/// release of that crate changes a text below, a test fails instead of ours becoming vague.
pub(crate) fn parse_error(error: &RedisError) -> String {
    let error = error.to_string();
    // "description - kind: detail", and the detail may quote the address.
    let problem = match error.split(" - ").next().unwrap_or_default() {
        NO_TLS_IN_REDIS => return NO_TLS.into(),
        "Redis URL did not parse" => NO_URL,
        "URL provided is not a redis URL" => "the scheme is not one for Redis",
        "Missing hostname" => "the address has no host",
        "Missing path" => "the address has no absolute path",
        "Invalid database number" => "the database is not a number",
        other => other,
    };
    format!("{problem}: {EXAMPLE}")
}

const EXAMPLE: &str = "write it like \"redis://10.0.0.1:6379\" or \"unix:///run/redis.sock\"";
const NO_URL: &str = "the address is not a URL for Redis (it needs a scheme such as redis://, %XX for \
                      special characters in a user name or password, brackets around IPv6)";
const NO_TLS_IN_REDIS: &str = "can't connect with TLS, the feature is not enabled";
const NO_TLS: &str = "the address asks for TLS: enable the feature \"tls\" of quorumlock";
const TLS_PARAMS: &str = "TLS parameters inside a redis::ConnectionInfo cannot be read from \
                          outside the redis crate: hand the rustls configuration to \
                          tls_config instead";
#[cfg(feature = "tls")]
const INSECURE_AND_CONFIG: &str =
    "\"#insecure\" contradicts tls_config and tls_ca_file: keep one of them";

#[cfg(test)]
mod tests;
