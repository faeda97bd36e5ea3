//! The precedence of the layers.

use super::*;
use crate::config::sources::load;
use std::fs;

const SECOND: Duration = Duration::from_secs(1);

/// Returns every key with a value, one per line; the values of `first` and of the others differ in
/// each.
fn lines(first: bool) -> Vec<(&'static str, String)> {
    let (list, span, number, guard, switch) =
        if first { ("a", "5s", 1, "on", true) } else { ("b", "6s", 2, "off", false) };
    let value = |key| match key {
        "nodes" | "joint_with" => format!("[\"redis://{list}\"]"),
        "drift_rate_ppm" => number.to_string(),
        "restart_guard" => format!("{guard:?}"),
        "wake_ups" | "fair" | "strict" | "allow_long_max_ttl" => switch.to_string(),
        "key_prefix" | "label" => format!("{list:?}"),
        "tls_ca_file" | "tls_cert_file" | "tls_key_file" => format!("\"/{list}.pem\""),
        _ => format!("{span:?}"),
    };
    Config::KEYS.iter().map(|key| (*key, format!("{key} = {}\n", value(key)))).collect()
}

fn of<'a>(lines: impl IntoIterator<Item = &'a (&'static str, String)>) -> Config {
    toml(&lines.into_iter().map(|(_, line)| line.as_str()).collect::<String>())
}

#[test]
fn what_is_above_wins_key_by_key() {
    let (above, below) = (lines(true), lines(false));
    assert_eq!(of(&above).or(of(&below)), of(&above));
    assert_eq!(of(&above).or(Config::default()), of(&above));
    assert_eq!(Config::default().or(of(&below)), of(&below));
    for place in 0..above.len() {
        let mut expected = below.clone();
        expected[place] = above[place].clone();
        assert_eq!(of([&above[place]]).or(of(&below)), of(&expected), "{}", above[place].0);
    }
}

#[test]
fn the_environment_is_above_the_file_that_it_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("locks.toml");
    fs::write(
        &path,
        "ttl = \"5s\"\nacquire_timeout = \"6s\"\nnodes = [\"redis://a\", \"redis://b\"]",
    )
    .unwrap();
    let named = ("QUORUMLOCK_CONFIG", path.to_str().unwrap());
    let config =
        load([("QUORUMLOCK_TTL", "7s"), named, ("QUORUMLOCK_NODES", "redis://c")]).unwrap();
    assert_eq!((config.ttl, config.acquire_timeout), (Some(7 * SECOND), Some(6 * SECOND)));
    assert_eq!(config.nodes, addresses(["redis://c"]), "lists are not joined");

    assert_eq!(load([named]).unwrap(), Config::from_file(&path).unwrap());
    assert_eq!(load([("QUORUMLOCK_TTL", "7s")]).unwrap(), toml("ttl = \"7s\""));
    let error = load([("QUORUMLOCK_CONFIG", "")]).unwrap_err();
    assert_eq!(error.to_string(), "QUORUMLOCK_CONFIG: is empty: name a file, or unset it");
    // By itself it is not a setting.
    assert_eq!(Config::from_vars([("QUORUMLOCK_CONFIG", "/nowhere")]).unwrap(), Config::default());
}

#[test]
fn an_empty_value_above_is_a_value() {
    let below = toml("key_prefix = \"a:\"\njoint_with = [\"redis://a\"]\nlabel = \"me\"");
    let empty = ["KEY_PREFIX", "JOINT_WITH", "LABEL"].map(|key| (format!("QUORUMLOCK_{key}"), ""));
    let config = Config::from_vars(empty).unwrap().or(below);
    assert_eq!(config, toml("key_prefix = \"\"\njoint_with = []\nlabel = \"\""));
    assert_eq!(shown(&built(config)), shown(&Redlock::builder().label("")));
}

#[test]
fn code_is_above_all_and_masters_add_up() {
    let config = toml("ttl = \"5s\"\nlabel = \"file\"\nnodes = [\"redis://a\"]");
    let builder = Redlock::builder().ttl(9 * SECOND).node("redis://b").config(config);
    assert_eq!(builder.options.ttl, 5 * SECOND, "it was set before");
    let builder = builder.label("code").node("redis://c");
    assert_eq!(builder.options.label.as_deref(), Some("code"));
    let (masters, _) = builder.masters().unwrap();
    let names: Vec<_> = masters.iter().map(|master| &*master.name).collect();
    assert_eq!(names, ["b:6379", "a:6379", "c:6379"]);
}
