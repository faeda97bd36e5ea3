//! The abilities of clients that disagree: neither more nor less than the rules require.
//!
//! Five masters each, of which the first four are common. A question that changes nothing is left
//! out.

use super::scripts::{A, B, OF_A, OF_B, ask, grant};
use crate::agreement::protocol::Action::{self, Acquire, Quit, Restart, TakeBack, Tick};

/// Steps that must be possible, and then one that may not be.
#[derive(Clone, Debug)]
pub struct Scene {
    pub way: Vec<Action>,
    pub refused: Vec<Action>,
}

const COMMON: std::ops::Range<usize> = 0..4;

fn asks_all(client: usize) -> Vec<Action> {
    let own = if client == A { OF_A } else { OF_B };
    COMMON.chain([own]).map(|node| ask(client, node)).collect()
}

fn wins(client: usize, nodes: [usize; 3]) -> Vec<Action> {
    let grants = nodes.map(|node| grant(client, node));
    [Acquire { client }].into_iter().chain(grants).collect()
}

/// B is the first to note at a master that has come back empty, and stays. The master votes again.
fn stray() -> Vec<Action> {
    let mut way = asks_all(A);
    way.extend([Restart { node: 0, unseen: 0 }, ask(B, 0)]);
    way.extend([asks_all(A), asks_all(B)].concat());
    for _ in 0..2 {
        way.extend([vec![Tick], asks_all(A), asks_all(B)].concat());
    }
    way
}

pub(super) fn stray_stops_itself() -> Scene {
    let way = [stray(), wins(A, [1, 2, 3])].concat();
    Scene { way, refused: vec![Acquire { client: B }] }
}

/// Each client has noted where the other was cut off, and then all links are up.
fn healed() -> Vec<Action> {
    let mut way: Vec<Action> = [0, 1, OF_A].map(|node| ask(A, node)).to_vec();
    way.extend([2, 3, OF_B].map(|node| ask(B, node)));
    [way, asks_all(A), asks_all(B)].concat()
}

pub(super) fn both_stop() -> Scene {
    Scene { way: healed(), refused: vec![Acquire { client: A }, Acquire { client: B }] }
}

/// So many ticks later, without B.
fn alone(ticks: usize) -> Vec<Action> {
    let tick = [vec![Tick], asks_all(A)].concat();
    [healed(), tick.repeat(ticks)].concat()
}

/// D is two ticks, and the longest silence one.
pub(super) fn other_goes_on() -> Scene {
    let way = [alone(3), wins(A, [2, 3, OF_A])].concat();
    Scene { way, refused: Vec::new() }
}

/// B is refused, and then at once is not.
pub(super) fn leaver_leaves_nothing() -> Scene {
    let mut way = [asks_all(A), wins(A, [0, 1, 2]), vec![Tick], asks_all(B)].concat();
    way.push(Quit { client: A });
    way.extend(COMMON.map(|node| TakeBack { client: A, node }));
    way.extend([asks_all(B), wins(B, [2, 3, OF_B])].concat());
    Scene { way, refused: Vec::new() }
}

pub(super) fn other_still_waits() -> Scene {
    Scene { way: alone(2), refused: vec![Acquire { client: A }] }
}
