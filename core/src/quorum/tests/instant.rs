//! Instants and spans: what is stored is what was given, and what does not fit is the end of time.

use super::super::{Instant, Nanos};
use std::time::Duration;

const SPANS: [Duration; 4] =
    [Duration::ZERO, Duration::from_nanos(1), Duration::from_millis(7), Duration::from_secs(60)];

#[test]
fn what_is_stored_is_what_was_given() {
    for span in SPANS {
        assert_eq!(Nanos::of(span).span(), span);
        let at = Instant::default().after(span);
        assert_eq!((at.since(Instant::default()), at.as_nanos()), (span, span.as_nanos() as u64));
        assert_eq!(Instant::default().since(at), Duration::ZERO);
        assert_eq!(format!("{:?}", Nanos::of(span)), format!("{span:?}"));
        assert_eq!(format!("{at:?}"), format!("Instant({})", span.as_nanos()));
    }
}

#[test]
fn what_does_not_fit_is_the_end_of_time() {
    let too_long = Duration::from_nanos(u64::MAX) + Duration::from_nanos(5);
    for span in [too_long, Duration::MAX] {
        assert_eq!(Nanos::of(span), Nanos::FOREVER);
        assert_eq!(Instant::default().after(span), Instant::NEVER);
    }
}
