//! Names, passwords and databases in addresses, with every character that has a meaning in a URL.

#[path = "../support/tokens.rs"]
mod tokens;

use crate::support::prelude::*;
use quorumlock::{ConnectError, Redlock, RestartGuard};
use redis::{Commands, cmd};
use tempfile::TempDir;
use tokens::{Tokens, with_provider};

const USER: &str = "app@team:1/x";
const PASSWORD: &str = r#"p@ss/w:o#r?d&=+ %25"ü"#;

/// Encodes a text for an address: everything but letters and digits as `%XX`.
fn encoded(text: &str) -> String {
    let escaped = |byte: u8| match byte {
        b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(escaped).collect()
}

struct Guarded {
    server: Server,
    folder: TempDir,
}

impl Guarded {
    /// Starts a master that admits `USER` with `PASSWORD`, over TCP and over a socket.
    async fn start() -> Self {
        let folder = tempfile::Builder::new().prefix("quorumlock-").tempdir().unwrap();
        let socket = folder.path().join("sock").display().to_string();
        let server = Server::start_with(&["--unixsocket", &socket]);
        let mut acl = cmd("ACL");
        acl.arg("SETUSER").arg(USER).arg("on").arg(format!(">{PASSWORD}"));
        acl.arg(["~*", "&*", "+@all"].as_slice());
        witness::ask::<()>(&server, &acl).await.unwrap();
        Self { server, folder }
    }

    /// Adds a password (`>`) or removes one (`<`).
    async fn change(&self, password: &str) {
        let mut acl = cmd("ACL");
        acl.arg("SETUSER").arg(USER).arg(password);
        witness::ask::<()>(&self.server, &acl).await.unwrap();
    }

    fn tcp(&self, user: &str, password: &str, database: u8) -> String {
        let at = self.server.addr();
        format!("redis://{}:{}@{at}/{database}", encoded(user), encoded(password))
    }

    fn socket(&self, user: &str, password: &str, database: u8) -> String {
        let path = self.folder.path().join("sock");
        let (user, password) = (encoded(user), encoded(password));
        format!("unix://{}?user={user}&pass={password}&db={database}", path.display())
    }

    /// Checks whether a lock's key is in this database.
    fn has(&self, database: u8, key: &str) -> bool {
        let url = format!("{}/{database}", self.server.url());
        let client = redis::Client::open(url).unwrap();
        client.get_connection().unwrap().exists(key).unwrap()
    }
}

#[tokio::test]
async fn any_name_or_password_is_accepted_percent_encoded() {
    for database in [0, 3] {
        for address in [Guarded::tcp, Guarded::socket] {
            // Each has its own master: a master has one name among its clients.
            let master = Guarded::start().await;
            let url = address(&master, USER, PASSWORD, database);
            let builder = Redlock::builder().node(&*url).restart_guard(RestartGuard::Off);
            let redlock = builder.connect().await.unwrap_or_else(|error| panic!("{url}: {error}"));
            let guard = redlock.acquire("r").await.unwrap();
            assert!(master.has(database, "r"), "{url}");
            assert!(!master.has(3 - database, "r"), "{url}");
            let list = cmd("CLIENT").arg("LIST").to_owned();
            let clients: String = witness::ask(&master.server, &list).await.unwrap();
            assert!(clients.contains(&format!(" user={USER} ")), "{clients}");
            guard.release().await.unwrap();
            assert!(!master.has(database, "r"), "{url}");
        }
    }
}

/// The steps of `docs/deploying-masters.md`.
#[tokio::test]
async fn a_password_changes_while_a_lock_is_held() {
    const NEW: &str = "another-one";
    let master = Guarded::start().await;
    let connect = async |password| {
        let url = master.tcp(USER, password, 0);
        Redlock::builder().node(url).restart_guard(RestartGuard::Off).connect().await
    };
    let old = connect(PASSWORD).await.unwrap();
    let guard = old.acquire("r").await.unwrap();
    master.change(&format!(">{NEW}")).await;
    let new = connect(NEW).await.unwrap();
    master.change(&format!("<{PASSWORD}")).await;

    guard.extend().await.unwrap();
    assert!(new.try_acquire("r").await.is_err_and(|error| error.is_contended()));
    guard.release().await.unwrap();
    new.acquire("r").await.unwrap().release().await.unwrap();
    let error = connect(PASSWORD).await.unwrap_err();
    assert!(error.to_string().contains("WRONGPASS"), "{error}");
}

/// As its documentation says how to take one.
#[tokio::test]
async fn a_new_connection_has_the_latest_token_of_a_streaming_provider() {
    let master = Guarded::start().await;
    let tokens = Tokens::new(USER, PASSWORD);
    let builder = Redlock::builder().node(master.server.url()).restart_guard(RestartGuard::Off);
    let redlock = with_provider(builder, tokens.clone()).connect().await.unwrap();
    redlock.acquire("r").await.unwrap().release().await.unwrap();

    master.change(">second").await;
    tokens.rotate(USER, "second");
    master.change(&format!("<{PASSWORD}")).await;
    let kill = cmd("CLIENT").arg("KILL").arg("USER").arg(USER).to_owned();
    assert!(witness::ask::<u64>(&master.server, &kill).await.unwrap() > 0);
    redlock.acquire("r").await.unwrap().release().await.unwrap();
}

#[tokio::test]
async fn a_wrong_password_is_refused_and_shown_nowhere() {
    let master = Guarded::start().await;
    let wrong = format!("{PASSWORD}hunter2");
    for url in [master.tcp(USER, &wrong, 0), master.socket(USER, &wrong, 0)] {
        let builder = Redlock::builder().node(&*url);
        assert!(!format!("{builder:?}").contains("hunter2"));
        let error = builder.connect().await.unwrap_err();
        assert!(matches!(&error, ConnectError::Unfit(_)), "{error}");
        let shown = format!("{error} {error:?}");
        assert!(shown.contains("WRONGPASS") && !shown.contains("hunter2"), "{shown}");
    }
}

#[tokio::test]
async fn a_password_that_is_not_encoded_says_how_to_write_it() {
    for url in ["redis://app:p/hunter2@127.0.0.1", "redis://app:p#hunter2@127.0.0.1"] {
        let error = Redlock::builder().node(url).connect().await.unwrap_err().to_string();
        assert!(error.contains("%XX for special characters"), "{error}");
        assert!(!error.contains("hunter2"), "{error}");
    }
}
