//! The tracks of the picture, one file each.

pub(super) mod clients;
pub(super) mod faults;
pub(super) mod masters;
pub(super) mod resources;

mod bar;

pub(super) use bar::colour;

use super::model::Timeline;
use super::rows::{bars as thinned, stacked};
use super::scale::Scale;

/// Returns how many bars there are if this counts as thin.
pub(super) fn bars(timeline: &Timeline, scale: Scale, thin: f64) -> usize {
    let count = |holds: Vec<_>| thinned(&stacked(holds), scale, thin).len();
    let by_client = timeline.clients.iter().map(|client| count(client.holds.iter().collect()));
    let rows = super::overlaps::by_resource(timeline).into_values().take(resources::MOST);
    let by_resource = rows.map(|holds| count(holds.into_iter().map(|(_, hold)| hold).collect()));
    by_client.sum::<usize>() + by_resource.sum::<usize>()
}
