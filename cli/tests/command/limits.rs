//! A process that may open few files.

use crate::cli::{self, run};
use crate::support::masters::Masters;

#[test]
fn a_limit_of_open_files_is_named_or_is_enough() {
    let masters = Masters::start(5);
    let mut codes = Vec::new();
    for limit in [6, 8, 10, 12, 14, 24] {
        let script = format!("ulimit -n {limit}; exec {} run --no-wait r -- true", program());
        let output = run(cli::beside(&masters, "sh").args(["-c", &script]));
        let is_named = output.stderr.contains("open files");
        assert!(output.code == Some(0) || is_named, "{limit}: {output:?}");
        codes.push(output.code == Some(0));
    }
    assert!(!codes[0] && codes[5], "{codes:?}");
}

fn program() -> &'static str {
    env!("CARGO_BIN_EXE_quorumlock")
}
