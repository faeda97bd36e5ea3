//! Fences rise: the fencing token of a win is above those of all wins of its resources before it.

use super::Verdict;
use std::collections::BTreeMap;

/// The wins of each key with a fence, by their tokens: those above which there was none when they
/// came.
#[derive(Default)]
pub(crate) struct FencesRise(BTreeMap<String, Vec<(String, u64)>>);

impl FencesRise {
    /// Checks a win. `ballot` is zero for an unfenced lock. A lock that was taken away by force
    /// before its holder knew that it had it is reported after the one that follows: it `is_named`.
    /// If clients are at odds and could not know of each other, a win is `excused`.
    pub(crate) fn won(
        &mut self,
        token: &str,
        keys: &[&str],
        fenced: bool,
        ballot: u64,
        is_named: bool,
        excused: impl Fn(&str) -> bool,
    ) -> Verdict {
        if (ballot != 0) != fenced {
            return Err(format!("{token} was won with the ballot {ballot}"));
        }
        for key in keys {
            let wins = self.0.entry((*key).to_owned()).or_default();
            let mut above =
                wins.iter().filter(|(_, other)| fenced && ballot <= *other && !is_named);
            if let Some((_, other)) = above.find(|(token, _)| !excused(token)) {
                return Err(format!("{token} has {key} with {ballot}, not above {other}"));
            }
            if fenced && wins.iter().all(|(_, other)| ballot > *other) {
                wins.push((token.to_owned(), ballot));
            }
        }
        Ok(())
    }
}

#[test]
fn a_token_that_repeats_or_goes_down_is_found() {
    let never = |_: &str| false;
    for second in [7, 6] {
        let mut fences = FencesRise::default();
        assert_eq!(fences.won("1", &["a"], true, 7, false, never), Ok(()));
        assert_eq!(fences.won("2", &["a"], false, 0, false, never), Ok(()), "unfenced");
        assert_eq!(fences.won("3", &["b"], true, second, false, never), Ok(()), "of another");
        assert!(fences.won("4", &["a", "b"], true, second, false, never).is_err());
        assert_eq!(fences.won("5", &["a"], true, second, false, |token| token == "1"), Ok(()));
    }
    assert!(FencesRise::default().won("1", &["a"], false, 7, false, never).is_err());
}
