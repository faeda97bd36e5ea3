//! One connection: its identity, its protocol, its database, and the channels that it listens to. Channels know no
//! databases.

use super::command::{Call, wrong_number};
use super::keys::{NOT_AN_INTEGER, SYNTAX};
use super::reply::Reply;
use super::request::integer;
use super::server::{VALKEY, VERSION};
use super::{ClientId, Machine};
use std::collections::BTreeSet;

#[derive(Default)]
pub(super) struct Client {
    /// Whether it speaks RESP3: not until it sends `HELLO 3`.
    pub(super) resp3: bool,
    pub(super) database: usize,
    pub(super) channels: BTreeSet<Vec<u8>>,
    /// The bytes that it has sent and that were not executed yet.
    pub(super) received: Vec<u8>,
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

/// Handles PUBLISH; answers with the number of connections that the message went to.
pub(super) fn publish(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let (channel, message) = (&call.arguments[1], &call.arguments[2]);
    let listeners = listeners(machine, channel);
    let push = Reply::Push(vec![
        Reply::bulk("message"),
        Reply::bulk(channel.clone()),
        Reply::bulk(message.clone()),
    ]);
    listeners.iter().for_each(|listener| machine.answer(*listener, &push));
    Reply::count(listeners.len())
}

/// Handles `PUBSUB NUMSUB channel ...`: each channel, and how many connections listen to it.
pub(super) fn numsub(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let count = |channel: &Vec<u8>| Reply::count(listeners(machine, channel).len());
    let pair = |channel: &Vec<u8>| [Reply::bulk(channel.clone()), count(channel)];
    Reply::Array(call.arguments[2..].iter().flat_map(pair).collect())
}

fn listeners(machine: &Machine, channel: &[u8]) -> Vec<ClientId> {
    let listens =
        |(id, client): (&ClientId, &Client)| client.channels.contains(channel).then_some(*id);
    machine.process.clients.iter().filter_map(listens).collect()
}

/// Handles SUBSCRIBE: one answer for each channel.
pub(super) fn subscribe(machine: &mut Machine, call: &Call<'_>) -> Reply {
    changed(machine, call, "subscribe", |channels, channel| channels.insert(channel.clone()))
}

/// Handles `UNSUBSCRIBE channel ...`: one answer for each channel.
pub(super) fn unsubscribe(machine: &mut Machine, call: &Call<'_>) -> Reply {
    changed(machine, call, "unsubscribe", |channels, channel| channels.remove(channel))
}

fn changed(
    machine: &mut Machine,
    call: &Call<'_>,
    kind: &str,
    change: fn(&mut BTreeSet<Vec<u8>>, &Vec<u8>) -> bool,
) -> Reply {
    let Some(client) = machine.process.clients.get_mut(&call.client) else { return Reply::Null };
    let answers = call.arguments[1..].iter().map(|channel| {
        change(&mut client.channels, channel);
        let count = Reply::count(client.channels.len());
        Reply::Push(vec![Reply::bulk(kind), Reply::bulk(channel.clone()), count])
    });
    Reply::Several(answers.collect())
}

const DEFAULT_USER: &[u8] = b"default";
const WRONGPASS: &str = "WRONGPASS invalid username-password pair or user is disabled.";
