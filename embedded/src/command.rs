//! The known commands, and the errors for unknown ones.

use super::keyspace::Value;
use super::reply::Reply;
use super::{ClientId, Machine, client, collections, keys, lua, server};
use std::collections::BTreeSet;
use std::time::Duration;

/// One command and its context.
pub(super) struct Call<'a> {
    pub(super) client: ClientId,
    pub(super) database: usize,
    /// The time, which does not advance while the command runs, a script included.
    pub(super) now: Duration,
    /// The arguments; the command's own name comes first.
    pub(super) arguments: &'a [Vec<u8>],
}

type Handler = fn(&mut Machine, &Call<'_>) -> Reply;

pub(super) struct Command {
    /// The name: `client|id` for the command `CLIENT ID`.
    pub(super) name: &'static str,
    /// The number of arguments, including the name; negative: at least so many.
    arity: isize,
    pub(super) in_scripts: bool,
    /// A replica refuses it.
    pub(super) writes: bool,
    pub(super) run: Handler,
}

impl Command {
    const fn new(name: &'static str, arity: isize, run: Handler) -> Self {
        Self { name, arity, in_scripts: true, writes: false, run }
    }

    const fn write(name: &'static str, arity: isize, run: Handler) -> Self {
        Self { writes: true, ..Self::new(name, arity, run) }
    }

    const fn outside(name: &'static str, arity: isize, run: Handler) -> Self {
        Self { in_scripts: false, ..Self::new(name, arity, run) }
    }

    pub(super) const fn takes(&self, arguments: usize) -> bool {
        let least = self.arity.unsigned_abs();
        arguments == least || (self.arity < 0 && arguments > least)
    }
}

const COMMANDS: &[Command] = &[
    Command::write("set", -3, keys::set),
    Command::new("get", 2, keys::get),
    Command::write("del", -2, keys::del),
    Command::write(VALKEYS, 3, keys::delifeq),
    Command::new("exists", -2, keys::exists),
    Command::new("pttl", 2, keys::pttl),
    Command::write("pexpire", 3, keys::pexpire),
    Command::new("keys", 2, keys::keys),
    Command::new("scan", -2, keys::scan),
    Command::new("dbsize", 1, keys::dbsize),
    Command::write("flushall", 1, keys::flushall),
    Command::new("type", 2, keys::kind),
    Command::write("hset", -4, collections::hset),
    Command::new("hget", 3, collections::hget),
    Command::new("hgetall", 2, collections::hgetall),
    Command::write("hdel", -3, |machine, call| collections::removed(machine, call, Value::hash)),
    Command::write("zadd", -4, collections::zadd),
    Command::write("zrem", -3, |machine, call| {
        collections::removed(machine, call, Value::sorted_set)
    }),
    Command::new("zscore", 3, collections::zscore),
    Command::new("zrange", -4, collections::zrange),
    Command::write("zremrangebyscore", 4, collections::zremrangebyscore),
    Command::new("zrangebyscore", -4, collections::zrangebyscore),
    Command::new("zrank", 3, collections::zrank),
    Command::new("zcard", 2, collections::zcard),
    Command::outside("eval", -3, lua::eval),
    Command::outside("evalsha", -3, lua::evalsha),
    Command::outside("script|load", 3, lua::script_load),
    Command::outside("script|flush", 2, lua::flush),
    Command::new("publish", 3, client::publish),
    Command::new("pubsub|numsub", -2, client::numsub),
    Command::outside("subscribe", -2, client::subscribe),
    Command::outside("unsubscribe", -2, client::unsubscribe),
    Command::outside("hello", -1, client::hello),
    Command::outside("auth", 3, client::auth),
    Command::outside("select", 2, client::select),
    Command::new("ping", -1, client::ping),
    Command::outside("client|id", 2, client::id),
    Command::outside("client|kill", -3, client::kill),
    // Nothing shows the name.
    Command::outside("client|setname", 3, |_, _| Reply::ok()),
    Command::new("info", -1, server::info),
    Command::new("time", 1, server::time),
    Command::outside("config|get", -3, server::config_get),
    Command::outside("config|set", -4, server::config_set),
    Command::outside("replicaof", 3, server::replicaof),
];

/// The command that only Valkey has.
const VALKEYS: &str = "delifeq";

/// Looks up the command that the arguments name, in Redis or in Valkey.
pub(super) fn lookup(arguments: &[Vec<u8>], is_valkey: bool) -> Option<&'static Command> {
    let lower = |word: &[u8]| String::from_utf8_lossy(word).to_ascii_lowercase();
    let (first, rest) = arguments.split_first()?;
    let (name, sub) = (lower(first), rest.first().map_or(String::new(), |sub| lower(sub)));
    let is_meant = |command: &&Command| match command.name.split_once('|') {
        Some(whole_and_sub) => whole_and_sub == (&*name, &*sub),
        None => command.name == name && (is_valkey || name != VALKEYS),
    };
    COMMANDS.iter().find(is_meant)
}

/// Returns the commands that are meant by these names, in the spelling of an ACL: `client|kill` is
/// one command, `client` all that begin with it.
///
/// # Errors
///
/// If there is no such command, or it can't be denied.
pub(super) fn denied(names: &[&str]) -> Result<BTreeSet<&'static str>, String> {
    let mut denied = BTreeSet::new();
    for name in names {
        let lower = name.to_ascii_lowercase();
        if matches!(&*lower, "hello" | "auth") {
            return Err(format!("{name:?} can't be denied: a server allows it to everybody"));
        }
        let is_meant = |command: &&str| {
            *command == lower || command.split_once('|').is_some_and(|(whole, _)| whole == lower)
        };
        let mut meant = COMMANDS.iter().map(|command| command.name).filter(is_meant).peekable();
        if meant.peek().is_none() {
            return Err(format!(
                "an embedded master knows no command {name:?} that it could deny; a \
                 subcommand is spelled as in an ACL, such as \"client|kill\""
            ));
        }
        denied.extend(meant);
    }
    Ok(denied)
}

pub(super) fn wrong_number(name: &str) -> String {
    format!("ERR wrong number of arguments for '{name}' command")
}
