//! Examples that tests run as programs.

use std::process::Command;

/// The beginnings of what the runner of the tests sets, and some build scripts depend on.
const OF_THE_RUNNER: [&str; 2] = ["CARGO_MANIFEST_", "CARGO_PKG_"];

/// Returns a cargo that builds this package without doing again what was done for the tests.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
    for (name, _) in std::env::vars_os() {
        if OF_THE_RUNNER.iter().any(|start| name.to_string_lossy().starts_with(start)) {
            cargo.env_remove(name);
        }
    }
    cargo
}
