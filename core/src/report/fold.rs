//! Equal answers of several masters, each printed once.

use super::{Answer, NodeReport, Refusal, Span};
use crate::escape::OneLine;
use std::fmt;
use std::time::Duration;

/// The answer of one master, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// The master's name.
    pub master: String,
    /// The words, without how long the answer took.
    pub words: String,
    /// A span that the words contain, and that is no difference between two masters.
    pub span: Option<Duration>,
    /// How long the answer took, if the master was asked.
    pub latency: Option<Duration>,
}

/// An answer, and the masters that gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folded {
    /// The masters: `all 5 masters`, `4 of 5 masters`, or their names.
    pub masters: String,
    /// The number of them.
    pub count: usize,
    /// The words. Of a single master, with how long it took.
    pub words: String,
}

/// Returns equal answers once, in the order in which they first came. If these are the answers of `all`
/// masters, those that agree are counted, as long as they are the most; otherwise they are named.
#[must_use]
pub fn fold(answers: impl IntoIterator<Item = Said>, all: Option<usize>) -> Vec<Folded> {
    let mut groups: Vec<Vec<Said>> = Vec::new();
    for answer in answers {
        match groups.iter_mut().find(|group| group[0].frame() == answer.frame()) {
            Some(group) => group.push(answer),
            None => groups.push(vec![answer]),
        }
    }
    groups.iter().map(|group| Folded::of(group, all)).collect()
}

impl Said {
    /// Returns the words around the span.
    fn frame(&self) -> (&str, &str) {
        let span = self.span.map(|span| Span(span).to_string());
        let halves = span.and_then(|span| self.words.split_once(&span));
        halves.unwrap_or((&self.words, ""))
    }
}

impl Folded {
    fn of(group: &[Said], all: Option<usize>) -> Self {
        let count = group.len();
        let masters = match (all, group) {
            (_, [alone]) => alone.master.clone(),
            (Some(all), _) if all == count => format!("all {all} masters"),
            (Some(all), _) if count * 2 > all => format!("{count} of {all} masters"),
            _ => group.iter().map(|answer| &*answer.master).collect::<Vec<_>>().join(", "),
        };
        let words = match group {
            [Said { words, latency: Some(latency), .. }] => {
                format!("{words} after {}", Span(*latency))
            }
            _ => words(group),
        };
        Self { masters, count, words }
    }
}

/// Returns the words, with the least and the greatest span.
fn words(group: &[Said]) -> String {
    let spans = || group.iter().filter_map(|answer| answer.span);
    let [least, most] =
        [spans().min(), spans().max()].map(|span| span.map(|span| Span(span).to_string()));
    let (before, behind) = group.first().map(Said::frame).unwrap_or_default();
    match (least, most) {
        (Some(least), Some(most)) if least != most => format!("{before}{least} to {most}{behind}"),
        (_, Some(span)) => format!("{before}{span}{behind}"),
        _ => before.to_owned(),
    }
}

impl fmt::Display for Folded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.count == 1 { "" } else { ":" };
        write!(f, "{}{sign} {}", self.masters, self.words)
    }
}

impl From<&NodeReport> for Said {
    fn from(report: &NodeReport) -> Self {
        let span = match &report.answer {
            Answer::Refused(Refusal::Held { remaining }) => *remaining,
            Answer::Refused(Refusal::Wanted { remaining } | Refusal::WarmingUp { remaining }) => {
                Some(*remaining)
            }
            _ => None,
        };
        Self {
            master: OneLine(&report.node).to_string(),
            words: report.answer.to_string(),
            span,
            latency: report.answer.is_of_the_master().then_some(report.latency),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(answers: &[Answer]) -> String {
        let reports = answers.iter().enumerate().map(|(node, answer)| {
            let latency = Duration::from_micros(node as u64);
            NodeReport { latency, ..NodeReport::new(format!("n{node}").into(), answer.clone()) }
        });
        let in_words: Vec<Said> = reports.map(|report| (&report).into()).collect();
        let folded = fold(in_words, Some(answers.len()));
        folded.iter().map(Folded::to_string).collect::<Vec<_>>().join("; ")
    }

    fn held(millis: u64) -> Answer {
        Answer::Refused(Refusal::Held { remaining: Some(Duration::from_millis(millis)) })
    }

    #[test]
    fn equal_answers_are_one_line_whatever_their_times() {
        let down = |cause: &str| Answer::Refused(Refusal::Down(cause.into()));
        for (answers, expected) in [
            (vec![held(9_100); 5], "all 5 masters: held, expires in 9.1 s"),
            (vec![held(9_100), held(8_900)], "all 2 masters: held, expires in 8.9 s to 9.1 s"),
            (
                vec![held(9_100), down("a"), held(8_900)],
                "2 of 3 masters: held, expires in 8.9 s to 9.1 s; n1 down (a)",
            ),
            (
                vec![Answer::Granted, down("a"), Answer::Granted, down("a")],
                "n0, n2: granted; n1, n3: down (a)",
            ),
            (vec![down("a"), down("b")], "n0 down (a); n1 down (b)"),
            (vec![held(9_100)], "n0 held, expires in 9.1 s after 0 s"),
            (
                vec![held(9_100), Answer::Refused(Refusal::Held { remaining: None })],
                "n0 held, expires in 9.1 s after 0 s; n1 held after 1 µs",
            ),
        ] {
            assert_eq!(shown(&answers), expected);
        }
        assert_eq!(shown(&[]), "");
    }

    #[test]
    fn masters_are_named_where_these_are_not_all_answers() {
        let answer = |master: &str| Said {
            master: master.to_owned(),
            words: "disagrees".to_owned(),
            span: None,
            latency: None,
        };
        let [folded] = &fold(["a", "b"].map(answer), None)[..] else { panic!() };
        assert_eq!((folded.to_string().as_str(), folded.count), ("a, b: disagrees", 2));
    }
}
