//! The properties that must hold between clients with different settings.

use super::protocol::Agreement;
use super::state::State;

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Property {
    /// Clients that agree are never both valid. Clients that do not agree may be, only if they
    /// could not know. If their lists differ: neither, when it sent, had an answer in time from a
    /// node with the other's note or lock. If only their numbers differ: the later client had none,
    /// and the earlier one was not granted at a node with the later one's note.
    #[default]
    Exclusion,
    /// The same, and a client that was answered with an error could know: more than is promised.
    ErrorsTell,
    /// No client receives a report of a client that only reads.
    ReadersStopNoClient,
}

pub const ONE_HOLDER: &str = "one valid holder";
pub const TWO_UNKNOWN: &str = "two only where neither could know";
pub const READERS: &str = "a reader stops no client";
/// The results of a scene: a step that must be possible, and one that must not be.
pub const GOES_ON: &str = "a client that need not stop goes on";
pub const STOPS: &str = "a client that must stop does";

/// Returns the property of the run that `state` breaks.
pub(super) fn violated(agreement: &Agreement, state: &State) -> Option<&'static str> {
    match agreement.config.property {
        Property::Exclusion | Property::ErrorsTell => two(agreement, state),
        Property::ReadersStopNoClient => {
            let is_reported = |(reader, client): (usize, &super::config::Client)| {
                let links = state.nodes.iter().flat_map(|node| &node.links);
                client.reads && links.into_iter().any(|link| link.reported[reader] > 0)
            };
            let mut clients = agreement.config.clients.iter().enumerate();
            clients.any(is_reported).then_some(READERS)
        }
    }
}

/// Checks for two holders that are not allowed.
fn two(agreement: &Agreement, state: &State) -> Option<&'static str> {
    let clients = &agreement.config.clients;
    let holds = |client: &usize| state.actors[*client].left > 0;
    for client in (0..clients.len()).filter(holds) {
        for other in (0..client).filter(holds) {
            if clients[client].agrees_with(&clients[other]) {
                return Some(ONE_HOLDER);
            }
            let known = |client: usize| state.actors[client].of_hold;
            let could = |client: usize, other: usize| known(client).could >> other & 1 == 1;
            let alone = if clients[client].shares_a_list(&clients[other]) {
                let is_later = known(client).after >> other & 1 == 1;
                let (later, earlier) = if is_later { (client, other) } else { (other, client) };
                could(later, earlier) || known(earlier).beside >> later & 1 == 1
            } else {
                could(client, other) || could(other, client)
            };
            if alone {
                return Some(TWO_UNKNOWN);
            }
        }
    }
    None
}
