//! Runs again everything that a fuzzer has found worth keeping.

use super::TARGETS;
use std::path::{Path, PathBuf};
use std::{fs, io};

fn corpus(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target)
}

#[test]
fn what_fuzzers_have_found_before_breaks_nothing() -> io::Result<()> {
    for (name, target) in TARGETS {
        let mut seen = 0;
        for entry in fs::read_dir(corpus(name))? {
            let path = entry?.path();
            eprintln!("{}", path.display());
            target(&fs::read(&path)?);
            seen += 1;
        }
        assert!(seen >= 5, "{name}: {seen} inputs are no corpus");
    }
    Ok(())
}

#[test]
fn every_corpus_has_its_target() -> io::Result<()> {
    for entry in fs::read_dir(corpus(""))? {
        let name = entry?.file_name();
        let is_read = TARGETS.iter().any(|(target, _)| name == *target);
        assert!(is_read, "no target reads {name:?}");
    }
    Ok(())
}
