//! Turns as they are specified.

use super::{Run, scenes};
use crate::runs::Kind;

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
    ];
    let run = |config, quick| Run { kind: Kind::Holds, config, violates: None, quick };
    let short = short.into_iter().map(|config| run(config, true));
    short.chain(scenes::long().into_iter().map(|config| run(config, false))).collect()
}
