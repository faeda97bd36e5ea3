//! Certificates: an authority of the test's own, what it issues, and the clients that trust it.

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

pub(crate) struct Authority {
    certificate: CertificateDer<'static>,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate and its key.
pub(crate) struct Identity {
    certificate: CertificateDer<'static>,
    key: KeyPair,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap().der().clone();
        Self { certificate, issuer: Issuer::new(params, key) }
    }

    /// Issues a certificate for a master or a client of these names.
    pub(crate) fn issue(&self, names: &[&str]) -> Identity {
        self.issue_until(names, 4000)
    }

    /// Issues the same, valid until a year begins.
    pub(crate) fn issue_until(&self, names: &[&str], year: i32) -> Identity {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.distinguished_name.push(DnType::CommonName, "issued");
        params.not_after = date_time_ymd(year, 1, 1);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap().der().clone();
        Identity { certificate, key }
    }

    /// Makes the configuration of a client that trusts only this authority, and presents `identity`
    /// if it is asked for a certificate.
    pub(crate) fn config(&self, identity: Option<&Identity>) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone()).unwrap();
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        Arc::new(match identity {
            None => builder.with_no_client_auth(),
            Some(Identity { certificate, key }) => {
                let key = PrivatePkcs8KeyDer::from(key.serialize_der());
                builder.with_client_auth_cert(vec![certificate.clone()], key.into()).unwrap()
            }
        })
    }

    /// Writes what redis-server reads: `authority.pem`, `certificate.pem` and `key.pem` in this
    /// folder.
    pub(crate) fn write(&self, identity: &Identity, folder: &Path) {
        let key = identity.key.serialize_der();
        for (file, label, bytes) in [
            ("authority.pem", "CERTIFICATE", &*self.certificate),
            ("certificate.pem", "CERTIFICATE", &*identity.certificate),
            ("key.pem", "PRIVATE KEY", &key),
        ] {
            fs::write(folder.join(file), pem(label, bytes)).unwrap();
        }
    }
}

fn pem(label: &str, bytes: &[u8]) -> String {
    let text = base64(bytes);
    let lines: Vec<&str> =
        text.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, at| bits << 8 | u32::from(*three.get(at).unwrap_or(&0)));
        for place in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * place)) as usize & 63];
            text.push(if place > three.len() { '=' } else { char::from(digit) });
        }
    }
    text
}

#[test]
fn base64_is_as_its_standard_has_it() {
    for (bytes, text) in
        [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
    {
        assert_eq!(base64(bytes.as_bytes()), text);
    }
}
