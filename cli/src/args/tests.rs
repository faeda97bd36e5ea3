use super::*;
use proptest::prelude::*;

fn of(words: &[&str]) -> Result<Args, clap::Error> {
    let words = std::iter::once("quorumlock").chain(words.iter().copied());
    parse(&words.map(OsString::from).collect::<Vec<_>>())
}

fn run(words: &[&str]) -> RunArgs {
    match of(words).unwrap().command {
        Command::Run(run) => *run,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_definition_contradicts_itself_nowhere() {
    Args::command().debug_assert();
}

#[test]
fn what_stands_behind_the_dashes_is_the_commands_alone() {
    let run = run(&["run", "--ttl", "9s", "a", "b", "--", "sh", "-c", "--json", "--", "--ttl"]);
    assert_eq!(run.resources, ["a", "b"]);
    assert_eq!(run.command, ["sh", "-c", "--json", "--", "--ttl"]);
    assert_eq!(run.ttl, Some(Duration::from_secs(9)));
}

#[test]
fn masters_are_named_before_the_command_or_behind_it() {
    for words in [
        ["--node", "redis://a", "--node", "redis://b", "doctor"],
        ["doctor", "--node", "redis://a", "--node", "redis://b"],
    ] {
        assert_eq!(of(&words).unwrap().masters.node, ["redis://a", "redis://b"]);
    }
}

#[test]
fn a_password_in_a_misplaced_address_is_not_shown() {
    for words in [
        &["doctor", "redis://:hunter2@a"][..],
        &["doctor", "--nodes=redis://:hunter2@a"],
        &["redis://:hunter2@a"],
        &["inspect", "--node"],
        &["watch", "--interval", "redis://:hunter2@a"],
    ] {
        let error = of(words).map(|_| ()).unwrap_err().to_string();
        let line = in_one_line(&error, &words.iter().map(OsString::from).collect::<Vec<_>>());
        assert!(!line.contains("hunter2") && !line.contains('\n'), "{line}");
    }
}

/// Words that mean something, and any others.
fn word() -> impl Strategy<Value = OsString> {
    let known = prop::sample::select(vec![
        "run",
        "elect",
        "--value",
        "inspect",
        "ask",
        "--on-wanted",
        "term",
        "force-release",
        "doctor",
        "completions",
        "man",
        "help",
        "--",
        "--node",
        "--joint-with",
        "--config",
        "--json",
        "-v",
        "--timeout",
        "--no-wait",
        "--no-timeout",
        "--ttl",
        "--max-hold",
        "--keep-alive-forever",
        "--lock-delay",
        "--label",
        "--fenced",
        "--fair",
        "--permits",
        "--shared",
        "--forget",
        "--min-hold",
        "--grace",
        "-E",
        "--cycles",
        "--tasks",
        "--color",
        "never",
        "--yes",
        "-h",
        "--help",
        "--version",
        "10s",
        "0",
        "1m 30s",
        "-1",
        "bash",
        "redis://:hunter2@a",
        "--node=redis://:hunter2@a",
        "r",
        "",
    ]);
    let bytes = prop::collection::vec(any::<u8>(), 0..12);
    prop_oneof![
        6 => known.prop_map(OsString::from),
        1 => any::<String>().prop_map(OsString::from),
        1 => bytes.prop_map(|bytes| {
            #[cfg(unix)]
            return std::os::unix::ffi::OsStringExt::from_vec(bytes);
            #[cfg(not(unix))]
            return String::from_utf8_lossy(&bytes).into_owned().into();
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_arguments_parse_or_fail_in_one_line_without_passwords(
        words in prop::collection::vec(word(), 0..12),
    ) {
        let arguments: Vec<OsString> =
            std::iter::once(OsString::from("quorumlock")).chain(words).collect();
        if let Err(error) = parse(&arguments)
            && error.use_stderr()
        {
            let line = in_one_line(&error.to_string(), &arguments);
            prop_assert!(!line.contains("hunter2"), "{}", line);
            prop_assert!(!line.contains('\n') && line.ends_with(" --help)"), "{}", line);
            prop_assert!(line.contains(" (see quorumlock"), "{}", line);
        }
    }
}
