//! What readers cost a master, in microseconds of its time.

use super::Real;
use crate::support::readers::{ACQUIRE, Answer, EXTEND, HINT, LOCK, Master, READERS, RELEASE};

const PLAIN_EXTEND: &str = include_str!("../../../core/src/wire/scripts/extend.lua");
const PLAIN_RELEASE: &str = include_str!("../../../core/src/wire/scripts/release.lua");

const ROUNDS: usize = 7;
const TIMES: u64 = 3_000;
const LIFE: &str = "600000";
const MINE: &str = "000102030405060708090a0b0c0d0e0f";

/// Calls that belong together, as the words of each, a script by its hash.
struct Case {
    name: &'static str,
    /// Readers that are there already.
    beside: usize,
    /// What is done once, before those that are measured.
    first: Option<Vec<String>>,
    calls: Vec<Vec<String>>,
}

/// The table of what readers cost beside a plain lock. The cases take turns, so that all have the same
/// machine. Executing is what the master counts for commands and scripts; CPU includes reading the
/// request and writing the answer. It takes half a minute.
#[test]
#[ignore = "measures"]
fn the_cost_of_readers_in_microseconds_of_the_master() {
    let mut real = Real::start();
    let cases = cases(&mut real);
    let mut figures = vec![Vec::new(); cases.len()];
    for _ in 0..ROUNDS {
        for (case, figures) in cases.iter().zip(&mut figures) {
            figures.push(measured(&mut real, case));
        }
    }
    eprintln!("{}", real.server.version().trim());
    eprintln!("{:<52} {:>9} {:>9}", "us of the master, medians", "executing", "CPU");
    for (case, figures) in cases.iter().zip(figures) {
        let median = |part: fn(&(f64, f64)) -> f64| {
            let mut parts: Vec<f64> = figures.iter().map(part).collect();
            parts.sort_by(f64::total_cmp);
            parts[ROUNDS / 2]
        };
        let name = match case.beside {
            0 => case.name.to_owned(),
            others => format!("{}, beside {others}", case.name),
        };
        eprintln!("{name:<52} {:>9.1} {:>9.1}", median(|cost| cost.0), median(|cost| cost.1));
    }
}

fn cases(real: &mut Real) -> Vec<Case> {
    let mut hash = |script: &str| match real.ask(&["SCRIPT", "LOAD", script]) {
        Answer::Text(hash) => hash,
        other => panic!("{other:?}"),
    };
    let words = |line: String| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let set = words(format!("SET {LOCK} {MINE} NX PX {LIFE}"));
    let plain = words(format!("EVALSHA {} 1 {LOCK} {MINE}", hash(PLAIN_RELEASE)));
    let longer = words(format!("EVALSHA {} 1 {LOCK} {MINE} {LIFE}", hash(PLAIN_EXTEND)));
    let acquire =
        words(format!("EVALSHA {} 3 {LOCK} {READERS} {HINT} {MINE} {LIFE} 0", hash(ACQUIRE)));
    let release = words(format!("EVALSHA {} 2 {LOCK} {READERS} {MINE}", hash(RELEASE)));
    let extend = words(format!("EVALSHA {} 2 {LOCK} {READERS} {MINE} {LIFE}", hash(EXTEND)));
    let case = |name, beside, first: Option<&Vec<String>>, calls: &[&Vec<String>]| Case {
        name,
        beside,
        first: first.cloned(),
        calls: calls.iter().map(|call| (*call).clone()).collect(),
    };
    let mut cases = vec![
        case("SET NX PX, release.lua", 0, None, &[&set, &plain]),
        case("extend.lua", 0, Some(&set), &[&longer]),
        case("acquire_read.lua refused by a lock", 0, Some(&set), &[&acquire]),
    ];
    for beside in [0, 100, 1_000] {
        cases.push(case("acquire_read.lua, release_read.lua", beside, None, &[&acquire, &release]));
    }
    for beside in [0, 100, 1_000] {
        cases.push(case("extend_read.lua", beside, Some(&acquire), &[&extend]));
    }
    // The same token would be refused as its own reader.
    cases[2].calls[0][6] = MINE.replace('0', "f");
    cases
}

/// Returns the microseconds that the master executed, and those of its CPU time, for each time that
/// all calls of the case were made.
fn measured(real: &mut Real, case: &Case) -> (f64, f64) {
    real.ask(&["DEL", LOCK, READERS, HINT]);
    for other in 0..case.beside {
        let token = format!("{other:032x}");
        let words = ["EVAL", ACQUIRE, "3", LOCK, READERS, HINT, &token, LIFE, "0"];
        assert_eq!(real.ask(&words), Answer::Okay);
    }
    let ask = |real: &mut Real, call: &Vec<String>| {
        real.ask(&call.iter().map(String::as_str).collect::<Vec<_>>())
    };
    case.first.iter().for_each(|call| assert_eq!(ask(real, call), Answer::Okay));
    real.ask(&["CONFIG", "RESETSTAT"]);
    let cpu_before = cpu_micros(real);
    for _ in 0..TIMES {
        for call in &case.calls {
            let answer = ask(real, call);
            assert!(
                !matches!(answer, Answer::Error(_) | Answer::Nil | Answer::Int(0)),
                "{answer:?}"
            );
        }
    }
    let cpu = cpu_micros(real) - cpu_before;
    let executed: f64 = ["set", "evalsha"].into_iter().map(|name| executed(real, case, name)).sum();
    (executed / TIMES as f64, cpu / TIMES as f64)
}

/// Returns the microseconds of all calls of the command; nothing for a SET that a script has made,
/// which the script includes.
fn executed(real: &mut Real, case: &Case, name: &str) -> f64 {
    let is_called = case.calls.iter().any(|call| call[0].eq_ignore_ascii_case(name));
    if !is_called {
        return 0.0;
    }
    let line = info(real, "commandstats", &format!("cmdstat_{name}:"));
    let micros = line.split(',').find_map(|field| field.strip_prefix("usec="));
    micros.expect("a count of microseconds").parse().expect("a number")
}

fn cpu_micros(real: &mut Real) -> f64 {
    let seconds = ["used_cpu_user:", "used_cpu_sys:"].map(|field| {
        let seconds: f64 = info(real, "cpu", field).parse().expect("seconds");
        seconds
    });
    seconds.iter().sum::<f64>() * 1e6
}

fn info(real: &mut Real, section: &str, field: &str) -> String {
    let Answer::Text(text) = real.ask(&["INFO", section]) else { panic!("no INFO {section}") };
    let line = text.lines().find_map(|line| line.strip_prefix(field));
    line.unwrap_or_else(|| panic!("no {field} in {text}")).to_owned()
}
