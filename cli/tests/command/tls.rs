//! The command on masters that speak TLS: where it finds their authority, and what it says if that is
//! not the one.

// The command reads files, and the tests of the library do the rest.
#![allow(dead_code)]

#[path = "../../../tests/redis/tls/authority.rs"]
mod authority;
#[path = "../../../tests/redis/tls/masters.rs"]
mod masters;

use crate::cli::{self, run};
use authority::Authority;
use masters::Encrypted;
use std::time::{Duration, Instant};

#[test]
fn the_authority_is_named_by_a_variable_and_a_wrong_one_is_a_mistake_at_once() {
    let (ours, theirs) = (Authority::new("ours"), Authority::new("theirs"));
    let identity = ours.issue(&["localhost"]);
    let masters = Encrypted::start(3, &ours, &identity);
    let files = tempfile::tempdir().unwrap();
    let folder = |name: &str, authority: &Authority| {
        let folder = files.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        authority.write(&identity, &folder);
        folder.join("authority.pem")
    };
    let (right, wrong) = (folder("right", &ours), folder("wrong", &theirs));
    let with = |file: &std::path::Path, arguments: &[&str]| {
        let mut command = cli::over(masters.urls());
        run(command.env("QUORUMLOCK_TLS_CA_FILE", file).args(arguments))
    };
    let words = ["run", "--timeout", "40s", "r", "--", "echo", "done"];
    let done = with(&right, &words);
    assert_eq!((done.code, &*done.stdout, &*done.stderr), (Some(0), "done\n", ""), "{done:?}");

    let began = Instant::now();
    let refused = with(&wrong, &words);
    assert_eq!(refused.code, Some(115), "{refused:?}");
    assert!(began.elapsed() < Duration::from_secs(20), "not after its timeout");
    let remedy = "name its authority in tls_ca_file";
    // All masters have the same problem, which is one line.
    assert_eq!(refused.stderr.matches(remedy).count(), 1, "{refused:?}");
    assert_eq!(refused.stderr.matches("localhost:").count(), 3, "{refused:?}");
    for arguments in [&["list"][..], &["inspect", "r"], &["doctor"], &["run", "r", "--", "true"]] {
        let refused = with(&wrong, arguments);
        let all = format!("{}{}", refused.stdout, refused.stderr).replace("\n    ", " ");
        assert!(all.contains(remedy), "{arguments:?}: {refused:?}");
        assert!(!all.contains("RedlockBuilder"), "{arguments:?}: {refused:?}");
    }
}
