//! Messages of the crate when it was built without its features, as here; its own tests have all of
//! them.

use quorumlock::{ConnectError, Redlock};

#[tokio::test]
async fn tls_without_its_feature_names_the_feature() {
    let refused = Redlock::builder().node("rediss://me:hunter2@10.0.0.1").connect().await;
    let Err(ConnectError::InvalidSetting(error)) = refused else { panic!("{refused:?}") };
    assert_eq!(
        error.to_string(),
        "nodes: node 1 of 1: the address asks for TLS: enable the feature \"tls\" of quorumlock"
    );
}
