//! The lock protocol, in every order of its events within bounds, decided by the code that ships.
//!
//! The decisions (`quorumlock_core::quorum`) are the code that ships. Each model has its states, its
//! steps, its properties and the rules of it that are broken on purpose: [`plain`] locks, [`sharing`]
//! between readers and writers, their [`waiting`], who is [`listed`], the [`line`], [`bursts`], and the
//! [`agreement`] between clients.
//! All else is here: the search, masters and their time, messages, runs and their report.

pub mod agreement;
pub mod bursts;
pub mod checker;
mod digest;
pub mod fair;
pub mod line;
pub mod listed;
pub mod masters;
pub mod named;
pub mod net;
pub mod plain;
pub mod promised;
pub mod report;
pub mod run;
pub mod settings;
pub mod sharing;
pub mod waiting;

use quorumlock_core::{pace, quorum};
