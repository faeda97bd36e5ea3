//! The files that determine how `rediss://` masters are verified, and our identity to them. They are read
//! anew at each dial: certificates live for months, or for hours.

#[cfg(feature = "tls")]
mod reloaded;

#[cfg(feature = "tls")]
pub(crate) use reloaded::Reloaded;

use crate::address::TlsConfig;
use crate::failure::InvalidSetting;
use std::path::PathBuf;

/// The named files. They are read first when a builder connects: until then they may be missing.
#[derive(Clone, Default)]
pub(crate) struct TlsFiles {
    pub(crate) ca: Option<PathBuf>,
    pub(crate) cert: Option<PathBuf>,
    pub(crate) key: Option<PathBuf>,
}

impl TlsFiles {
    /// Returns `None` if no file is named.
    #[cfg(not(feature = "tls"))]
    pub(crate) fn read(&self) -> Result<Option<TlsConfig>, InvalidSetting> {
        const NO_TLS: &str = "is for masters with TLS: enable the feature \"tls\" of quorumlock";
        match self.by_key().into_iter().find(|(_, file)| file.is_some()) {
            Some((key, _)) => Err(InvalidSetting::new(key, NO_TLS)),
            None => Ok(None),
        }
    }

    /// Returns `None` if no file is named.
    #[cfg(feature = "tls")]
    pub(crate) fn read(&self) -> Result<Option<TlsConfig>, InvalidSetting> {
        let reloaded = Reloaded::read(self)?;
        Ok(reloaded.map(|reloaded| TlsConfig::Files(reloaded.into())))
    }

    /// Returns the files by the keys that name them in a configuration.
    const fn by_key(&self) -> [(&'static str, &Option<PathBuf>); 3] {
        [("tls_ca_file", &self.ca), ("tls_cert_file", &self.cert), ("tls_key_file", &self.key)]
    }
}
