//! What the masters' answers mean, without a master.

use super::page::{self, Page};
use super::*;
use crate::options::Options;
use crate::report::{Answer, Refusal};
use quorumlock_core::coordinator::wire::Reply;
use quorumlock_core::coordinator::{SHARED, Seen, StoredValue};
use quorumlock_core::quorum::{Membership, NodeSet};
use std::sync::Arc;
use std::time::Duration;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

fn text(text: &str) -> Reply {
    Reply::Text(text.as_bytes().into())
}

/// Reads one letter for each master: the value under the key there, `-` for none, `?` for silence.
fn pictured(masters: &str) -> Vec<(Arc<str>, Seen)> {
    let answer = |(node, letter): (usize, char)| {
        let seen = match letter {
            '-' => Ok(None),
            '?' => Err(Answer::Refused(Refusal::Down("gone".into()))),
            letter => {
                let value = format!("{TOKEN}:{letter}").into();
                let remaining = Some(Duration::from_secs(node as u64 + 1));
                Ok(Some(StoredValue::new(value, remaining)))
            }
        };
        (format!("n{node}").into(), seen)
    };
    masters.chars().enumerate().map(answer).collect()
}

fn merged(masters: &str, membership: Membership) -> Option<ListedLock> {
    ListedLock::of(Inspection::new("r".into(), "locks:r".into(), pictured(masters), membership))
}

/// How sure it is that a lock is held.
#[derive(PartialEq, Eq, Debug)]
enum Verdict {
    Held,
    /// The masters that did not say could make up a quorum.
    Unclear,
    /// The value is left over, or on its way.
    Leftover,
}

fn verdict(lock: &ListedLock, membership: Membership) -> Verdict {
    match (lock.is_held(), lock.may_be_held(membership)) {
        (true, true) => Verdict::Held,
        (false, true) => Verdict::Unclear,
        (is_held, false) => {
            assert!(!is_held, "what is held may be");
            Verdict::Leftover
        }
    }
}

#[test]
fn a_lock_is_held_as_a_quorum_says() {
    for (masters, expected) in [
        ("aaa", Some((Verdict::Held, "a", 3))),
        ("aa-", Some((Verdict::Held, "a", 2))),
        ("baa", Some((Verdict::Held, "a", 2))),
        ("aa?", Some((Verdict::Held, "a", 2))),
        ("a-?", Some((Verdict::Unclear, "a", 1))),
        ("a??", Some((Verdict::Unclear, "a", 1))),
        ("a--", Some((Verdict::Leftover, "a", 1))),
        ("ab-", Some((Verdict::Leftover, "a", 1))),
        ("abc", Some((Verdict::Leftover, "a", 1))),
        ("ab?", Some((Verdict::Unclear, "a", 1))),
        ("---", None),
        ("-??", None),
        ("aabb-", Some((Verdict::Leftover, "a", 2))),
        ("aab?-", Some((Verdict::Unclear, "a", 2))),
        ("bbaaa", Some((Verdict::Held, "a", 3))),
        ("aa--", Some((Verdict::Leftover, "a", 2))),
        ("aaa-", Some((Verdict::Held, "a", 3))),
    ] {
        let membership = Membership::of(masters.len()).unwrap();
        let found = merged(masters, membership);
        let summary = found.as_ref().map(|lock| {
            let label = lock.holder().label().unwrap_or_default();
            (verdict(lock, membership), label, lock.held_on())
        });
        assert_eq!(summary, expected, "{masters}");
    }
}

#[test]
fn with_two_lists_each_of_them_has_to_hold_it() {
    let old_and_new =
        Membership::joint(NodeSet::first(3), [2, 3, 4].into_iter().collect()).unwrap();
    for (masters, expected) in [
        ("aaa--", Verdict::Leftover),
        ("aaaa-", Verdict::Held),
        ("a-aa-", Verdict::Held),
        ("aa-aa", Verdict::Held),
        ("aaa??", Verdict::Unclear),
    ] {
        let lock = merged(masters, old_and_new).unwrap();
        assert_eq!(verdict(&lock, old_and_new), expected, "{masters}");
    }
}

/// No lock is missed as soon as those that were not scanned are no quorum.
#[test]
fn as_many_masters_are_scanned_as_no_quorum_can_do_without() {
    for (masters, enough) in [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (7, 4)] {
        let membership = Membership::of(masters).unwrap();
        let least = (0..=masters).find(|count| !membership.can_spare(NodeSet::first(*count)));
        assert_eq!(least, Some(enough), "of {masters}");
    }
}

#[test]
fn a_lock_is_printed_in_one_line_that_keeps_the_token() {
    let shown = |masters: &str, waiting| {
        let membership = Membership::of(masters.len()).unwrap();
        let mut lock = merged(masters, membership).unwrap();
        lock.waiting = waiting;
        assert!(!format!("{lock:?} {lock}").contains("0123"), "{lock:?}");
        lock.to_string()
    };
    for (line, expected) in [
        (shown("aaa", Some(2)), "\"r\" is held by a, expires in 2 s, on 3 of 3 masters, 2 waiting"),
        (shown("aaa", None), "\"r\" is held by a, expires in 2 s, on 3 of 3 masters"),
        (shown("a--", Some(0)), "\"r\" is free, but for a key on 1 of 3 masters"),
        (
            shown("a-?", None),
            "\"r\" is neither held nor free by quorum, with a key on 1 of 3 masters",
        ),
    ] {
        assert_eq!(line, expected);
    }
}

#[test]
fn a_value_that_is_no_token_of_ours_is_marked() {
    let second = Some(Duration::from_secs(1));
    for (value, remaining, expected) in [
        (TOKEN.to_owned(), second, true),
        (format!("{TOKEN}:worker:7"), second, true),
        (SHARED.to_owned(), second, true),
        (TOKEN.to_owned(), None, false),
        (TOKEN[1..].to_owned(), second, false),
        (format!("{TOKEN}0"), second, false),
        (String::new(), second, false),
        ("my-session".to_owned(), second, false),
    ] {
        let seen = Ok(Some(StoredValue::new(value.clone().into(), remaining)));
        let membership = Membership::of(1).unwrap();
        let seen = vec![("n".into(), seen)];
        let inspection = Inspection::new("r".into(), "r".into(), seen, membership);
        let lock = ListedLock::of(inspection).unwrap();
        assert_eq!(lock.is_ours(), expected, "{value}");
        assert_eq!(lock.to_string().contains("perhaps no lock"), !expected, "{lock}");
    }
}

#[test]
fn a_pattern_takes_the_prefix_by_its_letters() {
    let options = Options { key_prefix: "[p]".into(), ..Options::default() };
    assert_eq!(page::patterns(&options, ""), ["\\[p\\]*"], "those of permits are among them");
    for (prefix, pattern) in
        [("orders:", "orders:*"), ("a*b?[c]\\", "a\\*b\\?\\[c\\]\\\\*"), ("ü", "ü*")]
    {
        let slots = format!("quorumlock:slot:*:{pattern}");
        assert_eq!(page::patterns(&Options::default(), prefix), [pattern, &*slots]);
        let prefixed = [format!("\\[p\\]{pattern}"), format!("\\[p\\]{slots}")];
        assert_eq!(page::patterns(&options, prefix), prefixed);
    }
}

#[test]
fn a_page_has_its_keys_and_where_the_next_begins() {
    let page = |cursor: &str, keys: &[&str]| {
        let keys = keys.iter().map(|key| text(key)).collect();
        page::scanned(&Reply::Array(vec![text(cursor), Reply::Array(keys)]))
    };
    let keys = vec![Arc::from("a"), Arc::from("b")];
    assert_eq!(page("0", &["a", "b"]), Ok(Page { keys: keys.clone(), next: None }));
    assert_eq!(page("17", &["a", "b"]), Ok(Page { keys, next: Some("17".into()) }));
    let binary = Reply::Array(vec![Reply::Text([0xff].into()), text("a")]);
    let read = page::scanned(&Reply::Array(vec![text("0"), binary])).unwrap();
    assert_eq!(read.keys, [Arc::from("a")]);
    for wrong in [Reply::Okay, text("0"), Reply::Array(vec![text("0")]), Reply::Error("E".into())] {
        assert!(page::scanned(&wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn what_is_under_each_key_is_read() {
    let reply = Reply::Array(vec![
        text("v"),
        Reply::Int(700),
        Reply::Nil,
        Reply::Nil,
        Reply::Int(-2),
        Reply::Nil,
        text("w"),
        Reply::Int(-1),
        Reply::Nil,
        Reply::Int(0),
        Reply::Int(5),
        Reply::Nil,
        text(SHARED),
        Reply::Int(9),
        Reply::Array(vec![text("r"), Reply::Int(7), text("s"), Reply::Int(9)]),
        text(&format!("quorumlock:next:{TOKEN}")),
        Reply::Int(900),
        Reply::Nil,
    ]);
    let seen = page::looked(&reply, 6).unwrap();
    assert_eq!(seen[5], Ok(None), "no client holds it");
    let stored = |value: &str, millis: Option<u64>| {
        let remaining = millis.map(Duration::from_millis);
        Ok(Some(StoredValue::new(value.into(), remaining)))
    };
    assert_eq!(seen[..3], [stored("v", Some(700)), Ok(None), stored("w", None)]);
    assert!(matches!(seen[3], Err(Answer::Unknown(_))), "{seen:?}");
    let Ok(Some(read)) = &seen[4] else { panic!("{seen:?}") };
    let readers: String = read.readers.iter().map(|reader| reader.value.to_string()).collect();
    assert_eq!(readers, "rs");
    assert!(page::looked(&reply, 3).is_err() && page::looked(&Reply::Nil, 0).is_err());
}

#[test]
fn waiters_are_counted_only_if_the_master_reports_them() {
    let reply = Reply::Array(vec![text("x"), Reply::Int(2), text("y"), Reply::Int(0)]);
    assert_eq!(page::counted(&reply, 2), Some(vec![2, 0]));
    assert_eq!(page::counted(&reply, 3), None);
    assert_eq!(page::counted(&Reply::Error("NOPERM".into()), 2), None);
}

#[test]
fn a_key_of_our_own_stands_for_no_resource() {
    let options = Options { key_prefix: "app:".into(), ..Options::default() };
    for (key, lock) in [
        ("app:orders:42", Some(("orders:42", None))),
        ("app:quorumlock:slot:0:import", Some(("import", Some(0)))),
        ("app:quorumlock:slot:63:a:1:b", Some(("a:1:b", Some(63)))),
        ("app:quorumlock:slot:64:import", None),
        ("app:quorumlock:slot:01:import", None),
        ("app:quorumlock:slot:+1:import", None),
        ("app:quorumlock:slot:1:", None),
        ("app:quorumlock:slot:1:quorumlock:slot:1:a", None),
        ("app:quorumlock:slot:1", None),
        ("quorumlock:slot:1:import", None),
        ("app:quorumlock:semaphore:import", None),
        ("app:", None),
        ("other:orders", None),
        ("app:quorumlock:agreement", None),
        ("app:quorumlock:fence:orders", None),
        ("app:x:quorumlock:fence:orders", None),
    ] {
        assert_eq!(options.lock_of(key), lock, "{key}");
    }
    let options = Options::default();
    for (prefix, is_fine) in [("", true), ("orders:", true), ("quorumlock:", false)] {
        let checked = options.check_prefix(prefix);
        assert_eq!(checked.is_ok(), is_fine, "{checked:?}");
    }
}
