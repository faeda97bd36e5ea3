//! Real masters that speak TLS, on a port next to the plain one, which the witness uses.

use super::authority::{Authority, Identity};
use crate::support::port::ReservedPort;
use crate::support::prelude::*;
use tempfile::TempDir;

pub(crate) struct Encrypted {
    pub(crate) servers: Vec<Server>,
    ports: Vec<ReservedPort>,
    _files: TempDir,
}

impl Encrypted {
    /// Starts `n` of them with one certificate.
    pub(crate) fn start(n: usize, authority: &Authority, identity: &Identity) -> Self {
        Self::start_with(n, authority, identity, &["--tls-auth-clients", "no"])
    }

    /// Starts one that asks clients for a certificate.
    pub(crate) fn start_asking(authority: &Authority, identity: &Identity) -> Self {
        Self::start_with(1, authority, identity, &["--tls-auth-clients", "yes"])
    }

    fn start_with(n: usize, authority: &Authority, identity: &Identity, more: &[&str]) -> Self {
        let files = tempfile::Builder::new().prefix("quorumlock-tls-").tempdir().unwrap();
        authority.write(identity, files.path());
        let path = |file: &str| files.path().join(file).display().to_string();
        let ports: Vec<_> = (0..n).map(|_| ReservedPort::new()).collect();
        let start = |port: &ReservedPort| {
            let port = port.address().port().to_string();
            let (authority, key) = (path("authority.pem"), path("key.pem"));
            let certificate = path("certificate.pem");
            let mut arguments = vec!["--tls-port", &*port, "--tls-ca-cert-file", &*authority];
            arguments.extend(["--tls-cert-file", &*certificate, "--tls-key-file", &*key]);
            arguments.extend(more);
            Server::start_with(&arguments)
        };
        let servers = ports.iter().map(start).collect();
        Self { servers, ports, _files: files }
    }

    pub(crate) fn url(&self, node: usize) -> String {
        self.url_by("localhost", node)
    }

    pub(crate) fn url_by(&self, host: &str, node: usize) -> String {
        format!("rediss://{host}:{}", self.port(node))
    }

    pub(crate) fn urls(&self) -> Vec<String> {
        (0..self.ports.len()).map(|node| self.url(node)).collect()
    }

    pub(crate) fn port(&self, node: usize) -> u16 {
        self.ports[node].address().port()
    }
}
