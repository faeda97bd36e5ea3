//! What is promised in the end: a promise is broken exactly where a way without an end breaks it, and the way that is
//! found is one.

use model::checker::Model;
use model::fair::{Graph, Lasso, Owed, Step};

/// States by number, and the steps between them: from where, of which kind, and to where.
struct Steps {
    steps: Vec<(u8, Step, u8)>,
}

impl Model for Steps {
    type State = u8;
    type Action = usize;

    fn initial(&self) -> u8 {
        0
    }

    fn successors(&self, state: &u8, mut emit: impl FnMut(usize, u8)) {
        for (number, (from, _, to)) in self.steps.iter().enumerate() {
            if from == state {
                emit(number, *to);
            }
        }
    }

    fn canonical(&self, state: u8) -> u8 {
        state
    }

    fn digest(&self, state: &u8) -> u64 {
        u64::from(*state) << 7
    }

    fn violated(&self, _: &u8) -> Option<&'static str> {
        None
    }
}

impl Steps {
    fn broken(&self, owed: &[Owed]) -> Option<Lasso<usize>> {
        let mut graph = Graph::of(self, 1000, |_| ()).expect("few states");
        let class = |number: usize, _: &u8, _: &u8| self.steps[number].1;
        graph.classify(self, class);
        graph.broken(self, class, |state| owed[usize::from(*state)])
    }

    /// Returns the classes of the steps from a state, as bits; time is the last.
    fn can(&self, state: u8) -> u32 {
        let steps = self.steps.iter().filter(|(from, ..)| *from == state);
        steps.fold(0, |all, (_, step, _)| all | class(*step))
    }
}

const TIME: u32 = 1 << 31;

fn class(step: Step) -> u32 {
    match step {
        Step::Must(class) | Step::Ends(class) => 1 << class,
        Step::Time => TIME,
        Step::Free | Step::Rare => 0,
    }
}

use Owed::{Asked, Kept, Open};
use Step::{Ends, Free, Must, Rare, Time};

#[track_caller]
fn is_broken(steps: &[(u8, Step, u8)], owed: &[Owed], expected: Option<(&[usize], usize)>) {
    let found = Steps { steps: steps.to_vec() }.broken(owed);
    let expected = expected.map(|(trace, again)| Lasso { trace: trace.to_vec(), again });
    assert_eq!(found, expected);
}

#[test]
fn a_step_that_must_be_taken_and_always_can_be_is_taken() {
    let round = [(0, Time, 1), (1, Time, 0), (0, Must(0), 2), (1, Must(0), 2)];
    is_broken(&round, &[Asked, Asked, Kept], None);
    // No client has to take a step that is free.
    let free = [(0, Time, 1), (1, Time, 0), (0, Free, 2), (1, Free, 2)];
    is_broken(&free, &[Asked, Asked, Kept], Some((&[0, 1], 2)));
}

#[test]
fn a_step_that_is_impossible_now_and_then_may_be_put_off() {
    let round = [(0, Time, 1), (1, Time, 0), (1, Must(0), 2)];
    is_broken(&round, &[Asked, Asked, Kept], Some((&[0, 1], 2)));
}

#[test]
fn of_two_classes_each_is_taken() {
    let steps = |other| [(0, Must(0), 0), (0, Time, 0), (0, Must(other), 1)];
    is_broken(&steps(1), &[Asked, Kept], None);
    is_broken(&steps(0), &[Asked, Kept], Some((&[0, 1], 2)));
}

#[test]
fn where_nothing_has_to_happen_nothing_does() {
    is_broken(&[(0, Must(0), 1), (1, Free, 2)], &[Asked, Open, Kept], Some((&[0], 0)));
    is_broken(&[(0, Must(0), 1), (1, Must(0), 2)], &[Asked, Open, Kept], None);
}

#[test]
fn what_is_free_takes_time() {
    let round = [(0, Free, 1), (1, Free, 0), (0, Time, 2), (1, Time, 2)];
    is_broken(&round, &[Asked, Asked, Kept], None);
    // What must happen may go round and round in no time, where none can pass.
    is_broken(&[(0, Must(0), 1), (1, Must(1), 0)], &[Asked, Asked], Some((&[0, 1], 2)));
}

#[test]
fn a_rare_step_is_not_taken_again_and_again() {
    let round = |step| [(0, Time, 1), (1, step, 0), (1, Must(0), 2)];
    is_broken(&round(Rare), &[Asked, Asked, Kept], None);
    is_broken(&round(Free), &[Asked, Asked, Kept], Some((&[0, 1], 2)));
    // It is as possible as one that is taken: the other is put off no longer than without it.
    let both = [(0, Time, 1), (1, Time, 0), (0, Ends(0), 1), (1, Must(0), 2)];
    is_broken(&both, &[Asked, Asked, Kept], None);
}

#[test]
fn what_is_not_asked_for_is_not_promised() {
    let round = [(0, Time, 0), (0, Free, 1), (1, Time, 1), (1, Free, 2), (2, Time, 2)];
    is_broken(&round, &[Open, Open, Kept], None);
    is_broken(&round, &[Open, Asked, Kept], Some((&[1, 2], 1)));
    // It was kept in between.
    is_broken(&[(0, Must(0), 1), (1, Must(0), 2), (2, Time, 2)], &[Asked, Kept, Open], None);
}

/// Returns whether some states, all of them reached, are what a way without an end may come to.
fn is_fair(steps: &Steps, of: u32) -> bool {
    let within = |state: u8| of >> state & 1 == 1;
    let members = || (0..32).filter(|state| within(*state));
    let is_one = |taken: &dyn Fn(Step) -> bool| {
        members().all(|from| {
            let mut reached = 1_u32 << from;
            loop {
                let before = reached;
                for (a, step, b) in &steps.steps {
                    if reached >> a & 1 == 1 && within(*b) && taken(*step) {
                        reached |= 1 << b;
                    }
                }
                if reached == before {
                    return reached & of == of;
                }
            }
        })
    };
    let always = members().fold(u32::MAX, |all, state| all & steps.can(state)) & !TIME;
    let ever = members().fold(0, |all, state| all | steps.can(state));
    let taken = |kinds: &dyn Fn(Step) -> bool| {
        let inner =
            steps.steps.iter().filter(|(a, step, b)| within(*a) && within(*b) && kinds(*step));
        inner.fold(0, |all, (_, step, _)| all | class(*step))
    };
    let timed = |step: Step| !matches!(step, Rare | Ends(_));
    let still = |step: Step| matches!(step, Must(_));
    let passes = is_one(&timed) && always & !taken(&timed) == 0 && taken(&timed) & TIME != 0;
    passes || is_one(&still) && always & !taken(&still) == 0 && ever & TIME == 0
}

/// Checks that a way breaks the promise for good.
fn is_a_way(steps: &Steps, owed: &[Owed], found: &Lasso<usize>) {
    let (mut at, mut is_asked) = (0_u8, owed[0] == Asked);
    let (mut cycle, mut taken, mut start) = (Vec::new(), 0, 0);
    for (place, number) in found.trace.iter().enumerate() {
        if place == found.trace.len() - found.again {
            start = at;
        }
        let (from, step, to) = steps.steps[*number];
        assert_eq!(from, at);
        at = to;
        is_asked = owed[usize::from(at)] != Kept && (is_asked || owed[usize::from(at)] == Asked);
        if place >= found.trace.len() - found.again {
            assert!(!matches!(step, Rare | Ends(_)));
            taken |= class(step);
            cycle.push(at);
        }
    }
    assert!(is_asked);
    if found.again == 0 {
        assert_eq!(steps.can(at), 0);
        return;
    }
    assert_eq!(at, start);
    let always = cycle.iter().fold(u32::MAX, |all, state| all & steps.can(*state)) & !TIME;
    let ever = cycle.iter().fold(0, |all, state| all | steps.can(*state));
    assert_eq!(always & !taken, 0, "a step is put off");
    assert!(taken & TIME != 0 || ever & TIME == 0);
}

#[test]
fn any_few_states_break_a_promise_exactly_if_a_way_does() {
    let mut seed = 88_172_645_463_325_252_u64;
    let mut below = |limit: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % limit
    };
    let (mut broken, mut kept) = (0, 0);
    for _ in 0..20_000 {
        let states = 1 + below(6) as u8;
        let kinds = [Free, Rare, Time, Time, Must(0), Must(1), Must(2), Must(0), Ends(1)];
        let count = below(3 * u64::from(states)) + 1;
        let mut state = || (below(u64::from(states))) as u8;
        let ends: Vec<(u8, u8)> = (0..count).map(|_| (state(), state())).collect();
        let steps = ends.into_iter().map(|(a, b)| (a, kinds[below(9) as usize], b)).collect();
        let steps = Steps { steps };
        let owed: Vec<Owed> =
            (0..states).map(|_| [Kept, Asked, Asked, Open][below(4) as usize]).collect();
        // All that can be reached, and what is then asked for and not kept.
        let (mut reached, mut asked) = (1_u32, 0_u32);
        loop {
            let before = (reached, asked);
            for (state, owed) in owed.iter().enumerate() {
                asked |= u32::from(*owed == Asked && reached >> state & 1 == 1) << state;
            }
            for (a, _, b) in &steps.steps {
                reached |= (reached >> a & 1) << b;
                let is_open = u32::from(owed[usize::from(*b)] != Kept);
                asked |= (asked >> a & is_open) << b;
            }
            if before == (reached, asked) {
                break;
            }
        }
        let expected =
            (1..1_u32 << states).filter(|of| of & !asked == 0).any(|of| is_fair(&steps, of));
        let found = steps.broken(&owed);
        assert_eq!(found.is_some(), expected, "{:?} {owed:?}", steps.steps);
        match found {
            Some(found) => {
                is_a_way(&steps, &owed, &found);
                broken += 1;
            }
            None => kept += 1,
        }
    }
    assert!(broken > 2_000 && kept > 2_000, "{broken} broken, {kept} kept");
}
