//! The rooms of the crate, which are the modules of `src/lib.rs`: how many of them need each other in a
//! circle. One room of a circle cannot be read, nor changed, without all others.

use crate::shipped;
use crate::source::{Token, files, tokens};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Component, Path};

/// Rooms of the largest circle. This bound may be lowered and never raised.
const LARGEST: usize = 4;

/// The rooms that each room names.
type House = BTreeMap<String, BTreeSet<String>>;

/// Returns the room that the file is in; `None` for the root and for tests.
fn room_of(path: &Path) -> Option<String> {
    let mut parts = path.iter().skip(1).filter_map(|part| part.to_str());
    let room = parts.next()?.trim_end_matches(".rs");
    let is_test = parts.any(|part| part.trim_end_matches(".rs") == "tests");
    (room != "lib" && !is_test).then(|| room.to_owned())
}

/// Returns every path that begins with `first`, such as `crate`: its parts after that.
fn paths<'a>(tokens: &'a [Token], first: &str) -> Vec<Vec<&'a str>> {
    let begins = tokens.windows(2).enumerate().filter(|(at, two)| {
        let is_inner = *at > 0 && tokens[at - 1].text == "::";
        two[0].text == first && two[1].text == "::" && !is_inner
    });
    begins.flat_map(|(at, _)| branches(&tokens[at + 2..])).collect()
}

/// Returns the paths of the tree that `tokens` begin with: `a::{b, c::d}` is `a::b` and `a::c::d`.
fn branches(tokens: &[Token]) -> Vec<Vec<&str>> {
    let (mut found, mut stack, mut path): (Vec<Vec<&str>>, Vec<usize>, Vec<&str>) =
        Default::default();
    for (at, token) in tokens.iter().enumerate() {
        match token.text.as_str() {
            "{" if at == 0 || tokens[at - 1].text == "::" => stack.push(path.len()),
            "," | "}" if !stack.is_empty() => {
                found.push(path.clone());
                path.truncate(stack.last().copied().unwrap_or_default());
                if token.text == "}" {
                    stack.pop();
                }
                if stack.is_empty() {
                    return found;
                }
            }
            "::" => {}
            _ if token.is_word()
                && (at == 0 || ["::", "{", ","].contains(&&*tokens[at - 1].text)) =>
            {
                path.push(&token.text);
            }
            _ if stack.is_empty() => break,
            _ => {}
        }
    }
    found.push(path);
    found
}

/// Returns the room of each name that the root exports.
fn exports(root: &[Token]) -> BTreeMap<&str, &str> {
    let mut exported = BTreeMap::new();
    for at in (1..root.len()).filter(|at| root[*at].text == "use" && root[at - 1].text == "pub") {
        for path in branches(&root[at + 1..]) {
            if let [room, .., name] = path[..] {
                exported.insert(name, room);
            }
        }
    }
    exported
}

fn house(sources: &BTreeMap<std::path::PathBuf, String>) -> House {
    let rooms: BTreeSet<String> = sources.keys().filter_map(|path| room_of(path)).collect();
    let root = sources.get(Path::new("src/lib.rs")).map(|text| tokens(text)).unwrap_or_default();
    let exported = exports(&root);
    let mut house: House = rooms.iter().map(|room| (room.clone(), BTreeSet::new())).collect();
    for (path, text) in sources {
        let Some(room) = room_of(path) else { continue };
        let tokens = shipped(text);
        let mut named = paths(&tokens, "crate");
        // In the file of a room, the module above it is the root.
        let depth = path.components().filter(|part| matches!(part, Component::Normal(_))).count();
        if depth == 2 || (depth == 3 && path.ends_with("mod.rs")) {
            named.extend(paths(&tokens, "super"));
        }
        for path in named {
            let Some(first) = path.first() else { continue };
            let needed = exported.get(first).unwrap_or(first);
            if *needed != room && rooms.contains(*needed) {
                house.entry(room.clone()).or_default().insert((*needed).to_owned());
            }
        }
    }
    house
}

/// Returns all rooms that one can get to from `room`.
fn reached<'a>(house: &'a House, room: &'a str) -> BTreeSet<&'a str> {
    let (mut reached, mut queue) = (BTreeSet::new(), vec![room]);
    while let Some(rooms) = queue.pop().and_then(|room| house.get(room)) {
        queue.extend(rooms.iter().map(String::as_str).filter(|room| reached.insert(*room)));
    }
    reached
}

/// Returns the rooms that can be got to from each other, in the largest such group.
fn largest_circle(house: &House) -> BTreeSet<&str> {
    let from: BTreeMap<&str, _> =
        house.keys().map(|room| (&**room, reached(house, room))).collect();
    let circle = |room: &&str| -> BTreeSet<&str> {
        let others = from[room].iter().copied();
        others.filter(|other| from.get(other).is_some_and(|back| back.contains(room))).collect()
    };
    from.keys().map(circle).max_by_key(BTreeSet::len).unwrap_or_default()
}

#[test]
fn the_largest_circle_of_rooms_becomes_smaller() -> io::Result<()> {
    let house = house(&files("src")?);
    let circle = largest_circle(&house);
    let arrows = |room: &&str| {
        let needed: Vec<&str> = house[*room]
            .iter()
            .map(|needed| &**needed)
            .filter(|room| circle.contains(room))
            .collect();
        format!("{room} -> {}", needed.join(", "))
    };
    let shown: Vec<String> = circle.iter().map(arrows).collect();
    let (rooms, shown) = (circle.len(), shown.join("\n"));
    assert!(rooms <= LARGEST, "{rooms} rooms need each other, {LARGEST} before:\n{shown}");
    Ok(())
}

#[test]
fn a_circle_is_found_through_every_kind_of_path() {
    let sources = [
        ("src/lib.rs", "mod a; mod b; mod c; mod d; mod e; mod f; pub use d::{More, Name};"),
        ("src/a.rs", "use crate::{b::{One, Two}, Other};"),
        ("src/b/mod.rs", "use super::c;"),
        ("src/c.rs", "fn f() { crate::Name::new() }"),
        ("src/d.rs", "mod part;"),
        ("src/d/part.rs", "use crate::a; use super::f;"),
        ("src/e.rs", "use crate::a; // use crate::f;"),
        ("src/f.rs", "#[cfg(test)]\nmod tests { use crate::a; }"),
        ("src/f/tests.rs", "use crate::e;"),
    ];
    let sources = sources.into_iter().map(|(path, text)| (path.into(), text.to_owned())).collect();
    let house = house(&sources);
    assert_eq!(largest_circle(&house), BTreeSet::from(["a", "b", "c", "d"]));
    assert!(house["f"].is_empty());
}
