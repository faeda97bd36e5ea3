//! The sample file is correct.

use super::*;
use std::collections::BTreeSet;

const SAMPLE: &str = include_str!("../../../docs/quorumlock.toml");

/// Returns, for each line that sets something, in comments too, its key and whether it is in a
/// comment.
fn settings() -> Vec<(&'static str, bool)> {
    let lines = SAMPLE.lines().filter_map(|line| {
        let (setting, commented) = match line.strip_prefix("# ") {
            Some(rest) => (rest, true),
            None => (line, false),
        };
        let (key, _) = setting.split_once(" = ")?;
        let is_key = key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        is_key.then_some((key, commented))
    });
    lines.collect()
}

#[test]
fn it_has_every_key_once() {
    let keys: Vec<_> = settings().into_iter().map(|(key, _)| key).collect();
    assert_eq!(keys.len(), Config::KEYS.len());
    assert_eq!(BTreeSet::from_iter(keys), BTreeSet::from_iter(Config::KEYS.iter().copied()));
}

#[test]
fn what_it_sets_are_the_defaults() {
    let mut config = toml(SAMPLE);
    let nodes = config.nodes.take().unwrap();
    assert_eq!(nodes.len(), 3, "the only ones without a default");
    assert_eq!(config.joint_with, Some(Vec::new()));
    for &key in Config::KEYS {
        let in_comment = settings().contains(&(key, true));
        assert!(is_set(&config, key) || in_comment || key == "nodes", "{key} is not set");
        // The default of the label is another one in each process.
        let has_none = key.starts_with("tls_") || key == "label" || key == "credentials_file";
        assert!(!in_comment || has_none, "{key} has a default: set it");
    }
    assert_eq!(shown(&built(config)), shown(&Redlock::builder()));
}

#[cfg(feature = "tls")]
#[test]
fn what_it_has_in_comments_can_be_set() {
    let commented = settings().into_iter().filter(|(_, commented)| *commented);
    let mut text = SAMPLE.to_owned();
    for (key, _) in commented {
        text = text.replace(&format!("# {key} = "), &format!("{key} = "));
    }
    let config = toml(&text);
    for key in Config::KEYS {
        assert!(is_set(&config, key), "{key}");
    }
}
