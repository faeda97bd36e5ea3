//! Judgement of a master's certificate when the user provides no configuration.
//!
//! Each configuration names its crypto provider. Installing one for the whole process is the
//! application's right. If this crate relied on that, a missing line in the application's `main`
//! would be our error.

use std::io;
use std::sync::{Arc, OnceLock};

use rustls_native_certs::CertificateResult;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::{
    WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature,
};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    AlertDescription, CertificateError, ClientConfig, ConfigBuilder, DigitallySignedStruct, Error,
    RootCertStore, SignatureScheme, WantsVerifier,
};

/// How masters are verified, and our identity to them.
#[derive(Clone)]
pub(crate) enum Trust {
    Fixed(Arc<ClientConfig>),
    /// From files, which may have changed since the last dial.
    #[cfg(feature = "config")]
    Files(Arc<crate::tls_files::Reloaded>),
}

impl Trust {
    /// Returns the configuration for the next dial, and why it is not what the files have by now.
    pub(crate) async fn current(&self) -> (Arc<ClientConfig>, Option<String>) {
        match self {
            Self::Fixed(config) => (config.clone(), None),
            #[cfg(feature = "config")]
            Self::Files(files) => {
                let (reading, last) = (files.clone(), files.last());
                let read = tokio::task::spawn_blocking(move || reading.current()).await;
                read.unwrap_or_else(|error| (last, Some(error.to_string())))
            }
        }
    }
}

/// Returns a configuration that trusts the roots of the platform, or the roots that `SSL_CERT_FILE`
/// and `SSL_CERT_DIR` name. They are read once per process (some 300 KB); a failure is not
/// remembered.
pub(crate) fn platform_config() -> Result<Arc<ClientConfig>, String> {
    static PLATFORM: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    if let Some(config) = PLATFORM.get() {
        return Ok(config.clone());
    }
    let config = private_config(None, None)?;
    Ok(PLATFORM.get_or_init(|| config).clone())
}

/// Returns a configuration that trusts `roots`, or those of the platform, and shows a certificate
/// of its own if there is one.
pub(crate) fn private_config(
    roots: Option<RootCertStore>,
    identity: Option<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)>,
) -> Result<Arc<ClientConfig>, String> {
    let roots = match roots {
        Some(roots) => roots,
        None => usable_roots(rustls_native_certs::load_native_certs())?,
    };
    let builder = builder()?.with_root_certificates(roots);
    let config = match identity {
        Some((chain, key)) => builder.with_client_auth_cert(chain, key).map_err(|error| {
            format!("the certificate and the private key cannot be used together: {error}")
        })?,
        None => builder.with_no_client_auth(),
    };
    Ok(Arc::new(config))
}

/// Returns a configuration for `rediss://host#insecure`: it encrypts, and talks to any server that
/// answers. It is made for self-signed masters on a network that is trusted anyway; an attacker on
/// the path is not noticed.
pub(crate) fn insecure_config() -> Result<Arc<ClientConfig>, String> {
    let verifier = AnyCertificate(ring::default_provider().signature_verification_algorithms);
    let config = builder()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    Ok(Arc::new(config))
}

/// Returns the roots that can be parsed. One unreadable file among hundreds of roots is no reason
/// to refuse: the handshake will show whether the needed root is among them. With no root at all,
/// every master would be refused, each time with a text that blames the master's certificate.
fn usable_roots(found: CertificateResult) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    if !roots.is_empty() {
        return Ok(roots);
    }
    let why: String = found.errors.iter().map(|error| format!(" ({error})")).collect();
    Err(format!(
        "no root certificate found on this machine{why}: install the package `ca-certificates`, \
         point tls_ca_file or SSL_CERT_FILE at a PEM file, or hand a configuration to tls_config"
    ))
}

/// Returns what went wrong in TLS, and what to do about it; `None` if it is not a TLS error. Also returns whether the
/// server's certificate is not accepted, and time alone does not change that.
pub(crate) fn explained(error: &io::Error) -> Option<(String, bool)> {
    use CertificateError::{NotValidYet, NotValidYetContext};
    let cause = error.get_ref()?.downcast_ref::<Error>()?;
    let text = match fix(cause) {
        Some(fix) => format!("TLS: {cause}: {fix}"),
        None => format!("TLS: {cause}"),
    };
    let is_untrusted = match cause {
        Error::InvalidCertificate(NotValidYet | NotValidYetContext { .. }) => false,
        cause => matches!(cause, Error::InvalidCertificate(_)),
    };
    Some((text, is_untrusted))
}

/// The error of a dial that met a certificate which is not accepted, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Untrusted(pub(crate) String);

const fn fix(cause: &Error) -> Option<&'static str> {
    use AlertDescription as Alert;
    use CertificateError as Certificate;
    Some(match cause {
        Error::InvalidCertificate(Certificate::UnknownIssuer) => {
            "name its authority in tls_ca_file, tls_config or SSL_CERT_FILE"
        }
        Error::InvalidCertificate(
            Certificate::NotValidForName | Certificate::NotValidForNameContext { .. },
        ) => "address the master by a name of its certificate",
        Error::InvalidCertificate(Certificate::Expired | Certificate::ExpiredContext { .. }) => {
            "renew the master's certificate"
        }
        Error::InvalidCertificate(
            Certificate::NotValidYet | Certificate::NotValidYetContext { .. },
        ) => "is this machine's clock right?",
        // TLS 1.2 has no alert for a missing one.
        Error::AlertReceived(Alert::CertificateRequired | Alert::HandshakeFailure) => {
            "name a client certificate in tls_cert_file or tls_config"
        }
        Error::AlertReceived(
            Alert::UnknownCA
            | Alert::BadCertificate
            | Alert::CertificateExpired
            | Alert::CertificateUnknown,
        ) => "the master does not accept our client certificate: see its tls-ca-cert-file",
        Error::InvalidMessage(_) => crate::transport::PLAIN_PORT,
        _ => return None,
    })
}

fn builder() -> Result<ConfigBuilder<ClientConfig, WantsVerifier>, String> {
    ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("no version of TLS can be used: {error}"))
}

/// A verifier that accepts every certificate. It still checks the signatures of the handshake: the
/// server that answers holds the key of the certificate that it shows.
#[derive(Debug)]
struct AnyCertificate(WebPkiSupportedAlgorithms);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.0)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.0)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_any_root_the_message_names_the_fix() {
        let refusal = usable_roots(CertificateResult::default()).unwrap_err();
        assert!(refusal.starts_with("no root certificate found on this machine: install"));
        assert!(refusal.contains("SSL_CERT_FILE") && refusal.contains("tls_config"));
    }

    #[test]
    fn one_unreadable_root_among_good_ones_is_skipped() {
        let good = rcgen::generate_simple_self_signed(["master".to_owned()]).unwrap();
        let mut found = CertificateResult::default();
        found.certs = vec![CertificateDer::from(vec![1, 2, 3]), good.cert.der().clone()];
        assert_eq!(usable_roots(found).unwrap().len(), 1);
    }
}
