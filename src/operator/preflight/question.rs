//! The questions to each master, and its answers.

use super::{FindingKind, Permission};
use quorumlock_core::coordinator::wire::{self, Ballot, Claim, Native, Packer, Reply, Token, Way};
use quorumlock_core::coordinator::{Agreement, Keys, ServerFacts, SharedSettings};
use quorumlock_core::quorum::{FencingWindow, Instant, NodeSet, fence};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The script that tries the calls of the crate's scripts, one by one.
const SURVEY: &str = include_str!("survey.lua").trim_ascii_end();

/// The life of the keys if the connection is lost before they are deleted.
const LIFE: Duration = Duration::from_secs(1);
const LONGER_LIFE: Duration = Duration::from_secs(2);

/// The id of no client. It is not 0, which some servers (Redis 6.2) take as no id given: they would
/// kill every other client.
const NO_CLIENT: i64 = i64::MAX;

/// More than any clock shows.
const AGES: Duration = Duration::from_micros(fence::GREATEST);

/// Declares the questions in the order in which they are sent, each with the permission that it
/// needs and its command.
macro_rules! questions {
    (($subject:ident, $token:ident) $($question:ident: $permission:ident, $command:expr;)+) => {
        /// One command; they are sent in this order.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub(super) enum Question { $($question),+ }

        impl Question {
            pub(super) const ALL: &[Self] = &[$(Self::$question),+];

            pub(super) const fn permission(self) -> Permission {
                match self { $(Self::$question => Permission::$permission),+ }
            }

            /// Returns the command, under a token of our own. Each is what the crate sends
            /// otherwise, so that a script that is denied to locks is denied to the preflight, too.
            /// The extension finds the key and prolongs it; the releases delete theirs. The records
            /// of other clients are read and not touched.
            pub(super) fn command(self, $subject: &Subject, $token: &Token) -> Vec<u8> {
                match self { $(Self::$question => $command),+ }
            }
        }
    };
}

questions! {
    (subject, token)
    InfoServer: Info, wire::info("server");
    InfoReplication: Info, wire::info("replication");
    InfoMemory: Info, wire::info("memory");
    InfoPersistence: Info, wire::info("persistence");
    InfoClients: Info, wire::info("clients");
    ConfigMemory: ConfigGet, wire::config_get("maxmemory*");
    ConfigAppend: ConfigGet, wire::config_get("*append*");
    Replay: AclDryRun, wire::pack(&["ACL", "DRYRUN", "default", "SET", &*subject.key, "", "PX",
                                   "1"]);
    Kill: ClientKill, wire::kill(NO_CLIENT);
    Survey: Eval, wire::pack(&["EVAL", SURVEY, "1", &*subject.part("survey")]);
    LoadAcquire: ScriptLoad, wire::load(wire::ACQUIRE);
    LoadExtend: ScriptLoad, wire::load(wire::EXTEND);
    Set: Set, packed(|packer| subject.plain(token, LIFE).acquire(packer));
    Pttl: Pttl, wire::pttl(&subject.key);
    Extend: EvalSha, packed(|packer| subject.plain(token, LIFE).extend(packer, LONGER_LIFE.into()));
    Shorten: Eval, packed(|packer| subject.plain(token, LIFE).shorten(packer, LIFE.into()));
    Release: Eval, packed(|packer| subject.plain(token, LIFE).release(packer, Way::Full));
    // The key is gone by then: this only asks whether our user may.
    DeleteIfEqual: DelIfEq, packed(|packer| {
        subject.plain(token, LIFE).release(packer, Way::Native(Native::DelIfEq))
    });
    DeleteExtended: DelEx, packed(|packer| {
        subject.plain(token, LIFE).release(packer, Way::Native(Native::DelEx))
    });
    AcquireAll: EvalSha, packed(|packer| subject.fenced(token).acquire(packer));
    ReleaseAll: Eval, packed(|packer| subject.fenced(token).release(packer, Way::Full));
    Agree: Eval, subject.agreement().question(false, [""; 3]);
    Noted: Hgetall, wire::pack(&["HGETALL", &*subject.shared.key]);
    NotedLife: Pttl, wire::pttl(&subject.shared.key);
    // What releases leave on purpose, or for want of a permission.
    Clear: Del, wire::pack(&["DEL", &*subject.key, &*subject.part("fence"),
                             &*subject.part("fenced"), &*subject.part("agreement")]);
    Scan: Scan, wire::pack(&["SCAN", "0", "MATCH", &*subject.key, "COUNT", "1"]);
    NumSub: PubSubNumSub, wire::pack(&["PUBSUB", "NUMSUB", &*subject.channel()]);
    Publish: Publish, packed(|packer| packer.publish(&subject.channels, &subject.key, ""));
    // Last: from here on messages may come in between.
    Subscribe: Subscribe, wire::subscribe(&subject.channels, &subject.key);
}

impl Question {
    /// Checks that it reads what is there, and sets or deletes no key, not even one of our own.
    pub(super) const fn only_reads(self) -> bool {
        use Permission::{AclDryRun, ConfigGet, Hgetall, Info, Pttl, PubSubNumSub, Scan};
        matches!(
            self.permission(),
            AclDryRun | ConfigGet | Hgetall | Info | Pttl | PubSubNumSub | Scan
        )
    }
}

/// The answers of one master.
#[derive(Default)]
pub(super) struct Heard {
    pub(super) hello: Option<Reply>,
    pub(super) answers: BTreeMap<Question, Reply>,
    /// The answers to `TIME`, in order.
    pub(super) times: Vec<TimeSample>,
    /// The reason why there are no more.
    pub(super) ended: Option<FindingKind>,
}

/// An answer to `TIME`.
pub(super) struct TimeSample {
    pub(super) asked: Instant,
    /// Our wall clock at that moment, since 1970.
    pub(super) asked_at: Duration,
    pub(super) round_trip: Duration,
    pub(super) reply: Reply,
}

/// The subject of the questions: our settings, and keys that belong to no other client.
pub(super) struct Subject {
    pub(super) shared: SharedSettings,
    /// The key of a plain lock, with which all others begin.
    pub(super) key: Arc<str>,
    /// The beginning of its channel: the master's database is in it.
    pub(super) channels: Arc<str>,
}

impl Heard {
    /// Returns the quickest answer to `TIME`.
    pub(super) fn time(&self) -> Option<&TimeSample> {
        self.times.iter().min_by_key(|sample| sample.round_trip)
    }

    /// Returns what the server has said about itself.
    pub(super) fn facts(&self) -> ServerFacts {
        let mut facts = ServerFacts::default();
        if let Some(hello) = &self.hello {
            facts.learn_hello(hello);
        }
        for (question, reply) in &self.answers {
            match question {
                Question::ConfigMemory => facts.learn_memory(reply),
                Question::ConfigAppend => facts.learn_persistence(reply),
                _ if question.permission() == Permission::Info => facts.learn_info(reply),
                _ => {}
            }
        }
        facts
    }
}

impl TimeSample {
    /// Returns the time that the server's clock showed, since 1970.
    pub(super) fn shown(&self) -> Option<Duration> {
        let Reply::Array(parts) = &self.reply else { return None };
        let [seconds, micros] = &parts[..] else { return None };
        let number = |part: &Reply| part.text()?.parse::<u64>().ok();
        let micros = number(seconds)?.checked_mul(1_000_000)?.checked_add(number(micros)?)?;
        Some(Duration::from_micros(micros))
    }
}

impl Subject {
    fn channel(&self) -> String {
        format!("{}{}", self.channels, self.key)
    }

    fn part(&self, name: &str) -> String {
        format!("{}:{name}", self.key)
    }

    fn plain(&self, token: &Token, life: Duration) -> Claim {
        Claim {
            keys: Keys::one(self.key.clone()),
            token: *token,
            life: life.into(),
            ballot: None,
            label: None,
            unsettled: NodeSet::EMPTY,
        }
    }

    /// Returns a claim with the lowest ballot there is, and a window that it is within.
    fn fenced(&self, token: &Token) -> Claim {
        let fences = Keys::one(self.part("fence").into());
        let window = FencingWindow { back: AGES, ahead: AGES };
        let ballot =
            Ballot { fences: fences.into(), number: 1, last: 1, greatest: 1, window, kept: LIFE };
        let keys = Keys::one(self.part("fenced").into());
        Claim { keys, ballot: Some(Box::new(ballot)), ..self.plain(token, LIFE) }
    }

    fn agreement(&self) -> Agreement {
        let key = self.part("agreement");
        Agreement::new(SharedSettings { key, life: LIFE, ..self.shared.clone() }, false)
    }
}

fn packed(pack: impl FnOnce(&mut Packer) -> &[u8]) -> Vec<u8> {
    pack(&mut Packer::new(None)).to_vec()
}
