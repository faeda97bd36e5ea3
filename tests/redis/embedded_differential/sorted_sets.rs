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
    let words: Vec<&[u8]> = match rng.within(0..26) {
        0..3 => vec![b"ZADD", key, score, member],
        3..6 => vec![b"ZADD", key, b"7", member, score, another, other, member],
        6 => vec![b"ZADD", key, b"nX", score, member, b"NX", other],
        7 => vec![b"ZADD", key, b"NX", b"NX", score, another, b"-1", member],
        8 => vec![b"ZADD", key, b"NX", b"XX", score, member],
        9 => vec![b"ZREM", key, member],
        10 => vec![b"ZREM", key, member, another, member],
        11 | 12 => vec![b"ZSCORE", key, member],
        13 | 14 => vec![b"ZRANGE", key, start, stop],
        15 | 16 => vec![b"ZRANGE", key, start, stop, b"WithScores"],
        17 | 18 => vec![b"ZREMRANGEBYSCORE", key, least, most],
        19 | 20 => vec![b"ZADD", key, b"xx", score, member, b"3", another],
        21 | 22 => vec![b"ZRANGEBYSCORE", key, least, most],
        23 => vec![b"ZRANK", key, member],
        24 => vec![b"ZRANK", key, another],
        _ => vec![b"ZCARD", key],
    };
    words.into_iter().map(Word::from).collect()
}
