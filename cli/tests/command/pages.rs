//! `quorumlock help` and `quorumlock man`: the pages that people ask for first.

use crate::cli::{bare, run};
use crate::doctor::COMMANDS;
use std::io::Write;
use std::process::{Command, Stdio};

#[test]
fn help_of_a_command_is_that_of_its_option() {
    for command in COMMANDS {
        let asked = run(bare().args(["help", command]));
        let option = run(bare().args([command, "--help"]));
        assert_eq!((asked.code, &*asked.stderr), (Some(0), ""), "{command}");
        assert_eq!(asked.stdout, option.stdout, "{command}");
        assert!(asked.stdout.contains(&format!("Usage: quorumlock {command}")), "{asked:?}");
    }
    let whole = run(bare().arg("help"));
    assert_eq!(whole.stdout, run(bare().arg("--help")).stdout);
    let none = run(bare().args(["help", "nothing"]));
    assert_eq!((none.code, none.stderr.lines().count()), (Some(114), 1), "{none:?}");
}

fn man(arguments: &[&str]) -> String {
    let output = run(bare().arg("man").args(arguments));
    assert_eq!((output.code, &*output.stderr), (Some(0), ""), "{arguments:?}");
    assert!(
        output.stdout.starts_with(".ie") && output.stdout.matches(".ie").count() == 1,
        "{output:?}"
    );
    output.stdout
}

fn sections(page: &str) -> Vec<String> {
    let heads = page.lines().filter_map(|line| line.strip_prefix(".SH "));
    heads.map(|head| head.trim_matches('"').to_owned()).collect()
}

#[test]
fn the_manual_names_every_command_and_has_a_page_for_each() {
    let text = man(&[]).replace("\\-", "-");
    for command in COMMANDS {
        assert!(text.contains(&format!("quorumlock-{command}(1)")), "{command}: {text}");
        let page = man(&[command]).replace("\\-", "-");
        assert!(page.contains(&format!("quorumlock {command}")), "{page}");
        assert!(sections(&page).iter().any(|section| section == "SEE ALSO"), "{page}");
    }
    let none = run(bare().args(["man", "nothing"]));
    assert_eq!(none.code, Some(114), "{none:?}");
}

#[test]
fn the_sections_of_the_manual_are_those_of_any_other() {
    let expected = [
        "NAME",
        "SYNOPSIS",
        "DESCRIPTION",
        "OPTIONS",
        "EXIT STATUS",
        "ENVIRONMENT",
        "FILES",
        "EXAMPLES",
        "SEE ALSO",
    ];
    assert_eq!(sections(&man(&["run"])), expected);
    let mut whole = sections(&man(&[]));
    whole.retain(|section| section != "COMMANDS");
    assert_eq!(whole, expected);
    let page = man(&["run"]).replace("\\-", "-");
    for part in [
        "[OPTIONS] <RESOURCE>... -- <COMMAND>...",
        "QUORUMLOCK_FENCING_TOKEN",
        "QUORUMLOCK_SLOT",
        "/etc/quorumlock/config.toml",
        "the lock was lost while the command ran",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
}

/// groff formats it without a warning, where it is installed.
#[test]
fn the_manual_is_valid_roff() {
    let installed = |program: &str| {
        let tried = Command::new(program).arg("--version").stdout(Stdio::null()).status();
        tried.is_ok_and(|status| status.success())
    };
    if !installed("groff") {
        eprintln!("groff is not installed: nothing was formatted");
        return;
    }
    for arguments in [&[][..], &["run"], &["inspect"], &["man"]] {
        let mut groff = Command::new("groff");
        groff.args(["-man", "-Tutf8", "-ww", "-P-cbou"]).stdin(Stdio::piped());
        let mut groff = groff.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        groff.stdin.take().unwrap().write_all(man(arguments).as_bytes()).unwrap();
        let output = groff.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("\nSYNOPSIS\n") && text.contains("SEE ALSO"), "{text}");
    }
}
