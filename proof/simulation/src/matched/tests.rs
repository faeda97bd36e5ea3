//! The matcher evaluates what is exported, and nothing else: a page that is changed in its script alone has
//! another verdict. And the command behind `scripts/planted`.

use super::Scope;
use super::formulas::{self, PAGES, Proof};
use crate::play::{draw_unmatched, play_matched};
use crate::seed::Seed;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::{fs, panic, thread};

/// Returns the first of so many worlds whose steps are not those of the proof, and why. Only those count that its
/// pages cover.
fn refused(proof: &Proof, worlds: usize) -> Option<(usize, String)> {
    let covers = |seed: &Seed| {
        let (setup, _) = draw_unmatched(*seed, None);
        let scope = Scope::of(&setup);
        setup.story.is_some() || PAGES.iter().any(|page| scope.is_of(page))
    };
    let seeds: Vec<Seed> = (0..).map(Seed).filter(covers).take(worlds).collect();
    let (next, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let found: Mutex<Option<(usize, String)>> = Mutex::new(None);
    let work = || {
        while !is_over.load(Relaxed) {
            let world = next.fetch_add(1, Relaxed);
            let Some(seed) = seeds.get(world) else { return };
            // A change of the code may trip a check of its own, which is no verdict here.
            let play = || play_matched(*seed, proof).violation;
            let Ok(Some(violation)) = panic::catch_unwind(panic::AssertUnwindSafe(play)) else {
                continue;
            };
            is_over.store(true, Relaxed);
            let mut found = found.lock().expect("no thread panics with it");
            if found.as_ref().is_none_or(|(first, _)| world < *first) {
                *found = Some((world, violation));
            }
        }
    };
    thread::scope(|scope| {
        (0..thread::available_parallelism().map_or(1, usize::from))
            .for_each(|_| _ = scope.spawn(work));
    });
    found.into_inner().expect("no thread panicked with it")
}

/// Exports the pages as the scripts have them once a part of page `lock` is replaced.
fn exported(name: &str, part: &str, by: &str) -> Proof {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = root.join(format!("target/tmp/pages-{name}"));
    let _ = fs::remove_dir_all(&folder);
    copy(&root.join("proof/induction"), &folder.join("scripts"));
    let page = folder.join("scripts/lock.py");
    let script = fs::read_to_string(&page).expect("page lock");
    assert_eq!(script.matches(part).count(), 1, "page lock has this once: {part}");
    fs::write(&page, script.replace(part, by)).expect("a changed page");
    let exported = Command::new(formulas::folder().join("../prove/venv/bin/python"))
        .arg(folder.join("scripts/prove.py"))
        .arg("--export")
        .arg(folder.join("formulas"))
        .args(PAGES)
        .args(formulas::OF_CONNECTIONS)
        .arg(formulas::AT_ODDS)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .expect("the solvers, which `scripts/prove` installs");
    assert!(exported.status.success(), "{}", String::from_utf8_lossy(&exported.stderr));
    formulas::read(&folder.join("formulas"))
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("the pages") {
        let entry = entry.expect("a file of the pages");
        let to = to.join(entry.file_name());
        match entry.file_type().expect("its type").is_dir() {
            true => copy(&entry.path(), &to),
            false => _ = fs::copy(entry.path(), to).expect("a copy"),
        }
    }
}

#[test]
fn a_page_that_is_changed_in_its_script_alone_has_another_verdict() {
    let worlds = 40;
    let same = exported("same", "x.boot(n) <= x.now", "x.boot(n) <= x.now");
    assert_eq!(refused(&same, worlds), None, "the page as it is");
    let changes = [
        // A conjunct that says more.
        (
            "conjunct",
            "Implies(x.lost(t), And(x.held(t),",
            "Implies(x.held(t), And(x.lost(t),",
            "conjunct kept",
        ),
        // Actions that ask for more, or change something else.
        (
            "condition",
            "m.action(\"tick\", \"time goes by\", [\"world\"], [d0 > S.now]",
            "m.action(\"tick\", \"time goes by\", [\"world\"], [d0 < S.now]",
            "action tick",
        ),
        (
            "change",
            "to(\"begun\", r0, True), to(\"start\", r0, S.now))",
            "to(\"begun\", r0, True), to(\"start\", r0, S.boot(n0)))",
            "action begin",
        ),
        ("deadline", "d0 <= S.start(r0) + trust(token)]", "d0 <= S.start(r0)]", "action win"),
        // An assumption, and a goal.
        (
            "assumption",
            "ForAll([t], closed(t) <= guard)",
            "ForAll([t], closed(t) > guard)",
            "assumption guard",
        ),
        ("goal", "[valid(t), valid(u)], t == u)", "[valid(t), valid(u)], t != u)", "goal G1"),
    ];
    for (name, part, by, expected) in changes {
        let (world, why) = refused(&exported(name, part, by), worlds).expect(name);
        eprintln!(
            "{name}: refused after {} worlds: {}",
            world + 1,
            why.lines().next().unwrap_or_default()
        );
        assert!(why.contains(&format!("page lock, {expected} ")), "{name}: {why}");
    }
}

/// `scripts/planted`: plays up to a thousand worlds of code that was changed, and prints after how many
/// the proof refuses a step, and why.
#[test]
#[ignore = "for scripts/planted, which changes the code"]
fn a_planted_change_is_refused() {
    let refused = refused(&formulas::exported(), 1_000);
    match refused {
        Some((world, why)) => {
            eprintln!("REFUSED {} {}", world + 1, why.lines().next().unwrap_or_default())
        }
        None => panic!("none of a thousand worlds was refused"),
    }
}
