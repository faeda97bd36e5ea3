//! Two holders of one resource at one time, found from the bars alone: the checker's verdict on the
//! same run has to agree with what everyone can see.

use super::model::{Hold, Span, Timeline};
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Overlap {
    pub(crate) resource: String,
    pub(crate) span: Span,
    /// The client that held it first, and the client that held it as well.
    pub(crate) clients: (String, String),
}

/// Finds where a hold begins before an earlier one of its resource is over, by resource and time. A
/// hold that ends at the instant at which the next begins is not an overlap.
pub(crate) fn overlaps(timeline: &Timeline) -> Vec<Overlap> {
    let mut found = Vec::new();
    for (resource, mut holds) in by_resource(timeline) {
        holds.sort_by_key(|(client, hold)| (hold.valid(), *client));
        let mut last: Option<(&str, Span)> = None;
        for (client, hold) in holds {
            let valid = hold.valid();
            if valid.length().is_zero() {
                continue;
            }
            if let Some((first, before)) = last
                && let Some(span) = before.common(valid)
            {
                let clients = (first.to_owned(), client.to_owned());
                found.push(Overlap { resource: resource.to_owned(), span, clients });
            }
            if last.is_none_or(|(_, before)| valid.to > before.to) {
                last = Some((client, valid));
            }
        }
    }
    found
}

/// Groups the holds by resource, with the name of the client.
pub(super) fn by_resource(timeline: &Timeline) -> BTreeMap<&str, Vec<(&str, &Hold)>> {
    let mut resources: BTreeMap<&str, Vec<(&str, &Hold)>> = BTreeMap::new();
    for client in &timeline.clients {
        for hold in &client.holds {
            resources.entry(&hold.resource).or_default().push((&client.name, hold));
        }
    }
    resources
}
