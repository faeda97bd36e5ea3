//! What happened in a run, one line each: when, to whom, what.
//!
//! A line is written before the effect that it tells of, so that a process that is killed has
//! told of everything that others could see of it. The other way round for an acquisition: its
//! effect is the holder's, who writes before it does anything else.

use super::clock::Nanos;
use std::fmt;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) at: Nanos,
    /// `c7.2`: the second task of the seventh client process; `c7`: the process; `m3`: a master;
    /// `store`: what is protected; `run`: the run itself.
    pub(crate) who: String,
    pub(crate) what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// A task asks for a lock. `cures`: after a failure for want of a quorum, once more.
    Asks {
        id: u64,
        resources: Vec<String>,
        fenced: bool,
        wait: Duration,
        cures: Option<u64>,
    },
    /// It has it, valid at this instant and until that one.
    Enters {
        id: u64,
        until: Nanos,
        token: Option<u64>,
    },
    /// It still has it: valid at this instant, and until that one.
    Holds {
        id: u64,
        until: Nanos,
    },
    /// It is about to release it, or to drop the guard.
    Leaves {
        id: u64,
    },
    /// It did not get it.
    Fails {
        id: u64,
        why: Why,
    },

    Born,
    Stopped,
    Continued,
    Killed,
    /// Shut down, by itself; so many deletions were not confirmed.
    Gone {
        owed: usize,
    },

    /// From here on a master is like this.
    Is(Condition),
    /// A scan began at this instant and found this process's key on the master.
    Has {
        resource: String,
        holder: String,
    },

    /// The store was written to, or refused to be.
    Write {
        by: String,
        id: u64,
        resource: String,
        token: u64,
        accepted: bool,
    },

    /// No key may be left from here on, whoever had it: all are gone, and everything has expired.
    Empty,
    /// There are clients that go by something else than others: they keep each other away.
    AtOdds,
    /// Something that must not be.
    Odd(String),
}

/// Why there was no lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    Contended,
    NoQuorum,
    /// Its future was dropped.
    Cancelled,
    /// It was won, and had lapsed when the task came to look at it.
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
    /// What is sent to it arrives late, at once.
    Held,
    /// Its connections have just been reset.
    Reset,
    /// Its connections look alive and are not.
    HalfOpen,
    /// Back, perhaps without its keys, and too young to vote.
    Warming,
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

    /// What is done to a master, by others.
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
            Self::Asks { id, resources, fenced, wait, cures } => {
                let (resources, kind) = (resources.join(","), if *fenced { "fenced" } else { "-" });
                write!(f, "asks {id} {resources} {kind} {} {}", wait.as_millis(), or_dash(*cures))
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
    /// `None`: not a line of a history.
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
            ("asks", [id, resources, kind, wait, cures]) => Self::Asks {
                id: number(id)?,
                resources: resources.split(',').map(str::to_owned).collect(),
                fenced: *kind == "fenced",
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
        let whats = [
            What::Asks {
                id: 1,
                resources: vec!["r0".into(), "r1".into()],
                fenced: true,
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
