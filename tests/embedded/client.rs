//! What a client does on several masters, whatever they run on: in virtual time, with a witness that
//! looks at the masters through the `redis` crate.

mod agreement;
mod at_odds;
mod clock_speed;
mod contention;
mod crowd;
mod dropped_acquires;
mod error_texts;
mod extension;
mod fenced_lock;
mod flushed_scripts;
mod hand_over;
mod independence;
mod joint_membership;
mod keep_alive;
mod kept_keys;
mod late_after_release;
mod late_sets;
mod list;
mod lock_delay;
mod observers;
mod once;
pub(crate) mod prelude;
mod restart_guard;
mod retries;
mod rolling_restart;
mod run_body;
mod rw_crowd;
mod sabotage_shows_orphans;
mod semaphore;
mod several_resources;
mod stepped_clocks;
mod ttls;
mod waiting;
