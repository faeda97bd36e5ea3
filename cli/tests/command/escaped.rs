//! Whatever the name of a resource, a label or an address is: the command prints as many lines as with
//! any other, no line does anything to a terminal, and programs read the very name.

use crate::cli::{self, Running, run};
use crate::support::masters::Masters;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use quorumlock::report::{Escaped, is_hidden};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// A line of a log, forged by a name.
const FORGED: &str = "order:1\n2026-11-22 ERROR forged line \u{1b}[31m";

/// Labels by names: those above, and arbitrary ones.
fn named() -> BTreeMap<String, String> {
    let forging =
        "\n\r\t\u{7f}\u{1b}\u{9b}\u{85}\u{2028}\u{202e}\u{2066}\u{200b}\u{feff}\\\"[; é注";
    let forging: Vec<char> = forging.chars().collect();
    let letters = prop_oneof![3 => prop::sample::select(forging), 1 => any::<char>()];
    let text = prop::collection::vec(letters, 0..12).prop_map(|letters| {
        // No argument has a zero byte.
        letters.into_iter().filter(|letter| *letter != '\0').collect::<String>()
    });
    let pair =
        (text.clone(), text).prop_map(|(name, label)| (format!("n{name}"), format!("l{label}")));
    let mut runner = TestRunner::deterministic();
    let mut pair = || pair.new_tree(&mut runner).unwrap().current();
    let mut named: BTreeMap<_, _> = (0..40).map(|_| pair()).collect();
    named.insert("lab2".to_owned(), "A\u{1b}[31mA".to_owned());
    named.insert(FORGED.to_owned(), "web-1".to_owned());
    named
}

/// Lets another client hold these on all of `masters`.
async fn held(masters: &Masters, named: &BTreeMap<String, String>) {
    for url in masters.urls() {
        let client = redis::Client::open(url).unwrap();
        let mut connection = client.get_multiplexed_async_connection().await.unwrap();
        for (name, label) in named {
            let mut set = redis::cmd("SET");
            set.arg(name).arg(format!("{TOKEN}:{label}")).arg("PX").arg(600_000);
            let (): () = set.query_async(&mut connection).await.unwrap();
        }
    }
}

/// Returns the lines of a text that does nothing to a terminal.
fn lines(text: &str) -> Vec<&str> {
    assert!(!text.chars().any(|c| c != '\n' && (is_hidden(c) || c.is_control())), "{text:?}");
    text.lines().collect()
}

fn json(text: &str) -> Vec<Value> {
    lines(text).into_iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_look_at_locks_has_a_line_for_each_and_the_very_names_in_json() {
    let (masters, named) = (Masters::start(3), named());
    held(&masters, &named).await;
    let names: Vec<&str> = named.keys().map(String::as_str).collect();
    let with = |words: &[&'static str]| [words, &names].concat();

    let text = run(&mut cli::on(&masters, &with(&["inspect"]))).stdout;
    let inspected = lines(&text);
    assert_eq!(inspected.len(), named.len() * 4, "{text}");
    for (shown, (name, label)) in inspected.chunks(4).zip(&named) {
        let begins = format!("{:?} is held by {}, expires in ", Escaped(name), Escaped(label));
        assert!(shown[0].starts_with(&begins), "{begins}: {shown:?}");
    }
    let read = json(&run(&mut cli::on(&masters, &with(&["--json", "inspect"]))).stdout);
    let read =
        read.iter().map(|lock| (lock["resource"].as_str(), lock["holder"]["label"].as_str()));
    assert!(read.eq(named.iter().map(|(name, label)| (Some(&**name), Some(&**label)))));

    let text = run(&mut cli::on(&masters, &["list"])).stdout;
    let table = lines(&text);
    // The heads, and the number of locks below an empty line.
    assert_eq!(table.len(), named.len() + 3, "{text}");
    for (row, name) in table[1..].iter().zip(&names) {
        let rest = row.strip_prefix(&Escaped(name).to_string()).expect(row);
        assert!(rest.trim_start().starts_with("held  "), "{text}");
    }
    let read = json(&run(&mut cli::on(&masters, &["--json", "list"])).stdout);
    let read = read.iter().map(|lock| (lock["resource"].as_str(), lock["holder"].as_str()));
    assert!(read.eq(named.iter().map(|(name, label)| (Some(&**name), Some(&**label)))));

    for words in [&["watch"][..], &["--json", "watch"]] {
        let mut watch = cli::on(&masters, words).stdout(Stdio::piped()).spawn().unwrap();
        let printed = BufReader::new(watch.stdout.take().unwrap()).lines();
        let printed: Vec<String> = printed.take(named.len()).map(Result::unwrap).collect();
        watch.kill().unwrap();
        watch.wait().unwrap();
        for (line, (name, label)) in printed.iter().zip(&named) {
            if words.len() == 1 {
                let event = format!("Z {:?} is held by {}, ", Escaped(name), Escaped(label));
                assert!(lines(line)[0].contains(&event), "{line}");
            } else {
                let read = &json(line)[0];
                assert_eq!(
                    (&read["resource"], &read["holder"]),
                    (&(&**name).into(), &(&**label).into())
                );
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_that_is_not_had_is_reported_in_as_many_lines_whatever_its_name() {
    let (masters, named) = (Masters::start(3), named());
    held(&masters, &named).await;
    // Most of it is waiting.
    std::thread::scope(|scope| {
        for (name, label) in named.iter().take(3).chain(named.get_key_value(FORGED)) {
            scope.spawn(|| reported_in_as_many_lines(&masters, name, label));
        }
    });
}

fn reported_in_as_many_lines(masters: &Masters, name: &str, label: &str) {
    let holder = format!("{:?} is held by {}, expires in ", Escaped(name), Escaped(label));
    let refused = run(&mut cli::on(masters, &["run", "-n", name, "--", "true"]));
    let shown = lines(&refused.stderr);
    assert_eq!((refused.code, shown.len()), (Some(111), 2), "{refused:?}");
    assert!(shown[0].starts_with(&format!("quorumlock: {holder}")), "{refused:?}");
    let refused = run(&mut cli::on(masters, &["--json", "run", "-n", name, "--", "true"]));
    let read = json(&refused.stderr);
    assert_eq!((read.len(), &read[0]["resource"]), (1, &name.into()), "{refused:?}");
    assert_eq!(read[0]["holder"]["label"], label);

    let mut waits = cli::on(masters, &["-v", "run", "--timeout", "1s", name, "--", "true"]);
    let waited = Running::start(&mut waits).finish();
    let shown = lines(&waited.stderr);
    let waiting =
        format!("quorumlock: waiting for {:?}: held by {}", Escaped(name), Escaped(label));
    assert!(shown.iter().any(|line| line.starts_with(&waiting)), "{waited:?}");
    assert!(shown.iter().all(|line| line.starts_with("quorumlock: ") || line.starts_with("  ")));

    let taken = run(&mut cli::on(masters, &["force-release", "-y", name]));
    assert_eq!(lines(&taken.stdout).len(), 2, "{taken:?}");
    let free = run(&mut cli::on(masters, &["--json", "force-release", "-y", name]));
    assert_eq!(json(&free.stdout)[0]["was"]["resource"], name);

    let script = "printf %s \"$QUORUMLOCK_RESOURCE\"";
    let ran = run(&mut cli::on(masters, &["-v", "run", name, "--", "sh", "-c", script]));
    assert_eq!((ran.code, &*ran.stdout), (Some(0), name), "{ran:?}");
    assert!(lines(&ran.stderr).contains(&&*format!("quorumlock: acquired {:?}", Escaped(name))));
    let led = run(&mut cli::on(masters, &["-v", "elect", name, "--value", "v", "--", "true"]));
    let leads = format!("quorumlock: leads {:?} in term ", Escaped(name));
    assert!(lines(&led.stderr).iter().any(|line| line.starts_with(&leads)), "{led:?}");
}

#[test]
fn an_address_a_prefix_or_an_argument_adds_no_line_and_no_escape() {
    let forged = "x\n\u{1b}[31m\u{202e}";
    // A parser of addresses drops a line feed that is not encoded.
    let encoded = forged.replace('\n', "%0A");
    let urls = ["a", "b", "c"].map(|end| format!("unix:///no/such/{encoded}{end}"));
    let on = |words: &[&str]| {
        let mut command = cli::bare();
        for url in &urls {
            command.args(["--node", url]);
        }
        run(command.args(words).env("QUORUMLOCK_ACQUIRE_TIMEOUT", "200ms"))
    };
    let shown = Escaped(forged).to_string();
    for words in [&["inspect", "r"][..], &["run", "-n", "r", "--", "true"], &["doctor"], &["list"]]
    {
        let plain = on(words);
        let text = format!("{}{}", plain.stdout, plain.stderr);
        let named =
            lines(&text).into_iter().map(|line| line.matches(&shown).count()).sum::<usize>();
        // What all masters answer alike is one line, which counts them.
        assert!(named >= 3 || text.contains("\n  all 3 masters  "), "{words:?}: {plain:?}");
        let output = on(&[&["--json"], words].concat());
        let read = json(&format!("{}{}", output.stdout, output.stderr));
        let node = read.iter().find_map(|value| value["nodes"][0]["node"].as_str());
        assert!(node.is_some_and(|node| node.contains(forged)), "{words:?}: {output:?}");
    }
    let mut prefixed = cli::over(["redis://127.0.0.1:1"]);
    let prefixed = run(prefixed.args(["inspect", "r"]).env("QUORUMLOCK_KEY_PREFIX", forged));
    assert!(lines(&prefixed.stdout)[0].contains(&format!("(key \"{shown}r\")")), "{prefixed:?}");
    let refused = run(cli::bare().args(["inspect", "r", "--permits", forged]));
    assert_eq!(lines(&refused.stderr).len(), 1, "{refused:?}");
    let refused = run(cli::bare().args(["run", "r", "--", forged]));
    assert_eq!(lines(&refused.stderr).len(), 1, "{refused:?}");
}
