//! The masters as they were named: one list, or two while one takes over from the other.

use crate::address::{self, Address, IntoNode, TlsConfig};
use crate::credentials::Source;
use crate::failure::{Checked, InvalidSetting};
use crate::transport::Transport;
use quorumlock_core::quorum::{Membership, NodeSet};
use redis::ConnectionInfo;

/// The masters that the builder was given.
#[derive(Default)]
pub(crate) struct Lists {
    pub(crate) nodes: Vec<Named>,
    /// The second list; empty if there is none.
    pub(crate) joint_with: Vec<Named>,
}

pub(crate) struct Named {
    /// The parsed address, or what is wrong with it. The written form is not kept: it may hold
    /// credentials.
    info: Result<ConnectionInfo, String>,
    transport: Option<Transport>,
}

impl Named {
    pub(crate) fn new<Form>(address: impl IntoNode<Form>, transport: Option<Transport>) -> Self {
        let info = address.into_info().map_err(|error| address::parse_error(&error));
        Self { info, transport }
    }
}

/// Every master once, and which master belongs to which list.
pub(crate) type Resolved = (Vec<Address>, Membership);

impl Lists {
    /// Resolves both lists; the masters of the first one come first.
    pub(crate) fn resolve(
        &self,
        tls: Option<&TlsConfig>,
        credentials: Option<&Source>,
    ) -> Checked<Resolved> {
        InvalidSetting::unless(
            !self.nodes.is_empty(),
            "nodes",
            || "there is none: name the masters, five usually, with .nodes([\"redis://10.0.0.1\", …])",
        )?;
        let mut masters = Vec::new();
        let list = add("nodes", &self.nodes, tls, &mut masters)?;
        let joint_with = add("joint_with", &self.joint_with, tls, &mut masters)?;
        let has_password = |master: &&Address| master.login.password.is_some();
        if let Some(master) = masters.iter().find(has_password).filter(|_| credentials.is_some()) {
            let problem = format!(
                "{} has a password in its address, and a provider of credentials takes its place: leave \
                 one of them out",
                master.name
            );
            return Err(InvalidSetting::new("credentials", problem));
        }
        let membership = if self.joint_with.is_empty() {
            Membership::of(masters.len())
        } else {
            Membership::joint(list, joint_with)
        };
        let membership = membership.ok_or_else(|| too_many("nodes", masters.len(), ""))?;
        for master in &mut masters {
            master.credentials = credentials.cloned();
        }
        Ok((masters, membership))
    }
}

/// Adds those of `list` to `masters` that an earlier list has not added; returns the places of all.
fn add(
    field: &'static str,
    list: &[Named],
    tls: Option<&TlsConfig>,
    masters: &mut Vec<Address>,
) -> Checked<NodeSet> {
    let count = list.len();
    if count > NodeSet::CAPACITY {
        return Err(too_many(field, count, ""));
    }
    let earlier = masters.len();
    let mut places: Vec<usize> = Vec::with_capacity(count);
    for (number, named) in (1..).zip(list) {
        let invalid = |problem: &str| {
            InvalidSetting::new(field, format!("node {number} of {count}: {problem}"))
        };
        let info = named.info.as_ref().map_err(|problem| invalid(problem))?;
        let mut address = Address::from_info(info, tls).map_err(|problem| invalid(&problem))?;
        if let Some(transport) = &named.transport {
            address.transport = transport.clone();
        }
        let shared = masters[..earlier].iter().position(|other| other.name == address.name);
        let place = shared.unwrap_or(masters.len());
        let twin = places.iter().position(|&other| {
            other == place || masters.get(other).is_some_and(|master| master.same_place(&address))
        });
        let name = &address.name;
        if let Some(twin) = twin {
            let problem = format!("{name} is node {} already: name each master once", twin + 1);
            return Err(invalid(&problem));
        }
        match masters.get(place) {
            Some(other) if other.login != address.login => {
                let login = &other.login;
                let what = if login.database == address.login.database {
                    "other credentials".to_owned()
                } else {
                    format!("database {}", login.database)
                };
                let twin = place + 1;
                let problem = format!(
                    "{name} is in nodes too (node {twin}), with {what}: write it alike in both"
                );
                return Err(invalid(&problem));
            }
            Some(_) => {}
            None => masters.push(address),
        }
        places.push(place);
    }
    if masters.len() > NodeSet::CAPACITY {
        return Err(too_many(field, masters.len(), " in both lists"));
    }
    Ok(places.into_iter().collect())
}

fn too_many(field: &'static str, count: usize, lists: &str) -> InvalidSetting {
    let most = NodeSet::CAPACITY;
    let problem = format!("{count} masters{lists} are more than {most}: five are the usual number");
    InvalidSetting::new(field, problem)
}
