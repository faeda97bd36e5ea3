//! The events of a run, one line each: time, actor, event.
//!
//! A line is written before the effect that it describes. So a process that is killed has reported
//! everything that others could see of it. For an acquisition it is the other way round: its effect
//! is on the holder, which writes the line before it does anything else.

use super::clock::Nanos;
use std::fmt;
use std::time::Duration;

/// The semaphore of which permits are held, and their number. All other resources are locks.
pub(crate) const PERMITS: (&str, usize) = ("p0", 2);

/// Returns how many may hold a resource at a time.
pub(crate) fn most_holders(resource: &str) -> usize {
    if resource == PERMITS.0 { PERMITS.1 } else { 1 }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) at: Nanos,
    /// `c7.2`: the second task of the seventh client process; `c7`: the process; `m3`: a master;
    /// `store`: the protected store; `run`: the run itself.
    pub(crate) who: String,
    pub(crate) what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// A task asks for a lock. `cures`: a retry after a failure without a quorum.
    Asks {
        id: u64,
        resources: Vec<String>,
        claim: Claim,
        wait: Duration,
        cures: Option<u64>,
    },
    /// The task has the lock, valid at this instant and until that one.
    Enters {
        id: u64,
        until: Nanos,
        token: Option<u64>,
    },
    /// The task still has the lock, valid at this instant and until that one.
    Holds {
        id: u64,
        until: Nanos,
    },
    /// The task is about to release the lock, or to drop the guard.
    Leaves {
        id: u64,
    },
    /// The task did not get the lock.
    Fails {
        id: u64,
        why: Why,
    },

    Born,
    Stopped,
    Continued,
    Killed,
    /// The client shut down by itself; this many deletions were not confirmed.
    Gone {
        owed: usize,
    },

    /// From now on a master is in this condition.
    Is(Condition),
    /// A scan that began at this instant found this process's key on the master.
    Has {
        resource: String,
        holder: String,
    },

    /// The store accepted or refused a write.
    Write {
        by: String,
        id: u64,
        resource: String,
        token: u64,
        accepted: bool,
    },

    /// From now on no client may have left a key: all clients are gone, and everything has expired.
    Empty,
    /// Some clients have other settings than others, so they keep each other away.
    AtOdds,
    /// Something that must not happen.
    Odd(String),
}

/// How a lock is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    Alone,
    /// Alone, with a fencing token.
    Fenced,
    /// Beside other readers.
    Shared,
    /// Alone, in turn.
    Fair,
    /// Alone, in turn, with a fencing token.
    FairFenced,
}

/// The reason why there was no lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    Contended,
    NoQuorum,
    /// Its future was dropped.
    Cancelled,
    /// The lock was won, and had expired when the task looked at it.
    Late,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Condition {
    Up,
    Killed,
    Paused,
    Disconnected,
    /// Its answers take tens of milliseconds.
    Slow,
    /// Bytes sent to it arrive late, all at once.
    Held,
    /// Its connections have just been reset.
    Reset,
    /// Its connections look alive but are not.
    HalfOpen,
    /// Up again, perhaps without its keys, and too young to vote.
    Warming,
}

impl Claim {
    const ALL: [Self; 5] = [Self::Alone, Self::Fenced, Self::Shared, Self::Fair, Self::FairFenced];

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Alone => "-",
            Self::Fenced => "fenced",
            Self::Shared => "shared",
            Self::Fair => "fair",
            Self::FairFenced => "fair-fenced",
        }
    }

    pub(crate) const fn is_fenced(self) -> bool {
        matches!(self, Self::Fenced | Self::FairFenced)
    }

    /// Returns whether it is waited for in turn.
    pub(crate) const fn is_fair(self) -> bool {
        matches!(self, Self::Fair | Self::FairFenced)
    }
}

impl Why {
    const ALL: [Self; 4] = [Self::Contended, Self::NoQuorum, Self::Cancelled, Self::Late];

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Contended => "contended",
            Self::NoQuorum => "no-quorum",
            Self::Cancelled => "cancelled",
            Self::Late => "late",
        }
    }
}

impl Condition {
    pub(crate) const ALL: [Self; 9] = [
        Self::Up,
        Self::Killed,
        Self::Paused,
        Self::Disconnected,
        Self::Slow,
        Self::Held,
        Self::Reset,
        Self::HalfOpen,
        Self::Warming,
    ];

    /// Conditions that others inflict on a master.
    pub(crate) const FAULTS: [Self; 7] = [
        Self::Killed,
        Self::Paused,
        Self::Disconnected,
        Self::Slow,
        Self::Held,
        Self::Reset,
        Self::HalfOpen,
    ];

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Killed => "killed",
            Self::Paused => "paused",
            Self::Disconnected => "disconnected",
            Self::Slow => "slow",
            Self::Held => "held",
            Self::Reset => "reset",
            Self::HalfOpen => "half-open",
            Self::Warming => "warming",
        }
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.at, self.who, self.what)
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asks { id, resources, claim, wait, cures } => {
                let (resources, claim) = (resources.join(","), claim.word());
                write!(f, "asks {id} {resources} {claim} {} {}", wait.as_millis(), or_dash(*cures))
            }
            Self::Enters { id, until, token } => {
                write!(f, "enters {id} {until} {}", or_dash(*token))
            }
            Self::Holds { id, until } => write!(f, "holds {id} {until}"),
            Self::Leaves { id } => write!(f, "leaves {id}"),
            Self::Fails { id, why } => write!(f, "fails {id} {}", why.word()),
            Self::Born => f.write_str("born"),
            Self::Stopped => f.write_str("stopped"),
            Self::Continued => f.write_str("continued"),
            Self::Killed => f.write_str("killed"),
            Self::Gone { owed } => write!(f, "gone {owed}"),
            Self::Is(condition) => write!(f, "is {}", condition.word()),
            Self::Has { resource, holder } => write!(f, "has {resource} {holder}"),
            Self::Write { by, id, resource, token, accepted } => {
                let verb = if *accepted { "accepts" } else { "refuses" };
                write!(f, "{verb} {by} {id} {resource} {token}")
            }
            Self::Empty => f.write_str("empty"),
            Self::AtOdds => f.write_str("at-odds"),
            Self::Odd(text) => write!(f, "odd {}", text.replace('\n', " ")),
        }
    }
}

impl Entry {
    /// Returns `None` if this is not a line of a history.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let mut words = line.splitn(4, ' ');
        let (at, who, verb) = (words.next()?.parse().ok()?, words.next()?, words.next()?);
        let what = What::parse(verb, words.next().unwrap_or(""))?;
        Some(Self { at, who: who.to_owned(), what })
    }
}

impl What {
    fn parse(verb: &str, rest: &str) -> Option<Self> {
        if verb == "odd" {
            return Some(Self::Odd(rest.to_owned()));
        }
        let words: Vec<&str> = rest.split(' ').filter(|word| !word.is_empty()).collect();
        let number = |text: &str| text.parse::<u64>().ok();
        Some(match (verb, &words[..]) {
            ("asks", [id, resources, claim, wait, cures]) => Self::Asks {
                id: number(id)?,
                resources: resources.split(',').map(str::to_owned).collect(),
                claim: Claim::ALL.into_iter().find(|known| known.word() == *claim)?,
                wait: Duration::from_millis(number(wait)?),
                cures: or_none(cures)?,
            },
            ("enters", [id, until, token]) => {
                Self::Enters { id: number(id)?, until: number(until)?, token: or_none(token)? }
            }
            ("holds", [id, until]) => Self::Holds { id: number(id)?, until: number(until)? },
            ("leaves", [id]) => Self::Leaves { id: number(id)? },
            ("fails", [id, why]) => {
                let why = Why::ALL.into_iter().find(|known| known.word() == *why)?;
                Self::Fails { id: number(id)?, why }
            }
            ("born", []) => Self::Born,
            ("stopped", []) => Self::Stopped,
            ("continued", []) => Self::Continued,
            ("killed", []) => Self::Killed,
            ("gone", [owed]) => Self::Gone { owed: owed.parse().ok()? },
            ("is", [condition]) => {
                Self::Is(Condition::ALL.into_iter().find(|known| known.word() == *condition)?)
            }
            ("has", [resource, holder]) => {
                Self::Has { resource: (*resource).to_owned(), holder: (*holder).to_owned() }
            }
            ("accepts" | "refuses", [by, id, resource, token]) => Self::Write {
                by: (*by).to_owned(),
                id: number(id)?,
                resource: (*resource).to_owned(),
                token: number(token)?,
                accepted: verb == "accepts",
            },
            ("empty", []) => Self::Empty,
            ("at-odds", []) => Self::AtOdds,
            _ => return None,
        })
    }
}

fn or_dash(number: Option<u64>) -> String {
    number.map_or_else(|| "-".to_owned(), |number| number.to_string())
}

fn or_none(word: &str) -> Option<Option<u64>> {
    if word == "-" { Some(None) } else { word.parse().ok().map(Some) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_comes_back_as_it_was_written() {
        let shared = What::Asks {
            id: 2,
            resources: vec!["w0".into()],
            claim: Claim::Shared,
            wait: Duration::ZERO,
            cures: None,
        };
        let whats = [
            shared,
            What::Asks {
                id: 1,
                resources: vec!["r0".into(), "r1".into()],
                claim: Claim::FairFenced,
                wait: Duration::from_millis(1500),
                cures: Some(7),
            },
            What::Enters { id: 1, until: 9, token: Some(3) },
            What::Enters { id: 1, until: 9, token: None },
            What::Holds { id: 1, until: 9 },
            What::Leaves { id: 1 },
            What::Born,
            What::Stopped,
            What::Continued,
            What::Killed,
            What::Gone { owed: 2 },
            What::Has { resource: "r0".into(), holder: "c1".into() },
            What::Write {
                by: "c1".into(),
                id: 1,
                resource: "r0".into(),
                token: 3,
                accepted: false,
            },
            What::Empty,
            What::Odd("a text of several words".into()),
        ];
        let whys = Why::ALL.map(|why| What::Fails { id: 1, why });
        let conditions = Condition::ALL.map(What::Is);
        for what in whats.into_iter().chain(whys).chain(conditions) {
            let entry = Entry { at: 12, who: "c1.2".into(), what };
            assert_eq!(Entry::parse(&entry.to_string()).as_ref(), Some(&entry), "{entry}");
        }
    }

    #[test]
    fn half_a_line_is_none() {
        for line in ["", "12", "12 c1.0", "12 c1.0 enters 3", "12 c1.0 fails 3 no-q", "x c1 born"] {
            assert_eq!(Entry::parse(line), None, "{line:?}");
        }
    }
}
