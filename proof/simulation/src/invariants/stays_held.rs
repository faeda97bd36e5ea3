//! No hold that is kept alive is lost while a quorum of its masters answers within an operation timeout.

use super::Verdict;
use crate::clock::{Time, nanos};
use std::collections::BTreeMap;
use std::time::Duration;

/// Since when a quorum would have extended each hold, by its token.
#[derive(Default)]
pub(crate) struct StaysHeld(BTreeMap<String, Time>);

impl StaysHeld {
    /// Notes the holds that a quorum would extend at present.
    pub(crate) fn note(&mut self, now: Time, kept: Vec<String>) {
        let before = std::mem::take(&mut self.0);
        let since = |token: String| {
            let since = before.get(&token).copied().unwrap_or(now);
            (token, since)
        };
        self.0 = kept.into_iter().map(since).collect();
    }

    /// Checks that a hold with this ttl may be reported as lost.
    pub(crate) fn lost(&self, token: &str, now: Time, ttl: Duration) -> Verdict {
        match self.0.get(token).filter(|since| now >= **since + nanos(ttl)) {
            None => Ok(()),
            Some(since) => {
                let answered = Duration::from_nanos(now - since);
                Err(format!("{token} is lost, and a quorum has answered in time for {answered:?}"))
            }
        }
    }
}

#[test]
fn a_loss_while_a_quorum_answers_is_found() {
    let mut held = StaysHeld::default();
    let note = |held: &mut StaysHeld, now, tokens: &[&str]| {
        held.note(now, tokens.iter().map(|token| (*token).to_owned()).collect());
    };
    let ttl = Duration::from_nanos(10);
    note(&mut held, 5, &["t"]);
    note(&mut held, 14, &["t", "u"]);
    assert_eq!(held.lost("t", 14, ttl), Ok(()), "not for long");
    assert!(held.lost("t", 15, ttl).is_err());
    assert_eq!(held.lost("u", 15, ttl), Ok(()));
    note(&mut held, 16, &["u"]);
    note(&mut held, 17, &["t", "u"]);
    assert_eq!(held.lost("t", 18, ttl), Ok(()), "meanwhile no quorum did");
}
