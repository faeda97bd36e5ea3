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

#[doc = include_str!("guide/links.md")]
#[doc = include_str!("../docs/acl.md")]
pub mod acl {}

#[doc = include_str!("guide/links.md")]
#[doc = include_str!("../docs/advanced.md")]
pub mod advanced {}

#[doc = include_str!("guide/links.md")]
#[doc = include_str!("../docs/cli.md")]
pub mod cli {}

#[doc = include_str!("guide/links.md")]
#[doc = include_str!("../docs/coming-from.md")]
pub mod coming_from {}

#[doc = include_str!("guide/links.md")]
#[doc = include_str!("../docs/cookbook.md")]
pub mod cookbook {}

#[doc = include_str!("guide/links.md")]
#[doc = include_str!("../docs/deploying-masters.md")]
pub mod deploying_masters {}

#[doc = include_str!("guide/links.md")]
#[doc = include_str!("../docs/faq.md")]
pub mod faq {}

#[doc = include_str!("guide/links.md")]
#[doc = include_str!("../docs/safety/g01-exclusion.md")]
#[doc = include_str!("../docs/safety/g02-honest-deadline.md")]
#[doc = include_str!("../docs/safety/g03-nothing-left-behind.md")]
#[doc = include_str!("../docs/safety/g04-owner-releases.md")]
#[doc = include_str!("../docs/safety/g05-never-reacquired.md")]
#[doc = include_str!("../docs/safety/g06-extension.md")]
#[doc = include_str!("../docs/safety/g07-independence.md")]
#[doc = include_str!("../docs/safety/g08-restart-guard.md")]
#[doc = include_str!("../docs/safety/g09-agreement.md")]
#[doc = include_str!("../docs/safety/g10-joint-membership.md")]
#[doc = include_str!("../docs/safety/g11-fencing-tokens.md")]
#[doc = include_str!("../docs/safety/g12-lock-delay.md")]
#[doc = include_str!("../docs/safety/g13-several-resources.md")]
#[doc = include_str!("../docs/safety/g14-reentrant.md")]
#[doc = include_str!("../docs/safety/g15-at-least.md")]
#[doc = include_str!("../docs/safety/g16-adoption.md")]
#[doc = include_str!("../docs/safety/g17-readers.md")]
#[doc = include_str!("../docs/safety/g18-turns.md")]
#[doc = include_str!("../docs/safety/held.md")]
#[doc = include_str!("../docs/safety/memory.md")]
pub mod guarantees {}

#[doc = include_str!("guide/links.md")]
#[doc = include_str!("../docs/guide.md")]
#[allow(clippy::module_inception, reason = "the page is called so")]
pub mod guide {}

#[doc = include_str!("guide/links.md")]
#[doc = include_str!("../docs/interop.md")]
pub mod interop {}

#[doc = include_str!("guide/links.md")]
#[doc = include_str!("../docs/many-quorums.md")]
pub mod many_quorums {}

#[doc = include_str!("guide/links.md")]
#[doc = include_str!("../docs/observability.md")]
pub mod observability {}

#[doc = include_str!("guide/links.md")]
#[doc = include_str!("../docs/one-managed-redis.md")]
pub mod one_managed_redis {}

#[doc = include_str!("guide/links.md")]
#[doc = include_str!("../docs/operations.md")]
pub mod operations {}

#[doc = include_str!("guide/links.md")]
#[doc = include_str!("../docs/replacing-a-master.md")]
pub mod replacing_a_master {}

#[doc = include_str!("guide/links.md")]
#[doc = include_str!("../SAFETY.md")]
pub mod safety {}

#[doc = include_str!("guide/links.md")]
#[doc = include_str!("../docs/serverless.md")]
pub mod serverless {}
