//! The order in which a client tries the slots of a semaphore.

use crate::routing::first_node::weight;
use crate::shared::Slots;

/// Returns the slots `0..permits` in the order in which this client tries them: the one that it had
/// last, then the others by a weight of their own for each client. So clients spread over the slots
/// from the start, and later find their own again.
#[must_use]
pub(super) fn order(client: u64, last: Option<u8>, permits: u8) -> Vec<u8> {
    let mut slots: Vec<u8> = (0..permits.min(Slots::MOST)).collect();
    slots.sort_by_key(|slot| (Some(*slot) != last, weight(client, spread(*slot))));
    slots
}

/// Scatters slots that are next to each other.
const fn spread(slot: u8) -> u64 {
    (slot as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_slot_comes_once_and_the_last_one_first() {
        for (client, permits) in (0..50).flat_map(|client| [1, 2, 10, 64].map(|k| (client, k))) {
            for last in [None, Some(0), Some(permits - 1)] {
                let order = order(client, last, permits);
                let mut sorted = order.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, (0..permits).collect::<Vec<_>>());
                assert!(last.is_none_or(|last| order[0] == last), "{last:?}: {order:?}");
            }
        }
        assert_eq!(order(7, Some(12), 10), order(7, None, 10), "a slot that is no more");
        assert_eq!(order(7, None, 200).len(), 64);
    }

    #[test]
    fn the_others_keep_their_order_whichever_was_last() {
        let all = order(7, None, 10);
        for last in 0..10 {
            let but_last: Vec<u8> = all.iter().copied().filter(|slot| *slot != last).collect();
            assert_eq!(order(7, Some(last), 10)[1..], but_last);
        }
    }

    /// What the reference implementation makes of 1, of all ones, and of a client and a slot.
    #[test]
    fn a_weight_is_the_finaliser_of_murmur_hash_3() {
        assert_eq!(weight(1, spread(0)), 0xb456_bcfc_34c2_cb2c);
        assert_eq!(weight(u64::MAX, spread(0)), 0x64b5_720b_4b82_5f21);
        assert_eq!(weight(0x0123_4567_89ab_cdef, spread(3)), 0x4fc9_874a_ab32_ef5c);
    }

    #[test]
    fn clients_spread_over_the_slots() {
        let mut first = [0_u32; 10];
        (0..10_000).for_each(|client| first[usize::from(order(client, None, 10)[0])] += 1);
        assert!(first.iter().all(|count| (850..1150).contains(count)), "{first:?}");
    }
}
