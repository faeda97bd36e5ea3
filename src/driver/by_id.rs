//! Maps whose keys are ids that this process assigns itself. Other parties cannot choose ids that
//! collide, so the maps need no hash that withstands them.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

pub(super) type ById<K, V> = HashMap<K, V, BuildHasherDefault<Multiplying>>;

/// Multiplicative hashing (Knuth, volume 3, section 6.4), with the golden ratio's bits.
#[derive(Default)]
pub(super) struct Multiplying(u64);

impl Hasher for Multiplying {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64((*byte).into()));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    /// Rotates the hash: the upper bits are the mixed ones, and maps use both ends.
    fn finish(&self) -> u64 {
        self.0.rotate_left(32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::hash::{BuildHasher, BuildHasherDefault};

    #[test]
    fn ids_in_a_row_are_spread_over_both_ends() {
        let hasher = BuildHasherDefault::<Multiplying>::default();
        let hashes: Vec<u64> = (0..1024_u64).map(|id| hasher.hash_one(id)).collect();
        let ends = [|hash: &u64| hash & 1023, |hash: &u64| hash >> 57];
        let [low, high] = ends.map(|end| hashes.iter().map(end).collect::<HashSet<_>>().len());
        assert!(low > 600 && high == 128, "{low} of 1024, {high} of 128");
    }
}
