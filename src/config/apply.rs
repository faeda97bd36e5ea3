//! The transfer of a configuration to a builder.

use super::Config;
use crate::builder::RedlockBuilder;

impl RedlockBuilder {
    /// Takes over what `config` has set; methods that are called after it take precedence. Its
    /// masters are added to those already named, as [`nodes`](Self::nodes) and
    /// [`joint_with`](Self::joint_with) do. The files that `tls_ca_file` and similar keys name are
    /// read by [`connect`](RedlockBuilder::connect), which reports what is wrong with them. They
    /// take precedence over an earlier [`tls_config`](Self::tls_config).
    ///
    /// ```
    /// # fn main() -> Result<(), quorumlock::ConfigError> {
    /// use quorumlock::{Config, Redlock};
    ///
    /// let builder = Redlock::builder().config(Config::from_env()?).label("worker-7");
    /// # drop(builder);
    /// # Ok(()) }
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "config")))]
    pub fn config(self, config: Config) -> Self {
        config.apply(self)
    }
}
