//! The files that determine how `rediss://` masters are verified, and our identity to them.

use crate::address::TlsConfig;
use crate::failure::InvalidSetting;
use std::path::PathBuf;

/// The named files. They are read when a builder connects: until then they may still be exchanged.
#[derive(Clone, Default)]
pub(crate) struct TlsFiles {
    pub(crate) ca: Option<PathBuf>,
    pub(crate) cert: Option<PathBuf>,
    pub(crate) key: Option<PathBuf>,
}

pub(crate) const NO_TLS: &str = "is for masters with TLS: enable the feature \"tls\" of quorumlock";

impl TlsFiles {
    /// Returns `None` if no file is named.
    #[cfg(not(feature = "tls"))]
    pub(crate) fn read(&self) -> Result<Option<TlsConfig>, InvalidSetting> {
        let named =
            [("tls_ca_file", &self.ca), ("tls_cert_file", &self.cert), ("tls_key_file", &self.key)];
        match named.into_iter().find(|(_, file)| file.is_some()) {
            Some((field, _)) => Err(InvalidSetting::new(field, NO_TLS)),
            None => Ok(None),
        }
    }

    /// Returns `None` if no file is named.
    #[cfg(feature = "tls")]
    pub(crate) fn read(&self) -> Result<Option<TlsConfig>, InvalidSetting> {
        let roots = self.ca.as_deref().map(pem::roots).transpose()?;
        let identity = match (&self.cert, &self.key) {
            (Some(cert), Some(key)) => {
                Some((pem::certificates("tls_cert_file", cert)?, pem::key(key)?))
            }
            (Some(_), None) => {
                let problem = "is of no use without tls_key_file: name both, or neither";
                return Err(InvalidSetting::new("tls_cert_file", problem));
            }
            (None, Some(_)) => {
                let problem = "is of no use without tls_cert_file: name both, or neither";
                return Err(InvalidSetting::new("tls_key_file", problem));
            }
            (None, None) if roots.is_none() => return Ok(None),
            (None, None) => None,
        };
        let field = if identity.is_some() { "tls_cert_file" } else { "tls_ca_file" };
        crate::tls::private_config(roots, identity)
            .map(Some)
            .map_err(|problem| InvalidSetting::new(field, problem))
    }
}

/// The contents of the files. No error shows any of them.
#[cfg(feature = "tls")]
mod pem {
    use crate::failure::InvalidSetting;
    use std::fs;
    use std::path::Path;
    use tokio_rustls::rustls::RootCertStore;
    use tokio_rustls::rustls::pki_types::pem::PemObject;
    use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

    fn read(field: &'static str, path: &Path) -> Result<Vec<u8>, InvalidSetting> {
        fs::read(path).map_err(|error| invalid(field, path, &format!("cannot be read: {error}")))
    }

    fn invalid(field: &'static str, path: &Path, problem: &str) -> InvalidSetting {
        InvalidSetting::new(field, format!("{} {problem}", path.display()))
    }

    pub(super) fn certificates(
        field: &'static str,
        path: &Path,
    ) -> Result<Vec<CertificateDer<'static>>, InvalidSetting> {
        let bytes = read(field, path)?;
        match CertificateDer::pem_slice_iter(&bytes).collect::<Result<Vec<_>, _>>() {
            Ok(found) if !found.is_empty() => Ok(found),
            _ => {
                Err(invalid(field, path, "has no certificate in PEM (-----BEGIN CERTIFICATE-----)"))
            }
        }
    }

    pub(super) fn roots(path: &Path) -> Result<RootCertStore, InvalidSetting> {
        let mut roots = RootCertStore::empty();
        for certificate in certificates("tls_ca_file", path)? {
            roots.add(certificate).map_err(|error| {
                let problem = format!("contains a certificate that is not an authority: {error}");
                invalid("tls_ca_file", path, &problem)
            })?;
        }
        Ok(roots)
    }

    pub(super) fn key(path: &Path) -> Result<PrivateKeyDer<'static>, InvalidSetting> {
        let bytes = read("tls_key_file", path)?;
        PrivateKeyDer::from_pem_slice(&bytes).map_err(|_| {
            let problem = "has no private key in PEM without a passphrase \
                           (-----BEGIN PRIVATE KEY-----)";
            invalid("tls_key_file", path, problem)
        })
    }
}
