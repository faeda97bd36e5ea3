//! No password is shown where it does not belong.

use super::*;
use crate::failure::ConfigError;
use serde_core::de::Deserialize;
use serde_core::de::value::{Error, MapDeserializer};

const SECRET: &str = "hunter2";

/// Addresses as people write them, right and wrong, each with the secret in it.
const ADDRESSES: [&str; 16] = [
    "redis://:hunter2@a",
    "redis://hunter2:x@a:7/2",
    "redis://me:hunter2@[::1]:7",
    "unix:///run/a.sock?user=me&pass=hunter2",
    "redis+unix:///run/a.sock?pass=hunter2&db=3",
    "rediss://:hunter2@a",
    "rediss://:hunter2@a/#insecure",
    "redis://:hunter2#@a",
    "redis://:hunter2/@a",
    "redis://hunter2?@a",
    "redis://:hunter2@",
    "redis://:hunter2@a:0",
    "redis://:hunter2@a/orders",
    "redis://:hunter2@a:port",
    "http://:hunter2@a",
    ":hunter2@a",
];

#[test]
fn an_address_is_shown_without_its_login() {
    for (url, shown) in [
        ("redis://me:hunter2@a", "redis://a:6379"),
        ("redis://:hunter2@a:7/2?protocol=resp3", "redis://a:7/2"),
        ("valkey://:hunter2@[::1]", "redis://[::1]:6379"),
        ("unix:///run/a.sock?user=me&pass=hunter2", "unix:///run/a.sock"),
        ("redis+unix:///run/a.sock?pass=hunter2&db=3", "unix:///run/a.sock?db=3"),
        #[cfg(feature = "tls")]
        ("rediss://me:hunter2@a", "rediss://a:6379"),
        #[cfg(feature = "tls")]
        ("rediss://me:hunter2@a:1/4#insecure", "rediss://a:1/4#insecure"),
    ] {
        let address: NodeAddress = url.parse().unwrap();
        assert_eq!(address.to_string(), shown);
        assert_eq!(format!("{address:?}"), format!("{shown:?}"));
        // And yet the connection has all of it.
        let (masters, _) = Redlock::builder().node(address).masters().unwrap();
        assert_eq!(masters[0].login.password.as_deref(), Some(SECRET), "{url}");
    }
}

/// Returns everything that can be seen of the result.
fn seen(config: Result<Config, ConfigError>) -> String {
    match config {
        Err(error) => format!("{error} {error:?} {error:#?}"),
        Ok(config) => {
            let mut seen = format!("{config:?} {config:#?}");
            for address in config.nodes.iter().chain(&config.joint_with).flatten() {
                seen.push_str(&format!(" {address} {address:?}"));
            }
            let builder = built(config);
            seen.push_str(&shown(&builder));
            match builder.masters() {
                Ok((masters, _)) => {
                    for master in masters {
                        seen.push_str(&format!(
                            " {} {:?}",
                            master.name,
                            master.login.password.map(|_| ())
                        ));
                    }
                }
                Err(problem) => seen.push_str(&format!(" {problem} {problem:?}")),
            }
            seen
        }
    }
}

fn assert_no_secret(config: Result<Config, ConfigError>, what: &str) {
    let seen = seen(config);
    assert!(!seen.contains(SECRET), "{what} shows it: {seen}");
}

#[test]
fn no_source_shows_a_secret_of_an_address() {
    for url in ADDRESSES {
        assert!(url.contains(SECRET));
        for list in ["nodes", "joint_with"] {
            let variable = format!("QUORUMLOCK_{}", list.to_ascii_uppercase());
            for urls in [url.to_owned(), format!("redis://b,{url},{url}")] {
                assert_no_secret(Config::from_vars([(&variable, &urls)]), &urls);
                assert_no_secret(Config::from_toml(&format!("{list} = {urls:?}")), &urls);
            }
            assert_no_secret(Config::from_toml(&format!("{list} = [{url:?}, {url:?}]")), url);
        }
    }
}

#[test]
fn no_source_shows_a_secret_that_is_in_the_wrong_place() {
    // A prefix and a label are shown on purpose, and so is the path of a file.
    let shown =
        ["key_prefix", "label", "credentials_file", "tls_ca_file", "tls_cert_file", "tls_key_file"];
    for key in Config::KEYS.iter().filter(|key| !shown.contains(key)) {
        let variable = format!("QUORUMLOCK_{}", key.to_ascii_uppercase());
        for url in ["redis://:hunter2@a:x", SECRET, "1hunter2", "hunter2s"] {
            assert_no_secret(Config::from_vars([(&variable, url)]), key);
            for toml in [
                format!("{url:?}"),
                format!("[{url:?}]"),
                format!("{{ {SECRET} = {url:?} }}"),
                url.to_owned(),
            ] {
                assert_no_secret(Config::from_toml(&format!("{key} = {toml}")), key);
            }
            let map = MapDeserializer::<_, Error>::new([(*key, url)].into_iter());
            if let Err(error) = Config::deserialize(map) {
                assert!(!format!("{error} {error:?}").contains(SECRET), "{key}: {error}");
            }
        }
    }
}

/// What serde or a format says about a value may show it.
#[test]
fn what_another_format_says_of_a_value_is_left_out() {
    let twice = || MapDeserializer::<_, Error>::new([(SECRET, 1), (SECRET, 2)].into_iter());
    assert!(Value::deserialize(twice()).unwrap_err().to_string().contains(SECRET));
    let map = MapDeserializer::<_, Error>::new([("nodes", twice())].into_iter());
    let error = Config::deserialize(map).unwrap_err();
    assert_eq!(error.to_string(), "nodes: its value cannot be read");
}

#[test]
fn a_file_that_is_no_toml_is_not_quoted() {
    for text in [
        "nodes = [\"redis://:hunter2@a]",
        "nodes = [redis://:hunter2@a]",
        "nodes = \"redis://:hunter2@a\" \"redis://:hunter2@b\"",
        "nodes \"redis://:hunter2@a\"",
        "redis://:hunter2@a",
        "\"redis://:hunter2@a\"",
        "\"redis://:hunter2@a\" = 1",
        "\"redis://:hunter2@a\" = 1\n\"redis://:hunter2@a\" = 2",
        "['redis://:hunter2@a']\n['redis://:hunter2@a']",
        "nodes = [\"\"\"redis://:hunter2@a",
        "nodes = [\"redis://:\\hunter2@a\"]",
        "nodes.'redis://:hunter2@a' = 1",
        "nodes = ['redis://:hunter2@a\n']",
    ] {
        let read = Config::from_toml(text);
        assert!(read.is_err(), "{text}");
        assert_no_secret(read, text);
    }
}
