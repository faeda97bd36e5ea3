//! Claims that every back end must pass, whatever it runs its masters on: redis-server processes,
//! masters in this process, containers. One claim is one function. There is one list of them, so
//! that a back end that is added later can't leave one out. `conformance!(Backend)` makes a test of
//! each claim, and `claims!(Backend)` a list for a back end that is costly to start.
//!
//! A claim looks at the masters only through [`Cluster::ask`], never through the crate under test.

// A test binary uses only one of the two forms.
#![allow(dead_code, unused_imports, unused_macros)]

pub(crate) mod failing;
pub(crate) mod holding;
pub(crate) mod letting_go;
pub(crate) mod naming;
pub(crate) mod sharing;
pub(crate) mod taking;
pub(crate) mod turns;

pub(crate) use super::poll::eventually;
pub(crate) use super::prelude::{LONG, SOON};
use super::witness::outlives_clients;
use quorumlock::error::LossReason;
use quorumlock::{AcquireError, ExtendError, Guard, Redlock, RedlockBuilder};
use redis::{Cmd, FromRedisValue, Value};
use std::pin::Pin;
use std::time::Duration;

/// The ttl of a lock whose end a claim waits for; rounds may take a tenth of it.
pub(crate) const SHORT: Duration = Duration::from_millis(1_200);

/// A source of masters.
pub(crate) trait Backend {
    type Cluster: Cluster;

    /// Set where time is virtual.
    const IS_VIRTUAL: bool = false;

    /// Returns this many independent masters, empty and ready.
    async fn masters(n: usize) -> Self::Cluster;
}

/// Asserts that something took less than this, where time is virtual: a real clock goes on while the machine is busy
/// with something else, and there the claim's timeouts are all that bounds it.
pub(crate) fn assert_prompt<B: Backend>(took: Duration, limit: Duration) {
    assert!(!B::IS_VIRTUAL || took < limit, "{took:?}");
}

/// Several masters, with access for the crate and for a witness.
pub(crate) trait Cluster {
    fn len(&self) -> usize;

    /// Configures a client of all of them, in this one of their databases.
    fn builder_in(&self, database: i64) -> RedlockBuilder;

    /// Returns what a master answers to an ordinary client in database 0, including an error.
    async fn ask(&self, node: usize, command: &Cmd) -> Value;

    /// Ends a master without notice; connections to it are refused from now on.
    async fn kill(&self, node: usize);

    /// Brings a killed master back at its old address, empty.
    async fn restart(&self, node: usize);

    fn builder(&self) -> RedlockBuilder {
        self.builder_in(0)
    }

    async fn client(&self) -> Redlock {
        self.builder().connect().await.unwrap()
    }

    async fn value(&self, node: usize, key: &str) -> Option<String> {
        self.read(node, redis::cmd("GET").arg(key)).await
    }

    async fn values(&self, key: &str) -> Vec<Option<String>> {
        let mut values = Vec::new();
        for node in 0..self.len() {
            values.push(self.value(node, key).await);
        }
        values
    }

    /// Returns the remaining life of a key in milliseconds, or PTTL's special answer (-1, -2).
    async fn pttl(&self, node: usize, key: &str) -> i64 {
        self.read(node, redis::cmd("PTTL").arg(key)).await
    }

    /// Returns the keys of a master, except what outlives its clients.
    async fn keys(&self, node: usize) -> Vec<String> {
        let mut keys: Vec<String> = self.read(node, redis::cmd("KEYS").arg("*")).await;
        keys.retain(|key| !outlives_clients(key));
        keys
    }

    /// Returns how often a master has executed a command.
    async fn calls(&self, node: usize, command: &str) -> u64 {
        let stats: String = self.read(node, redis::cmd("INFO").arg("commandstats")).await;
        let wanted = format!("cmdstat_{command}:calls=");
        let calls = stats.lines().find_map(|line| line.strip_prefix(&wanted)).unwrap_or("0");
        calls.split(',').next().unwrap().parse().unwrap()
    }

    /// Sets the key as another client would.
    async fn set_foreign(&self, node: usize, key: &str, value: &str, life: Duration) {
        let ms = u64::try_from(life.as_millis()).unwrap();
        let mut set = redis::cmd("SET");
        let done: String = self.read(node, set.arg(key).arg(value).arg("PX").arg(ms)).await;
        assert_eq!(done, "OK");
    }

    async fn delete(&self, node: usize, key: &str) {
        let deleted: i64 = self.read(node, redis::cmd("DEL").arg(key)).await;
        assert_eq!(deleted, 1, "\"{key}\" was not there on node {node}");
    }

    async fn read<T: FromRedisValue>(&self, node: usize, command: &Cmd) -> T {
        let answer = self.ask(node, command).await;
        redis::from_redis_value(answer).unwrap()
    }

    /// Waits until these masters, and no others, have the key.
    async fn eventually_held_by(&self, key: &str, nodes: &[usize]) {
        let claim = format!("\"{key}\" stands on the masters {nodes:?}");
        let holds = async || {
            let values = self.values(key).await;
            let holders = (0..values.len()).filter(|&node| values[node].is_some());
            holders.collect::<Vec<_>>() == nodes
        };
        eventually(&claim, SOON, holds).await;
    }

    async fn eventually_gone(&self, key: &str) {
        self.eventually_held_by(key, &[]).await;
    }
}

pub(crate) fn all(cluster: &impl Cluster) -> Vec<usize> {
    (0..cluster.len()).collect()
}

pub(crate) fn assert_contended(
    result: Result<Guard, AcquireError>,
) -> quorumlock::error::Contended {
    match result {
        Err(AcquireError::Contended(contended)) => contended,
        other => panic!("not contended: {other:?}"),
    }
}

/// Asserts that the lock is lost because a quorum said so, before its deadline.
pub(crate) async fn assert_gone(guard: &Guard) {
    match guard.extend().await {
        Err(ExtendError::Lost(lost)) => {
            assert!(matches!(lost.reason, LossReason::QuorumGone(_)), "{lost}");
        }
        other => panic!("not lost: {other:?}"),
    }
    assert!(!guard.is_valid());
}

/// One claim, with its name.
pub(crate) type Claim = (&'static str, fn() -> Pin<Box<dyn Future<Output = ()>>>);

/// Passes the claims to another macro of this module, with the back end.
macro_rules! each_claim {
    ($form:ident $backend:ty) => {
        $crate::support::conformance::$form! { $backend:
            taking {
                an_acquire_sets_one_token_with_the_ttl_on_every_master,
                two_clients_exclude_each_other,
                no_token_is_used_twice,
                a_key_of_another_client_on_a_quorum_refuses_and_stays,
                a_key_of_another_client_on_a_minority_refuses_no_client,
                an_expired_key_frees_the_resource,
                a_waiter_is_next_when_the_holder_releases,
                a_refusal_reports_what_every_master_answered_and_for_how_long,
                an_acquire_that_is_dropped_leaves_nothing,
            }
            holding {
                an_extension_prolongs_the_key_and_the_deadline,
                an_extension_shortens_no_key,
                an_extension_never_acquires_again_after_an_expiry,
                an_extension_never_acquires_again_after_another_holder,
                an_extension_leaves_the_key_of_another_alone,
                a_master_that_lost_the_key_regains_it_and_then_counts_again,
                no_master_is_topped_up_after_a_lost_extension,
            }
            letting_go {
                a_release_deletes_our_key_from_every_master,
                a_lease_ends_with_its_guard,
                a_release_deletes_only_ours,
                a_release_after_the_end_says_so_and_spares_the_next_holder,
                a_guard_that_is_dropped_releases,
                a_guard_that_leaves_keeps_the_key_until_it_expires,
                work_that_ends_well_keeps_the_key_for_as_long_as_was_asked_for,
                a_shutdown_waits_for_the_releases_and_ends_every_clone,
            }
            sharing {
                readers_read_together_and_keep_every_writer_out,
                a_lock_of_any_kind_keeps_readers_out,
                a_writer_gets_in_beside_readers_that_overlap,
                a_new_reader_waits_behind_a_writer_that_waits,
                a_writer_that_gives_up_lets_readers_in,
                a_writer_that_dies_while_it_waits_costs_readers_three_seconds,
                a_reader_that_dies_expires_by_itself_and_others_stay,
                readers_that_wait_get_in_when_the_writer_becomes_one,
                readers_are_shown_and_taken_away_one_by_one,
            }
            turns {
                waiters_are_served_in_the_order_in_which_they_came,
                a_cancelled_waiter_in_front_hands_on,
                a_waiter_that_gives_up_learns_how_many_are_ahead_and_leaves_nothing,
                fair_and_plain_acquires_exclude_each_other_and_are_served,
                fencing_tokens_rise_from_turn_to_turn,
                an_extension_is_no_turn_of_the_waiters,
                a_single_attempt_behind_others_is_refused_before_it_is_made,
            }
            naming {
                a_key_is_the_prefix_and_the_resource,
                clients_of_different_prefixes_do_not_meet,
                databases_do_not_meet,
                any_text_is_a_resource,
                resources_that_look_alike_are_different,
            }
            failing {
                a_dead_minority_stops_no_client,
                a_master_that_returns_is_asked_again,
                without_a_quorum_nothing_is_won_and_nothing_is_left,
            }
        }
    };
}
pub(crate) use each_claim;

/// Makes a test of each claim, against the named back end.
macro_rules! conformance {
    ($backend:ty) => {
        $crate::support::conformance::each_claim! { conformance $backend }
    };
    ($backend:ty: $($module:ident { $($claim:ident,)+ })+) => {
        $(mod $module {
            $(#[tokio::test]
            async fn $claim() {
                crate::support::conformance::$module::$claim::<$backend>().await;
            })+
        })+
    };
}
pub(crate) use conformance;

/// Makes a test of each claim in virtual time.
macro_rules! in_virtual_time {
    ($backend:ty: $($module:ident { $($claim:ident,)+ })+) => {
        $(mod $module {
            $(#[tokio::test(start_paused = true)]
            async fn $claim() {
                crate::support::conformance::$module::$claim::<$backend>().await;
            })+
        })+
    };
}
pub(crate) use in_virtual_time;

/// Returns every [`Claim`] about the named back end, to be run one after another.
macro_rules! claims {
    ($backend:ty) => {
        $crate::support::conformance::each_claim! { claims $backend }
    };
    ($backend:ty: $($module:ident { $($claim:ident,)+ })+) => {
        [$($((
            concat!(stringify!($module), "::", stringify!($claim)),
            || Box::pin($crate::support::conformance::$module::$claim::<$backend>()),
        ),)+)+]
    };
}
pub(crate) use claims;
