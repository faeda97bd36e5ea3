//! The files that determine how `rediss://` masters are verified, and our identity to them. They are read
//! anew at each dial: certificates live for months, or for hours.

use crate::address::TlsConfig;
use crate::failure::InvalidSetting;
use std::path::PathBuf;
#[cfg(feature = "tls")]
use std::sync::{Arc, Mutex, PoisonError};
#[cfg(feature = "tls")]
use tokio_rustls::rustls::ClientConfig;

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
        let contents = self.contents()?;
        let Some(config) = self.parse(&contents)? else { return Ok(None) };
        let last = Mutex::new((contents, config));
        Ok(Some(TlsConfig::Files(Arc::new(Reloaded { files: self.clone(), last }))))
    }

    #[cfg(feature = "tls")]
    fn contents(&self) -> Result<Contents, InvalidSetting> {
        let read = |field, path: &Option<PathBuf>| match path {
            Some(path) => pem::read(field, path).map(Some),
            None => Ok(None),
        };
        Ok(Contents {
            ca: read("tls_ca_file", &self.ca)?,
            cert: read("tls_cert_file", &self.cert)?,
            key: read("tls_key_file", &self.key)?,
        })
    }

    #[cfg(feature = "tls")]
    fn parse(&self, contents: &Contents) -> Result<Option<Arc<ClientConfig>>, InvalidSetting> {
        let ca = self.ca.as_deref().zip(contents.ca.as_deref());
        let cert = self.cert.as_deref().zip(contents.cert.as_deref());
        let key = self.key.as_deref().zip(contents.key.as_deref());
        let roots = ca.map(|(path, bytes)| pem::roots(path, bytes)).transpose()?;
        let identity = match (cert, key) {
            (Some((cert, chain)), Some((path, bytes))) => {
                Some((pem::certificates("tls_cert_file", cert, chain)?, pem::key(path, bytes)?))
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

/// The contents of the files when they were last read.
#[cfg(feature = "tls")]
#[derive(PartialEq, Eq)]
struct Contents {
    ca: Option<Vec<u8>>,
    cert: Option<Vec<u8>>,
    key: Option<Vec<u8>>,
}

/// Files that may change, and what they were good for last.
#[cfg(feature = "tls")]
pub(crate) struct Reloaded {
    files: TlsFiles,
    last: Mutex<(Contents, Arc<ClientConfig>)>,
}

#[cfg(feature = "tls")]
impl Reloaded {
    pub(crate) fn last(&self) -> Arc<ClientConfig> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).1.clone()
    }

    /// Reads the files. If they cannot be used, as between two writes of a certificate and its key, their
    /// previous contents are used again, and the problem is returned, too. Unchanged contents keep their
    /// configuration, and with it the sessions that masters may resume.
    pub(crate) fn current(&self) -> (Arc<ClientConfig>, Option<String>) {
        let read = self.files.contents().and_then(|contents| {
            let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            if last.0 != contents
                && let Some(config) = self.files.parse(&contents)?
            {
                *last = (contents, config);
            }
            Ok(last.1.clone())
        });
        read.map_or_else(
            |problem| (self.last(), Some(problem.to_string())),
            |config| (config, None),
        )
    }
}

/// The contents of the files, which errors do not show.
#[cfg(feature = "tls")]
mod pem {
    use crate::failure::InvalidSetting;
    use std::fs;
    use std::path::Path;
    use tokio_rustls::rustls::RootCertStore;
    use tokio_rustls::rustls::pki_types::pem::PemObject;
    use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

    pub(super) fn read(field: &'static str, path: &Path) -> Result<Vec<u8>, InvalidSetting> {
        fs::read(path).map_err(|error| invalid(field, path, &format!("cannot be read: {error}")))
    }

    fn invalid(field: &'static str, path: &Path, problem: &str) -> InvalidSetting {
        InvalidSetting::new(field, format!("{} {problem}", path.display()))
    }

    pub(super) fn certificates(
        field: &'static str,
        path: &Path,
        bytes: &[u8],
    ) -> Result<Vec<CertificateDer<'static>>, InvalidSetting> {
        match CertificateDer::pem_slice_iter(bytes).collect::<Result<Vec<_>, _>>() {
            Ok(found) if !found.is_empty() => Ok(found),
            _ => {
                Err(invalid(field, path, "has no certificate in PEM (-----BEGIN CERTIFICATE-----)"))
            }
        }
    }

    pub(super) fn roots(path: &Path, bytes: &[u8]) -> Result<RootCertStore, InvalidSetting> {
        let mut roots = RootCertStore::empty();
        for certificate in certificates("tls_ca_file", path, bytes)? {
            roots.add(certificate).map_err(|error| {
                let problem = format!("contains a certificate that is not an authority: {error}");
                invalid("tls_ca_file", path, &problem)
            })?;
        }
        Ok(roots)
    }

    pub(super) fn key(path: &Path, bytes: &[u8]) -> Result<PrivateKeyDer<'static>, InvalidSetting> {
        PrivateKeyDer::from_pem_slice(bytes).map_err(|_| {
            let problem = "has no private key in PEM without a passphrase \
                           (-----BEGIN PRIVATE KEY-----)";
            invalid("tls_key_file", path, problem)
        })
    }
}
