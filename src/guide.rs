//! The documents of the repository, as rustdoc pages.
//!
//! | page | for whom |
//! |---|---|
//! | [`guide`] | each part of the crate: options, outcomes, fenced and nested locks, tests without Redis |
//! | [`advanced`] | warm locks, asking the holder, deadlocks |
//! | [`cookbook`] | recipes: cron, leaders, fenced writes, workers, shutdown, migration |
//! | [`faq`] | "Is Redlock safe?", and what else is asked |
//! | [`one_managed_redis`] | what a single Redis of a cloud provider can do, and the way to five masters |
//! | [`deploying_masters`] | five masters by compose, systemd or Kubernetes |
//! | [`operations`] | running the masters: configuration, clocks, restarts, alerts, symptoms |
//! | [`replacing_a_master`] | changing the list of masters under clients that go on working |
//! | [`many_quorums`] | more masters than one set, behind rendezvous hashing |
//! | [`acl`] | the rights that a client needs |
//! | [`cli`] | the command `quorumlock`: options, exit codes, signals, cron, systemd |
//! | [`observability`] | spans, events and metrics, dashboard and alerts |
//! | [`coming_from`] | redsync, node-redlock, Redisson, ShedLock, Curator, rueidislock: their terms in this crate |
//! | [`serverless`] | a lock in a function whose process is frozen between calls |
//! | [`interop`] | other Redlock clients on the same masters |
//! | [`safety`] | what is guaranteed, on what assumptions, and what shows it |
//! | [`guarantees`] | each guarantee: why it holds, its exceptions, its tests |
//!
//! [`fencing`](crate::fencing) has what a resource does with a token.

// For rustdoc alone. On GitHub a link between documents leads to a file; here the definitions of
// `guide/links.md`, which come first and therefore win, lead it to a page.
macro_rules! pages {
    ($($page:ident: [$($document:literal),+];)+) => {$(
        #[doc = include_str!("guide/links.md")]
        $(#[doc = include_str!($document)])+
        #[allow(clippy::module_inception, reason = "a page is called as this module")]
        pub mod $page {}
    )+};
}

pages! {
    acl: ["../docs/acl.md"];
    advanced: ["../docs/advanced.md"];
    cli: ["../docs/cli.md"];
    coming_from: ["../docs/coming-from.md"];
    cookbook: ["../docs/cookbook.md"];
    deploying_masters: ["../docs/deploying-masters.md"];
    faq: ["../docs/faq.md"];
    guarantees: [
        "../docs/safety/g01-exclusion.md",
        "../docs/safety/g02-honest-deadline.md",
        "../docs/safety/g03-nothing-left-behind.md",
        "../docs/safety/g04-owner-releases.md",
        "../docs/safety/g05-never-reacquired.md",
        "../docs/safety/g06-extension.md",
        "../docs/safety/g07-independence.md",
        "../docs/safety/g08-restart-guard.md",
        "../docs/safety/g09-agreement.md",
        "../docs/safety/g10-joint-membership.md",
        "../docs/safety/g11-fencing-tokens.md",
        "../docs/safety/g12-lock-delay.md",
        "../docs/safety/g13-several-resources.md",
        "../docs/safety/g14-reentrant.md",
        "../docs/safety/g15-at-least.md",
        "../docs/safety/g16-adoption.md",
        "../docs/safety/g17-readers.md",
        "../docs/safety/g18-turns.md",
        "../docs/safety/held.md",
        "../docs/safety/memory.md"
    ];
    guide: ["../docs/guide.md"];
    interop: ["../docs/interop.md"];
    many_quorums: ["../docs/many-quorums.md"];
    observability: ["../docs/observability.md"];
    one_managed_redis: ["../docs/one-managed-redis.md"];
    operations: ["../docs/operations.md"];
    replacing_a_master: ["../docs/replacing-a-master.md"];
    safety: ["../SAFETY.md"];
    serverless: ["../docs/serverless.md"];
}
