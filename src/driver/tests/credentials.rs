//! Providers of credentials: when they are asked, and what one costs that fails.

use super::*;
use crate::{Credentials, NodeStanding, Status};
use std::collections::BTreeMap;
use std::fs;

/// What a provider does next, and how often it was asked for each master.
#[derive(Clone, Default)]
struct Provider(Arc<Mutex<(Does, BTreeMap<String, usize>)>>);

#[derive(Clone, Copy, Default)]
enum Does {
    /// Returns the one user that an embedded master admits, for so long.
    #[default]
    Return,
    Expire(Duration),
    /// Returns a user that is not admitted.
    Mistake,
    Fail,
    Hang,
    Panic,
}

const SECRET: &str = "hunter2";

impl Provider {
    fn does(&self, what: Does) {
        self.0.lock().unwrap().0 = what;
    }

    /// Returns how often it was asked for the master that it was asked for most, and least.
    fn asked(&self) -> (usize, usize) {
        let asked = &self.0.lock().unwrap().1;
        let counts = || asked.values().copied();
        (counts().min().unwrap_or_default(), counts().max().unwrap_or_default())
    }

    async fn ask(self, master: Arc<str>) -> Result<Credentials, String> {
        let does = {
            let mut state = self.0.lock().unwrap();
            *state.1.entry(master.to_string()).or_default() += 1;
            state.0
        };
        let credentials = Credentials::new("default", SECRET);
        match does {
            Does::Return => Ok(credentials),
            Does::Expire(life) => Ok(credentials.expires_in(life)),
            Does::Mistake => Ok(Credentials::new("another", SECRET).expires_in(10 * SECOND)),
            Does::Fail => Err("the vault is sealed".into()),
            Does::Hang => std::future::pending().await,
            Does::Panic => panic!("a provider that panics, on purpose"),
        }
    }

    fn builder(&self, masters: &Masters) -> RedlockBuilder {
        let provider = self.clone();
        masters.builder().credentials(move |master| provider.clone().ask(master))
    }
}

async fn status(redlock: &Redlock) -> Status {
    let status = redlock.status().await.unwrap();
    assert!(!format!("{status} {status:?}").contains(SECRET), "{status}");
    status
}

/// Returns why the credentials of the first master were not renewed.
async fn not_renewed(redlock: &Redlock) -> Option<String> {
    let status = status(redlock).await;
    assert!(status.can_acquire(), "{status}");
    status.nodes()[0].not_renewed.as_deref().map(str::to_owned)
}

#[tokio::test(start_paused = true)]
async fn a_provider_is_asked_for_each_connection() {
    let (masters, provider) = (five(), Provider::default());
    let redlock = connect(provider.builder(&masters)).await;
    assert_eq!(provider.asked(), (1, 1));
    sleep(3600 * SECOND).await;
    assert_eq!(provider.asked(), (1, 1), "what does not expire is not renewed");
    masters.iter().for_each(Master::kill);
    masters.iter().for_each(|master| master.restart(crate::embedded::Memory::Kept).unwrap());
    sleep(5 * SECOND).await;
    let (least, most) = provider.asked();
    assert!((2..=5).contains(&least) && most <= 5, "{least} to {most}");
    redlock.wait_until_ready(60 * SECOND).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn credentials_are_renewed_on_a_connection_before_they_expire() {
    let (masters, provider) = (five(), Provider::default());
    provider.does(Does::Expire(10 * SECOND));
    let redlock = connect(provider.builder(&masters)).await;
    let guard = redlock.acquire(KEY).keep_alive().await.unwrap();
    sleep(79 * SECOND).await;
    assert_eq!(provider.asked(), (10, 10), "at the dial, and every 8 s");
    assert_eq!(not_renewed(&redlock).await, None);
    guard.release().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_renewal_that_is_refused_or_fails_costs_nothing_and_is_reported() {
    let (masters, provider) = (five(), Provider::default());
    provider.does(Does::Expire(10 * SECOND));
    let redlock = connect(provider.builder(&masters)).await;
    let guard = redlock.acquire(KEY).keep_alive().await.unwrap();
    for (does, says) in [
        (Does::Mistake, "WRONGPASS invalid username-password pair or user is disabled."),
        (Does::Fail, "their provider failed: the vault is sealed"),
        (Does::Panic, "their provider panicked"),
        (Does::Hang, "their provider has not answered within 5s"),
    ] {
        provider.does(does);
        sleep(20 * SECOND).await;
        assert_eq!(not_renewed(&redlock).await.as_deref(), Some(says));
        assert_eq!(holders(&masters), [0, 1, 2, 3, 4]);
        redlock.acquire("another").await.unwrap().release().await.unwrap();
        let line = status(&redlock).await.to_string();
        assert!(line.contains(&format!("voting, credentials not renewed ({says})")), "{line}");
    }
    provider.does(Does::Expire(10 * SECOND));
    sleep(10 * SECOND).await;
    assert_eq!(not_renewed(&redlock).await, None);
    guard.release().await.unwrap();
}

/// Returns the standing of the masters whose provider does this from the start.
async fn started(does: Does) -> (Redlock, Masters, Provider) {
    let (masters, provider) = (five(), Provider::default());
    provider.does(does);
    let redlock = connect(provider.builder(&masters)).await;
    (redlock, masters, provider)
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_fails_from_the_start_costs_votes_and_never_the_client() {
    for (does, says) in [
        (Does::Fail, "their provider failed: the vault is sealed"),
        (Does::Panic, "their provider panicked"),
        (Does::Hang, "their provider has not answered within 5s"),
    ] {
        let began = now();
        let (redlock, masters, provider) = started(does).await;
        assert!(now().since(began) < 6 * SECOND);
        let says = format!("no credentials: {says}");
        for node in status(&redlock).await.nodes() {
            assert_eq!(node.standing, NodeStanding::Down(says.as_str().into()));
            assert_eq!(node.not_renewed, None);
        }
        let error = redlock.try_acquire(KEY).await.unwrap_err();
        assert!(error.to_string().contains(&says), "{error}");
        provider.does(Does::Return);
        redlock.wait_until_ready(20 * SECOND).await.unwrap();
        redlock.acquire(KEY).await.unwrap().release().await.unwrap();
        drop(masters);
    }
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_fails_for_two_of_five_costs_two_votes() {
    let masters = five();
    let fails = |master: &str| master.contains("embedded-1") || master.contains("embedded-3");
    let builder = masters.builder().credentials(move |master| {
        let given = match fails(&master) {
            true => Err("no token for it"),
            false => Ok(Credentials::password(SECRET)),
        };
        std::future::ready(given)
    });
    let preflight = builder.preflight().await.unwrap();
    let problem = "no credentials for it (their provider failed: no token for it)";
    for node in &preflight {
        let is_named = node.to_string().contains(problem);
        assert_eq!(is_named, fails(&node.node), "{node}");
    }
    assert!(!format!("{preflight} {preflight:?}").contains(SECRET));
    let redlock = connect(builder).await;
    let guard = redlock.acquire(KEY).await.unwrap();
    settle().await;
    assert_eq!(holders(&masters).len(), 3);
    guard.release().await.unwrap();
}

/// As Kubernetes does it: the path is a link to a link, which is exchanged at once.
#[cfg(unix)]
#[tokio::test(start_paused = true)]
async fn a_file_is_watched_through_links_that_are_exchanged() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let publish = |version: &str, content: &str| {
        fs::create_dir(path(version)).unwrap();
        fs::write(path(version).join("redis"), content).unwrap();
        std::os::unix::fs::symlink(path(version), path("data.new")).unwrap();
        fs::rename(path("data.new"), path("data")).unwrap();
    };
    publish("1", "default\nfirst\n");
    std::os::unix::fs::symlink(path("data").join("redis"), path("redis")).unwrap();
    let masters = five();
    let redlock = connect(masters.builder().credentials_file(path("redis"))).await;
    let guard = redlock.acquire(KEY).keep_alive().await.unwrap();
    assert_eq!(not_renewed(&redlock).await, None);

    publish("2", "another\nsecond\n");
    sleep(3 * SECOND).await;
    assert!(not_renewed(&redlock).await.unwrap().starts_with("WRONGPASS"));
    publish("3", "default\nthird\n");
    sleep(3 * SECOND).await;
    assert_eq!(not_renewed(&redlock).await, None);
    fs::remove_file(path("data")).unwrap();
    sleep(3 * SECOND).await;
    let missing = not_renewed(&redlock).await.unwrap();
    assert!(missing.contains("redis cannot be read: "), "{missing}");
    assert_eq!(holders(&masters), [0, 1, 2, 3, 4]);
    guard.release().await.unwrap();
}
