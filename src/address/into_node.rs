//! What names a master in a call.

use redis::{ConnectionInfo, IntoConnectionInfo, RedisResult};

/// The address of a master: whatever the `redis` crate takes as one, and a reference to whatever is
/// text.
///
/// These are a URL (`&str`, `String`, `&String`, `url::Url`), a `(host, port)`, a
/// `redis::ConnectionAddr` or a `redis::ConnectionInfo` (of a `redis::Client`, a clone of its
/// `get_connection_info()`). So lists of them are taken by value and by reference. `Form` is
/// inferred: it says by which of the two rules a type is an address.
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
    note = "`nodes` adds several masters, `node` adds one"
)]
pub trait IntoNode<Form> {
    #[doc(hidden)]
    fn into_info(self) -> RedisResult<ConnectionInfo>;
}

/// The first rule: the `redis` crate takes it as an address. No other crate can name the rules.
#[derive(Debug)]
pub struct AsRedis;

/// The second rule: it is a reference to text. Without it, `&String` would be no address.
#[derive(Debug)]
pub struct ByReference;

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
