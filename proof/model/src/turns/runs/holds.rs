//! Turns as they are specified.

use super::{Run, scenes};

pub(super) fn runs() -> Vec<Run> {
    let first = [
        scenes::waiter(),
        scenes::two(),
        scenes::restart(),
        scenes::given_up(),
        scenes::plain_holder(),
    ];
    let short = first.into_iter().chain(scenes::short());
    let short = short.map(|config| Run::holds(config).quick());
    short.chain(scenes::long().into_iter().map(Run::holds)).collect()
}
