use super::*;
use crate::tls::Trust;
use std::sync::Arc;

use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;

/// A master whose certificate is its own authority and names `names`.
struct Master {
    listener: TcpListener,
    acceptor: TlsAcceptor,
    trusting: Arc<ClientConfig>,
}

impl Master {
    async fn naming(names: &[&str]) -> Self {
        let names: Vec<_> = names.iter().map(|&name| name.to_owned()).collect();
        let identity = rcgen::generate_simple_self_signed(names).unwrap();
        let certificate = identity.cert.der().clone();
        let key = PrivatePkcs8KeyDer::from(identity.signing_key.serialize_der()).into();
        let ring = Arc::new(rustls::crypto::ring::default_provider());
        let server = ServerConfig::builder_with_provider(ring.clone())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.clone()], key)
            .unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(certificate).unwrap();
        let client = ClientConfig::builder_with_provider(ring)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        Self {
            listener: TcpListener::bind("127.0.0.1:0").await.unwrap(),
            acceptor: TlsAcceptor::from(Arc::new(server)),
            trusting: Arc::new(client),
        }
    }

    /// Dials by `host`. If a stream is established, it carries a ping to the master.
    async fn meets(&self, host: &str, config: &Arc<ClientConfig>) -> Result<(), String> {
        let port = self.listener.local_addr().unwrap().port();
        let transport =
            Transport::Tls { host: host.into(), port, config: Trust::Fixed(config.clone()) };
        let accept = async {
            let (stream, _) = self.listener.accept().await.unwrap();
            self.acceptor.accept(stream).await
        };
        match tokio::join!(transport.dial(LONG), accept) {
            (Ok(ours), theirs) => reaches(ours, theirs.unwrap()).await,
            (Err(refused), _) => return Err(refused.to_string()),
        }
        Ok(())
    }
}

#[tokio::test]
async fn a_trusted_certificate_is_accepted_for_the_names_it_carries() {
    let master = Master::naming(&["localhost", "127.0.0.1"]).await;
    for host in ["localhost", "127.0.0.1"] {
        master.meets(host, &master.trusting).await.unwrap();
    }
}

#[tokio::test]
async fn a_certificate_for_another_name_is_refused() {
    let master = Master::naming(&["master-1.example"]).await;
    let refused = master.meets("localhost", &master.trusting).await.unwrap_err();
    assert!(refused.starts_with("TLS: invalid peer certificate: certificate not valid for name"));
}

#[tokio::test]
async fn an_unknown_issuer_is_refused_without_the_insecure_option() {
    let master = Master::naming(&["localhost"]).await;
    let stranger = Master::naming(&["localhost"]).await;
    let refused = master.meets("localhost", &stranger.trusting).await.unwrap_err();
    assert!(refused.starts_with("TLS: invalid peer certificate: "), "{refused}");
    let insecure = crate::tls::insecure_config().unwrap();
    master.meets("localhost", &insecure).await.unwrap();
}

#[tokio::test]
async fn the_handshake_counts_towards_the_time() {
    let master = Master::naming(&["localhost"]).await;
    let port = master.listener.local_addr().unwrap().port();
    let transport =
        Transport::Tls { host: "127.0.0.1".into(), port, config: Trust::Fixed(master.trusting) };
    let error = refusal(transport.dial(Duration::from_millis(100)).await);
    assert_eq!(
        error.to_string(),
        "no TLS connection within 100 ms: raise connect_timeout, or if this port does not speak TLS, \
         write redis://"
    );
}

#[tokio::test]
async fn a_host_that_no_certificate_can_carry_is_refused() {
    let master = Master::naming(&["localhost"]).await;
    let config = master.trusting;
    let transport =
        Transport::Tls { host: "not a name".into(), port: 6379, config: Trust::Fixed(config) };
    let error = refusal(transport.dial(LONG).await);
    assert_eq!(error.to_string(), "TLS: the host is not a name that a certificate can carry");
}
