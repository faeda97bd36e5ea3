//! A private authority and a certificate of our own, from files.

use super::*;
use crate::tls::Trust;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector};

/// An authority, a master whose certificate it has signed, and a client's files.
struct World {
    folder: TempDir,
    master: Arc<ServerConfig>,
}

fn pem(label: &str, der: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for (at, three) in der.chunks(3).enumerate() {
        let bits = three
            .iter()
            .chain([&0, &0])
            .take(3)
            .fold(0, |bits, byte| bits << 8 | usize::from(*byte));
        for place in 0..4 {
            let digit = DIGITS[bits >> (18 - 6 * place) & 63];
            text.push(if place <= three.len() { char::from(digit) } else { '=' });
        }
        text.push_str(if at % 16 == 15 { "\n" } else { "" });
    }
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", text.trim_end())
}

type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority() -> Authority {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// Returns a certificate for `name`, and its key.
fn signed(authority: &Authority, name: &str) -> (CertificateDer<'static>, Vec<u8>) {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    let certificate = params.signed_by(&key, authority).unwrap();
    (certificate.der().clone(), key.serialize_der())
}

impl World {
    fn new() -> Self {
        let (ours, theirs) = (authority(), authority());
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: String| fs::write(folder.path().join(name), text).unwrap();
        let (certificate, key) = signed(&ours, "client");
        write("ca.pem", pem("CERTIFICATE", ours.der()));
        write("other-ca.pem", pem("CERTIFICATE", theirs.der()));
        write("client.pem", pem("CERTIFICATE", &certificate));
        write("client.key", pem("PRIVATE KEY", &key));
        write("other.key", pem("PRIVATE KEY", &signed(&ours, "client").1));
        write("empty.pem", "# nothing\n".into());
        write("torn.pem", "-----BEGIN CERTIFICATE-----\n!!\n-----END CERTIFICATE-----\n".into());

        let ring = Arc::new(ring::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(ours.der().clone()).unwrap();
        let asks = WebPkiClientVerifier::builder_with_provider(roots.into(), ring.clone());
        let (certificate, key) = signed(&ours, "master");
        let master = ServerConfig::builder_with_provider(ring)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_client_cert_verifier(asks.build().unwrap())
            .with_single_cert(vec![certificate], PrivatePkcs8KeyDer::from(key).into())
            .unwrap();
        Self { folder, master: Arc::new(master) }
    }

    /// Returns what the builder makes of files that a configuration in the same folder names.
    fn read(&self, settings: &[(&str, &str)]) -> Result<Option<Arc<ClientConfig>>, String> {
        let lines = settings.iter().map(|(key, file)| format!("{key} = {file:?}\n"));
        let path = self.folder.path().join("locks.toml");
        fs::write(&path, lines.collect::<String>()).unwrap();
        let config = Config::from_file(&path).unwrap();
        let read = built(config).tls_files.read().map_err(|problem| problem.to_string());
        read.map(|trust| trust.map(|trust| now(&trust).0))
    }

    fn path(&self, name: &str) -> impl std::fmt::Display {
        self.folder.path().join(name).display().to_string()
    }

    /// Checks whether the master and a client that uses `config` can talk.
    async fn meets(&self, config: Arc<ClientConfig>) -> bool {
        let (ours, theirs) = duplex(1 << 16);
        let name = ServerName::try_from("master").unwrap();
        let client = async {
            let mut stream = TlsConnector::from(config).connect(name, ours).await?;
            // The first byte shows whether the master accepts our certificate.
            stream.read_u8().await
        };
        let master = async {
            let mut stream = TlsAcceptor::from(self.master.clone()).accept(theirs).await?;
            stream.write_u8(7).await?;
            stream.flush().await
        };
        let (heard, served) = tokio::join!(client, master);
        heard.is_ok_and(|byte| byte == 7) && served.is_ok()
    }
}

/// Returns the configuration for a dial by now, and why it is not that of the files.
fn now(trust: &Trust) -> (Arc<ClientConfig>, Option<String>) {
    match trust {
        Trust::Files(files) => files.current(),
        Trust::Fixed(config) => (config.clone(), None),
    }
}

#[tokio::test]
async fn certificates_are_read_anew_for_each_dial() {
    let world = World::new();
    let path = |name: &str| world.folder.path().join(name);
    let config = format!("tls_ca_file = {:?}", path("ca.pem"));
    let trust = built(toml(&config)).tls_files.read().unwrap().unwrap();
    let first = now(&trust).0;
    assert!(Arc::ptr_eq(&first, &now(&trust).0), "what has not changed keeps its sessions");

    fs::copy(path("other-ca.pem"), path("ca.pem")).unwrap();
    let (second, problem) = trust.current().await;
    assert!(!Arc::ptr_eq(&first, &second) && problem.is_none());

    fs::copy(path("torn.pem"), path("ca.pem")).unwrap();
    let (third, problem) = trust.current().await;
    assert!(Arc::ptr_eq(&second, &third), "what was read last is used again");
    assert!(problem.unwrap().starts_with("tls_ca_file: "));
    fs::remove_file(path("ca.pem")).unwrap();
    assert!(Arc::ptr_eq(&second, &now(&trust).0));
}

const CA: (&str, &str) = ("tls_ca_file", "ca.pem");
const CERT: (&str, &str) = ("tls_cert_file", "client.pem");
const KEY: (&str, &str) = ("tls_key_file", "client.key");

#[tokio::test]
async fn a_master_is_met_only_with_its_authority_and_our_certificate() {
    let world = World::new();
    let all = world.read(&[CA, CERT, KEY]).unwrap().unwrap();
    assert!(world.meets(all).await);
    let anonymous = world.read(&[CA]).unwrap().unwrap();
    assert!(!world.meets(anonymous).await, "the master asks for a certificate");
    let other = [("tls_ca_file", "other-ca.pem"), CERT, KEY];
    let credulous = world.read(&other).unwrap().unwrap();
    assert!(!world.meets(credulous).await, "another authority has not signed the master's");
    assert!(world.read(&[]).unwrap().is_none());
}

#[test]
fn a_file_that_can_not_be_used_is_named_with_its_key() {
    let world = World::new();
    let no_certificate = "has no certificate in PEM (-----BEGIN CERTIFICATE-----)";
    let no_key = "has no private key in PEM without a passphrase (-----BEGIN PRIVATE KEY-----)";
    for (settings, text) in [
        (
            &[("tls_ca_file", "nowhere.pem")][..],
            format!(
                "tls_ca_file: {} cannot be read: No such file or directory (os error 2)",
                world.path("nowhere.pem")
            ),
        ),
        (
            &[("tls_ca_file", "empty.pem")],
            format!("tls_ca_file: {} {no_certificate}", world.path("empty.pem")),
        ),
        (
            &[CA, ("tls_cert_file", "torn.pem"), KEY],
            format!("tls_cert_file: {} {no_certificate}", world.path("torn.pem")),
        ),
        (
            &[CERT, ("tls_key_file", "client.pem")],
            format!("tls_key_file: {} {no_key}", world.path("client.pem")),
        ),
        (
            &[CA, CERT],
            "tls_cert_file: is of no use without tls_key_file: name both, or neither".into(),
        ),
        (&[KEY], "tls_key_file: is of no use without tls_cert_file: name both, or neither".into()),
    ] {
        assert_eq!(world.read(settings).unwrap_err(), text);
    }
    let strangers = world.read(&[CA, CERT, ("tls_key_file", "other.key")]).unwrap_err();
    let lead = "tls_cert_file: the certificate and the private key cannot be used together: ";
    assert!(strangers.starts_with(lead), "{strangers}");
}

#[test]
fn relative_paths_start_at_the_folder_of_the_configuration() {
    let world = World::new();
    let path = world.folder.path().join("locks.toml");
    fs::write(&path, "tls_ca_file = \"ca.pem\"\ntls_key_file = \"/etc/client.key\"").unwrap();
    let config = Config::from_file(&path).unwrap();
    assert_eq!(config.tls_ca_file, Some(world.folder.path().join("ca.pem")));
    assert_eq!(config.tls_key_file.as_deref(), Some(Path::new("/etc/client.key")));
}

#[test]
fn the_last_tls_setting_wins() {
    let given = crate::tls::insecure_config().unwrap();
    let files = || toml("tls_ca_file = \"/nowhere.pem\"");
    let last = Redlock::builder().config(files()).tls_config(given.clone());
    assert!(last.tls_files.read().unwrap().is_none());
    let first = Redlock::builder().tls_config(given).config(files()).node("rediss://a");
    let refused = first.masters().err().unwrap();
    assert_eq!(refused.field, "tls_ca_file");
}
