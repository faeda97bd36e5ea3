//! The three owners of the machine's state, and the rooms that may ask what kind a lock is.
//!
//! A method that can open every drawer makes one room of all rooms; so does a question that is asked in all
//! of them.

use crate::source::{Token, files, tokens};
use crate::{read, root, shipped};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Methods of the coordinator. This bound may be lowered and never raised.
const MOST_METHODS: usize = 60;

/// The functions of `core/src/waiting`, which only become fewer.
const MOST_OF_WAITING: usize = 333;

/// What locks say to waiters.
const CALLS: [&str; 15] = [
    "asks_remaining",
    "found_in_use",
    "freed",
    "idle",
    "left",
    "left_idle",
    "next_holder",
    "notify_others",
    "occupy",
    "occupy_idle",
    "refused",
    "request",
    "shared",
    "won",
    "won_without_masters",
];

/// What exclusion rests on, as `scripts/lines` counts it.
const EXCLUSION: [&str; 4] = ["quorum", "wire", "master", "lock"];

/// What locks import of waiters: those to whom they report, and what these answer.
const IMPORTED: [&str; 4] = ["NextHolder", "Refused", "Waiters", "left_at"];

/// The questions whose answer is the kind of a lock.
const QUESTIONS: [&str; 6] = ["as_reader", "as_writer", "downgraded", "more", "slot", "slots"];

/// The rooms that know it: what can be under a key, how an acquire waits, and where it is declared.
const KNOWING: [&str; 8] = [
    "core/src/lock/downgrade.rs",
    "core/src/shared/keys.rs",
    "core/src/waiting/local_queue.rs",
    "core/src/waiting/permit/",
    "core/src/waiting/policy.rs",
    "core/src/waiting/reader.rs",
    "core/src/waiting/writer.rs",
    "core/src/wire/layout.rs",
];

/// The tokens of each file of the core, without its tests.
fn core() -> io::Result<BTreeMap<PathBuf, Vec<Token>>> {
    shipped_in("core/src")
}

fn shipped_in(folder: &str) -> io::Result<BTreeMap<PathBuf, Vec<Token>>> {
    let sources = files(folder)?.into_iter();
    let is_test = |path: &Path| path.iter().any(|part| part == "tests" || part == "tests.rs");
    let others = sources.filter(|(path, _)| !is_test(path));
    Ok(others.map(|(path, text)| (path, shipped(&text))).collect())
}

/// Returns where `names` are, outside the folders and files that begin with one of `rooms`.
fn outside(
    core: &BTreeMap<PathBuf, Vec<Token>>,
    rooms: &[&str],
    is_found: impl Fn(&[Token], usize) -> bool,
) -> Vec<String> {
    let is_room = |path: &Path| rooms.iter().any(|room| path.to_string_lossy().starts_with(room));
    let others = core.iter().filter(|(path, _)| !is_room(path));
    let found = others.flat_map(|(path, tokens)| {
        let places = (0..tokens.len()).filter(|at| is_found(tokens, *at));
        places.map(move |at| format!("{}:{}: {}", path.display(), tokens[at].line, tokens[at].text))
    });
    found.collect()
}

/// Returns the methods that are called on `receiver`, as `receiver.method(`, in one folder.
fn calls(core: &BTreeMap<PathBuf, Vec<Token>>, folder: &str, receiver: &str) -> BTreeSet<String> {
    let inside = core.iter().filter(|(path, _)| path.starts_with(folder));
    let called = inside.flat_map(|(_, tokens)| {
        let names = tokens.windows(3).filter(|three| {
            three[0].text == receiver && three[1].text == "." && three[2].is_word()
        });
        names.map(|three| three[2].text.clone())
    });
    called.collect()
}

#[test]
fn only_its_own_folder_names_the_coordinator() -> io::Result<()> {
    let found = outside(&core()?, &["core/src/coordinator/"], |tokens, at| {
        tokens[at].text == "Coordinator"
    });
    assert_eq!(found, [""; 0]);
    Ok(())
}

#[test]
fn the_coordinator_is_the_edge_and_the_wiring() -> io::Result<()> {
    let core = core()?;
    let folder = core.iter().filter(|(path, _)| path.starts_with("core/src/coordinator"));
    // Each method of these files is the coordinator's: they have no other type, and no free function.
    let methods: usize = folder
        .map(|(_, tokens)| {
            let functions = tokens.windows(2).filter(|two| two[0].text == "fn" && two[1].is_word());
            functions.count()
        })
        .sum();
    assert!((30..=MOST_METHODS).contains(&methods), "{methods} methods, {MOST_METHODS} at most");
    Ok(())
}

/// Tests are in files and folders of their own, or at the ends of files.
#[test]
fn waiting_has_so_many_functions_at_most_and_its_numbers_in_one_file() -> io::Result<()> {
    let core = core()?;
    let waiting = core.iter().filter(|(path, _)| path.starts_with("core/src/waiting"));
    let (mut functions, mut numbers) = (0, BTreeSet::new());
    for (path, tokens) in waiting {
        let tests =
            tokens.windows(2).position(|two| two[0].text == "mod" && two[1].text == "tests");
        let tokens = &tokens[..tests.unwrap_or(tokens.len())];
        functions +=
            tokens.windows(2).filter(|two| two[0].text == "fn" && two[1].is_word()).count();
        let is_number = |two: &&[Token]| {
            let name = &two[1].text;
            two[0].text == "const" && name.chars().all(|c| c.is_uppercase() || c == '_')
        };
        let named = tokens.windows(2).filter(is_number).map(|two| two[1].text.clone());
        if !path.ends_with("tuning.rs") {
            numbers.extend(named);
        }
    }
    assert!((100..=MOST_OF_WAITING).contains(&functions), "{functions}, {MOST_OF_WAITING} at most");
    // The digits of a token that name its process are no number that could be another.
    assert_eq!(numbers, ["PROCESS".to_owned()].into());
    Ok(())
}

#[test]
fn the_timer_of_a_waiter_is_set_in_one_file() -> io::Result<()> {
    let core = core()?;
    let waiting = core.iter().filter(|(path, _)| path.starts_with("core/src/waiting"));
    let sets = waiting.filter(|(_, tokens)| {
        tokens.windows(3).any(|three| three[0].text == "Timer" && three[2].text == "Attempt")
    });
    let files: Vec<&Path> = sets.map(|(path, _)| path.as_path()).collect();
    assert_eq!(files, [Path::new("core/src/waiting/pause.rs")]);
    Ok(())
}

#[test]
fn what_is_handed_in_holds_no_locks_and_no_waiters() -> io::Result<()> {
    let core = core()?;
    let handed_in: Vec<&str> =
        core[Path::new("core/src/shared/cx.rs")].iter().map(|token| &*token.text).collect();
    assert!(handed_in.contains(&"Masters"), "{handed_in:?}");
    for owner in ["Locks", "Waiters", "Coordinator"] {
        assert!(!handed_in.contains(&owner), "{owner} is handed in");
    }
    Ok(())
}

#[test]
fn owners_call_each_other_by_few_names() -> io::Result<()> {
    let core = core()?;
    let found = calls(&core, "core/src/lock", "waiters");
    assert_eq!(found, CALLS.map(str::to_owned).into());
    for owner in ["locks", "waiters"] {
        assert_eq!(
            calls(&core, "core/src/master", owner),
            BTreeSet::new(),
            "masters know no {owner}"
        );
    }
    assert_eq!(calls(&core, "core/src/waiting", "locks"), BTreeSet::new(), "waiters ask by steps");
    Ok(())
}

#[test]
fn exclusion_rests_on_no_waiter() -> io::Result<()> {
    let mut imported = BTreeSet::new();
    for (path, tokens) in core()? {
        let is_in = |room: &&&str| path.starts_with(Path::new("core/src").join(room));
        let Some(room) = EXCLUSION.iter().find(is_in) else { continue };
        let starts = tokens.windows(3).enumerate().filter(|(_, three)| {
            three[0].text == "crate" && three[1].text == "::" && three[2].text == "waiting"
        });
        for (at, _) in starts {
            assert_eq!(*room, "lock", "{}: imports waiters", path.display());
            let names = tokens[at + 3..].iter().take_while(|token| token.text != ";");
            imported.extend(names.filter(|token| token.is_word()).map(|token| token.text.clone()));
        }
    }
    assert_eq!(imported, IMPORTED.map(str::to_owned).into());
    Ok(())
}

/// What an operator asks stands apart: it may use all of the crate, whose root alone shows it to users.
#[test]
fn no_lock_uses_what_an_operator_asks() -> io::Result<()> {
    // All texts of the crate are tested in one place.
    let others = ["src/operator/", "src/texts.rs"];
    let found = outside(&shipped_in("src")?, &others, |tokens, at| {
        let path = tokens[at..].iter().take(3).map(|token| &*token.text);
        ["crate::operator", "crate::preflight"].contains(&&*path.collect::<String>())
    });
    assert_eq!(found, [""; 0]);
    let own = outside(&shipped_in("src/operator")?, &[], |tokens, at| tokens[at].text == "Acquire");
    assert_eq!(own, [""; 0], "what an operator asks takes no lock");
    Ok(())
}

/// The bound in SAFETY.md is not far above what `scripts/lines` counts there.
#[test]
fn safety_says_how_much_exclusion_rests_on() -> io::Result<()> {
    let counted = Command::new(root().join("scripts/lines")).output()?.stdout;
    let counted = String::from_utf8_lossy(&counted).into_owned();
    let line = counted.lines().find_map(|line| line.strip_prefix("exclusion rests on "));
    let lines: usize = line.and_then(|line| line.split(' ').next()?.parse().ok()).unwrap_or(0);
    let safety = read("SAFETY.md").replace(',', "");
    let bound =
        safety.split("is less than ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok());
    let bound: usize = bound.unwrap_or(0);
    assert!(lines < bound && bound <= lines + 100, "{lines} lines, and SAFETY says {bound}");
    Ok(())
}

#[test]
fn what_kind_a_lock_is_is_asked_in_its_own_rooms() -> io::Result<()> {
    let asks = |tokens: &[Token], at: usize| {
        let is_call = at > 0
            && tokens[at - 1].text == "."
            && tokens.get(at + 1).is_some_and(|next| next.text == "(");
        // The tables have slots as well.
        let is_table = at > 1 && matches!(&*tokens[at - 2].text, "self" | "0");
        is_call && !is_table && QUESTIONS.contains(&&*tokens[at].text)
    };
    assert_eq!(outside(&core()?, &KNOWING, asks), [""; 0]);
    Ok(())
}

#[test]
fn a_question_in_another_room_is_found() {
    let text = "fn f(&self) { if keys.as_reader().is_some() { self.slots(); } }";
    let core = BTreeMap::from([(PathBuf::from("core/src/lock/x.rs"), tokens(text))]);
    let found = outside(&core, &KNOWING, |tokens, at| tokens[at].text == "as_reader");
    assert_eq!(found, ["core/src/lock/x.rs:1: as_reader"]);
    assert_eq!(calls(&core, "core/src/lock", "keys"), ["as_reader".to_owned()].into());
}
