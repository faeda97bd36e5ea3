//! The line: the table that people read is that which drives the model and the client, and means what is said by hand below.

use model::line::table::{self, NEWS, WAITS};
use quorumlock_core::waiting::rules::{Does, News, Wait, next};

const README: &str = include_str!("../README.md");

/// Returns the news upon which an acquire that waits so does this.
fn upon(wait: Wait, does: Does) -> Vec<News> {
    NEWS.iter().map(|(news, _)| *news).filter(|news| next(wait, *news) == does).collect()
}

#[test]
fn the_readme_has_the_table_of_the_line() {
    let table = table::markdown();
    assert!(README.contains(&table), "the README lacks:\n{table}");
}

#[test]
fn a_waiter_tries_if_it_is_let_go_or_none_is_ahead_of_it_or_it_has_asked_no_other_master_for_long()
{
    let tries = |wait| upon(wait, Does::Try);
    assert_eq!(tries(Wait::StepsBack), [News::DueAtAll]);
    assert_eq!(tries(Wait::Alone), [News::Called, News::DueAtAll]);
    // An answer that has not come in time is the silence of a master.
    assert_eq!(tries(Wait::Asking), [News::Called, News::Due, News::DueAtAll]);
    assert_eq!(tries(Wait::Behind), [News::Called, News::DueAtAll]);
    assert_eq!(tries(Wait::First), [News::Called, News::Freed, News::DueAtAll]);
    assert_eq!(tries(Wait::Again), [News::Called, News::Due, News::DueAtAll]);
    assert_eq!(tries(Wait::Called), [News::RefusedEarly]);
    assert!([Wait::HeldUp, Wait::Trying].iter().all(|wait| tries(*wait).is_empty()));
}

#[test]
fn an_attempt_that_is_held_up_or_under_way_begins_no_other() {
    for (news, words) in NEWS {
        assert_eq!(next(Wait::HeldUp, news), Does::Nothing, "{words}");
        let expected = match news {
            News::Called | News::Freed | News::Listens => Does::Remember,
            News::Refused => Does::Ask,
            _ => Does::Nothing,
        };
        assert_eq!(next(Wait::Trying, news), expected, "{words}");
    }
}

#[test]
fn where_a_place_may_be_another_all_that_wait_in_a_list_ask() {
    for (news, asks) in [
        (News::Look, &[Wait::Behind, Wait::First, Wait::Again][..]),
        (News::Due, &[Wait::StepsBack, Wait::Alone, Wait::Behind, Wait::First]),
        (News::Refused, &[Wait::Trying, Wait::Called]),
    ] {
        let found: Vec<Wait> =
            WAITS.into_iter().filter(|wait| next(*wait, news) == Does::Ask).collect();
        assert_eq!(found, asks, "{news:?}");
    }
    let stays: Vec<Wait> =
        WAITS.into_iter().filter(|wait| next(*wait, News::Moved) != Does::Ask).collect();
    assert_eq!(stays, [Wait::HeldUp, Wait::Trying, Wait::Called]);
}
