//! Authorities, certificates and users that change every second under load.
//! On a real clock: it is servers that load certificates.

use super::authority::Authority;
use crate::rotation::{Load, PERIOD, Published, add_user, connect, cut, delete_user, until};
use crate::support::port::ReservedPort;
use crate::support::prelude::*;
use quorumlock::Config;
use redis::cmd;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tempfile::TempDir;

/// The files of a period: the authority that signs in it, the masters' certificate and the client's.
struct Files {
    folder: TempDir,
}

impl Files {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes the files of a period. Both sides accept the authority of the one before as well.
    fn issue(&self, period: u64) {
        let authority = Authority::new(&format!("authority {period}"));
        for side in ["master", "client"] {
            let folder = self.path(&format!("{side}-{period}"));
            fs::create_dir(&folder).unwrap();
            authority.write(&authority.issue(&["localhost"]), &folder);
        }
        let own = |period: u64| self.path(&format!("master-{period}")).join("authority.pem");
        let before = fs::read_to_string(own(period.saturating_sub(1))).unwrap();
        let bundle = before + &fs::read_to_string(own(period)).unwrap();
        let name = format!("authorities-{period}.pem");
        fs::write(self.path(&name), bundle).unwrap();
        self.exchange(&self.path(&name), "authorities.pem");
    }

    /// Lets the client find the certificate of a period.
    fn publish(&self, period: u64) {
        self.exchange(&self.path(&format!("client-{period}")), "client");
    }

    fn exchange(&self, to: &Path, name: &str) {
        let link = self.path("link");
        std::os::unix::fs::symlink(to, &link).unwrap();
        fs::rename(link, self.path(name)).unwrap();
    }

    /// Returns the settings of a master in a period.
    fn settings(&self, period: u64) -> [(&'static str, String); 3] {
        let own = self.path(&format!("master-{period}"));
        [
            ("tls-ca-cert-file", self.path(&format!("authorities-{period}.pem"))),
            ("tls-cert-file", own.join("certificate.pem")),
            ("tls-key-file", own.join("key.pem")),
        ]
        .map(|(name, path)| (name, path.display().to_string()))
    }
}

async fn with_certificates_and_users(periods: u64) {
    let files = Files { folder: tempfile::tempdir().unwrap() };
    files.issue(0);
    files.publish(0);
    let ports: Vec<_> = (0..3).map(|_| ReservedPort::new()).collect();
    let start = |port: &ReservedPort| {
        let (port, settings) = (port.address().port().to_string(), files.settings(0));
        let mut arguments = vec!["--tls-port".to_owned(), port];
        arguments.extend(["--tls-auth-clients".to_owned(), "yes".to_owned()]);
        arguments.extend(settings.into_iter().flat_map(|(name, file)| [format!("--{name}"), file]));
        Server::start_with(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let servers: Vec<Server> = ports.iter().map(start).collect();
    add_user(&servers, 0).await;

    let mut config = Config::default();
    config.tls_ca_file = Some(files.path("authorities.pem"));
    config.tls_cert_file = Some(files.path("client").join("certificate.pem"));
    config.tls_key_file = Some(files.path("client").join("key.pem"));
    let began = Instant::now();
    let published = Published::new(began);
    let provider = published.clone();
    let urls = ports.iter().map(|port| format!("rediss://localhost:{}", port.address().port()));
    let builder = builder()
        .nodes(urls)
        .config(config)
        .credentials(move |_| std::future::ready(Ok::<_, String>(provider.credentials())));
    let load = Load::start(connect(builder).await).await;
    for period in 1..=periods {
        until(began, period).await;
        files.issue(period);
        for server in &servers {
            let mut set = cmd("CONFIG");
            set.arg("SET");
            files.settings(period).iter().for_each(|(name, file)| _ = set.arg(name).arg(file));
            witness::ask::<()>(server, &set).await.unwrap();
        }
        add_user(&servers, period).await;
        files.publish(period);
        published.publish(period);
        if period > 1 {
            delete_user(&servers, period - 2).await;
        }
        for part in 0..2 {
            tokio::time::sleep(PERIOD / 4).await;
            cut(&servers, 2 * period + part).await;
        }
    }
    load.end(periods).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn certificates_and_users_that_change_every_second_cost_no_lock() {
    with_certificates_and_users(4).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a minute"]
async fn certificates_and_users_that_change_every_second_for_a_minute_cost_no_lock() {
    with_certificates_and_users(60).await;
}
