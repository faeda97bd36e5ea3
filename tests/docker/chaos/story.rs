//! A history put in order: requests, holds with their start and end, and the state of the masters.

use super::check::REDIALLED;
use super::clock::{Nanos, between, nanos};
use super::history::{Claim, Condition, Entry, RUN, What, Why};
use std::collections::BTreeMap;
use std::time::Duration;

/// A process, or the machine, that is not woken for longer stands still.
pub(crate) const FROZEN: Duration = Duration::from_millis(300);

/// An acquisition, starting with the request.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub(crate) task: String,
    pub(crate) id: u64,
    pub(crate) resources: Vec<String>,
    pub(crate) claim: Claim,
    pub(crate) wait: Duration,
    pub(crate) cures: Option<u64>,
    pub(crate) asked: Nanos,
    pub(crate) failed: Option<(Nanos, Why)>,
    pub(crate) hold: Option<Hold>,
}

/// The hold, if the lock was won.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hold {
    pub(crate) from: Nanos,
    /// The deadline that was seen last.
    pub(crate) until: Nanos,
    /// Just before the release.
    pub(crate) left: Option<Nanos>,
    pub(crate) token: Option<u64>,
    pub(crate) extended: bool,
    /// The first look that found it lost.
    pub(crate) lapsed: Option<Nanos>,
}

impl Hold {
    /// Returns the call of the release or the deadline, whichever is earlier.
    pub(crate) fn end(&self) -> Nanos {
        self.left.map_or(self.until, |left| left.min(self.until))
    }
}

/// Acquires that were begun at once. Without an end, the process was killed meanwhile.
#[derive(Clone, Debug)]
pub(crate) struct Burst {
    pub(crate) task: String,
    pub(crate) from: Nanos,
    pub(crate) until: Option<Nanos>,
    pub(crate) asked: u64,
    pub(crate) served: u64,
}

/// A client process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Life {
    pub(crate) born: Nanos,
    /// Start and end of each stop. Without an end, the process was killed while stopped, or the
    /// history ends.
    pub(crate) stopped: Vec<(Nanos, Option<Nanos>)>,
    /// Start and end of each time in which a thread of its own was not woken.
    pub(crate) starved: Vec<(Nanos, Nanos)>,
    pub(crate) killed: Option<Nanos>,
    /// Time of its end, and number of deletions that were not confirmed.
    pub(crate) gone: Option<(Nanos, usize)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Write {
    pub(crate) at: Nanos,
    pub(crate) by: String,
    pub(crate) id: u64,
    pub(crate) resource: String,
    pub(crate) token: u64,
    pub(crate) accepted: bool,
}

/// A process's key on a master, seen at or after that instant.
#[derive(Clone, Debug)]
pub(crate) struct Sighting {
    pub(crate) at: Nanos,
    pub(crate) master: String,
    pub(crate) resource: String,
    pub(crate) holder: String,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Story {
    pub(crate) began: Nanos,
    pub(crate) ended: Nanos,
    /// In the order of the requests.
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) bursts: Vec<Burst>,
    pub(crate) lives: BTreeMap<String, Life>,
    /// For each master, its conditions with their start.
    pub(crate) masters: BTreeMap<String, Vec<(Nanos, Condition)>>,
    /// How often the clock of a master was set back, and forward.
    pub(crate) set: [usize; 2],
    /// Each master that did not answer in time, with start and end.
    pub(crate) silences: Vec<(String, Nanos, Nanos)>,
    pub(crate) writes: Vec<Write>,
    pub(crate) sightings: Vec<Sighting>,
    /// Start and end of each time in which the run was not woken: with all of [`FROZEN`], the machine stood still.
    pub(crate) frozen: Vec<(Nanos, Nanos)>,
    /// From then on there must be no key.
    pub(crate) empty: Option<Nanos>,
    /// Clients with other settings keep each other away, so an outage is not a fault of the system.
    pub(crate) at_odds: bool,
    pub(crate) odd: Vec<(Nanos, String)>,
}

/// Returns the process that a task belongs to.
pub(crate) fn process(task: &str) -> &str {
    task.split('.').next().unwrap_or(task)
}

impl Story {
    pub(crate) fn of(mut entries: Vec<Entry>) -> Self {
        entries.sort_by_key(|entry| entry.at);
        let mut story = Self {
            began: entries.first().map_or(0, |first| first.at),
            ended: entries.last().map_or(0, |last| last.at),
            ..Self::default()
        };
        let mut places = BTreeMap::new();
        for entry in entries {
            story.tell(entry, &mut places);
        }
        story
    }

    fn tell(
        &mut self,
        Entry { at, who, what }: Entry,
        places: &mut BTreeMap<(String, u64), usize>,
    ) {
        let number = |id: u64| (process(&who).to_owned(), id);
        let known = |id: u64| places.get(&number(id)).copied();
        match what {
            What::Asks { id, resources, claim, wait, cures } => {
                places.insert(number(id), self.attempts.len());
                let (failed, hold) = (None, None);
                let task = who;
                self.attempts.push(Attempt {
                    task,
                    id,
                    resources,
                    claim,
                    wait,
                    cures,
                    asked: at,
                    failed,
                    hold,
                });
            }
            What::Enters { id, until, token } => match known(id) {
                Some(place) => {
                    let hold =
                        Hold { from: at, until, left: None, token, extended: false, lapsed: None };
                    self.attempts[place].hold = Some(hold);
                }
                None => self.odd.push((at, format!("{who} enters {id}, which it never asked for"))),
            },
            What::Holds { id, until } => {
                if let Some(hold) = known(id).and_then(|n| self.attempts[n].hold.as_mut()) {
                    hold.extended |= until > hold.until;
                    hold.until = hold.until.max(until);
                }
            }
            What::Leaves { id } => {
                if let Some(hold) = known(id).and_then(|n| self.attempts[n].hold.as_mut()) {
                    hold.left = Some(at);
                }
            }
            What::Fails { id, why } => {
                if let Some(place) = known(id) {
                    self.attempts[place].failed = Some((at, why));
                }
            }
            What::Lapsed { id } => {
                if let Some(hold) = known(id).and_then(|n| self.attempts[n].hold.as_mut()) {
                    hold.lapsed.get_or_insert(at);
                }
            }
            // The other end of an operation: these checks take one instant of each.
            What::Looks { .. } | What::Left { .. } | What::Writes { .. } => {}
            What::Bursts { asked } => {
                self.bursts.push(Burst { task: who, from: at, until: None, asked, served: 0 });
            }
            What::Served { served } => {
                let last = self.bursts.iter_mut().rfind(|burst| burst.task == who);
                if let Some(burst) = last {
                    (burst.until, burst.served) = (Some(at), served);
                }
            }
            What::Born => self.life(&who).born = at,
            What::Stopped => self.life(&who).stopped.push((at, None)),
            What::Continued => {
                if let Some((_, until)) = self.life(&who).stopped.last_mut() {
                    *until = Some(at);
                }
            }
            What::Killed => self.life(&who).killed = Some(at),
            What::Gone { owed } => self.life(&who).gone = Some((at, owed)),
            What::Is(condition) => self.masters.entry(who).or_default().push((at, condition)),
            What::Set { is_forward, .. } => self.set[usize::from(is_forward)] += 1,
            What::Silent { until } => self.silences.push((who, at, until)),
            What::Has { resource, holder } => {
                self.sightings.push(Sighting { at, master: who, resource, holder });
            }
            What::Write { by, id, resource, token, accepted } => {
                self.writes.push(Write { at, by, id, resource, token, accepted });
            }
            What::Froze { until } if who == RUN => self.frozen.push((at, until)),
            What::Froze { until } => self.life(&who).starved.push((at, until)),
            What::Empty => self.empty = Some(at),
            What::AtOdds => self.at_odds = true,
            What::Odd(text) => self.odd.push((at, format!("{who}: {text}"))),
        }
    }

    fn life(&mut self, process: &str) -> &mut Life {
        self.lives.entry(process.to_owned()).or_default()
    }

    /// Returns the attempts that were won, as intervals for each resource, by their start.
    pub(crate) fn holds_by_resource(&self) -> BTreeMap<&str, Vec<(&Attempt, Hold)>> {
        let mut holds: BTreeMap<&str, Vec<(&Attempt, Hold)>> = BTreeMap::new();
        for attempt in &self.attempts {
            for resource in &attempt.resources {
                if let Some(hold) = attempt.hold {
                    holds.entry(resource).or_default().push((attempt, hold));
                }
            }
        }
        holds.values_mut().for_each(|holds| holds.sort_by_key(|(_, hold)| hold.from));
        holds
    }

    /// Checks whether the process of a task was stopped at some time between the two, or the whole machine, after which
    /// clients redial.
    pub(crate) fn was_stopped(&self, task: &str, from: Nanos, to: Nanos) -> bool {
        let thaws = |until: Nanos| until + nanos(REDIALLED) >= from;
        let stood_still = |(began, until): &&(Nanos, Nanos)| between(*began, *until) > FROZEN;
        let mut frozen = self.frozen.iter().filter(stood_still);
        if frozen.any(|(began, until)| *began <= to && thaws(*until)) {
            return true;
        }
        let stopped = self.lives.get(process(task)).map_or(&[][..], |life| &life.stopped);
        stopped.iter().any(|(began, ended)| *began <= to && ended.is_none_or(|end| end >= from))
    }

    /// Returns the greatest number of masters that are no quorum.
    pub(crate) fn minority(&self) -> usize {
        self.masters.len().saturating_sub(1) / 2
    }

    /// Checks whether at most a minority was impaired since an attempt began, and its process was not stopped: any acquire
    /// of a stopped one fails.
    pub(crate) fn was_well(
        &self,
        impaired: &BTreeMap<&str, Vec<(Nanos, Nanos)>>,
        attempt: &Attempt,
        to: Nanos,
    ) -> bool {
        most_impaired(impaired, attempt.asked, to) <= self.minority()
            && !self.was_stopped(&attempt.task, attempt.asked, to)
    }

    /// Returns when each master was unreliable: from a fault until `grace` after it was up again, and while it took too
    /// long for a scan, as on a busy machine.
    pub(crate) fn impaired(&self, grace: Duration) -> BTreeMap<&str, Vec<(Nanos, Nanos)>> {
        let grace = super::clock::nanos(grace);
        let spans = self.masters.iter().map(|(master, conditions)| {
            let (mut spans, mut since) = (Vec::new(), None);
            for (at, condition) in conditions {
                match (condition, since) {
                    (Condition::Up, Some(from)) => {
                        spans.push((from, at + grace));
                        since = None;
                    }
                    (Condition::Up, None) | (_, Some(_)) => {}
                    (_, None) => since = Some(*at),
                }
            }
            spans.extend(since.map(|from| (from, Nanos::MAX)));
            let late = self.silences.iter().filter(|(of, ..)| of == master);
            let late = late.map(|(_, from, until)| (*from, *until)).filter(|(from, until)| {
                !spans.iter().any(|(began, ended)| began <= until && ended >= from)
            });
            let late: Vec<_> = late.collect();
            spans.extend(late);
            spans.sort_unstable();
            (master.as_str(), spans)
        });
        spans.collect()
    }
}

/// Returns the largest number of masters that are impaired at the same time, between the two.
pub(crate) fn most_impaired(
    impaired: &BTreeMap<&str, Vec<(Nanos, Nanos)>>,
    from: Nanos,
    to: Nanos,
) -> usize {
    // Those of one master are in order, at both ends.
    let within = impaired.values().flat_map(|spans| {
        let first = spans.partition_point(|(_, ended)| *ended < from);
        let later = spans[first..].partition_point(|(began, _)| *began <= to);
        &spans[first..first + later]
    });
    let within: Vec<_> = within.map(|(began, ended)| ((*began).max(from), *ended)).collect();
    // Spans of one master may touch because of the grace: counted twice, which is on the safe side.
    let at = |instant: Nanos| within.iter().filter(|(b, e)| *b <= instant && *e >= instant).count();
    within.iter().map(|(began, _)| at(*began)).max().unwrap_or(0)
}
