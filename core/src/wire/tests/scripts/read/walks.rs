//! Random walks of several readers and writers, compared with the model after each act.

use super::readers::{EXACT, Walk};
use super::stage::Stage;
use proptest::prelude::*;

proptest! {
    #[test]
    fn a_master_does_what_the_model_of_readers_does(
        acts in prop::collection::vec((any::<u8>(), any::<u8>()), 0..60)
    ) {
        let mut stage = Stage::new();
        let mut walk = Walk::new(&mut stage, &EXACT);
        for (kind, detail) in acts {
            let act = walk.chosen(kind, detail);
            walk.step(act).expect("a clock that stands still");
        }
    }
}
