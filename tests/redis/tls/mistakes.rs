//! The messages for failed TLS connections: what is wrong, and what to do. None of them hangs.

use super::authority::Authority;
use super::masters::Encrypted;
use crate::support::prelude::*;
use quorumlock::{ConnectError, Redlock, RedlockBuilder, RestartGuard};
use std::time::Duration;

/// Returns the error of an acquire.
async fn refusal(builder: RedlockBuilder) -> String {
    let builder = builder.restart_guard(RestartGuard::Off).connect_timeout(Duration::from_secs(2));
    let redlock = builder.connect().await.expect("no evidence of a mistake: it may pass");
    let error = redlock.try_acquire("r").await.unwrap_err();
    assert!(error.is_no_quorum(), "{error}");
    error.to_string()
}

/// Returns the error of a client that has met a certificate which is not accepted.
async fn mistake(builder: RedlockBuilder) -> String {
    match builder.connect().await {
        Err(error @ ConnectError::Unfit(_)) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

fn assert_says(text: &str, all: &[&str]) {
    for part in all {
        assert!(text.contains(part), "no {part:?} in: {text}");
    }
}

#[tokio::test]
async fn an_authority_that_is_not_named_says_where_to_name_it() {
    let (ours, theirs) = (Authority::new("ours"), Authority::new("theirs"));
    let masters = Encrypted::start(1, &theirs, &theirs.issue(&["localhost"]));
    let builder = || Redlock::builder().node(masters.url(0)).tls_config(ours.config(None));
    let says = "TLS: invalid peer certificate: UnknownIssuer: name its authority in \
                tls_ca_file, tls_config or SSL_CERT_FILE";
    assert_says(&mistake(builder()).await, &["cannot be used: ", says]);
    let preflight = builder().preflight().await.unwrap();
    assert!(!preflight.is_ok());
    assert_says(&preflight.to_string(), &[says]);
}

/// It costs its vote, as a master with a wrong password does.
#[tokio::test]
async fn one_certificate_that_is_not_accepted_costs_a_vote() {
    let (ours, theirs) = (Authority::new("ours"), Authority::new("theirs"));
    let good = Encrypted::start(2, &ours, &ours.issue(&["localhost"]));
    let other = Encrypted::start(1, &theirs, &theirs.issue(&["localhost"]));
    let urls: Vec<String> = good.urls().into_iter().chain(other.urls()).collect();
    let builder = || {
        let builder = Redlock::builder().nodes(urls.clone()).tls_config(ours.config(None));
        builder.restart_guard(RestartGuard::Off).operation_timeout(Duration::from_millis(900))
    };
    let redlock = builder().connect().await.unwrap();
    redlock.acquire("r").await.unwrap().release().await.unwrap();
    let status = redlock.status().await.unwrap();
    let problems: Vec<_> =
        status.nodes().iter().filter_map(|node| node.standing.problem()).collect();
    assert_eq!(problems.len(), 1, "{status:?}");
    assert_says(problems[0], &["TLS: invalid peer certificate: UnknownIssuer"]);
    assert_says(&mistake(builder().strict(true)).await, &["cannot be used: TLS: "]);
}

#[tokio::test]
async fn a_name_missing_in_the_certificate_fails_with_those_it_has() {
    let authority = Authority::new("ours");
    let masters = Encrypted::start(1, &authority, &authority.issue(&["master-1.example"]));
    let builder = Redlock::builder().node(masters.url(0)).tls_config(authority.config(None));
    let says = mistake(builder).await;
    assert_says(&says, &["certificate not valid for name \"localhost\"", "master-1.example"]);
    assert_says(&says, &["address the master by a name of its certificate"]);
}

#[tokio::test]
async fn a_certificate_that_has_expired_is_to_be_renewed() {
    let authority = Authority::new("ours");
    let masters = Encrypted::start(1, &authority, &authority.issue_until(&["localhost"], 2020));
    let builder = Redlock::builder().node(masters.url(0)).tls_config(authority.config(None));
    assert_says(
        &mistake(builder).await,
        &["TLS: invalid peer certificate: certificate expired", "renew the master's certificate"],
    );
}

#[tokio::test]
async fn a_client_certificate_is_sent_or_the_error_names_its_option() {
    let (authority, stranger) = (Authority::new("ours"), Authority::new("stranger"));
    let masters = Encrypted::start_asking(&authority, &authority.issue(&["localhost"]));
    let builder = || Redlock::builder().node(masters.url(0)).restart_guard(RestartGuard::Off);
    let client = authority.issue(&["client-7"]);
    let redlock = builder().tls_config(authority.config(Some(&client))).connect().await.unwrap();
    redlock.acquire("r").await.unwrap().release().await.unwrap();

    let without = refusal(builder().tls_config(authority.config(None))).await;
    assert_says(&without, &["client certificate", "tls_config"]);
    let unknown = stranger.issue(&["client-7"]);
    let unknown = refusal(builder().tls_config(authority.config(Some(&unknown)))).await;
    assert_says(&unknown, &["client certificate"]);
}

#[tokio::test]
async fn tls_or_plain_text_at_the_wrong_port_names_the_other_scheme() {
    let authority = Authority::new("ours");
    let plain = Server::start();
    let url = format!("rediss://localhost:{}", plain.port());
    let builder = Redlock::builder().node(url).tls_config(authority.config(None));
    assert_says(&refusal(builder).await, &["if this port does not speak TLS, write redis://"]);

    let masters = Encrypted::start(1, &authority, &authority.issue(&["localhost"]));
    let url = format!("redis://localhost:{}", masters.port(0));
    let says = "before it said anything: if this port speaks TLS, write rediss://";
    assert_says(&refusal(Redlock::builder().node(&*url)).await, &[says]);
    assert_says(&Redlock::builder().node(&*url).preflight().await.unwrap().to_string(), &[says]);
}
