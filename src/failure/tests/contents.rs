//! The content of every error, variant by variant: what it is about, what to do about it, and that a `main` which
//! returns it prints the same. A type or a variant that is added does not compile, or fails, until it has its row.

use crate::failure::*;
use crate::fencing::{FencingToken, InvalidToken, StaleToken};
use crate::guard::{DetachError, DowngradeError};
use crate::inspect::{InspectError, Inspection};
use crate::report::{Obstacle, Refusal};
use quorumlock_core::quorum::Membership;
use quorumlock_core::status::{NodeStanding, NodeStatus, Status};

const MASTER: &str = "10.0.0.1:6379";
const RESOURCE: &str = "orders:42";

/// Where the lock stands is what there is to report, and the next step is the caller's: the table of
/// [`crate::error`] has it.
const OUTCOMES: [&str; 13] = [
    "Contended",
    "NoQuorum",
    "Lost",
    "Unextended",
    "TooLate",
    "Unadopted",
    "HeldHere",
    "Unconfirmed",
    "Unclear",
    "NotReady",
    "ShutdownError",
    "DetachError",
    "DowngradeError",
];

struct Row {
    error: &'static str,
    variant: &'static str,
    text: String,
    debug: String,
    names: &'static str,
    remedy: &'static str,
}

/// Adds a row for each variant: a sample, what its text names, and the remedy that it names.
macro_rules! rows {
    ($rows:ident, $name:literal, $error:ty, { $($variant:pat => ($sample:expr, $names:expr, $remedy:expr),)+ }) => {{
        const fn has_a_row(error: &$error) {
            match error {
                $($variant => {})+
            }
        }
        $(
            let sample: $error = $sample;
            has_a_row(&sample);
            assert!(matches!(&sample, $variant));
            $rows.push(Row {
                error: $name,
                variant: stringify!($variant),
                text: sample.to_string(),
                debug: format!("{sample:?}"),
                names: $names,
                remedy: $remedy,
            });
        )+
    }};
}

fn nodes() -> Vec<NodeReport> {
    vec![NodeReport::new(MASTER.into(), Answer::Refused(Refusal::Held { remaining: None }))]
}

fn quorum() -> Membership {
    Membership::of(3).unwrap()
}

fn contended() -> Contended {
    let (resource, waited) = (RESOURCE.into(), Duration::from_secs(10));
    let (obstacle, nodes, quorum) = (Obstacle::Holder(Some("web-2".into())), nodes(), quorum());
    Contended { resource, waited, attempts: 2, obstacle, blocked: None, ahead: None, nodes, quorum }
}

fn overloaded() -> Overloaded {
    Overloaded { resource: RESOURCE.into(), waited: Duration::from_secs(10) }
}

fn no_quorum() -> NoQuorum {
    let (resource, waited) = (RESOURCE.into(), Duration::from_secs(10));
    let down = NodeReport::new(MASTER.into(), Answer::Refused(Refusal::Down("refused".into())));
    NoQuorum { resource, waited, attempts: 2, nodes: vec![down], quorum: Some(quorum()) }
}

fn disagreement() -> Disagreement {
    let cause = "max_ttl is 1m here and 30s with another client: make them equal".into();
    let (resource, waited) = (RESOURCE.into(), Duration::from_secs(10));
    Disagreement { resource, waited, attempts: 2, cause, nodes: nodes() }
}

fn lost() -> Lost {
    let (resource, held_for) = (RESOURCE.into(), Duration::from_secs(1));
    Lost { resource, reason: LossReason::QuorumGone(nodes()), held_for, at_max_hold: false }
}

fn unextended() -> Unextended {
    Unextended { resource: RESOURCE.into(), nodes: nodes(), quorum: quorum() }
}

fn too_late() -> TooLate {
    TooLate { resource: RESOURCE.into(), reason: LossReason::QuorumGone(nodes()) }
}

fn unadopted() -> Unadopted {
    Unadopted { resource: RESOURCE.into(), nodes: nodes(), quorum: quorum() }
}

fn held_here() -> HeldHere {
    HeldHere { resource: RESOURCE.into() }
}

fn invalid() -> InvalidSetting {
    InvalidSetting::new("ttl", "0s is too short: at least 10ms is needed")
}

const fn no_runtime() -> WrongContext {
    WrongContext::NoRuntime { call: "connect()" }
}

fn problems(problem: &str) -> Vec<NodeProblem> {
    vec![NodeProblem { node: MASTER.into(), problem: problem.into() }]
}

fn not_ready() -> NotReady {
    let down = NodeStanding::Down("refused".into());
    let status =
        Status::new(Membership::of(1).unwrap(), vec![NodeStatus::new(MASTER.into(), down)]);
    NotReady { waited: Duration::from_secs(60), status }
}

fn inspection() -> Inspection {
    let seen = vec![(MASTER.into(), Ok(None))];
    Inspection::new(RESOURCE.into(), RESOURCE.into(), seen, Membership::of(3).unwrap())
}

const EVICTS: &str = "maxmemory-policy is allkeys-lru: set noeviction";
const NO_RUNTIME: &str = "await it on one, or build";
const NO_BYTES: (&str, &str) = ("the operating system", "allow getrandom() in the sandbox");
const CLOSED: (&str, &str) = ("this Redlock was shut down", "connect again");

#[allow(clippy::too_many_lines)] // a table
fn all() -> Vec<Row> {
    let mut rows = Vec::new();
    rows!(rows, "Closed", Closed, { Closed { .. } => (Closed::ENDED, CLOSED.0, CLOSED.1), });
    rows!(rows, "InvalidSetting", InvalidSetting, {
        InvalidSetting { .. } => (invalid(), "ttl: ", "at least 10ms"),
    });
    rows!(rows, "WrongContext", WrongContext, {
        WrongContext::NoRuntime { .. } => (no_runtime(), "connect()", NO_RUNTIME),
        WrongContext::NoDriver { .. } => (
            WrongContext::NoDriver { call: "connect()", driver: "time" },
            "no time driver, which connect() needs",
            "enable_all()"
        ),
        WrongContext::AsyncCode { .. } => (
            WrongContext::AsyncCode { call: "connect()" }, "connect()", "await the call there"
        ),
        WrongContext::Forked { .. } => (
            WrongContext::Forked { call: "preflight()" }, "preflight()", "connect after the fork"
        ),
        WrongContext::NoThread { .. } => (
            WrongContext::NoThread { problem: "EAGAIN".into() }, "EAGAIN", "raise the limits"
        ),
    });
    rows!(rows, "NoRandomness", NoRandomness, {
        NoRandomness => (NoRandomness, NO_BYTES.0, NO_BYTES.1),
    });
    rows!(rows, "ConnectError", ConnectError, {
        ConnectError::InvalidSetting(_) => (invalid().into(), "ttl: ", "at least 10ms"),
        ConnectError::WrongContext(_) => (no_runtime().into(), "connect()", NO_RUNTIME),
        ConnectError::NoRandomness(_) => (NoRandomness.into(), NO_BYTES.0, NO_BYTES.1),
        ConnectError::Unfit(_) => (ConnectError::Unfit(problems(EVICTS)), MASTER, "set noeviction"),
        ConnectError::Disagreement(_) => (
            ConnectError::Disagreement(problems(&disagreement().cause)), MASTER, "make them equal"
        ),
        ConnectError::Closed(_) => (Closed::ENDED.into(), CLOSED.0, CLOSED.1),
    });
    rows!(rows, "PreflightError", PreflightError, {
        PreflightError::InvalidSetting(_) => (invalid().into(), "ttl: ", "at least 10ms"),
        PreflightError::WrongContext(_) => (no_runtime().into(), "connect()", NO_RUNTIME),
    });
    rows!(rows, "Contended", Contended, { Contended { .. } => (contended(), RESOURCE, ""), });
    rows!(rows, "NoQuorum", NoQuorum, { NoQuorum { .. } => (no_quorum(), MASTER, ""), });
    rows!(rows, "Overloaded", Overloaded, {
        Overloaded { .. } => (overloaded(), RESOURCE, "ask for fewer"),
    });
    rows!(rows, "Disagreement", Disagreement, {
        Disagreement { .. } => (disagreement(), "max_ttl", "make them equal"),
    });
    rows!(rows, "AcquireError", AcquireError, {
        AcquireError::Contended(_) => (contended().into(), "web-2", ""),
        AcquireError::NoQuorum(_) => (no_quorum().into(), MASTER, ""),
        AcquireError::Disagreement(_) => (disagreement().into(), "max_ttl", "make them equal"),
        AcquireError::Overloaded(_) => (overloaded().into(), "this client", "ask for fewer"),
        AcquireError::InvalidSetting(_) => (invalid().into(), "ttl: ", "at least 10ms"),
        AcquireError::WrongContext(_) => (no_runtime().into(), "connect()", NO_RUNTIME),
        AcquireError::NoRandomness(_) => (NoRandomness.into(), NO_BYTES.0, NO_BYTES.1),
        AcquireError::Closed(_) => (Closed::ENDED.into(), CLOSED.0, CLOSED.1),
    });
    rows!(rows, "Lost", Lost, { Lost { .. } => (lost(), MASTER, ""), });
    rows!(rows, "Unextended", Unextended, { Unextended { .. } => (unextended(), MASTER, ""), });
    rows!(rows, "ExtendError", ExtendError, {
        ExtendError::Lost(_) => (lost().into(), MASTER, ""),
        ExtendError::Unextended(_) => (unextended().into(), MASTER, ""),
    });
    rows!(rows, "DetachError", DetachError<()>, {
        DetachError { .. } => (DetachError { guard: (), error: lost().into() }, "not detached: lost", ""),
    });
    rows!(rows, "DowngradeError", DowngradeError<()>, {
        DowngradeError { .. } => (
            DowngradeError { guard: (), error: lost().into() }, "not downgraded: lost", ""
        ),
    });
    rows!(rows, "TooLate", TooLate, { TooLate { .. } => (too_late(), MASTER, ""), });
    rows!(rows, "Unadopted", Unadopted, { Unadopted { .. } => (unadopted(), MASTER, ""), });
    rows!(rows, "HeldHere", HeldHere, { HeldHere { .. } => (held_here(), RESOURCE, ""), });
    rows!(rows, "AdoptErrorKind", AdoptErrorKind, {
        AdoptErrorKind::TooLate(_) => (too_late().into(), MASTER, ""),
        AdoptErrorKind::Unadopted(_) => (unadopted().into(), MASTER, ""),
        AdoptErrorKind::HeldHere(_) => (held_here().into(), RESOURCE, ""),
        AdoptErrorKind::InvalidSetting(_) => (invalid().into(), "ttl: ", "at least 10ms"),
        AdoptErrorKind::Closed(_) => (Closed::ENDED.into(), CLOSED.0, CLOSED.1),
    });
    rows!(rows, "RunError", RunError<u8>, {
        RunError::NotAcquired(_) => (RunError::NotAcquired(Closed::ENDED.into()), CLOSED.0, CLOSED.1),
        RunError::Lost { .. } => (
            RunError::Lost { lost: lost(), result: Some(7) }, "the work had finished", ""
        ),
    });
    rows!(rows, "OnceError", OnceError<u8, InvalidSetting>, {
        OnceError::NotAcquired(_) => (AcquireError::from(Closed::ENDED).into(), CLOSED.0, CLOSED.1),
        OnceError::Failed(_) => (OnceError::Failed(invalid()), "ttl: ", "at least 10ms"),
        OnceError::Lost { .. } => (OnceError::Lost { lost: lost(), result: None }, MASTER, ""),
    });
    rows!(rows, "ReentrantError", ReentrantError, {
        ReentrantError::NotAcquired(_) => (
            AcquireError::from(Closed::ENDED).into(), CLOSED.0, CLOSED.1
        ),
        ReentrantError::Lost(_) => (lost().into(), MASTER, ""),
    });
    rows!(rows, "InspectError", InspectError, {
        InspectError::InvalidSetting(_) => (invalid().into(), "ttl: ", "at least 10ms"),
        InspectError::WrongContext(_) => (no_runtime().into(), "connect()", NO_RUNTIME),
        InspectError::Unconfirmed(_) => (InspectError::Unconfirmed(nodes()), MASTER, ""),
        InspectError::Unclear(_) => (InspectError::Unclear(inspection().into()), MASTER, ""),
        InspectError::Closed(_) => (Closed::ENDED.into(), CLOSED.0, CLOSED.1),
    });
    rows!(rows, "ListError", ListError, {
        ListError::InvalidSetting(_) => (invalid().into(), "ttl: ", "at least 10ms"),
        ListError::WrongContext(_) => (no_runtime().into(), "connect()", NO_RUNTIME),
        ListError::Incomplete(_) => (
            ListError::Incomplete(problems("NOPERM: grant +scan")), MASTER, "grant +scan"
        ),
        ListError::Closed(_) => (Closed::ENDED.into(), CLOSED.0, CLOSED.1),
    });
    rows!(rows, "NotReady", NotReady, { NotReady { .. } => (not_ready(), MASTER, ""), });
    rows!(rows, "ReadyError", ReadyError, {
        ReadyError::NotReady(_) => (not_ready().into(), MASTER, ""),
        ReadyError::WrongContext(_) => (no_runtime().into(), "connect()", NO_RUNTIME),
        ReadyError::Closed(_) => (Closed::ENDED.into(), CLOSED.0, CLOSED.1),
    });
    rows!(rows, "ShutdownError", ShutdownError, {
        ShutdownError { .. } => (ShutdownError { owed: 2 }, "their keys expire with their ttl", ""),
    });
    let [presented, greatest] = [1_u64, 2].map(|number| FencingToken::try_from(number).unwrap());
    rows!(rows, "StaleToken", StaleToken, {
        StaleToken { .. } => (StaleToken { presented, greatest }, "fencing token 1", "do not retry"),
    });
    rows!(rows, "InvalidToken", InvalidToken, {
        InvalidToken { .. } => ("1.5".parse::<FencingToken>().unwrap_err(), "1.5", "digits only"),
    });
    #[cfg(feature = "config")]
    rows!(rows, "ConfigError", ConfigError, {
        ConfigError { .. } => (
            crate::Config::from_toml("ttl = 10").unwrap_err(), "line 1: ttl: ", "write it like \"10s\""
        ),
    });
    rows
}

#[test]
fn each_error_names_what_it_is_about_and_what_to_do() {
    for Row { error, variant, text, names, remedy, .. } in all() {
        assert!(text.contains(names), "{variant}: {names}: {text}");
        assert!(text.contains(remedy), "{variant}: {remedy}: {text}");
        let is_outcome = OUTCOMES.iter().any(|outcome| variant.contains(outcome));
        assert!(is_outcome || !remedy.is_empty(), "{error} {variant} has no remedy: {text}");
    }
}

#[test]
fn what_main_prints_of_an_error_is_its_text() {
    for Row { variant, text, debug, .. } in all() {
        assert_eq!(debug, text, "{variant}");
    }
    let failed = OnceError::<(), _>::Failed("the body's own");
    assert_eq!(format!("{failed:?}"), "\"the body's own\"", "in its own form");
}

#[cfg(feature = "embedded")]
#[tokio::test]
async fn an_error_with_a_value_prints_its_reason_alone() {
    let masters = crate::embedded::Masters::start_in_memory(1).unwrap();
    let [redlock, closed] = [masters.builder().connect(), masters.builder().connect()];
    let (redlock, closed) = (redlock.await.unwrap(), closed.await.unwrap());
    let value = redlock.acquire(RESOURCE).await.unwrap().detach().await.unwrap();
    closed.shutdown().await.unwrap();
    let error = closed.adopt(value).await.unwrap_err();
    assert_eq!(format!("{error:?}"), error.to_string());
    assert!(error.to_string().starts_with("not adopted: closed: "), "{error}");
}

#[test]
fn each_public_error_has_its_rows() {
    let rows = all();
    let listed = include_str!("../../error.rs");
    let (documents, exports) = listed.split_once("\npub use ").unwrap();
    // Kept with an error, and none by themselves.
    let others = ["LossReason", "NodeProblem", "AdoptError"];
    let words = exports.split(|c: char| !c.is_alphanumeric());
    let names: Vec<_> = words.filter(|word| word.starts_with(char::is_uppercase)).collect();
    let is_there = |name: &str| rows.iter().any(|row| row.error == name);
    let optional = |name: &str| name == "ConfigError" && !cfg!(feature = "config");
    let lacks =
        names.iter().filter(|name| !others.contains(name) && !is_there(name) && !optional(name));
    assert_eq!(Vec::from_iter(lacks), Vec::<&&str>::new());
    assert!(names.len() >= 30 && documents.contains("| next |"), "{names:?}");
}
