//! One connection: its identity, its protocol, its database.

use super::ClientId;
use super::Machine;
use super::command::Call;
use super::keys::{NOT_AN_INTEGER, SYNTAX};
use super::keyspace::DATABASES;
use super::reply::{Protocol, Reply};
use super::request::{Requests, integer};
use super::server::{VALKEY, VERSION};
use std::collections::BTreeSet;

#[derive(Default)]
pub(super) struct Client {
    pub(super) protocol: Protocol,
    pub(super) database: usize,
    pub(super) channels: BTreeSet<Vec<u8>>,
    pub(super) requests: Requests,
}

impl Client {
    /// Returns whether the connection has subscribed in RESP2, where messages and answers can't be
    /// distinguished.
    pub(super) fn only_listens(&self) -> bool {
        self.protocol == Protocol::Resp2 && !self.channels.is_empty()
    }
}

/// `HELLO [2|3] [AUTH user password] [SETNAME name]`
pub(super) fn hello(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let mut protocol = None;
    if let Some(version) = call.arguments.get(1) {
        protocol = match integer(version) {
            Some(2) => Some(Protocol::Resp2),
            Some(3) => Some(Protocol::Resp3),
            Some(_) => return Reply::error("NOPROTO unsupported protocol version"),
            None => {
                return Reply::error("ERR Protocol version is not an integer or out of range");
            }
        };
    }
    let mut rest = call.arguments.get(2..).unwrap_or_default();
    while let [option, values @ ..] = rest {
        match (option.to_ascii_uppercase().as_slice(), values) {
            (b"AUTH", [user, _password, after @ ..]) => {
                if !is_user(user) {
                    return Reply::error(WRONGPASS);
                }
                rest = after;
            }
            (b"SETNAME", [name, after @ ..]) => {
                if !is_name(name) {
                    return Reply::error(BAD_NAME);
                }
                rest = after;
            }
            _ => {
                let option = String::from_utf8_lossy(option);
                return Reply::error(format!("ERR Syntax error in HELLO option '{option}'"));
            }
        }
    }
    let Some(client) = machine.process.clients.get_mut(&call.client) else { return Reply::Null };
    client.protocol = protocol.unwrap_or(client.protocol);
    let role = if machine.follows.is_some() { "replica" } else { "master" };
    let version = if client.protocol == Protocol::Resp3 { 3 } else { 2 };
    let (kind, release) = match machine.is_valkey {
        true => ("valkey", VALKEY),
        false => ("redis", VERSION),
    };
    let field = |name: &str, value| (Reply::bulk(name), value);
    Reply::Map(vec![
        field("server", Reply::bulk(kind)),
        field("version", Reply::bulk(release)),
        field("proto", Reply::Integer(version)),
        field("id", id(machine, call)),
        field("mode", Reply::bulk("standalone")),
        field("role", Reply::bulk(role)),
        field("modules", Reply::Array(Vec::new())),
    ])
}

/// Handles AUTH. No password is set, so any password will do for the default user, and there is no
/// other user.
pub(super) fn auth(_: &mut Machine, call: &Call<'_>) -> Reply {
    match &call.arguments[1..] {
        [_password] => Reply::error(
            "ERR AUTH <password> called without any password configured for the default user. \
             Are you sure your configuration is correct?",
        ),
        [user, _password] if is_user(user) => Reply::ok(),
        [_, _] => Reply::error(WRONGPASS),
        _ => Reply::error(SYNTAX),
    }
}

pub(super) fn select(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let Some(index) = integer(&call.arguments[1]) else { return Reply::error(NOT_AN_INTEGER) };
    if i32::try_from(index).is_err() {
        return Reply::error(
            "ERR value is out of range, value must between -2147483648 and 2147483647",
        );
    }
    match usize::try_from(index).ok().filter(|index| *index < DATABASES) {
        Some(index) => {
            if let Some(client) = machine.process.clients.get_mut(&call.client) {
                client.database = index;
            }
            Reply::ok()
        }
        None => Reply::error("ERR DB index is out of range"),
    }
}

pub(super) fn ping(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let message = match &call.arguments[1..] {
        [] => None,
        [message] => Some(message.clone()),
        _ => return Reply::error("ERR wrong number of arguments for 'ping' command"),
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
    let mut killed = None;
    match &call.arguments[2..] {
        [_address] => return Reply::error("ERR No such client"),
        filters => {
            for filter in filters.chunks(2) {
                let [name, value] = filter else { return Reply::error(SYNTAX) };
                if !name.eq_ignore_ascii_case(b"ID") {
                    return Reply::error(SYNTAX);
                }
                let id = integer(value).and_then(|id| u64::try_from(id).ok());
                match id.filter(|id| *id > 0) {
                    Some(id) => killed = Some(ClientId(id)),
                    None => return Reply::error("ERR client-id should be greater than 0"),
                }
            }
        }
    }
    let other = killed.filter(|killed| *killed != call.client);
    Reply::Integer(i64::from(other.is_some_and(|other| machine.disconnect(other))))
}

pub(super) fn set_name(_: &mut Machine, call: &Call<'_>) -> Reply {
    if is_name(&call.arguments[2]) { Reply::ok() } else { Reply::error(BAD_NAME) }
}

const WRONGPASS: &str = "WRONGPASS invalid username-password pair or user is disabled.";
const BAD_NAME: &str = "ERR Client names cannot contain spaces, newlines or special characters.";

fn is_user(name: &[u8]) -> bool {
    name == b"default"
}

fn is_name(name: &[u8]) -> bool {
    name.iter().all(|byte| (b'!'..=b'~').contains(byte))
}
