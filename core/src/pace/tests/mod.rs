//! Windows and pauses, checked against tables, laws and enumerations.

mod backoff;
mod readiness;
mod window;
