//! Configurations as people write them: a file as it is, and its lines as variables. Whatever they
//! contain, no error shows a password, and a builder can use every accepted one.

use quorumlock::{Config, ConfigError, Redlock, fuzzing};

/// The password that the fuzzer puts wherever it needs one. No key resembles it, so no error has a
/// reason to show it.
const SECRET: &str = "hunter2!";

pub(super) fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let file = read(Config::from_toml(text), text);
    let variables = text.lines().filter_map(|line| line.split_once('='));
    let variables = variables.map(|(name, value)| (format!("QUORUMLOCK_{}", name.trim()), value));
    let environment = read(Config::from_vars(variables), text);
    let (Some(file), Some(environment)) = (file, environment) else { return };

    let both = environment.clone().or(file.clone());
    assert_eq!(both.ttl, environment.ttl.or(file.ttl), "{text}");
    assert_eq!(both.clone().or(file), both, "once more changes nothing: {text}");
}

fn read(config: Result<Config, ConfigError>, text: &str) -> Option<Config> {
    match config {
        Ok(config) => {
            take_over(&config);
            Some(config)
        }
        Err(error) => {
            let shown = error.to_string();
            assert!(!format!("{shown}{error:?}").contains(SECRET), "{text}: {shown}");
            assert!(!shown.contains('\n') && !error.problem.is_empty(), "{text}: {shown}");
            let lines = 1 + text.matches('\n').count();
            assert!(error.line.is_none_or(|line| (1..=lines).contains(&line)), "{text}: {shown}");
            None
        }
    }
}

fn take_over(config: &Config) {
    let named = config.nodes.iter().chain(&config.joint_with).flatten().count();
    let shown: Vec<String> =
        config.nodes.iter().chain(&config.joint_with).flatten().map(ToString::to_string).collect();
    // The files that it names are not read here.
    let mut config = config.clone();
    config.credentials_file.take();
    config.tls_ca_file.take();
    config.tls_cert_file.take();
    config.tls_key_file.take();
    let builder = Redlock::builder().config(config);
    let masters = fuzzing::masters(&builder);
    assert!(named < 65 || masters.is_err(), "{named} masters are too many");
    for (name, login) in masters.into_iter().flatten() {
        // If the name itself contains the secret, it was written as part of the name.
        let hidden = login.password.as_deref() == Some(SECRET) && !name.contains(SECRET);
        let mut of_this = shown.iter().filter(|shown| shown.contains(&*name));
        assert!(!hidden || of_this.all(|shown| !shown.contains(SECRET)), "{name}");
    }
}
