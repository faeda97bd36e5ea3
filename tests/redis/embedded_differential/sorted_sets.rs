//! Random commands on sorted sets.

use super::generate::Word;
use super::vocabulary::{BOUNDS, FIELDS, PLACES, SCORES, VALUES};
use crate::support::seed::Rng;

/// A key that no SET overwrites, so that most commands find a set there.
const OWN: &[u8] = b"sorted";

pub(crate) fn on_sorted_set(rng: &mut Rng, key: &[u8]) -> Vec<Word> {
    let key = if rng.chance(60) { OWN } else { key };
    let (one, two) = (*rng.pick(&FIELDS), *rng.pick(&VALUES));
    let (score, other) = (rng.pick(&SCORES).as_bytes(), rng.pick(&SCORES).as_bytes());
    let (least, most) = (*rng.pick(&BOUNDS), *rng.pick(&BOUNDS));
    let (start, stop) = (rng.pick(&PLACES).as_bytes(), rng.pick(&PLACES).as_bytes());
    let words: Vec<&[u8]> = match rng.within(0..26) {
        0..3 => vec![b"ZADD", key, score, one],
        3..6 => vec![b"ZADD", key, b"7", one, score, two, other, one],
        6 => vec![b"ZADD", key, b"nX", score, one, b"NX", other],
        7 => vec![b"ZADD", key, b"NX", b"NX", score, two, b"-1", one],
        8 => vec![b"ZADD", key, b"NX", b"XX", score, one],
        9 => vec![b"ZREM", key, one],
        10 => vec![b"ZREM", key, one, two, one],
        11 | 12 => vec![b"ZSCORE", key, one],
        13 | 14 => vec![b"ZRANGE", key, start, stop],
        15 | 16 => vec![b"ZRANGE", key, start, stop, b"WithScores"],
        17 | 18 => vec![b"ZREMRANGEBYSCORE", key, least, most],
        19 | 20 => vec![b"ZADD", key, b"xx", score, one, b"3", two],
        21 | 22 => vec![b"ZRANGEBYSCORE", key, least, most],
        23 => vec![b"ZRANK", key, one],
        24 => vec![b"ZRANK", key, two],
        _ => vec![b"ZCARD", key],
    };
    words.into_iter().map(Word::from).collect()
}
