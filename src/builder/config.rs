//! The transfer of a configuration to a builder.

use super::RedlockBuilder;
use crate::config::Config;
use crate::lists::Named;
use quorumlock_core::quorum::{Backoff, Drift, Window};

impl RedlockBuilder {
    /// Takes over what `config` has set; methods that are called after it take precedence. Its
    /// masters are added to those that are already named, as [`nodes`](Self::nodes) and
    /// [`also`](Self::also) do. The files that `tls_ca_file` and similar keys name are read by
    /// [`connect`](Self::connect), which reports what is wrong with them. They take precedence over
    /// an earlier [`tls_config`](Self::tls_config).
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
    pub fn config(mut self, config: Config) -> Self {
        // Destructured, so that an unused key is a compile error.
        let Config {
            nodes,
            also,
            ttl,
            max_ttl,
            wait,
            max_hold,
            operation_timeout,
            connect_timeout,
            drift_rate_ppm,
            drift_constant,
            backoff_base,
            backoff_cap,
            fencing_window_back,
            fencing_window_ahead,
            restart_guard,
            wakes_up,
            strict,
            key_prefix,
            lock_delay,
            label,
            tls_ca_file,
            tls_cert_file,
            tls_key_file,
        } = config;
        let named = |address| Named::new(address, None);
        self.lists.nodes.extend(nodes.into_iter().flatten().map(named));
        self.lists.also.extend(also.into_iter().flatten().map(named));
        let files = &mut self.tls_files;
        files.ca = tls_ca_file.or_else(|| files.ca.take());
        files.cert = tls_cert_file.or_else(|| files.cert.take());
        files.key = tls_key_file.or_else(|| files.key.take());

        let options = &mut self.options;
        let Drift { rate_ppm, constant } = options.drift;
        let Backoff { base, cap } = options.backoff;
        let Window { back, ahead } = options.fencing_window;
        options.ttl = ttl.unwrap_or(options.ttl);
        options.max_ttl = max_ttl.unwrap_or(options.max_ttl);
        options.wait = wait.unwrap_or(options.wait);
        options.max_hold = max_hold.unwrap_or(options.max_hold);
        options.operation_timeout = operation_timeout.unwrap_or(options.operation_timeout);
        options.connect_timeout = connect_timeout.unwrap_or(options.connect_timeout);
        options.drift = Drift {
            rate_ppm: drift_rate_ppm.unwrap_or(rate_ppm),
            constant: drift_constant.unwrap_or(constant),
        };
        options.backoff =
            Backoff { base: backoff_base.unwrap_or(base), cap: backoff_cap.unwrap_or(cap) };
        options.fencing_window = Window {
            back: fencing_window_back.unwrap_or(back),
            ahead: fencing_window_ahead.unwrap_or(ahead),
        };
        options.restart_guard = restart_guard.unwrap_or(options.restart_guard);
        options.wakes_up = wakes_up.unwrap_or(options.wakes_up);
        options.strict = strict.unwrap_or(options.strict);
        options.lock_delay = lock_delay.unwrap_or(options.lock_delay);
        if let Some(prefix) = key_prefix {
            options.key_prefix = prefix;
        }
        match label {
            Some(label) => self.label(label),
            None => self,
        }
    }
}
