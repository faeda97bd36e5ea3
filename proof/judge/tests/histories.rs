//! Histories that the judge has to accept, to reject for one reason, or to leave undecided.

use judge::{History, Judgement, Part, Verdict, judge};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

/// A line of process `process`, whose number is its client's, too.
fn line(kind: &str, process: u64, f: &str, value: &str, time: u64) -> String {
    format!("{{:type :{kind}, :process {process}, :f :{f}, :value {value}, :time {time}}}\n")
}

fn asks(process: u64, resource: &str, claim: &str, permits: u64, time: u64) -> String {
    let value = format!("{{:resources [\"{resource}\"], :claim :{claim}, :permits {permits}}}");
    line("invoke", process, "acquire", &value, time)
}

fn wins(process: u64, until: u64, token: &str, time: u64) -> String {
    line("ok", process, "acquire", &format!("{{:until {until}, :token {token}}}"), time)
}

/// A release at this time, which is confirmed two later.
fn releases(process: u64, time: u64) -> String {
    line("invoke", process, "release", "nil", time)
        + &line("ok", process, "release", "nil", time + 2)
}

fn writes(process: u64, token: u64, answer: &str, time: u64) -> String {
    let value = format!("{{:resource \"r0\", :token {token}}}");
    line("invoke", process, "write", &value, time)
        + &line(answer, process, "write", &value, time + 2)
}

/// A hold of `r0` alone, with a token.
fn holds(process: u64, token: u64, from: u64, until: u64) -> String {
    asks(process, "r0", "fenced", 1, from - 1) + &wins(process, until, &token.to_string(), from)
}

fn verdicts(history: &str) -> Vec<Judgement> {
    judge(&History::read(history).unwrap(), LIMIT)
}

/// Returns what is rejected, and checks that everything else is accepted.
fn rejected(history: &str) -> Vec<(Part, String)> {
    let judgements = verdicts(history).into_iter();
    let rejected = judgements.filter_map(|judgement| match judgement.verdict {
        Verdict::Accepted => None,
        Verdict::Rejected(why) => Some((judgement.part, why)),
        Verdict::Unknown => panic!("{judgement}"),
    });
    rejected.collect()
}

#[track_caller]
fn assert_rejected(history: &str, part: Part, why: &str) {
    let rejected = rejected(history);
    assert!(rejected.len() == 1 && rejected[0].0 == part, "{rejected:?}");
    assert!(rejected[0].1.contains(why), "{rejected:?}");
}

#[track_caller]
fn assert_accepted(history: &str) {
    let rejected = rejected(history);
    assert!(rejected.is_empty(), "{rejected:?}");
}

/// Two holders, one after the other, and a late write that is refused.
fn good() -> String {
    holds(1, 7, 10, 100)
        + &writes(1, 7, "ok", 20)
        + &releases(1, 30)
        + &holds(2, 8, 31, 100)
        + &writes(2, 8, "ok", 40)
        + &writes(1, 7, "fail", 50)
}

#[test]
fn a_good_history_is_accepted() {
    let judgements = verdicts(&good());
    let parts: Vec<Part> = judgements.iter().map(|judged| judged.part).collect();
    assert_eq!(parts, [Part::Lock, Part::Fence, Part::Store]);
    assert_eq!(judgements.iter().map(|judged| judged.operations).collect::<Vec<_>>(), [4, 2, 3]);
    assert_accepted(&good());
}

#[test]
fn a_planted_overlap_is_rejected_by_the_lock_alone() {
    let release = ":type :invoke, :process 1, :f :release, :value nil, :time ";
    let overlap = good().replace(&format!("{release}30"), &format!("{release}32"));
    assert_rejected(&overlap, Part::Lock, "by process 2 of r0: Acquire");
}

#[test]
fn a_planted_fence_that_goes_down_is_rejected_by_the_fence_alone() {
    let down = holds(1, 8, 10, 20) + &holds(2, 7, 31, 100);
    assert_rejected(&down, Part::Fence, "with 8, by process 2 of r0: HoldsWith(7)");
    let again = holds(1, 7, 10, 20) + &holds(2, 7, 31, 100);
    assert_rejected(&again, Part::Fence, "HoldsWith(7)");
    let none = asks(1, "r0", "fair-fenced", 1, 0) + &wins(1, 20, "nil", 10);
    assert_rejected(&none, Part::Fence, "HoldsWith(0)");
}

#[test]
fn a_planted_stale_write_is_rejected_by_the_store_alone() {
    let stale = good().replace(":type :fail", ":type :ok");
    assert_rejected(&stale, Part::Store, "with 8, by process 1 to r0: Write { token: 7");
    let refused = good() + &writes(2, 8, "fail", 60);
    assert_rejected(&refused, Part::Store, "answer: Stale");
}

#[test]
fn a_hold_ends_at_its_release_or_by_itself_at_its_deadline() {
    for (first, is_right) in [
        (holds(1, 7, 10, 50), true),
        (holds(1, 7, 10, 51), false),
        (holds(1, 7, 10, 90) + &releases(1, 50), true),
        (holds(1, 7, 10, 90) + &releases(1, 51), false),
        // Too late: it had ended by itself.
        (holds(1, 7, 10, 50) + &releases(1, 60), true),
        // A release without an answer.
        (holds(1, 7, 10, 90) + &line("invoke", 1, "release", "nil", 50), true),
        // The deadline was extended, and is looked at.
        (
            holds(1, 7, 10, 40)
                + &line("invoke", 1, "deadline", "nil", 20)
                + &line("ok", 1, "deadline", "{:until 60}", 21),
            false,
        ),
    ] {
        let history = first + &holds(2, 8, 50, 100);
        let found = rejected(&history);
        assert_eq!(found.is_empty(), is_right, "{found:?}\n{history}");
        assert!(found.iter().all(|(part, _)| *part == Part::Lock), "{found:?}");
    }
}

#[test]
fn readers_hold_with_readers_alone() {
    let reads = |process, from, until| {
        asks(process, "w0", "shared", 1, from - 1) + &wins(process, until, "nil", from)
    };
    let writes = asks(3, "w0", "alone", 1, 59) + &wins(3, 99, "nil", 60);
    let both = reads(1, 10, 50) + &reads(2, 20, 60);
    assert_accepted(&(both.clone() + &writes));
    assert_rejected(&(both + &reads(4, 30, 61) + &writes), Part::Lock, "process 3");
    let reader_later = writes + &reads(4, 62, 70);
    assert_rejected(&reader_later, Part::Lock, "process 4");
}

#[test]
fn as_many_hold_a_semaphore_as_it_has_permits() {
    let permit = |process, from, until| {
        asks(process, "p0", "alone", 2, from - 1) + &wins(process, until, "nil", from)
    };
    let two = permit(1, 10, 50) + &permit(2, 20, 60);
    assert_accepted(&(two.clone() + &permit(3, 50, 90)));
    assert_rejected(&(two + &permit(3, 49, 90)), Part::Lock, "process 3");
}

#[test]
fn what_was_not_acquired_constrains_nothing() {
    let fails = asks(3, "r0", "fenced", 1, 0) + &line("fail", 3, "acquire", "nil", 90);
    let killed = asks(4, "r0", "fenced", 1, 0);
    let write = line("invoke", 5, "write", "{:resource \"r0\", :token 9}", 15);
    assert_accepted(&(good() + &fails + &killed + &write));
}

#[test]
fn of_several_resources_each_is_judged() {
    let both = |process: u64, from, until| {
        let value = "{:resources [\"r0\" \"r1\"], :claim :fenced, :permits 1}";
        let token = process.to_string();
        line("invoke", process, "acquire", value, 0) + &wins(process, until, &token, from)
    };
    let history = both(1, 10, 20) + &both(2, 19, 30);
    let resources: Vec<String> = verdicts(&history)
        .into_iter()
        .filter(|judged| judged.verdict != Verdict::Accepted)
        .map(|judged| judged.resource)
        .collect();
    assert_eq!(resources, ["r0", "r1"]);
}

#[test]
fn without_time_there_is_no_acceptance() {
    let judgements = judge(&History::read(&good()).unwrap(), Duration::ZERO);
    assert_eq!(judgements.len(), 3);
    assert!(judgements.iter().all(|judged| judged.verdict == Verdict::Unknown), "{judgements:?}");
}

/// Writes of unknown outcome, in any order, and one that was refused although none was greater.
#[test]
fn a_search_that_takes_too_long_is_unknown() {
    let unknown = |process: u64| {
        line("invoke", process, "write", &format!("{{:resource \"r0\", :token {process}}}"), 1)
    };
    let history: String = (1..=40).map(unknown).collect();
    let history = history + &writes(99, 99, "fail", 10);
    let judgements = judge(&History::read(&history).unwrap(), Duration::from_millis(200));
    assert_eq!(judgements[0].verdict, Verdict::Unknown, "{judgements:?}");
}

#[test]
fn a_line_that_is_not_understood_is_an_error_with_its_number() {
    let won = holds(1, 7, 10, 100);
    for (history, line, problem) in [
        (won.clone() + "{:type :ok\n", 3, "is missing at the end"),
        (won.clone() + "\n" + &won, 3, "is missing at the end"),
        (won.clone() + "{:type :info, :f :killed}\n", 3, "`:process`"),
        (won.clone() + "{:type :ok, :process 1, :f :release}\n", 3, "`:time`"),
        (won.clone() + &line("ok", 1, "release", "nil", 20), 3, "has not invoked `:release`"),
        (won.clone() + &line("ok", 2, "acquire", "{:until 9}", 20), 3, "has not invoked"),
        (won.clone() + &asks(1, "r0", "alone", 1, 20), 3, "a second `:acquire`"),
        (asks(1, "r0", "alone", 1, 0) + &asks(1, "r0", "alone", 1, 1), 2, "still in `:acquire`"),
        (asks(1, "r0", "alone", 1, 9) + &wins(1, 20, "nil", 8), 2, "before its call"),
        (asks(1, "r0", "alone", 1, 9) + &line("ok", 1, "acquire", "nil", 10), 2, "`:until`"),
        (asks(1, "r0", "alone", 0, 9), 1, "`:permits`"),
        (asks(1, "r0", "maybe", 1, 9), 1, "`:claim`"),
        (line("invoke", 1, "release", "nil", 9), 1, "without a hold"),
        (line("invoke", 1, "steal", "nil", 9), 1, "no operation is called `:steal`"),
        (asks(1, "r0", "alone", 1, 9) + &line("done", 1, "acquire", "nil", 10), 2, "`:done`"),
    ] {
        let error = History::read(&history).unwrap_err();
        assert_eq!(error.line, line, "{error}\n{history}");
        assert!(error.problem.contains(problem), "{error}\n{history}");
    }
}

#[test]
fn faults_and_the_run_are_not_judged() {
    let fault = "{:type :info, :process :nemesis, :f :killed, :value {:of \"c1\"}, :time 5}\n";
    assert_accepted(&(fault.to_owned() + &good()));
}
