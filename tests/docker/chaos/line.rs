//! The line of an event, as in a history of Jepsen's, so that other checkers can read it, too:
//! `proof/judge/README.md` has the format.

use super::clock::Nanos;
use super::edn::Edn;
use super::history::{Claim, Condition, Entry, STORE, What, Why, most_holders};
use super::story::process;
use std::fmt;
use std::time::Duration;

/// The operations of clients.
const ACQUIRE: &str = "acquire";
const DEADLINE: &str = "deadline";
const RELEASE: &str = "release";
const WRITE: &str = "write";

/// The directions in which a clock is set.
const FORWARD: &str = "forward";
const BACK: &str = "back";

/// An attempt and its hold are a process of the history, by the number of the client and its own. A client
/// makes fewer of them.
const IDS: u64 = 1_000_000;

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = self.who.as_str();
        let (nil, text) = (|| Edn::Nil, Edn::text);
        let until = |until: &Nanos| Edn::map([("until", Edn::Integer(*until))]);
        let write = |resource: &str, token: u64| {
            Edn::map([("resource", text(resource)), ("token", Edn::Integer(token))])
        };
        let (client, id, kind, operation, value) = match &self.what {
            What::Asks { id, resources, claim, wait, cures } => {
                let permits = resources.iter().map(|name| most_holders(name)).max().unwrap_or(1);
                let value = Edn::map([
                    ("resources", Edn::Vector(resources.iter().map(|name| text(name)).collect())),
                    ("claim", Edn::keyword(claim.word())),
                    ("permits", Edn::Integer(permits as u64)),
                    ("wait", Edn::Integer(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX))),
                    ("cures", or_nil(*cures)),
                ]);
                (who, id, "invoke", ACQUIRE, value)
            }
            What::Enters { id, until, token } => {
                let value = Edn::map([("until", Edn::Integer(*until)), ("token", or_nil(*token))]);
                (who, id, "ok", ACQUIRE, value)
            }
            What::Fails { id, why } => {
                let value = Edn::map([("why", Edn::keyword(why.word()))]);
                (who, id, "fail", ACQUIRE, value)
            }
            What::Looks { id } => (who, id, "invoke", DEADLINE, nil()),
            What::Holds { id, until: end } => (who, id, "ok", DEADLINE, until(end)),
            What::Lapsed { id } => (who, id, "fail", DEADLINE, nil()),
            What::Leaves { id } => (who, id, "invoke", RELEASE, nil()),
            What::Left { id, confirmed } => {
                (who, id, if *confirmed { "ok" } else { "info" }, RELEASE, nil())
            }
            What::Writes { id, resource, token } => {
                (who, id, "invoke", WRITE, write(resource, *token))
            }
            What::Write { by, id, resource, token, accepted } => {
                let kind = if *accepted { "ok" } else { "fail" };
                (by.as_str(), id, kind, WRITE, write(resource, *token))
            }
            other => return write!(f, "{}", other.of_run(who, self.at)),
        };
        let line = Edn::map([
            ("type", Edn::keyword(kind)),
            ("process", Edn::Integer(number(client) * IDS + id)),
            ("f", Edn::keyword(operation)),
            ("value", value),
            ("time", Edn::Integer(self.at)),
            ("client", text(client)),
        ]);
        write!(f, "{line}")
    }
}

impl Entry {
    /// Returns `None` if this is not a line of a history.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let line = Edn::parse(line).ok()?;
        let (kind, operation) = (line.get("type").as_keyword()?, line.get("f").as_keyword()?);
        let (at, value) = (line.get("time").as_integer()?, line.get("value"));
        let Edn::Integer(process) = line.get("process") else {
            let who = value.get("of").as_text()?.to_owned();
            return Some(Self { at, who, what: What::parse_of_run(operation, value)? });
        };
        let (client, id) = (line.get("client").as_text()?.to_owned(), process % IDS);
        let until = || value.get("until").as_integer();
        let resource = || value.get("resource").as_text().map(str::to_owned);
        let token = || value.get("token").as_integer();
        let what = match (operation, kind) {
            (ACQUIRE, "invoke") => {
                let resources = value.get("resources").as_vector()?.iter();
                let claim = value.get("claim").as_keyword()?;
                What::Asks {
                    id,
                    resources: resources
                        .map(|name| Some(name.as_text()?.to_owned()))
                        .collect::<Option<_>>()?,
                    claim: Claim::parse(claim)?,
                    wait: Duration::from_millis(value.get("wait").as_integer()?),
                    cures: value.get("cures").as_integer(),
                }
            }
            (ACQUIRE, "ok") => What::Enters { id, until: until()?, token: token() },
            (ACQUIRE, "fail") => {
                let why = value.get("why").as_keyword()?;
                What::Fails { id, why: Why::parse(why)? }
            }
            (DEADLINE, "invoke") => What::Looks { id },
            (DEADLINE, "ok") => What::Holds { id, until: until()? },
            (DEADLINE, "fail") => What::Lapsed { id },
            (RELEASE, "invoke") => What::Leaves { id },
            (RELEASE, "ok" | "info") => What::Left { id, confirmed: kind == "ok" },
            (WRITE, "invoke") => What::Writes { id, resource: resource()?, token: token()? },
            (WRITE, "ok" | "fail") => {
                let (resource, token, accepted) = (resource()?, token()?, kind == "ok");
                let what = What::Write { by: client, id, resource, token, accepted };
                return Some(Self { at, who: STORE.to_owned(), what });
            }
            _ => return None,
        };
        Some(Self { at, who: client, what })
    }
}

impl What {
    /// Returns the line of an event that is no operation of a client.
    fn of_run(&self, who: &str, at: Nanos) -> Edn {
        let mut value = vec![("of".to_owned(), Edn::text(who))];
        let mut also = |key: &str, is: Edn| value.push((key.to_owned(), is));
        let event = match self {
            Self::Bursts { asked } => {
                also("asked", Edn::Integer(*asked));
                "bursts"
            }
            Self::Served { served } => {
                also("served", Edn::Integer(*served));
                "served"
            }
            Self::Born => "born",
            Self::Stopped => "stopped",
            Self::Continued => "continued",
            Self::Killed => "killed",
            Self::Gone { owed } => {
                also("owed", Edn::Integer(*owed as u64));
                "gone"
            }
            Self::Is(condition) => {
                also("condition", Edn::keyword(condition.word()));
                "is"
            }
            Self::Set { by, is_forward } => {
                also("by", Edn::Integer(*by));
                also("direction", Edn::keyword(if *is_forward { FORWARD } else { BACK }));
                "set"
            }
            Self::Silent { until } => {
                also("until", Edn::Integer(*until));
                "silent"
            }
            Self::Has { resource, holder } => {
                also("resource", Edn::text(resource));
                also("holder", Edn::text(holder));
                "has"
            }
            Self::Froze { until } => {
                also("until", Edn::Integer(*until));
                "froze"
            }
            Self::Empty => "empty",
            Self::AtOdds => "at-odds",
            Self::Odd(text) => {
                also("text", Edn::text(text));
                "odd"
            }
            operation => unreachable!("an operation of a client: {operation:?}"),
        };
        Edn::map([
            ("type", Edn::keyword("info")),
            ("process", Edn::keyword("nemesis")),
            ("f", Edn::keyword(event)),
            ("value", Edn::Map(value)),
            ("time", Edn::Integer(at)),
        ])
    }

    fn parse_of_run(event: &str, value: &Edn) -> Option<Self> {
        let text = |key| value.get(key).as_text().map(str::to_owned);
        Some(match event {
            "bursts" => Self::Bursts { asked: value.get("asked").as_integer()? },
            "served" => Self::Served { served: value.get("served").as_integer()? },
            "born" => Self::Born,
            "stopped" => Self::Stopped,
            "continued" => Self::Continued,
            "killed" => Self::Killed,
            "gone" => Self::Gone { owed: value.get("owed").as_integer()?.try_into().ok()? },
            "is" => Self::Is(Condition::parse(value.get("condition").as_keyword()?)?),
            "set" => {
                let direction = value.get("direction").as_keyword()?;
                let is_forward = [BACK, FORWARD].iter().position(|known| *known == direction)? == 1;
                Self::Set { by: value.get("by").as_integer()?, is_forward }
            }
            "silent" => Self::Silent { until: value.get("until").as_integer()? },
            "has" => Self::Has { resource: text("resource")?, holder: text("holder")? },
            "froze" => Self::Froze { until: value.get("until").as_integer()? },
            "empty" => Self::Empty,
            "at-odds" => Self::AtOdds,
            "odd" => Self::Odd(text("text")?),
            _ => return None,
        })
    }
}

/// Returns the number in the name of a task's client.
fn number(task: &str) -> u64 {
    let digits = process(task).trim_start_matches(|letter: char| !letter.is_ascii_digit());
    digits.parse().expect("a client with a number")
}

fn or_nil(number: Option<u64>) -> Edn {
    number.map_or(Edn::Nil, Edn::Integer)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the judge's own tests read.
    const RECORDED: &str = "proof/judge/tests/recorded.edn";

    #[test]
    fn every_line_comes_back_as_it_was_written() {
        let (id, resource, token) = (1, "r0".to_owned(), 3);
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
                id,
                resources: vec!["r0".into(), "r1".into()],
                claim: Claim::FairFenced,
                wait: Duration::from_millis(1500),
                cures: Some(7),
            },
            What::Enters { id, until: 9, token: Some(token) },
            What::Enters { id, until: 9, token: None },
            What::Looks { id },
            What::Holds { id, until: 9 },
            What::Lapsed { id },
            What::Leaves { id },
            What::Left { id, confirmed: true },
            What::Left { id, confirmed: false },
            What::Writes { id, resource: resource.clone(), token },
            What::Bursts { asked: 3000 },
            What::Served { served: 2999 },
            What::Born,
            What::Stopped,
            What::Continued,
            What::Killed,
            What::Gone { owed: 2 },
            What::Has { resource: resource.clone(), holder: "c1".into() },
            What::Silent { until: 13 },
            What::Froze { until: 13 },
            What::Set { by: 5000, is_forward: true },
            What::Set { by: 5000, is_forward: false },
            What::Empty,
            What::AtOdds,
            What::Odd("a \"text\" of\nlines".into()),
        ];
        let whys = Why::ALL.map(|why| What::Fails { id: 1, why });
        let conditions = Condition::ALL.map(What::Is);
        let whats = whats.into_iter().chain(whys).chain(conditions);
        let mut entries: Vec<Entry> =
            whats.map(|what| Entry { at: 12, who: "c1.2".into(), what }).collect();
        entries.extend([true, false].map(|accepted| {
            let by = "list7.0".to_owned();
            let what = What::Write { by, id, resource: resource.clone(), token, accepted };
            Entry { at: 12, who: STORE.into(), what }
        }));
        for entry in entries {
            let line = entry.to_string();
            assert!(!line.contains('\n'), "{line}");
            assert_eq!(Entry::parse(&line).as_ref(), Some(&entry), "{line}");
        }
    }

    /// So what is written here is what the other judge reads.
    #[test]
    fn the_history_that_the_judge_is_tested_with_is_written_like_this() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(RECORDED);
        let recorded = std::fs::read_to_string(path).unwrap();
        assert!(recorded.lines().count() > 100);
        for line in recorded.lines() {
            let again = Entry::parse(line).map(|entry| entry.to_string());
            assert_eq!(again.as_deref(), Some(line));
        }
    }

    #[test]
    fn half_a_line_is_none() {
        let whole = Entry { at: 12, who: "c1.2".into(), what: What::Looks { id: 3 } }.to_string();
        for end in 0..whole.len() {
            assert_eq!(Entry::parse(&whole[..end]), None);
        }
        let without = whole.replace(":deadline", ":steal");
        assert_eq!(Entry::parse(&without), None);
    }
}
