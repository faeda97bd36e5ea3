//! Every key, from every source, up to its effect.

use super::*;
use crate::{Backoff, ClockDrift, FencingWindow};
use serde_core::de::Deserialize;
use serde_core::de::value::{Error, MapDeserializer};
use std::collections::BTreeSet;
#[cfg(feature = "tls")]
use std::path::Path;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The builder's own method, called by hand.
type ByHand = fn(RedlockBuilder) -> RedlockBuilder;

/// A key, its value as TOML and as text; no value is the default.
const OPTIONS: [(&str, &str, &str, ByHand); 21] = [
    ("ttl", r#""5s""#, "5s", |builder| builder.ttl(ms(5_000))),
    ("max_ttl", r#""1m 30s""#, "1m 30s", |builder| builder.max_ttl(ms(90_000))),
    ("allow_long_max_ttl", "true", "true", |builder| builder.allow_long_max_ttl(true)),
    ("acquire_timeout", r#""0s""#, "0s", |builder| builder.acquire_timeout(ms(0))),
    ("max_hold", r#""1day""#, "1day", |builder| builder.max_hold(ms(86_400_000))),
    ("operation_timeout", r#""70ms""#, "70ms", |builder| builder.operation_timeout(ms(70))),
    ("connect_timeout", r#""3s""#, "3s", |builder| builder.connect_timeout(ms(3_000))),
    ("drift_rate_ppm", "20_000", "20000", |builder| {
        builder.drift(ClockDrift { rate_ppm: 20_000, constant: ms(2) })
    }),
    ("drift_constant", r#""7ms""#, "7ms", |builder| {
        builder.drift(ClockDrift { rate_ppm: 10_000, constant: ms(7) })
    }),
    ("backoff_base", r#""9ms""#, "9ms", |builder| {
        builder.backoff(Backoff { base: ms(9), cap: ms(250) })
    }),
    ("backoff_cap", r#""1s""#, "1s", |builder| {
        builder.backoff(Backoff { base: ms(5), cap: ms(1_000) })
    }),
    ("fencing_window_back", r#""4s""#, "4s", |builder| {
        builder.fencing_window(FencingWindow { back: ms(4_000), ahead: ms(2_000) })
    }),
    ("fencing_window_ahead", r#""1s""#, "1s", |builder| {
        builder.fencing_window(FencingWindow { back: ms(2_000), ahead: ms(1_000) })
    }),
    ("restart_guard", r#""off""#, "off", |builder| builder.restart_guard(RestartGuard::Off)),
    ("wake_ups", "false", "false", |builder| builder.wake_ups(false)),
    ("fair", "true", "true", |builder| builder.fair(true)),
    ("keep_warm", r#""2s""#, "2s", |builder| builder.keep_warm(ms(2_000))),
    ("strict", "true", "true", |builder| builder.strict(true)),
    ("key_prefix", r#""locks:""#, "locks:", |builder| builder.key_prefix("locks:")),
    ("lock_delay", r#""2s""#, "2s", |builder| builder.lock_delay(ms(2_000))),
    ("label", r#""worker 7""#, "worker 7", |builder| builder.label("worker 7")),
];

const PEMS: [&str; 3] = ["tls_ca_file", "tls_cert_file", "tls_key_file"];

#[test]
fn a_file_of_credentials_is_named_from_every_source() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret");
    std::fs::write(&path, "p").unwrap();
    let text = path.to_str().unwrap();
    for config in from_everywhere("credentials_file", &format!("{text:?}"), text) {
        let (masters, _) = built(config).node("redis://a").masters().unwrap();
        assert!(masters[0].credentials.is_some());
    }
    let empty = Config::from_vars([("QUORUMLOCK_CREDENTIALS_FILE", "")]).unwrap_err().to_string();
    assert!(empty.ends_with("is empty: name a file, or leave it out"), "{empty}");
}

/// Returns the same setting from a file, from the environment and from any other format.
fn from_everywhere(key: &str, toml: &str, text: &str) -> [Config; 3] {
    let map = MapDeserializer::<_, Error>::new([(key, text)].into_iter());
    let variable = format!("QUORUMLOCK_{}", key.to_ascii_uppercase());
    [
        Config::from_toml(&format!("{key} = {toml}")).unwrap(),
        Config::from_vars([(variable, text)]).unwrap(),
        Config::deserialize(map).unwrap(),
    ]
}

#[test]
fn every_option_is_set_as_by_its_method_from_every_source() {
    for (key, toml, text, by_hand) in OPTIONS {
        let expected = shown(&by_hand(Redlock::builder()));
        assert_ne!(expected, shown(&Redlock::builder()), "{key}: that is the default");
        for config in from_everywhere(key, toml, text) {
            assert_eq!(shown(&built(config)), expected, "{key}");
        }
    }
}

#[test]
fn masters_of_both_lists_are_named_from_every_source() {
    let list = r#"["redis://a", "redis://b:7/3", "unix:///run/c.sock"]"#;
    for text in [
        "redis://a,redis://b:7/3,unix:///run/c.sock",
        " redis://a\n redis://b:7/3 ,, unix:///run/c.sock ",
    ] {
        for config in from_everywhere("nodes", list, text) {
            let (masters, membership) = built(config).masters().unwrap();
            let names: Vec<_> = masters.iter().map(|master| &*master.name).collect();
            assert_eq!(names, ["a:6379", "b:7", "/run/c.sock"]);
            assert_eq!(masters[1].login.database, 3);
            assert_eq!(membership.lists().count(), 1);
        }
    }
    for config in
        from_everywhere("joint_with", r#"["redis://a", "redis://b"]"#, "redis://a redis://b")
    {
        let builder = built(config).nodes(["redis://c", "redis://a"]);
        let (masters, membership) = builder.masters().unwrap();
        let names: Vec<_> = masters.iter().map(|master| &*master.name).collect();
        assert_eq!(names, ["c:6379", "a:6379", "b:6379"]);
        assert_eq!(membership.lists().count(), 2);
    }
}

#[cfg(feature = "tls")]
#[test]
fn files_for_tls_are_named_from_every_source() {
    for key in PEMS {
        for config in from_everywhere(key, r#""/etc/x.pem""#, "/etc/x.pem") {
            let files = built(config).tls_files;
            let named = PEMS.into_iter().zip([files.ca, files.cert, files.key]);
            for (name, file) in named {
                let expected = (name == key).then_some(Path::new("/etc/x.pem"));
                assert_eq!(file.as_deref(), expected, "{key}");
            }
        }
    }
}

#[cfg(not(feature = "tls"))]
#[test]
fn files_for_tls_ask_for_the_feature() {
    let problem = "is for masters with TLS: enable the feature \"tls\" of quorumlock";
    for key in PEMS {
        let config = toml(&format!("{key} = \"/etc/x.pem\""));
        let Err(refused) = built(config).tls_files.read() else { panic!("{key} is taken") };
        assert_eq!(refused.to_string(), format!("{key}: {problem}"));
    }
}

#[test]
fn every_key_is_tried_here() {
    let others = ["nodes", "joint_with", "credentials_file"];
    let tried = OPTIONS.iter().map(|(key, ..)| *key).chain(PEMS).chain(others);
    assert_eq!(tried.collect::<BTreeSet<_>>(), BTreeSet::from_iter(Config::KEYS.iter().copied()));
}

/// Returns the names at the first level of `options` in the builder's `Debug`.
fn options_of_the_builder() -> BTreeSet<String> {
    let shown = shown(&Redlock::builder());
    let fields = shown.lines().filter_map(|line| line.strip_prefix("        "));
    let names = fields.filter(|line| line.starts_with(|first: char| first.is_ascii_lowercase()));
    names.filter_map(|line| line.split(':').next()).map(str::to_owned).collect()
}

#[test]
fn every_builder_option_has_a_key_and_every_key_an_option() {
    let options = options_of_the_builder();
    assert!(options.len() >= 14, "{options:?}");
    let belongs = |key: &str, option: &str| {
        key == option || key.strip_prefix(option).is_some_and(|rest| rest.starts_with('_'))
    };
    // This is what a program is, not how it is set up.
    for option in options.iter().filter(|option| *option != "inspect_only") {
        let has_one = Config::KEYS.iter().any(|key| belongs(key, option));
        assert!(has_one, "no key sets {option}");
    }
    for key in Config::KEYS {
        let elsewhere =
            ["nodes", "joint_with", "credentials_file"].contains(key) || PEMS.contains(key);
        let is_one = elsewhere || options.iter().any(|option| belongs(key, option));
        assert!(is_one, "{key} is called like no option");
    }
}

#[test]
fn every_way_to_say_a_restart_guard_means_it() {
    for (text, guard) in [
        ("on", RestartGuard::On),
        ("off", RestartGuard::Off),
        ("trust-persistence", RestartGuard::TrustPersistence),
    ] {
        for config in from_everywhere("restart_guard", &format!("{text:?}"), text) {
            assert_eq!(config.restart_guard, Some(guard));
            assert_eq!(built(config).options.restart_guard, guard);
        }
    }
}

#[test]
fn an_empty_configuration_changes_nothing() {
    let before = shown(&Redlock::builder());
    let nothing: [(&str, &str); 0] = [];
    let empty = [toml(""), toml("# nothing\n"), Config::from_vars(nothing).unwrap()];
    for config in empty {
        assert_eq!(config, Config::default());
        assert_eq!(shown(&built(config)), before);
    }
}
