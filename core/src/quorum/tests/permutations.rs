//! A walk over every order in which masters may answer, with everything that each may answer.

#![allow(clippy::disallowed_types, reason = "in no order, on purpose")]

use super::{Picture, all_of};
use std::collections::HashMap;
use std::fmt::Debug;

/// A receiver of the masters' answers, one at a time.
pub(super) trait Hears: Clone + Debug {
    /// The answers that a master may give.
    const GLYPHS: &'static str;

    fn hear(&mut self, node: usize, glyph: char);
}

/// One step of a walk: the state before, the master that answered and its answer, the state after.
pub(super) struct Step<'a, H> {
    pub(super) before: &'a H,
    /// The masters that had answered before.
    pub(super) picture: &'a Picture,
    pub(super) after: &'a H,
    /// The masters that have answered after.
    pub(super) next: &'a Picture,
}

/// Replays every order and every answer of every master, from the first to the last, and shows each
/// step to `check`. Returns the number of complete orders.
pub(super) fn every_order<H: Hears>(
    state: &H,
    picture: &Picture,
    check: &mut impl FnMut(&Step<'_, H>),
) -> usize {
    let silent = picture.silent();
    let mut orders = usize::from(silent.is_empty());
    for node in silent {
        for glyph in H::GLYPHS.chars() {
            let (mut after, next) = (state.clone(), picture.with(node, glyph));
            after.hear(node, glyph);
            check(&Step { before: state, picture, after: &after, next: &next });
            orders += every_order(&after, &next, check);
        }
    }
    orders
}

/// Walks every partial assignment once, by every last step that leads to it, and asserts that all
/// of them end in the very same state. By induction over the number of masters that have answered,
/// the state is then a function of the answers, and no order can matter. So `check` has seen
/// whatever any order can show. Returns the number of assignments, partial ones included.
pub(super) fn every_state<H: Hears>(
    start: &H,
    masters: usize,
    check: &mut impl FnMut(&Step<'_, H>),
) -> usize {
    let mut states = 1;
    let mut level = HashMap::from([(Picture::blank(masters), start.clone())]);
    while !level.is_empty() {
        let mut following: HashMap<Picture, (H, String)> = HashMap::new();
        for (picture, state) in &level {
            for node in picture.silent() {
                for glyph in H::GLYPHS.chars() {
                    let (mut after, next) = (state.clone(), picture.with(node, glyph));
                    after.hear(node, glyph);
                    check(&Step { before: state, picture, after: &after, next: &next });
                    let whole = all_of(&after);
                    match following.get(&next) {
                        Some((_, known)) => assert_eq!(&whole, known, "{next}: order matters"),
                        None => drop(following.insert(next, (after, whole))),
                    }
                }
            }
        }
        states += following.len();
        level = following.into_iter().map(|(picture, (state, _))| (picture, state)).collect();
    }
    states
}
