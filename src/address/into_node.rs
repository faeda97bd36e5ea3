//! The types that name a master in a call.

use redis::{Client, ConnectionInfo, IntoConnectionInfo, RedisResult};

/// The address of a master: any type that the `redis` crate takes as one, a reference to any type
/// of text, and a reference to a `redis::Client` or a `redis::ConnectionInfo`.
///
/// The first are a URL (`&str`, `String`, `url::Url`), a `(host, port)`, a `redis::ConnectionAddr`
/// or a `redis::ConnectionInfo`. So lists of them are taken by value and by reference. `Form` is
/// inferred: it says by which of the rules a type is an address. The `redis` crate is that of
/// version 1, [`quorumlock::redis`](crate::redis).
///
/// ```
/// # use quorumlock::Redlock;
/// let urls = ["redis://10.0.0.1".to_owned(), "redis://10.0.0.2".to_owned()];
/// let _ = Redlock::builder().nodes(&urls);
/// let _ = Redlock::builder().nodes(urls.iter().map(String::as_str));
/// let _ = Redlock::builder().nodes(urls);
/// let _ = Redlock::builder().nodes([("10.0.0.1", 6379), ("10.0.0.2", 6379)]);
/// ```
///
/// Of a `redis::Client` only the connection info is taken, and never a connection: each master has
/// one connection of ours, and safety relies on the order of the commands on it.
///
/// ```
/// # use quorumlock::{Redlock, redis};
/// # fn main() -> redis::RedisResult<()> {
/// let clients = [redis::Client::open("redis://10.0.0.1")?, redis::Client::open("redis://10.0.0.2")?];
/// let _ = Redlock::builder().nodes(&clients);
/// # Ok(()) }
/// ```
///
/// A connection info also has settings of the connection, which are not adopted: the client detects dead
/// connections by settings of its own. TLS parameters are an [`InvalidSetting`](crate::InvalidSetting) of
/// `connect`; hand them to [`tls_config`](crate::RedlockBuilder::tls_config).
///
/// Another type is an address if it implements `redis::IntoConnectionInfo`. A port alone is none:
///
/// ```compile_fail,E0277
/// # use quorumlock::Redlock;
/// let _ = Redlock::builder().node(6379); // write ("10.0.0.1", 6379)
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the address of a master",
    label = "not the address of a master",
    note = "an address is a URL, such as \"redis://10.0.0.1:6379\", or a `(host, port)`",
    note = "`nodes` adds several masters, `node` adds one",
    note = "types of the redis crate are addresses if they are of redis 1.x, as `quorumlock::redis` is; a \
            client is passed by reference"
)]
pub trait IntoNode<Form> {
    #[doc(hidden)]
    fn into_info(self) -> RedisResult<ConnectionInfo>;
}

/// The first rule: the `redis` crate takes it as an address. Other crates cannot name the rules.
#[derive(Debug)]
pub struct AsRedis;

/// The second rule: it is a reference to text. Without it, `&String` would be no address.
#[derive(Debug)]
pub struct ByReference;

/// The third rule: it is a reference to what has the address, which is copied.
#[derive(Debug)]
pub struct ByCopy;

impl<A: IntoConnectionInfo> IntoNode<AsRedis> for A {
    fn into_info(self) -> RedisResult<ConnectionInfo> {
        self.into_connection_info()
    }
}

impl<A: AsRef<str>> IntoNode<ByReference> for &A {
    fn into_info(self) -> RedisResult<ConnectionInfo> {
        self.as_ref().into_connection_info()
    }
}

impl IntoNode<ByCopy> for &ConnectionInfo {
    fn into_info(self) -> RedisResult<ConnectionInfo> {
        Ok(self.clone())
    }
}

impl IntoNode<ByCopy> for &Client {
    fn into_info(self) -> RedisResult<ConnectionInfo> {
        self.get_connection_info().into_info()
    }
}
