//! Turns as they are specified.

use super::{Run, scenes};

pub(super) fn runs() -> Vec<Run> {
    let short = [
        scenes::waiter(),
        scenes::two(),
        scenes::restart(),
        scenes::given_up(),
        scenes::plain_holder(),
        scenes::plain(),
        scenes::barred(),
        scenes::dead(),
        scenes::lost(),
        scenes::silent(),
        scenes::left(),
        scenes::emptied(),
        scenes::crosswise(),
        scenes::first_dies(),
        scenes::far_back(),
        scenes::far_back_dead(),
        scenes::far_back_vacant(),
    ];
    let short = short.into_iter().map(|config| Run::holds(config).quick());
    short.chain(scenes::long().into_iter().map(Run::holds)).collect()
}
