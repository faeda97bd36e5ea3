//! The messages about mistakes, word by word.

use super::*;
use serde_core::de::Deserialize;
use serde_core::de::value::{
    BoolDeserializer, Error, MapDeserializer, StrDeserializer, U64Deserializer,
};
use std::fs;

fn refusal(text: &str) -> String {
    Config::from_toml(text).unwrap_err().to_string()
}

#[test]
fn a_value_that_can_not_be_read_says_what_to_write() {
    let unit = r#"is not a duration with a unit, or too long: write it like "10s" or "500ms""#;
    let like = r#"write it like "redis://10.0.0.1:6379" or "unix:///run/redis.sock""#;
    for (line, text) in [
        ("ttl = 10", format!("ttl: {unit}")),
        ("ttl = 0", format!("ttl: {unit}")),
        ("ttl = 2.5", format!("ttl: {unit}")),
        ("ttl = \"10\"", format!("ttl: {unit}")),
        ("ttl = \"10 parsecs\"", format!("ttl: {unit}")),
        ("ttl = \"\"", format!("ttl: {unit}")),
        ("ttl = \"99999999999999999999s\"", format!("ttl: {unit}")),
        ("ttl = 99999999999999999999", "ttl: its value cannot be read".into()),
        ("ttl = true", format!("ttl: {unit}")),
        ("ttl = 1979-05-27", format!("ttl: {unit}")),
        ("ttl = { secs = 10 }", format!("ttl: {unit}")),
        ("drift_rate_ppm = \"1 %\"", "drift_rate_ppm: is not a whole number of parts per million: 10000 are 1 %".into()),
        ("drift_rate_ppm = -1", "drift_rate_ppm: is not a whole number of parts per million: 10000 are 1 %".into()),
        ("drift_rate_ppm = 1e4", "drift_rate_ppm: is not a whole number of parts per million: 10000 are 1 %".into()),
        ("restart_guard = false", r#"restart_guard: is none of "on", "off" and "trust-persistence""#.into()),
        ("restart_guard = \"On\"", r#"restart_guard: is none of "on", "off" and "trust-persistence""#.into()),
        ("wake_ups = \"on\"", "wake_ups: is neither true nor false".into()),
        ("wake_ups = 1", "wake_ups: is neither true nor false".into()),
        ("key_prefix = 7", "key_prefix: is not a string: put it in quotes".into()),
        ("label = [\"a\"]", "label: is not a string: put it in quotes".into()),
        ("nodes = 3", r#"nodes: is not a list: write it like ["redis://10.0.0.1", …]"#.into()),
        ("nodes = [\"redis://a\", 7]", format!("nodes: node 2 of 2: the address is not a URL for Redis (it needs a scheme such as redis://, %XX for special characters in a user name or password, brackets around IPv6): {like}")),
        ("nodes = [\"redis://a\", \"redis://\"]", format!("nodes: node 2 of 2: the address has no host: {like}")),
        ("nodes = [\"redis://a:0\"]", format!("nodes: node 1 of 1: port 0 is not a port to connect to: {like}")),
        ("joint_with = [\"redis://a/-1\"]", "joint_with: node 1 of 1: database -1: the numbers of databases start at 0".into()),
        ("joint_with = [\"http://a\"]", format!("joint_with: node 1 of 1: the address is not a URL for Redis (it needs a scheme such as redis://, %XX for special characters in a user name or password, brackets around IPv6): {like}")),
        ("nodes = [\"redis://:pass#word@a\"]", "nodes: node 1 of 1: there is an @ behind the host: in a user name or password write / as %2F, ? as %3F, # as %23 and @ as %40".into()),
    ] {
        assert_eq!(refusal(line), format!("line 1: {text}"), "{line}");
    }
}

#[cfg(not(feature = "tls"))]
#[test]
fn an_address_with_tls_asks_for_the_feature() {
    let text = "line 1: nodes: node 1 of 1: the address asks for TLS: enable the feature \"tls\" of quorumlock";
    assert_eq!(refusal("nodes = [\"rediss://a\"]"), text);
}

#[test]
fn an_unknown_key_says_which_one_was_meant() {
    for (key, hint) in [
        ("tll", "did you mean ttl?"),
        ("max-ttl", "did you mean max_ttl?"),
        ("MAX_TTL", "did you mean max_ttl?"),
        ("operation_timout", "did you mean operation_timeout?"),
        ("key-prefx", "did you mean key_prefix?"),
        ("drift", "did you mean drift_constant?"),
        ("backoff", "did you mean backoff_cap?"),
        ("fencing_window", "did you mean fencing_window_back?"),
        ("node", "did you mean nodes?"),
        ("credentials", "did you mean credentials_file?"),
        ("tls_config", "did you mean tls_ca_file?"),
        ("QUORUMLOCK_TTL", "did you mean ttl?"),
        ("flavour", "it is misspelt, or of another version"),
    ] {
        let text = format!("line 1: {key}: unknown key: {hint}");
        assert_eq!(refusal(&format!("{key} = 1")), text);
    }
    // A text that does not look like a key is not repeated.
    let odd = format!("\"{}\" = 1", "ttl".repeat(1_000));
    for text in [&*odd, "\"redis://me:secret@a\" = 1", "\"\" = 1"] {
        let refused = refusal(text);
        assert_eq!(refused, "line 1: unknown key: it is misspelt, or of another version");
    }
}

#[test]
fn the_first_mistake_is_reported_with_its_line() {
    assert_eq!(
        refusal("acquire_timeout = \"1s\"\n\n# a comment\nttl = 1\njoint_with = 2\n"),
        r#"line 4: ttl: is not a duration with a unit, or too long: write it like "10s" or "500ms""#
    );
    assert_eq!(
        refusal("\r\nacquire_timeout = 1\r\n"),
        r#"line 2: acquire_timeout: is not a duration with a unit, or too long: write it like "10s" or "500ms""#
    );
    let error = Config::from_toml("\n[lock]\nttl = \"1s\"").unwrap_err();
    assert_eq!((error.line, error.key.as_deref(), error.file), (Some(2), Some("lock"), None));
}

#[test]
fn what_is_no_toml_says_where() {
    for (text, line) in [
        ("ttl = \"5s\"\nacquire_timeout = 5s", 2),
        ("ttl = \"5s", 1),
        ("nodes = [\n\"redis://a\"\n\"redis://b\"]", 3),
        ("ttl\n", 1),
        ("ttl = \"5s\"\nttl = \"6s\"", 2),
    ] {
        let error = Config::from_toml(text).unwrap_err();
        assert_eq!((error.line, error.key.as_deref()), (Some(line), None), "{text}: {error}");
        assert!(error.problem.starts_with("not valid TOML: "), "{error}");
        assert!(!error.to_string().contains('\n'), "{error}");
    }
}

#[test]
fn a_file_that_can_not_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("bytes"), [b'#', 0xff, 0xfe]).unwrap();
    fs::write(path("wrong"), "\nttl = 5\n").unwrap();
    for (name, text) in [
        ("nowhere", ": cannot be read: No such file or directory (os error 2)"),
        ("", ": cannot be read: Is a directory (os error 21)"),
        ("bytes", ": cannot be read: stream did not contain valid UTF-8"),
        (
            "wrong",
            ", line 2: ttl: is not a duration with a unit, or too long: write it like \"10s\" or \"500ms\"",
        ),
    ] {
        let error = Config::from_file(path(name)).unwrap_err();
        assert_eq!(error.file, Some(path(name)));
        assert_eq!(error.to_string(), format!("{}{text}", path(name).display()));
    }
}

#[test]
fn in_another_format_a_mistake_names_its_key() {
    let read = |key: &'static str, value: u64| {
        Config::deserialize(MapDeserializer::<_, Error>::new([(key, value)].into_iter()))
    };
    for (refused, text) in [
        (
            read("ttl", 10),
            r#"ttl: is not a duration with a unit, or too long: write it like "10s" or "500ms""#,
        ),
        (read("tll", 10), "tll: unknown key: did you mean ttl?"),
        (read("ttl", u64::MAX), "ttl: its value cannot be read"),
        (
            Config::deserialize(MapDeserializer::new([(7_u64, "1s")].into_iter())),
            "a key is not a string",
        ),
        (
            Config::deserialize(StrDeserializer::new("redis://me:secret@a")),
            "this is a string, not a table of quorumlock's settings",
        ),
        (
            Config::deserialize(BoolDeserializer::new(true)),
            "invalid type: boolean `true`, expected a table of quorumlock's settings",
        ),
        (
            Config::deserialize(U64Deserializer::new(7)),
            "invalid type: integer `7`, expected a table of quorumlock's settings",
        ),
    ] {
        assert_eq!(refused.unwrap_err().to_string(), text);
    }
}
