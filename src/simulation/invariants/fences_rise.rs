//! Fences rise: the fencing token of a win is above those of all wins of its resources before it.

use super::Verdict;
use std::collections::BTreeMap;

#[derive(Default)]
pub(in crate::simulation) struct FencesRise(BTreeMap<String, u64>);

impl FencesRise {
    /// `ballot` is zero for an unfenced lock. One that was taken away by force before its holder knew
    /// that he had it is told behind the one after it: it `is_named`.
    pub(in crate::simulation) fn won(
        &mut self,
        token: &str,
        keys: &[&str],
        fenced: bool,
        ballot: u64,
        is_named: bool,
    ) -> Verdict {
        if (ballot != 0) != fenced {
            return Err(format!("{token} was won with the ballot {ballot}"));
        }
        for key in keys {
            let greatest = self.0.entry((*key).to_owned()).or_default();
            if fenced && ballot <= *greatest && !is_named {
                return Err(format!("{token} has {key} with {ballot}, not above {greatest}"));
            }
            *greatest = ballot.max(*greatest);
        }
        Ok(())
    }
}

#[test]
fn a_token_that_repeats_or_goes_down_is_found() {
    for second in [7, 6] {
        let mut fences = FencesRise::default();
        assert_eq!(fences.won("1", &["a"], true, 7, false), Ok(()));
        assert_eq!(fences.won("2", &["a"], false, 0, false), Ok(()), "unfenced");
        assert_eq!(fences.won("3", &["b"], true, second, false), Ok(()), "of another");
        assert!(fences.won("4", &["a", "b"], true, second, false).is_err());
    }
    assert!(FencesRise::default().won("1", &["a"], false, 7, false).is_err());
}
