//! A password in a file of its own, named by a variable or in the settings.

use crate::cli::{self, Finished, run};
use crate::support::masters::Masters;
use std::fs;
use std::path::Path;

fn with(masters: &Masters, file: &Path, arguments: &[&str]) -> Finished {
    let mut command = cli::over(masters.urls());
    run(command.env("QUORUMLOCK_CREDENTIALS_FILE", file).args(arguments))
}

#[test]
fn a_password_is_read_from_the_file_that_a_variable_or_the_settings_name() {
    let masters = Masters::start_with(3, &["--requirepass", "hunter2"]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("secret");
    fs::write(&file, "default\nhunter2\n").unwrap();
    for arguments in [&["run", "r", "--", "echo", "done"][..], &["inspect", "r"], &["list"]] {
        let done = with(&masters, &file, arguments);
        assert_eq!(done.code, Some(0), "{arguments:?}: {done:?}");
    }
    let settings = folder.path().join("locks.toml");
    fs::write(&settings, "credentials_file = \"secret\"").unwrap();
    let mut command = cli::over(masters.urls());
    let done = run(command.arg("--config").arg(&settings).args(["run", "r", "--", "echo", "done"]));
    assert_eq!((done.code, &*done.stdout), (Some(0), "done\n"), "{done:?}");
}

#[test]
fn a_file_that_is_wrong_or_missing_is_named_and_not_shown() {
    let masters = Masters::start_with(3, &["--requirepass", "hunter2"]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("secret");
    fs::write(&file, "hunter3").unwrap();
    for arguments in [&["run", "r", "--", "true"][..], &["inspect", "r"], &["doctor"], &["list"]] {
        let refused = with(&masters, &file, arguments);
        let shown = format!("{refused:?}");
        assert_ne!(refused.code, Some(0), "{arguments:?}: {shown}");
        assert!(shown.contains("WRONGPASS"), "{arguments:?}: {shown}");
        assert!(!shown.contains("hunter"), "{arguments:?}: {shown}");
        let missing = with(&masters, &folder.path().join("nowhere"), arguments);
        let shown = format!("{missing:?}");
        assert!(shown.contains("credentials_file: "), "{arguments:?}: {shown}");
        assert!(shown.contains("nowhere cannot be read: No such file"), "{arguments:?}: {shown}");
    }
}
