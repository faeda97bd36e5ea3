//! Configurations as people write them: a file as it is, and its lines as variables. Whatever they
//! contain, no error shows a password, and a builder can use every accepted one.

use crate::config::Config;
use crate::error::ConfigError;
use crate::redlock::Redlock;

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
            let told = format!("{error}");
            assert!(!format!("{told}{error:?}").contains(SECRET), "{text}: {told}");
            assert!(!told.contains('\n') && !error.problem.is_empty(), "{text}: {told}");
            let lines = 1 + text.matches('\n').count();
            assert!(error.line.is_none_or(|line| (1..=lines).contains(&line)), "{text}: {told}");
            None
        }
    }
}

fn take_over(config: &Config) {
    let named = config.nodes.iter().chain(&config.joint_with).flatten().count();
    let shown: Vec<String> =
        config.nodes.iter().chain(&config.joint_with).flatten().map(ToString::to_string).collect();
    // The files that it names are not read here.
    let (tls_ca_file, tls_cert_file, tls_key_file) = (None, None, None);
    let config = Config { tls_ca_file, tls_cert_file, tls_key_file, ..config.clone() };
    let builder = Redlock::builder().config(config);
    assert!(named < 65 || builder.masters().is_err(), "{named} masters are too many");
    if let Ok((masters, _)) = builder.masters() {
        for master in masters {
            // If the name itself contains the secret, it was written as part of the name.
            let hidden =
                master.login.password.as_deref() == Some(SECRET) && !master.name.contains(SECRET);
            let mut of_this = shown.iter().filter(|shown| shown.contains(&*master.name));
            assert!(!hidden || of_this.all(|shown| !shown.contains(SECRET)), "{}", master.name);
        }
    }
}
