//! Names, labels, addresses and words of a server add no line to a text of this crate, move no
//! terminal's cursor, and hide no part of the text.

use crate::election::Leader;
use crate::error::*;
use crate::failure::Blocked;
use crate::fencing::FencingToken;
use crate::inspect::{Holder, Inspection};
use crate::operator::preflight::{Finding, FindingKind, NodePreflight, Permission, Persistence};
use crate::report::{Answer, Escaped, NodeReport, Obstacle, Refusal, UnknownCause, is_hidden};
use proptest::collection::vec;
use proptest::prelude::*;
use quorumlock_core::coordinator::{SHARED, ServerFacts, StoredValue};
use quorumlock_core::quorum::Membership;
use quorumlock_core::status::{NodeStanding, NodeStatus, Status};
use std::fmt::{Debug, Display};
use std::sync::Arc;
use std::time::Duration;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

trait Text: Display + Debug {}
impl<T: Display + Debug> Text for T {}

fn text(text: impl Text + 'static) -> Box<dyn Text> {
    Box::new(text)
}

/// Returns names as no user means them, and as an attacker may send them.
fn names() -> impl Strategy<Value = String> {
    let forging =
        "\n\r\t\0\u{7f}\u{1b}\u{9b}\u{85}\u{2028}\u{2029}\u{202e}\u{2066}\u{200b}\u{feff}\\\"[;: ";
    let forging: Vec<char> = forging.chars().collect();
    let letters = prop_oneof![3 => prop::sample::select(forging), 1 => any::<char>()];
    vec(letters, 0..12).prop_map(|letters| letters.into_iter().collect())
}

/// Every answer, with `name` wherever a server or a configuration has its say.
fn answers(name: &Arc<str>) -> Vec<Answer> {
    let mut answers = vec![Answer::Granted, Answer::Held, Answer::Refused(Refusal::Stale)];
    let name = || name.clone();
    answers.extend(
        [
            Refusal::Held { remaining: Some(Duration::from_secs(1)) },
            Refusal::Down(name()),
            Refusal::Unfit(name()),
            Refusal::Disagreement(name()),
            Refusal::Barred { by: name() },
            Refusal::Server(name()),
        ]
        .map(Answer::Refused),
    );
    let causes = [
        UnknownCause::ConnectionLost(name()),
        UnknownCause::Down(name()),
        UnknownCause::Server(name()),
    ];
    answers.extend(causes.map(Answer::Unknown));
    answers
}

fn reports(name: &Arc<str>) -> Vec<NodeReport> {
    let report = |answer| NodeReport::new(name.clone(), answer);
    answers(name).into_iter().map(report).collect()
}

fn quorum() -> Membership {
    Membership::of(3).unwrap()
}

/// Every error that carries a name, or what a server said.
fn errors(name: &Arc<str>, label: &Arc<str>) -> Vec<Box<dyn Text>> {
    let (resource, nodes, waited) = (name.clone(), reports(name), Duration::from_secs(2));
    let contended = Contended {
        resource: resource.clone(),
        waited,
        attempts: 2,
        nodes: nodes.clone(),
        obstacle: Obstacle::Holder(Some(label.clone())),
        blocked: None,
        quorum: quorum(),
        ahead: Some(3),
    };
    let asks_none = |obstacle| Contended { nodes: Vec::new(), obstacle, ..contended.clone() };
    let full = Obstacle::Permits { all: 3, free_in: None };
    let no_quorum = NoQuorum {
        resource: resource.clone(),
        waited,
        attempts: 1,
        nodes: nodes.clone(),
        quorum: Some(quorum()),
    };
    let lost =
        |reason| Lost { resource: resource.clone(), reason, held_for: waited, at_max_hold: false };
    let gone = || LossReason::QuorumGone(nodes.clone());
    let problems = vec![NodeProblem { node: name.clone(), problem: name.clone() }; 2];
    let invalid = || InvalidSetting::new("nodes", &**name);
    let disagreement = Disagreement {
        resource: resource.clone(),
        waited,
        attempts: 1,
        cause: name.clone(),
        nodes: nodes.clone(),
    };
    vec![
        text(Contended { obstacle: full, ..contended.clone() }),
        text(asks_none(Obstacle::OwnGuard)),
        text(Contended {
            blocked: Blocked::of(
                vec![(name.clone(), Obstacle::Holder(Some(label.clone()))); 2],
                vec![name.clone()],
            ),
            ..contended.clone()
        }),
        text(asks_none(Obstacle::LocalQueue)),
        text(AcquireError::from(contended)),
        text(NoQuorum::picked_up_late(resource.clone(), waited)),
        text(ReentrantError::from(AcquireError::from(no_quorum))),
        text(disagreement),
        text(Overloaded { resource: resource.clone(), waited }),
        text(lost(LossReason::Lapsed)),
        text(RunError::Lost { lost: lost(gone()), result: Some(()) }),
        text(Unextended { resource: resource.clone(), nodes: nodes.clone(), quorum: quorum() }),
        text(TooLate { resource: resource.clone(), reason: gone() }),
        text(Unadopted { resource: resource.clone(), nodes: nodes.clone(), quorum: quorum() }),
        text(AdoptErrorKind::from(HeldHere { resource: resource.clone() })),
        text(invalid()),
        text(ConnectError::from(invalid())),
        text(ConnectError::Unfit(problems.clone())),
        text(ConnectError::Disagreement(problems.clone())),
        text(ListError::Incomplete(problems)),
        text(InspectError::Unconfirmed(nodes)),
        text(InspectError::Unclear(Box::new(inspection(name, label, false)))),
        text(WrongContext::NoThread { problem: name.to_string() }),
        name.parse::<FencingToken>().map_or_else(text, text),
        text(NotReady { waited, status: status(name) }),
    ]
}

fn inspection(name: &Arc<str>, label: &Arc<str>, shared: bool) -> Inspection {
    let left = Some(Duration::from_secs(9));
    let mut stored = StoredValue::new(format!("{TOKEN}:{label}").into(), left);
    if shared {
        let readers = vec![stored.clone(), stored];
        stored = StoredValue { readers, ..StoredValue::new(SHARED.into(), left) };
    }
    let held = (name.clone(), Ok(Some(stored)));
    let seen = vec![held.clone(), held, (name.clone(), Err(answers(name).pop().unwrap()))];
    Inspection::new(name.clone(), name.clone(), seen, Membership::of(3).unwrap())
}

fn status(name: &Arc<str>) -> Status {
    let standings = [
        NodeStanding::Voting,
        NodeStanding::Barred { by: name.clone() },
        NodeStanding::Unfit(name.clone()),
        NodeStanding::Rejected(name.clone()),
        NodeStanding::Disagrees(name.clone()),
        NodeStanding::Down(name.clone()),
    ];
    let nodes = standings.map(|standing| NodeStatus::new(name.clone(), standing));
    Status::new(Membership::of(6).unwrap(), nodes.into())
}

fn findings(name: &Arc<str>) -> Vec<Finding> {
    let (permission, name) = (Permission::Subscribe, || name.clone());
    [
        FindingKind::Unreachable(name()),
        FindingKind::Silent(name()),
        FindingKind::TooManyClients(name()),
        FindingKind::NearlyFull { clients: 9, most: 10 },
        FindingKind::TooShort {
            option: "ttl",
            is: Duration::from_secs(1),
            needs: Duration::from_secs(2),
            never_votes: true,
        },
        FindingKind::NotRedis(name()),
        FindingKind::Rejected(name()),
        FindingKind::TooOld(name()),
        FindingKind::Replica(Some(name())),
        FindingKind::Evicts { maxmemory: 1, policy: name() },
        FindingKind::WouldEvict(name()),
        FindingKind::NotPersistent(Persistence::Later(Some(name()))),
        FindingKind::DropsTransactions(name()),
        FindingKind::SameServer(name()),
        FindingKind::Withheld { permission, error: name() },
        FindingKind::Fails { permission, error: name() },
    ]
    .map(Finding::from)
    .into()
}

/// Every other text.
fn looks(name: &Arc<str>, label: &Arc<str>) -> Vec<Box<dyn Text>> {
    let value = format!("{TOKEN}:{label};term=7");
    let leader = Holder::of(StoredValue::new(value.as_str().into(), None));
    let mut facts = ServerFacts::default();
    (facts.name, facts.version) = (Some(name.clone()), Some(name.clone()));
    let node =
        NodePreflight { findings: findings(name), ..NodePreflight::new(name.clone(), &facts) };
    let mut texts = vec![
        text(inspection(name, label, false)),
        text(inspection(name, label, true)),
        text(inspection(name, label, false).at_slot(Some(3))),
        text(Leader::of(&leader).unwrap()),
        text(leader),
        text(status(name)),
        text(node),
    ];
    texts.extend(findings(name).into_iter().map(text));
    texts.extend(reports(name).into_iter().map(text));
    texts
}

fn all(name: &str, label: &str) -> Vec<Box<dyn Text>> {
    let (name, label) = (Arc::from(name), Arc::from(label));
    errors(&name, &label).into_iter().chain(looks(&name, &label)).collect()
}

fn lines(text: &str) -> usize {
    text.split('\n').count()
}

proptest! {
    #[test]
    fn no_name_changes_the_lines_of_a_text(name in names(), label in names()) {
        for (text, plain) in all(&name, &label).iter().zip(all("n", "l")) {
            let (shown, plain) = (text.to_string(), plain.to_string());
            prop_assert_eq!(lines(&shown), lines(&plain), "{}", shown);
            prop_assert!(!shown.chars().any(|c| c != '\n' && is_hidden(c)), "{:?}", shown);
            prop_assert!(!shown.contains(|c: char| c != '\n' && c.is_control()), "{:?}", shown);
            for debug in [format!("{text:?}"), format!("{text:#?}")] {
                prop_assert!(!debug.contains(|c: char| c != '\n' && c.is_control()), "{:?}", debug);
                prop_assert!(!debug.contains(['\u{202e}', '\u{2028}', '\u{200b}']), "{:?}", debug);
            }
        }
    }

    /// Its quotes end where the name does, and its escapes have one reading.
    #[test]
    fn an_error_begins_with_the_name_that_it_is_about(name in names(), label in names()) {
        let shown = format!("{:?}", Escaped(&name));
        let inspection = inspection(&name.as_str().into(), &label.as_str().into(), false).to_string();
        let begins = format!("{shown} is held by {}", Escaped(&label));
        prop_assert!(inspection.starts_with(&begins), "{}", inspection);
        let errors = errors(&name.as_str().into(), &label.as_str().into());
        let quoted = errors.iter().filter(|text| text.to_string().contains(&shown)).count();
        prop_assert!(quoted >= 13, "{}", shown);
    }
}

#[test]
fn a_label_with_control_characters_is_named_with_its_escapes() {
    let [name, label] = ["r", "A\u{1b}[31mA"].map(Arc::from);
    let text = inspection(&name, &label, false).to_string();
    assert!(text.starts_with(r#""r" is held by A\u{1b}[31mA, expires in 9 s: "#), "{text}");
    let error = errors(&name, &label).remove(4).to_string();
    assert!(error.starts_with(r#""r" is held by A\u{1b}[31mA, 3 ahead in the queue: "#), "{error}");
}
