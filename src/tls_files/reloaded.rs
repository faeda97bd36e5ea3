//! The configuration that files have, as they change.

use super::TlsFiles;
use crate::failure::InvalidSetting;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// Files that may change, and what they were good for last.
pub(crate) struct Reloaded {
    files: TlsFiles,
    last: Mutex<(Contents, Arc<ClientConfig>)>,
}

/// The authorities, our certificate and its private key, when they were last read.
type Contents = [Option<PemFile>; 3];

impl Reloaded {
    /// Reads the files; `None` if none is named.
    pub(super) fn read(files: &TlsFiles) -> Result<Option<Self>, InvalidSetting> {
        let contents = contents(files)?;
        let Some(config) = config(&contents)? else { return Ok(None) };
        Ok(Some(Self { files: files.clone(), last: Mutex::new((contents, config)) }))
    }

    pub(crate) fn last(&self) -> Arc<ClientConfig> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).1.clone()
    }

    /// Reads the files. If they cannot be used, as between two writes of a certificate and its key, their
    /// previous contents are used again, and the problem is returned, too. Unchanged contents keep their
    /// configuration, and with it the sessions that masters may resume.
    pub(crate) fn current(&self) -> (Arc<ClientConfig>, Option<String>) {
        let read = contents(&self.files).and_then(|contents| {
            let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            if last.0 != contents
                && let Some(config) = config(&contents)?
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

fn contents(files: &TlsFiles) -> Result<Contents, InvalidSetting> {
    let [ca, cert, key] = files.by_key().map(|(key, path)| {
        let read = path.as_ref().map(|path| PemFile::read(key, path));
        read.transpose()
    });
    Ok([ca?, cert?, key?])
}

/// Returns what the contents are good for; `None` if there are none.
fn config([ca, cert, key]: &Contents) -> Result<Option<Arc<ClientConfig>>, InvalidSetting> {
    let roots = ca.as_ref().map(PemFile::roots).transpose()?;
    let identity = match (cert, key) {
        (Some(cert), Some(key)) => Some((cert.certificates()?, key.private_key()?)),
        (Some(cert), None) => return Err(cert.alone("tls_key_file")),
        (None, Some(key)) => return Err(key.alone("tls_cert_file")),
        (None, None) if roots.is_none() => return Ok(None),
        (None, None) => None,
    };
    let field = if identity.is_some() { "tls_cert_file" } else { "tls_ca_file" };
    crate::tls::private_config(roots, identity)
        .map(Some)
        .map_err(|problem| InvalidSetting::new(field, problem))
}

/// A file in PEM, whose contents errors do not show.
#[derive(PartialEq, Eq)]
struct PemFile {
    /// The key that names it.
    key: &'static str,
    path: PathBuf,
    bytes: Vec<u8>,
}

impl PemFile {
    fn read(key: &'static str, path: &Path) -> Result<Self, InvalidSetting> {
        match fs::read(path) {
            Ok(bytes) => Ok(Self { key, path: path.to_owned(), bytes }),
            Err(error) => {
                let problem = format!("{} cannot be read: {error}", path.display());
                Err(InvalidSetting::new(key, problem))
            }
        }
    }

    fn invalid(&self, problem: &str) -> InvalidSetting {
        InvalidSetting::new(self.key, format!("{} {problem}", self.path.display()))
    }

    fn alone(&self, other: &str) -> InvalidSetting {
        let problem = format!("is of no use without {other}: name both, or neither");
        InvalidSetting::new(self.key, problem)
    }

    fn certificates(&self) -> Result<Vec<CertificateDer<'static>>, InvalidSetting> {
        match CertificateDer::pem_slice_iter(&self.bytes).collect::<Result<Vec<_>, _>>() {
            Ok(found) if !found.is_empty() => Ok(found),
            _ => Err(self.invalid("has no certificate in PEM (-----BEGIN CERTIFICATE-----)")),
        }
    }

    fn roots(&self) -> Result<RootCertStore, InvalidSetting> {
        let mut roots = RootCertStore::empty();
        for certificate in self.certificates()? {
            roots.add(certificate).map_err(|error| {
                let problem = format!("contains a certificate that is not an authority: {error}");
                self.invalid(&problem)
            })?;
        }
        Ok(roots)
    }

    fn private_key(&self) -> Result<PrivateKeyDer<'static>, InvalidSetting> {
        PrivateKeyDer::from_pem_slice(&self.bytes).map_err(|_| {
            self.invalid(
                "has no private key in PEM without a passphrase (-----BEGIN PRIVATE KEY-----)",
            )
        })
    }
}
