//! What must hold between clients that go by different settings.

use super::protocol::Agreement;
use super::state::State;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Property {
    /// Clients that agree are never both valid. Clients that do not, only if they could not know:
    /// whose lists differ, if neither had an answer in time from a node where the other's note or lock
    /// stood, when it sent; whose numbers alone differ, if the later had none, and the earlier was not
    /// granted where the later one's note stood.
    Exclusion,
    /// The same, and who was answered with an error could know: more than is promised.
    ErrorsTell,
    /// Nobody is told of a client that only reads.
    ReadersStopNobody,
}

pub const ONE_HOLDER: &str = "one valid holder";
pub const TWO_UNKNOWN: &str = "two only where neither could know";
pub const READERS: &str = "a reader stops nobody";
/// What a scene says must be possible, and must not be.
pub const GOES_ON: &str = "who need not stop goes on";
pub const STOPS: &str = "who must stop does";

/// The property of the run that `state` breaks.
pub(super) fn violated(agreement: &Agreement, state: &State) -> Option<&'static str> {
    match agreement.config.property {
        Property::Exclusion | Property::ErrorsTell => two(agreement, state),
        Property::ReadersStopNobody => {
            let told_of = |(reader, client): (usize, &super::config::Client)| {
                let links = state.nodes.iter().flat_map(|node| &node.links);
                client.reads && links.into_iter().any(|link| link.told[reader] > 0)
            };
            let mut clients = agreement.config.clients.iter().enumerate();
            clients.any(told_of).then_some(READERS)
        }
    }
}

/// Two hold who must not.
fn two(agreement: &Agreement, state: &State) -> Option<&'static str> {
    let clients = &agreement.config.clients;
    let holds = |one: &usize| state.actors[*one].left > 0;
    for one in (0..clients.len()).filter(holds) {
        for other in (0..one).filter(holds) {
            if clients[one].agrees_with(&clients[other]) {
                return Some(ONE_HOLDER);
            }
            let known = |one: usize| state.actors[one].of_hold;
            let could = |one: usize, other: usize| known(one).could >> other & 1 == 1;
            let alone = if clients[one].shares_a_list(&clients[other]) {
                let is_later = known(one).after >> other & 1 == 1;
                let (later, earlier) = if is_later { (one, other) } else { (other, one) };
                could(later, earlier) || known(earlier).beside >> later & 1 == 1
            } else {
                could(one, other) || could(other, one)
            };
            if alone {
                return Some(TWO_UNKNOWN);
            }
        }
    }
    None
}
