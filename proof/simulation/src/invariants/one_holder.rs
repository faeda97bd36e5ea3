//! One valid holder: at most one client at a time believes, by its own clock, that it holds a
//! resource.

use super::Verdict;

/// Checks the `holders`: token and resources of each hold that is valid by its own clock. Two holds
/// of clients that are at odds and could not know of each other are `excused`.
pub(crate) fn one_holder(
    holders: &[(&str, &[&str])],
    excused: impl Fn(&str, &str) -> bool,
) -> Verdict {
    for (place, (token, keys)) in holders.iter().enumerate() {
        for (other, theirs) in &holders[place + 1..] {
            let key = keys.iter().find(|key| theirs.contains(key));
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
    let never = |_: &str, _: &str| false;
    assert_eq!(one_holder(&[("1", a), ("2", b)], never), Ok(()));
    assert_eq!(one_holder(&[("1", both)], never), Ok(()));
    assert_eq!(one_holder(&[("1", a), ("2", a)], |one, two| (one, two) == ("1", "2")), Ok(()));
    for holders in [[("1", a), ("2", a)], [("1", both), ("2", b)]] {
        assert!(one_holder(&holders, never).is_err(), "{holders:?}");
    }
}
