//! What a client does that waits at one master, by hand for the events that decide who tries.

use crate::quorum::line::Does::{Ask, Hold, Leave, PassOn, Sleep, Try};
use crate::quorum::line::Phase::{Alone, Asking, Behind, Called, First, Out, Trying};
use crate::quorum::line::{Event, next};

#[test]
fn an_event_means_what_its_row_says_and_changes_nothing_in_another_phase() {
    let go = [
        (Out, (PassOn, Out)),
        (Asking, (Try, Trying)),
        (Behind, (Try, Trying)),
        (First, (Try, Trying)),
        (Trying, (Sleep, Called)),
        (Called, (Sleep, Called)),
        (Alone, (Try, Trying)),
    ];
    for (phase, expected) in go {
        assert_eq!(next(phase, Event::Go), expected, "{phase:?}");
        assert_eq!(next(phase, Event::Named), expected, "{phase:?}");
    }
    let due = [(Behind, (Ask, Asking)), (First, (Try, Trying)), (Alone, (Try, Trying))];
    due.iter().for_each(|(phase, expected)| assert_eq!(next(*phase, Event::Due), *expected));
    for phase in [Out, Asking, Trying, Called] {
        assert_eq!(next(phase, Event::Due), (Sleep, phase));
    }
    assert_eq!(next(Trying, Event::Won), (Hold, Out));
    assert_eq!(next(Behind, Event::Won), (Sleep, Behind));
    assert_eq!(next(Trying, Event::Refused), (Ask, Asking));
    assert_eq!(next(Called, Event::Refused), (Try, Trying));
    assert_eq!(next(First, Event::Ends), (Leave, Out));
    assert_eq!(next(Out, Event::Ends), (Sleep, Out));
}
