//! A distributed lock to trust with money: Redlock over N independent Redis masters.
#![allow(dead_code, unused_imports)]

mod quorum;
