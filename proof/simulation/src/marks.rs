//! Faults in words, for the picture.

use super::agenda::Direction;
use super::plan::Fault;

/// The victim of a fault.
pub(super) enum Victim {
    Seat(usize),
    Master(usize),
    All,
}

impl Fault {
    /// Returns the fault in a word or two, and its victim.
    pub(super) fn mark(&self) -> (String, Victim) {
        let memory = |keeps: bool| if keeps { "killed" } else { "killed, forgets" };
        let (label, victim) = match self {
            Self::PausesClient { seat, .. } => ("paused", Victim::Seat(*seat)),
            Self::KillsClient { seat, .. } => ("killed", Victim::Seat(*seat)),
            Self::EndsClient { seat, .. } => ("ends", Victim::Seat(*seat)),
            Self::SetsWallClock { seat, .. } => ("wall clock set", Victim::Seat(*seat)),
            Self::Cuts { node, direction, .. } => {
                let way = match direction {
                    None => "cut off",
                    Some(Direction::ToMaster) => "hears nothing",
                    Some(Direction::ToClient) => "is not heard",
                };
                (way, Victim::Master(*node))
            }
            Self::Slows { node, .. } => ("slow", Victim::Master(*node)),
            Self::Drops { node, .. } => ("drops in silence", Victim::Master(*node)),
            Self::Resets { node, .. } => ("reset", Victim::Master(*node)),
            Self::Strays { node, .. } => ("bytes astray", Victim::Master(*node)),
            Self::Stops { node, .. } => ("stopped", Victim::Master(*node)),
            Self::Kills { node, keeps, .. } => (memory(*keeps), Victim::Master(*node)),
            Self::KillsAll { keeps, .. } => (memory(*keeps), Victim::All),
            Self::FlushesScripts { node } => ("scripts flushed", Victim::Master(*node)),
            Self::Denies { node, .. } => ("denies", Victim::Master(*node)),
            Self::MakesReplica { node, .. } => ("a replica", Victim::Master(*node)),
            Self::StepsBack { node, .. } => ("clock set back", Victim::Master(*node)),
            Self::Sticks { node, .. } => ("a key sticks", Victim::Master(*node)),
            Self::StepsForward { node, .. } => ("clock set forward", Victim::Master(*node)),
        };
        (label.to_owned(), victim)
    }
}
