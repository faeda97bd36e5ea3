//! Runs again everything that a fuzzer has found worth keeping: `scripts/fuzz` writes each such input as a line of digits.

use super::TARGETS;
use std::path::{Path, PathBuf};
use std::{fs, io};

const HERE: &str = env!("CARGO_MANIFEST_DIR");

fn corpus(target: &str) -> PathBuf {
    Path::new(HERE).join("corpus").join(target)
}

/// Returns the inputs that were found, each with its line.
fn found(target: &str) -> io::Result<Vec<(String, Vec<u8>)>> {
    let path = Path::new(HERE).join("kept").join(target).with_extension("hex");
    if !path.exists() {
        return Ok(Vec::new());
    }
    let byte = |line: &str, at| u8::from_str_radix(line.get(at..at + 2)?, 16).ok();
    let input = |line: &str| {
        let bytes: Option<Vec<u8>> = (0..line.len()).step_by(2).map(|at| byte(line, at)).collect();
        let bytes =
            bytes.ok_or_else(|| io::Error::other(format!("{line} in {}", path.display())))?;
        Ok((line.to_owned(), bytes))
    };
    fs::read_to_string(&path)?.lines().map(input).collect()
}

#[test]
fn what_fuzzers_have_found_before_breaks_nothing() -> io::Result<()> {
    for (name, target) in TARGETS {
        let mut inputs = found(name)?;
        for entry in fs::read_dir(corpus(name))? {
            let path = entry?.path();
            inputs.push((path.display().to_string(), fs::read(&path)?));
        }
        assert!(inputs.len() >= 5, "{name}: {} inputs are no corpus", inputs.len());
        for (input, bytes) in inputs {
            eprintln!("{name}: {input}");
            target(&bytes);
        }
    }
    Ok(())
}

#[test]
fn every_corpus_has_its_target() -> io::Result<()> {
    for folder in ["corpus", "kept"] {
        for entry in fs::read_dir(Path::new(HERE).join(folder))? {
            let path = entry?.path();
            let is_read =
                TARGETS.iter().any(|(target, _)| path.file_stem() == Some(target.as_ref()));
            assert!(is_read, "no target reads {}", path.display());
        }
    }
    Ok(())
}
