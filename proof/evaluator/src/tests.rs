//! A small page, in the form in which the proof's are exported.

use super::{Definition, Page, State};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, fs, process};

const SIGNATURE: &str = "(declare-sort Node 0)
(declare-sort Token 0)
(declare-fun life (Token) Real) ; constant
(declare-fun now () Real) ; state
(declare-fun has (Node Token) Bool) ; state
(declare-fun ends (Node) Real) ; state
(declare-fun now_next () Real) ; state after a step
(declare-fun has_next (Node Token) Bool) ; state after a step
(declare-fun ends_next (Node) Real) ; state after a step
";

/// A key is set where there is none, and its life ends later than now.
const SET: &str = "; code: somewhere.rs
; a key is set
(declare-fun n0 () Node) ; parameter
(declare-fun t0 () Token) ; parameter
(declare-fun d0 () Real) ; parameter
(declare-fun blocked (Node) Bool) ; parameter
(define-fun |set| () Bool
(let ((a!1 (>= d0 (+ now (life t0)))))
(and (not (exists ((t Token)) (has n0 t)))
     a!1
     (not (blocked n0))
     (= now_next now)
     (forall ((has_0 Node) (has_1 Token))
       (let ((a!1 (ite (and (= has_0 n0) (= has_1 t0)) true (has has_0 has_1))))
         (= (has_next has_0 has_1) a!1)))
     (forall ((ends_0 Node)) (= (ends_next ends_0) (ite (= ends_0 n0) d0 (ends ends_0)))))))
";

const ONE: &str = "; at most one key
(define-fun |single| () Bool
(forall ((n Node) (t Token) (u Token)) (=> (and (has n t) (has n u)) (= t u))))
";

const LATER: &str = "; a key that is there has some time left
(declare-fun n () Node) ; parameter
(declare-fun t () Token) ; parameter
(define-fun |later| () Bool
(=> (and (has n t) (distinct now 0.0)) (< (- now (ends n)) 0.0)))
";

/// A goal of a step: a key that another token has stays as it is.
const KEPT: &str = "; a key of another token stays
(declare-fun n0 () Node) ; parameter
(declare-fun t0 () Token) ; parameter
(declare-fun t () Token) ; parameter
(define-fun |kept| () Bool
(=> (and (has n0 t) (distinct t t0)) (has_next n0 t)))
";

/// Each form in which quantifiers nest.
const NESTED: [&str; 6] = [
    "(forall ((n Node) (t Token) (u Token)) (=> (and (has n t) (< now (ends n)) (has n u)) (= t u)))",
    "(forall ((n Node) (k Node)) (=> (exists ((t Token)) (and (has n t) (distinct t 0))) (=> (< now (ends k)) (not (has n 0)))))",
    "(forall ((n Node) (t Token)) (or (not (has n t)) (and (< now (ends n)) (not (= t 0)))))",
    "(exists ((t Token) (n Node) (k Node)) (and (has n t) (and (not (has k t)) (< (ends n) (ends k)))))",
    "(not (exists ((n Node) (k Node)) (and (has n 0) (has k 0) (distinct n k) (> now 0))))",
    "(let ((a!1 (forall ((n Node)) (< now (ends n))))) (or a!1 (and (has 0 0) a!1)))",
];

fn written(action: &str) -> Result<Page, String> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = env::temp_dir().join(format!("evaluator-{}-{number}", process::id()));
    let write = |file: &str, text: &str| {
        let path: PathBuf = folder.join("page").join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("signature.smt2", SIGNATURE);
    write("action/set.smt2", action);
    write("conjunct/single.smt2", ONE);
    for (place, body) in NESTED.iter().enumerate() {
        let text = format!("; nested\n(define-fun |nested {place}| () Bool\n{body})\n");
        write(&format!("assumption/{place}.smt2"), &text);
        write(&format!("conjunct/z{place}.smt2"), &text);
    }
    write("goal/kept.smt2", KEPT);
    write("goal/later.smt2", LATER);
    let page = Page::read(&folder, "page");
    fs::remove_dir_all(&folder).unwrap();
    page
}

/// A state with two masters and two tokens whose keys live for ten.
fn state() -> State {
    let mut state = State::new(Arc::new(written(SET).unwrap()));
    for _ in 0..2 {
        state.add("Node");
        let token = state.add("Token");
        state.set("life", &[token], 10);
    }
    state.set("now", &[], 5);
    state
}

#[test]
fn a_step_is_permitted_if_it_changes_what_its_action_says_and_nothing_else() {
    let mut state = state();
    let page = state.page().clone();
    let set = &page.actions[page.action("set").unwrap()];
    assert_eq!(set.words, "a key is set");
    let parameters = [("n0", 1), ("t0", 0), ("d0", 15)];
    let changes = [state.to("has", &[1, 0], 1), state.to("ends", &[1], 15)];
    assert_eq!(state.permits(set, &parameters, &changes), Ok(()));
    let wrong = |state: &mut State, parameters: &[(&str, i64)], changes: &[super::Change]| {
        state.permits(set, parameters, changes).unwrap_err()
    };
    // It changes too little, too much, or sets another life.
    assert_eq!(wrong(&mut state, &parameters, &changes[..1]).0, 5);
    let more = [&changes[..], &[state.to("has", &[0, 1], 1)]].concat();
    assert_eq!(wrong(&mut state, &parameters, &more).0, 4);
    let later = [&changes[..], &[state.to("now", &[], 6)]].concat();
    assert_eq!(wrong(&mut state, &parameters, &later).0, 3);
    // A key does not live for long enough, which the text of the part says.
    let short = wrong(&mut state, &[("n0", 1), ("t0", 0), ("d0", 14)], &changes);
    assert_eq!(short, (1, "(>= d0 (+ now (life t0)))".into()));
    // A parameter that is a function.
    state.set("blocked", &[1], 1);
    assert_eq!(wrong(&mut state, &parameters, &changes).0, 2);
    state.set("blocked", &[1], 0);
    // There is a key already.
    state.change(&changes);
    assert!(state.is("has", &[1, 0]) && state.value("ends", &[1]) == 15);
    assert_eq!(wrong(&mut state, &parameters, &changes).0, 0);
}

#[test]
fn a_conjunct_holds_of_all_live_elements_and_a_goal_whatever_its_parameters_are() {
    let mut state = state();
    let page = state.page().clone();
    let (single, later) = (&page.conjuncts[0], &page.goals[1]);
    assert!(!single.is_of_step && page.actions[0].is_of_step);
    state.set("ends", &[0], 9);
    state.set("has", &[0, 0], 1);
    assert_eq!((state.holds(single), state.holds(later)), (Ok(()), Ok(())));
    state.set("has", &[0, 1], 1);
    assert!(state.holds(single).is_err() && state.shown().contains("has[0, 1] = 1"));
    state.set_live("Token", 1, false);
    assert_eq!(state.holds(single), Ok(()), "the other token is put aside");
    state.set("now", &[], 9);
    assert_eq!(state.holds(later), Err("later, n = 0, t = 0".into()));
    state.set_live("Token", 1, true);
    assert_eq!(state.live("Token"), [0, 1]);
}

#[test]
fn a_goal_of_a_step_holds_for_what_its_action_names_and_whatever_else_there_is() {
    let mut state = state();
    let page = state.page().clone();
    let (kept, action) = (&page.goals[0], page.action("set").unwrap());
    assert!(kept.is_of_step);
    state.set("has", &[1, 1], 1);
    let parameters = [("n0", 1), ("t0", 0), ("d0", 15)];
    let set = state.to("has", &[1, 0], 1);
    assert_eq!(state.holds_after(kept, action, &parameters, std::slice::from_ref(&set)), Ok(()));
    let taken = [set, state.to("has", &[1, 1], 0)];
    let wrong = state.holds_after(kept, action, &parameters, &taken);
    assert_eq!(wrong, Err("kept, n0 = 1, t0 = 0, t = 1".into()));
    let own = [("n0", 1), ("t0", 1), ("d0", 15)];
    assert_eq!(state.holds_after(kept, action, &own, &taken), Ok(()), "it is its own token's");
    let other = [("n0", 0), ("t0", 0), ("d0", 15)];
    assert_eq!(state.holds_after(kept, action, &other, &taken), Ok(()), "of the other master");
}

#[test]
fn however_quantifiers_nest_a_formula_has_the_value_of_its_text() {
    let mut state = state();
    let page = state.page().clone();
    let mut seen = [[false; 2]; NESTED.len()];
    // Every state in which a time is 0 or 1.
    for bits in 0..1_u32 << 7 {
        let bit = |place: usize| bits >> place & 1 == 1;
        set_all(&mut state, bits);
        let (now, ends) = (bit(6), |node: usize| bit(node));
        let has = |node: usize, token: usize| bit(2 + 2 * node + token);
        let pairs = [(0, 0), (0, 1), (1, 0), (1, 1)];
        let expected = [
            pairs.iter().all(|(t, u)| {
                (0..2).all(|n| !(has(n, *t) && !now && ends(n) && has(n, *u)) || t == u)
            }),
            pairs.iter().all(|(n, k)| !(has(*n, 1) && !now && ends(*k) && has(*n, 0))),
            pairs.iter().all(|(n, t)| !has(*n, *t) || !now && ends(*n) && *t != 0),
            pairs
                .iter()
                .any(|(n, k)| (0..2).any(|t| has(*n, t) && !has(*k, t) && !ends(*n) && ends(*k))),
            !pairs.iter().any(|(n, k)| has(*n, 0) && has(*k, 0) && n != k && now),
            (0..2).all(|n| !now && ends(n)),
        ];
        for (place, expected) in expected.into_iter().enumerate() {
            let found = state.holds(&page.assumptions[place]).is_ok();
            assert_eq!(found, expected, "{} in state {bits:07b}", NESTED[place]);
            seen[place][usize::from(found)] = true;
        }
    }
    assert!(seen.iter().all(|seen| *seen == [true; 2]), "{seen:?}");
}

/// Sets the values of a state by the bits of a number: each time to 0 or 1.
fn set_all(state: &mut State, bits: u32) {
    let bit = |place: usize| i64::from(bits >> place & 1 == 1);
    for place in 0..2_usize {
        let node = place as i64;
        state.set("ends", &[node], bit(place));
        (0..2).for_each(|token| {
            state.set("has", &[node, token], bit(2 + 2 * place + token as usize))
        });
    }
    state.set("now", &[], bit(6));
}

/// Judges again, after a change, all conjuncts and goals of a state that held before it. Returns how many do not any more.
fn broken_by(state: &mut State, change: impl FnOnce(&mut State)) -> usize {
    let page = state.page().clone();
    let all = page.conjuncts.iter().chain(&page.goals);
    let formulas: Vec<_> = all.filter(|formula| !formula.is_of_step).collect();
    assert_eq!(formulas.len(), 2 + NESTED.len());
    let held: Vec<_> =
        formulas.into_iter().filter(|formula| state.holds(formula).is_ok()).collect();
    state.all_judged();
    change(state);
    let is_broken = |formula: &&Definition| {
        let result = state.holds(formula);
        assert_eq!(state.still_holds(formula), result, "{}: {}", formula.name, state.shown());
        result.is_err()
    };
    held.into_iter().filter(is_broken).count()
}

#[test]
fn a_formula_that_held_is_judged_for_what_has_changed() {
    let (mut state, mut broken) = (state(), 0);
    // From each state to each one that differs in two values at most.
    for bits in 0..1_u32 << 7 {
        for (first, second) in
            (0..7).flat_map(|first| (0..=first).map(move |second| (first, second)))
        {
            set_all(&mut state, bits);
            let changed = bits ^ (1 << first | 1 << second);
            broken += broken_by(&mut state, |state| set_all(state, changed));
        }
    }
    assert!(broken > 1000, "{broken}");
}

#[test]
fn a_formula_that_held_is_judged_for_elements_that_come_and_go() {
    let (mut state, mut broken) = (state(), 0);
    for bits in 0..1_u32 << 7 {
        set_all(&mut state, bits);
        for (sort, element) in ["Node", "Token"].into_iter().flat_map(|sort| [(sort, 0), (sort, 1)])
        {
            for is_live in [false, true] {
                broken += broken_by(&mut state, |state| state.set_live(sort, element, is_live));
            }
        }
    }
    assert!(broken > 100, "{broken}");
}

#[test]
fn what_has_not_changed_is_not_judged_again() {
    let mut state = state();
    let page = state.page().clone();
    let single = &page.conjuncts[0];
    state.set("has", &[0, 0], 1);
    state.set("has", &[0, 1], 1);
    state.all_judged();
    // It does not hold of the first master, of which nothing has changed since.
    state.set("has", &[1, 0], 1);
    assert_eq!(state.still_holds(single), Ok(()));
    // What falls can do no harm.
    state.set("has", &[0, 1], 0);
    state.set("has", &[0, 1], 1);
    state.all_judged();
    state.set("has", &[1, 0], 0);
    assert_eq!(state.still_holds(single), Ok(()));
    state.set("has", &[0, 0], 0);
    state.set("has", &[0, 0], 1);
    assert!(state.still_holds(single).is_err());
}

#[test]
fn what_is_known_stays_when_there_is_no_room_for_more() {
    let mut state = state();
    state.set("has", &[1, 1], 1);
    for _ in 0..40 {
        state.add("Token");
    }
    state.add("Node");
    let last = *state.live("Token").last().unwrap();
    state.set("has", &[2, last], 1);
    let all: Vec<(i64, i64)> =
        (0..3).flat_map(|node| (0..=last).map(move |token| (node, token))).collect();
    let there: Vec<_> =
        all.into_iter().filter(|(node, token)| state.is("has", &[*node, *token])).collect();
    assert_eq!(there, [(1, 1), (2, last)]);
}

#[test]
fn what_is_not_understood_is_an_error_that_names_the_file() {
    for (name, part, by, expected) in [
        ("function", "(life t0)", "(death t0)", "death is not known"),
        ("number", "(life t0)", "2.5", "2.5 is not known"),
        ("arguments", "(has n0 t)", "(has n0)", "has takes 2 arguments, not 1"),
        ("parenthesis", "(and (not", "(and ((not", "open at the end"),
        ("sort", "((t Token))", "((t Real))", "only elements are counted through"),
    ] {
        assert!(SET.contains(part), "{part}");
        let error = written(&SET.replace(part, by)).unwrap_err();
        assert!(error.contains("set.smt2: ") && error.contains(expected), "{name}: {error}");
    }
    let missing = Page::read(&env::temp_dir().join("no such folder"), "page").unwrap_err();
    assert!(missing.contains("signature.smt2"), "{missing}");
}
