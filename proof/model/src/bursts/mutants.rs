//! Rules of bursts that are broken on purpose.

use crate::named::named;

named! {
    pub enum Mutant {
        InLine: "an extension waits for room, as an acquire does",
        NeverNarrows: "a window that never narrows",
        NeverWidens: "a window that never widens",
        NewestFirst: "the newest acquire begins first",
        NotTold: "an acquire that could not begin is not answered",
    }
}
