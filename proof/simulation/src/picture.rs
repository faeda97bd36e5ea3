//! The history of a world as a timeline to look at.

use super::clock::Time;
use super::history::{How, MasterState};
use super::report::command;
use super::seed::Seed;
use super::timeline::{
    Client, Ended, Fault, Hold, Master, Span, State, Timeline, Verdict, Violation,
};
use super::world::World;
use std::collections::BTreeMap;
use std::time::Duration;

const fn at(time: Time) -> Duration {
    Duration::from_nanos(time)
}

fn span(from: Time, to: Time) -> Span {
    Span::new(at(from), at(to))
}

pub(super) fn timeline(seed: Seed, world: &World) -> Timeline {
    let now = world.agenda.now;
    let mut clients: BTreeMap<String, Client> = BTreeMap::new();
    let lane = |name: &str| Client { name: name.to_owned(), holds: Vec::new(), paused: Vec::new() };
    for hold in &world.history.holds {
        let ended = match hold.how {
            How::Released | How::Forgotten | How::HandedOn => Ended::Released,
            How::Lapsed => Ended::Lapsed,
            How::QuorumGone => Ended::Lost,
            How::Killed => Ended::Killed,
            How::Open => Ended::Open,
        };
        let client = clients.entry(hold.client.clone()).or_insert_with(|| lane(&hold.client));
        client.holds.push(Hold {
            resource: hold.resource.clone(),
            span: span(hold.from, hold.to),
            deadline: Some(at(hold.deadline)),
            fencing_token: Some(hold.ballot).filter(|ballot| *ballot != 0),
            ended,
        });
    }
    for (name, from, to) in &world.history.paused {
        let client = clients.entry(name.clone()).or_insert_with(|| lane(name));
        client.paused.push(span(*from, *to));
    }
    let master = |node: usize| {
        let states = world.history.masters.iter().filter(|interval| interval.node == node);
        let states =
            states.map(|interval| (span(interval.from, interval.to), state(interval.state)));
        Master { name: format!("n{}", node + 1), states: states.collect() }
    };
    let fault = |(time, label, on): &(Time, String, Option<String>)| Fault {
        at: at(*time),
        label: label.clone(),
        on: on.clone(),
    };
    let faults = world.history.marks.iter().map(fault);
    let violation = world
        .violation
        .iter()
        .map(|label| Violation { span: span(now, now), label: label.clone() });
    let verdict = match &world.violation {
        Some(violation) => Verdict::Bad(violation.clone()),
        None => Verdict::Good(format!(
            "{} locks won, {} faults, one holder at a time, nothing left",
            world.wins, world.faults
        )),
    };
    Timeline {
        title: "A simulated cluster while masters and clients fail".to_owned(),
        span: span(0, now),
        clients: clients.into_values().collect(),
        masters: (0..world.masters.len()).map(master).collect(),
        faults: faults.collect(),
        violations: violation.collect(),
        verdict,
        footer: vec![command(seed)],
    }
}

const fn state(state: MasterState) -> State {
    match state {
        MasterState::Up => State::Up,
        MasterState::Slow => State::Slow,
        MasterState::Stopped => State::Paused,
        MasterState::Down => State::Down,
        MasterState::CutOff => State::Cut,
        MasterState::WarmingUp => State::WarmingUp,
    }
}
