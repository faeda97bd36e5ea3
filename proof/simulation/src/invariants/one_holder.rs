//! One valid holder: at most one client at a time believes, by its own clock, that it holds a
//! resource, unless all of them read it.

use super::Verdict;

/// A hold that is valid by its holder's own clock.
pub(crate) struct Holder<'a> {
    pub(crate) token: &'a str,
    pub(crate) keys: &'a [&'a str],
    /// Others may read beside it.
    pub(crate) reads: bool,
}

/// Checks the `holders`. Two holds of clients that are at odds and could not know of each other are
/// `excused`.
pub(crate) fn one_holder(holders: &[Holder<'_>], excused: impl Fn(&str, &str) -> bool) -> Verdict {
    for (place, Holder { token, keys, reads }) in holders.iter().enumerate() {
        for Holder { token: other, keys: theirs, reads: theirs_too } in &holders[place + 1..] {
            let key = keys.iter().find(|key| theirs.contains(key) && !(*reads && *theirs_too));
            if let Some(key) = key.filter(|_| !excused(token, other)) {
                return Err(format!("{token} and {other} both hold {key}"));
            }
        }
    }
    Ok(())
}

#[test]
fn two_that_hold_one_resource_in_common_are_found() {
    let (a, b, both): (&[&str], &[&str], &[&str]) = (&["a"], &["b"], &["a", "b"]);
    let alone = |token, keys| Holder { token, keys, reads: false };
    let reads = |token, keys| Holder { token, keys, reads: true };
    let never = |_: &str, _: &str| false;
    assert_eq!(one_holder(&[alone("1", a), alone("2", b)], never), Ok(()));
    assert_eq!(one_holder(&[alone("1", both)], never), Ok(()));
    let excused = |token: &str, other: &str| (token, other) == ("1", "2");
    assert_eq!(one_holder(&[alone("1", a), alone("2", a)], excused), Ok(()));
    assert_eq!(one_holder(&[reads("1", a), reads("2", a), alone("3", b)], never), Ok(()));
    for holders in [
        [alone("1", a), alone("2", a)],
        [alone("1", both), alone("2", b)],
        [alone("1", a), reads("2", a)],
        [reads("1", a), alone("2", a)],
    ] {
        assert!(one_holder(&holders, never).is_err());
    }
}
