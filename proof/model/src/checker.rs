//! Breadth-first search over every state that a model can reach.
//!
//! The search is breadth first, so the first violation found takes the fewest steps. A state is
//! identified by a 64-bit digest: two of 50 million collide with a probability below one in ten
//! thousand. Only the digest and the way to it are kept, and the states of the current level.

use std::time::{Duration, Instant};
use std::{fs, io};

/// A model that can be explored.
pub trait Model {
    type State: Copy;
    type Action: Copy + PartialEq;

    fn initial(&self) -> Self::State;

    /// Hands every step from `state` to `emit`.
    fn successors(&self, state: &Self::State, emit: impl FnMut(Self::Action, Self::State));

    /// Returns the state after `action`, unless that is not possible.
    fn step(&self, state: &Self::State, action: Self::Action) -> Option<Self::State> {
        let mut after = None;
        self.successors(state, |possible, next| {
            if possible == action {
                after = Some(next);
            }
        });
        after
    }

    /// Returns the one state that represents all those that differ only by names.
    fn canonical(&self, state: Self::State) -> Self::State;

    /// Returns the same digest for equal states, and different ones for different states, except by
    /// chance.
    fn digest(&self, state: &Self::State) -> u64;

    /// Returns the property that does not hold in `state`.
    fn violated(&self, state: &Self::State) -> Option<&'static str>;
}

/// The limits of a search.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub states: usize,
}

/// A property that does not hold, and a shortest way there.
#[derive(Clone, Debug)]
pub struct Violation<A> {
    pub property: &'static str,
    pub trace: Vec<A>,
    /// So many of the last steps are taken again and again, if the way has no end.
    pub again: Option<usize>,
}

#[derive(Clone, Debug)]
pub struct Outcome<A> {
    /// The number of distinct states; those that differ only by names count once.
    pub states: usize,
    /// Every state that takes at most this many steps was visited.
    pub depth: usize,
    /// Nothing is left to explore.
    pub complete: bool,
    pub violation: Option<Violation<A>>,
    /// Processor time, if the system reports it; otherwise elapsed time.
    pub took: Duration,
}

/// Explores until a property is violated, nothing is left, or `bounds` are reached. `progress` is
/// called now and then with the number of states.
pub fn explore<M: Model>(
    model: &M,
    bounds: Bounds,
    mut progress: impl FnMut(usize),
) -> Outcome<M::Action> {
    let began = Began::now();
    let mut seen = Seen::new();
    let first = model.canonical(model.initial());
    seen.insert(model.digest(&first), 0);
    let mut level = vec![first];
    let mut next: Vec<M::State> = Vec::new();
    let mut found: Option<(&'static str, u32, u64)> =
        model.violated(&first).map(|property| (property, 0, model.digest(&first)));
    let (mut depth, mut level_begins) = (0, 0_usize);
    let mut full = false;
    while found.is_none() && !level.is_empty() && !full {
        for (place, state) in level.iter().enumerate() {
            let parent = u32::try_from(level_begins + place).unwrap_or(u32::MAX);
            model.successors(state, |_, successor| {
                let successor = model.canonical(successor);
                let digest = model.digest(&successor);
                if seen.insert(digest, parent) {
                    next.push(successor);
                    if found.is_none() {
                        found =
                            model.violated(&successor).map(|property| (property, parent, digest));
                    }
                }
            });
            full = seen.len() >= bounds.states;
            if found.is_some() || full {
                break;
            }
            if place % 4096 == 0 {
                progress(seen.len());
            }
        }
        level_begins += level.len();
        if found.is_none() && !full {
            depth += 1;
        }
        std::mem::swap(&mut level, &mut next);
        next.clear();
    }
    let violation = found.map(|(property, parent, digest)| {
        let mut way = seen.way_to(parent);
        if way.last() != Some(&digest) {
            way.push(digest);
        }
        Violation { property, trace: replay(model, &way).0, again: None }
    });
    let complete = violation.is_none() && !full;
    // The last level had no new successor.
    let depth = if complete { depth - 1 } else { depth };
    Outcome { states: seen.len(), depth, complete, violation, took: began.took() }
}

/// The start of something, by the clock and in processor time.
pub(crate) struct Began(Instant, io::Result<Duration>);

impl Began {
    pub(crate) fn now() -> Self {
        Self(Instant::now(), processor_time())
    }

    pub(crate) fn took(&self) -> Duration {
        match (&self.1, processor_time()) {
            (Ok(then), Ok(now)) => now.saturating_sub(*then),
            _ => self.0.elapsed(),
        }
    }
}

/// Returns this thread's time, as Linux counts it: a busy machine does not make a run look longer.
fn processor_time() -> io::Result<Duration> {
    let counted = fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanos = counted.split(' ').next().and_then(|nanos| nanos.parse().ok());
    nanos.map(Duration::from_nanos).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Returns the steps along `way`, from the first state on, and the last state. The states on the way are not the
/// canonical ones, so that a node has the same name throughout.
pub(crate) fn replay<M: Model>(model: &M, way: &[u64]) -> (Vec<M::Action>, M::State) {
    let mut state = model.initial();
    let mut trace = Vec::new();
    for digest in &way[1..] {
        let mut step = None;
        model.successors(&state, |action, successor| {
            if step.is_none() && model.digest(&model.canonical(successor)) == *digest {
                step = Some((action, successor));
            }
        });
        let (action, successor) = step.expect("each state on the way was met from the one before");
        trace.push(action);
        state = successor;
    }
    (trace, state)
}

/// Digests of the visited states, in order, and for each the place of the state from which it was
/// reached.
pub(crate) struct Seen {
    digests: Vec<u64>,
    parents: Vec<u32>,
    /// Places in `digests` plus one, by digest, open addressing; zero is free.
    table: Vec<u32>,
}

impl Seen {
    pub(crate) fn new() -> Self {
        Self { digests: Vec::new(), parents: Vec::new(), table: vec![0; 1 << 12] }
    }

    fn len(&self) -> usize {
        self.digests.len()
    }

    /// Inserts a digest; returns whether it is new.
    pub(crate) fn insert(&mut self, digest: u64, parent: u32) -> bool {
        if self.digests.len() * 2 >= self.table.len() {
            self.grow();
        }
        let slot = self.slot(digest);
        if self.table[slot] != 0 {
            return false;
        }
        self.digests.push(digest);
        self.parents.push(parent);
        self.table[slot] = u32::try_from(self.digests.len()).unwrap_or(u32::MAX);
        true
    }

    /// Returns the slot of `digest`, or the free slot for it.
    fn slot(&self, digest: u64) -> usize {
        let mask = self.table.len() - 1;
        let mut slot = usize::try_from(digest >> 7).unwrap_or(0) & mask;
        while let Some(place) = (self.table[slot] as usize).checked_sub(1) {
            if self.digests[place] == digest {
                break;
            }
            slot = (slot + 1) & mask;
        }
        slot
    }

    /// Returns the place of a digest that was inserted.
    pub(crate) fn place(&self, digest: u64) -> Option<u32> {
        self.table[self.slot(digest)].checked_sub(1)
    }

    pub(crate) fn digest(&self, place: u32) -> u64 {
        self.digests[place as usize]
    }

    fn grow(&mut self) {
        self.table = vec![0; self.table.len() * 2];
        for place in 0..self.digests.len() {
            let slot = self.slot(self.digests[place]);
            self.table[slot] = u32::try_from(place + 1).unwrap_or(u32::MAX);
        }
    }

    /// Returns the digests from the first state to the one at `place`.
    pub(crate) fn way_to(&self, mut place: u32) -> Vec<u64> {
        let mut way = vec![self.digests[place as usize]];
        while place != 0 {
            place = self.parents[place as usize];
            way.push(self.digests[place as usize]);
        }
        way.reverse();
        way
    }
}
