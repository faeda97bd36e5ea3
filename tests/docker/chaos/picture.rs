//! The picture of a run: its story as a timeline.

use super::check::Violation;
use super::clock::{Nanos, between};
use super::history::Condition;
use super::story::{Attempt, Life, Story, process};
use super::timeline::{self, Client, Ended, Fault, Hold, Master, Span, State, Timeline, Verdict};
use std::collections::BTreeMap;

/// Draws everything that happened, with the verdict.
pub(crate) fn timeline(
    story: &Story,
    violations: &[Violation],
    title: String,
    footer: Vec<String>,
) -> Timeline {
    let drawn = Drawn { story, lanes: lanes(story) };
    let found = violations.iter().map(|violation| timeline::Violation {
        span: drawn.span(violation.at, violation.until.unwrap_or(violation.at)),
        label: format!("{:?}: {}", violation.kind, violation.text),
    });
    let holds = story.attempts.iter().filter(|attempt| attempt.hold.is_some()).count();
    let verdict = if violations.is_empty() {
        Verdict::Good(format!("{holds} locks: no two at once, tokens in order, no key left behind"))
    } else {
        Verdict::Bad(format!("{} violations in {holds} locks", violations.len()))
    };
    Timeline {
        title,
        span: drawn.span(story.began, story.ended),
        clients: drawn.clients(),
        masters: drawn.masters(),
        faults: drawn.faults(),
        violations: found.collect(),
        verdict,
        footer,
    }
}

/// Assigns each process the first lane that is free when it starts: one takes the place of another.
fn lanes(story: &Story) -> BTreeMap<&str, usize> {
    let mut lives: Vec<(&str, &Life)> =
        story.lives.iter().map(|(name, life)| (name.as_str(), life)).collect();
    lives.sort_by_key(|(_, life)| life.born);
    let mut free_at: Vec<Nanos> = Vec::new();
    let mut lanes = BTreeMap::new();
    for (name, life) in lives {
        let lane = free_at.iter().position(|at| *at <= life.born).unwrap_or(free_at.len());
        let end = end_of(life).unwrap_or(Nanos::MAX);
        if lane == free_at.len() {
            free_at.push(end);
        } else {
            free_at[lane] = end;
        }
        lanes.insert(name, lane);
    }
    lanes
}

fn end_of(life: &Life) -> Option<Nanos> {
    life.killed.or(life.gone.map(|(at, _)| at))
}

struct Drawn<'a> {
    story: &'a Story,
    lanes: BTreeMap<&'a str, usize>,
}

impl Drawn<'_> {
    fn span(&self, from: Nanos, to: Nanos) -> Span {
        Span::new(between(self.story.began, from), between(self.story.began, to))
    }

    /// Returns the task's number after that of its process's lane.
    fn lane(&self, task: &str) -> String {
        let number = task.split_once('.').map_or("0", |(_, number)| number);
        let lane = self.lanes.get(process(task)).map_or(0, |lane| lane + 1);
        format!("client {lane}.{number}")
    }

    fn clients(&self) -> Vec<Client> {
        let mut clients: BTreeMap<String, Client> = BTreeMap::new();
        let mut tasks: BTreeMap<&str, String> = BTreeMap::new();
        for attempt in &self.story.attempts {
            let name = self.lane(&attempt.task);
            tasks.insert(&attempt.task, name.clone());
            let (holds, paused) = (Vec::new(), Vec::new());
            let client = clients.entry(name.clone()).or_insert(Client { name, holds, paused });
            client.holds.extend(self.holds(attempt));
        }
        for (task, name) in tasks {
            let stops = self.story.lives.get(process(task)).map_or(&[][..], |life| &life.stopped);
            if let Some(client) = clients.get_mut(&name) {
                let until = |to: Option<Nanos>| to.unwrap_or(self.story.ended);
                client.paused.extend(stops.iter().map(|(at, to)| self.span(*at, until(*to))));
            }
        }
        clients.into_values().collect()
    }

    fn holds(&self, attempt: &Attempt) -> Vec<Hold> {
        let Some(hold) = attempt.hold else { return Vec::new() };
        let killed = self.story.lives.get(process(&attempt.task)).and_then(|life| life.killed);
        let (to, ended) = match (hold.left, killed) {
            (Some(left), _) if left > hold.until => (left, Ended::Lapsed),
            (Some(left), _) => (left, Ended::Released),
            (None, Some(killed)) => (killed, Ended::Killed),
            (None, None) => (hold.until.min(self.story.ended), Ended::Open),
        };
        let (span, deadline) = (self.span(hold.from, to), between(self.story.began, hold.until));
        let hold_of = |resource: &String| Hold {
            resource: resource.clone(),
            span,
            deadline: Some(deadline),
            fencing_token: hold.token,
            ended,
        };
        attempt.resources.iter().map(hold_of).collect()
    }

    fn masters(&self) -> Vec<Master> {
        let masters = self.story.masters.iter().map(|(name, conditions)| {
            let ends = conditions.iter().skip(1).map(|(at, _)| *at).chain([self.story.ended]);
            let states = conditions
                .iter()
                .zip(ends)
                .map(|((from, condition), to)| (self.span(*from, to), state(*condition)));
            Master { name: name.clone(), states: states.collect() }
        });
        masters.collect()
    }

    fn faults(&self) -> Vec<Fault> {
        let mark = |at: Nanos, label: &str, on: String| {
            let at = between(self.story.began, at);
            Fault { at, label: label.to_owned(), on: Some(on) }
        };
        let masters = self.story.masters.iter().flat_map(|(name, conditions)| {
            let faults = conditions.iter().filter(|(_, kind)| Condition::FAULTS.contains(kind));
            faults.map(|(at, condition)| mark(*at, condition.word(), name.clone()))
        });
        let clients = self.story.lives.iter().flat_map(|(name, life)| {
            let killed = life.killed.map(|at| (at, "killed"));
            let stops = life.stopped.iter().map(|(at, _)| (*at, "stopped"));
            stops.chain(killed).map(|(at, label)| mark(at, label, self.lane(name)))
        });
        masters.chain(clients).collect()
    }
}

const fn state(condition: Condition) -> State {
    match condition {
        Condition::Up | Condition::Astray => State::Up,
        // The harness waits for as long as that may take; clients may count its vote sooner.
        Condition::Warming => State::JustStarted,
        Condition::Slow => State::Slow,
        Condition::Paused => State::Paused,
        Condition::Killed => State::Down,
        Condition::Disconnected | Condition::Held | Condition::Reset | Condition::HalfOpen => {
            State::Cut
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::{shorthand::story, violations};
    use super::*;
    use std::time::Duration;

    #[test]
    fn one_process_takes_the_lane_of_another_that_has_ended() {
        let story = story(
            "0 c1 born\n0 c2 born\n0 c1.0 asks 1 r0 - 0 -\n1 c1.0 enters 1 9 -\n2 c1 killed\n\
             3 c3 born\n4 c3.0 asks 1 r0 - 0 -\n8 c3.0 enters 1 20 -\n15 c3.0 leaves 1",
        );
        let drawn = timeline(&story, &violations(&story), "t".into(), Vec::new());
        assert_eq!(drawn.clients.len(), 1, "{:?}", drawn.clients);
        let ends: Vec<_> = drawn.clients[0].holds.iter().map(|hold| hold.ended).collect();
        assert_eq!(ends, [Ended::Killed, Ended::Released]);
        // A violation that the checker found is drawn where it was.
        let span = Span::new(Duration::from_millis(8), Duration::from_millis(9));
        assert_eq!(drawn.violations.iter().map(|found| found.span).collect::<Vec<_>>(), [span]);
        assert!(matches!(drawn.verdict, Verdict::Bad(_)));
        assert_eq!(drawn.faults.len(), 1);
    }
}
