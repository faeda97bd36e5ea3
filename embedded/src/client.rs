//! One connection: its identity, its protocol, its database.

use super::command::{Call, wrong_number};
use super::keys::{NOT_AN_INTEGER, SYNTAX};
use super::reply::Reply;
use super::request::{Requests, integer};
use super::server::{VALKEY, VERSION};
use super::{ClientId, Machine};
use std::collections::BTreeSet;

#[derive(Default)]
pub(super) struct Client {
    /// Whether it speaks RESP3: not until it sends `HELLO 3`.
    pub(super) resp3: bool,
    pub(super) database: usize,
    pub(super) channels: BTreeSet<Vec<u8>>,
    pub(super) requests: Requests,
}

impl Client {
    /// Returns whether the connection has subscribed in RESP2, where messages and answers can't be
    /// distinguished.
    pub(super) fn only_listens(&self) -> bool {
        !self.resp3 && !self.channels.is_empty()
    }
}

/// `HELLO [2|3] [AUTH user password] [SETNAME name]`
pub(super) fn hello(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let resp3 = match call.arguments.get(1).map(Vec::as_slice) {
        None => None,
        Some(b"2") => Some(false),
        Some(b"3") => Some(true),
        Some(_) => return Reply::error("NOPROTO unsupported protocol version"),
    };
    let mut rest = call.arguments.get(2..).unwrap_or_default();
    while let [option, values @ ..] = rest {
        rest = match (option.to_ascii_uppercase().as_slice(), values) {
            (b"AUTH", [user, _password, after @ ..]) if user == DEFAULT_USER => after,
            (b"AUTH", [_, _, ..]) => return Reply::error(WRONGPASS),
            (b"SETNAME", [_name, after @ ..]) => after,
            _ => return Reply::error(SYNTAX),
        };
    }
    let Some(client) = machine.process.clients.get_mut(&call.client) else { return Reply::Null };
    client.resp3 = resp3.unwrap_or(client.resp3);
    let version = if client.resp3 { 3 } else { 2 };
    let role = if machine.follows.is_some() { "replica" } else { "master" };
    let (kind, release) = match machine.is_valkey {
        true => ("valkey", VALKEY),
        false => ("redis", VERSION),
    };
    let fields = [
        ("server", Reply::bulk(kind)),
        ("version", Reply::bulk(release)),
        ("proto", Reply::Integer(version)),
        ("id", id(machine, call)),
        ("mode", Reply::bulk("standalone")),
        ("role", Reply::bulk(role)),
        ("modules", Reply::Array(Vec::new())),
    ];
    Reply::Map(fields.into_iter().flat_map(|(name, value)| [Reply::bulk(name), value]).collect())
}

/// Handles AUTH. No password is set, so any password will do for the default user, and there is no
/// other user.
pub(super) fn auth(_: &mut Machine, call: &Call<'_>) -> Reply {
    if call.arguments[1] == DEFAULT_USER { Reply::ok() } else { Reply::error(WRONGPASS) }
}

pub(super) fn select(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let Some(index) = integer(&call.arguments[1]) else { return Reply::error(NOT_AN_INTEGER) };
    let index = usize::try_from(index).ok().filter(|index| *index < machine.databases.len());
    let Some(index) = index else { return Reply::error("ERR DB index is out of range") };
    if let Some(client) = machine.process.clients.get_mut(&call.client) {
        client.database = index;
    }
    Reply::ok()
}

pub(super) fn ping(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let message = match &call.arguments[1..] {
        [] => None,
        [message] => Some(message.clone()),
        _ => return Reply::error(wrong_number("ping")),
    };
    if machine.process.clients.get(&call.client).is_some_and(Client::only_listens) {
        let message = message.unwrap_or_default();
        return Reply::Array(vec![Reply::bulk("pong"), Reply::bulk(message)]);
    }
    message.map_or_else(|| Reply::Status(b"PONG".to_vec()), Reply::bulk)
}

pub(super) fn id(_: &mut Machine, call: &Call<'_>) -> Reply {
    Reply::Integer(i64::try_from(call.client.0).unwrap_or(i64::MAX))
}

/// Handles `CLIENT KILL ID id`; answers with the number of connections closed, never its own.
pub(super) fn kill(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let id = match &call.arguments[2..] {
        [_address] => return Reply::error("ERR No such client"),
        [filter, id] if filter.eq_ignore_ascii_case(b"ID") => integer(id),
        _ => return Reply::error(SYNTAX),
    };
    match id.and_then(|id| u64::try_from(id).ok()).map(ClientId) {
        None | Some(ClientId(0)) => Reply::error("ERR client-id should be greater than 0"),
        Some(id) => Reply::count(usize::from(id != call.client && machine.disconnect(id))),
    }
}

const DEFAULT_USER: &[u8] = b"default";
const WRONGPASS: &str = "WRONGPASS invalid username-password pair or user is disabled.";
