//! Random commands on sorted sets.

use super::generate::Word;
use super::vocabulary::{BOUNDS, FIELDS, PLACES, SCORES, VALUES};
use crate::support::seed::Rng;

/// A key that no SET overwrites, so that most commands find a set there.
const OWN: &[u8] = b"sorted";

pub(crate) fn on_sorted_set(rng: &mut Rng, key: &[u8]) -> Vec<Word> {
    let key = if rng.chance(60) { OWN } else { key };
    let (member, another) = (*rng.pick(&FIELDS), *rng.pick(&VALUES));
    let (score, other) = (rng.pick(&SCORES).as_bytes(), rng.pick(&SCORES).as_bytes());
    let (least, most) = (*rng.pick(&BOUNDS), *rng.pick(&BOUNDS));
    let (start, stop) = (rng.pick(&PLACES).as_bytes(), rng.pick(&PLACES).as_bytes());
    let words: Vec<&[u8]> = match rng.within(0..23) {
        0..3 => vec![b"ZADD", key, score, member],
        3..6 => vec![b"ZADD", key, b"7", member, score, another, other, member],
        6 => vec![b"ZREM", key, member],
        7 => vec![b"ZREM", key, member, another, member],
        8 | 9 => vec![b"ZSCORE", key, member],
        10 | 11 => vec![b"ZRANGE", key, start, stop],
        12 | 13 => vec![b"ZRANGE", key, start, stop, b"WithScores"],
        14 | 15 => vec![b"ZREMRANGEBYSCORE", key, least, most],
        16 | 17 => vec![b"ZADD", key, b"xx", score, member, b"3", another],
        18 | 19 => vec![b"ZRANGEBYSCORE", key, least, most],
        20 => vec![b"ZRANK", key, member],
        21 => vec![b"ZRANK", key, another],
        _ => vec![b"ZCARD", key],
    };
    words.into_iter().map(Word::from).collect()
}
