//! The configuration of one run.

use super::mutants::Mutant;
use crate::settings::settings;

#[derive(Clone, Default, Debug)]
pub struct Config {
    pub name: &'static str,
    /// How many bursts there may be, and of how many acquires.
    pub bursts: u8,
    pub acquires: u16,
    /// How many times in a step the master may become slow, or fast again, and whether it is slow at first.
    pub changes: u8,
    pub slow: bool,
    /// How many commands it executes in a slot while it is slow.
    pub slowly: u16,
    /// For how many steps an acquire waits.
    pub wait: u16,
    /// How many steps there are.
    pub steps: u16,
    pub restarts: u8,
    pub mutant: Option<Mutant>,
    /// The most distinct states.
    pub states: usize,
}

settings! {
    set { acquires: u16, changes: u8, wait: u16, slowly: u16 }
    on { slow }
}

impl Config {
    pub fn new(name: &'static str, bursts: u8) -> Self {
        Self {
            name,
            bursts,
            acquires: 3_200,
            wait: u16::MAX,
            slowly: 40,
            steps: 90,
            states: 25_000_000,
            ..Self::default()
        }
    }
}
