//! Scripts: the commands that load and run them, within bounds, and the commands that a script may call. Replies become
//! Lua values, and results replies.

use super::Machine;
use super::command::Call;
use super::keys::NOT_AN_INTEGER;
use super::reply::Reply;
use super::request::integer;
use mlua::chunk::ChunkMode;
use mlua::debug::HookTriggers;
use mlua::{Function, Lua, LuaOptions, LuaString, StdLib, Table, Value, VmState};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A script that runs longer is stopped. A server would answer BUSY to all other clients.
const MOST_INSTRUCTIONS: u64 = 10_000_000;
const COUNTED_EVERY: u32 = 10_000;

/// The limit, in bytes, for everything that the interpreter holds.
const MOST_MEMORY: usize = 64 << 20;

/// The deepest nesting of tables in a result.
const DEEPEST: usize = 100;

/// The keys of a script, and its arguments.
type Words<'a> = (&'a [Vec<u8>], &'a [Vec<u8>]);

/// Executes one command for a script.
type Execute<'a> = &'a mut dyn FnMut(Vec<Vec<u8>>) -> Reply;

/// The interpreter, once a script is loaded.
pub(super) type Engine = Option<Interpreter>;

pub(super) struct Interpreter {
    lua: Lua,
    /// The prelude's function that runs a script.
    run: Function,
    scripts: BTreeMap<String, Function>,
    instructions: Arc<AtomicU64>,
}

/// Compiles a script and returns its hash.
///
/// # Errors
///
/// In the server's own words, if it is not valid Lua.
fn load(engine: &mut Engine, source: &[u8]) -> Result<String, Reply> {
    let interpreter = match engine {
        Some(interpreter) => interpreter,
        none => none.insert(Interpreter::new().map_err(|error| failure(&error))?),
    };
    let hash = sha1_smol::Sha1::from(source).digest().to_string();
    if !interpreter.scripts.contains_key(&hash) {
        let chunk = interpreter.lua.load(source).set_name("@user_script").set_mode(ChunkMode::Text);
        let script = chunk.into_function().map_err(|error| not_compiled(&error))?;
        interpreter.scripts.insert(hash.clone(), script);
    }
    Ok(hash)
}

impl Interpreter {
    /// Runs a loaded script; `None` if it is not loaded.
    fn run(&self, hash: &str, words: Words<'_>, execute: Execute<'_>) -> Option<Reply> {
        let script = self.scripts.get(hash)?;
        self.instructions.store(0, Ordering::Relaxed);
        let result = self.call(script, words, execute);
        Some(match result {
            _ if is_exhausted(&self.instructions) => Reply::error(format!(
                "ERR the script is stopped after {MOST_INSTRUCTIONS} instructions"
            )),
            Ok((true, value)) => reply_at(&value, 0),
            // As the prelude describes it. A server also says where.
            Ok((false, problem)) => {
                let text = problem.as_table().and_then(|problem| text_field(problem, "err"));
                Reply::Error(text.unwrap_or_else(|| b"ERR unknown error".to_vec()))
            }
            Err(error) => failure(&error),
        })
    }

    fn new() -> mlua::Result<Self> {
        let libraries = StdLib::STRING | StdLib::TABLE | StdLib::MATH;
        let lua = Lua::new_with(libraries, LuaOptions::default())?;
        lua.set_memory_limit(MOST_MEMORY)?;

        let instructions = Arc::new(AtomicU64::new(0));
        let spent = instructions.clone();
        let triggers = HookTriggers::new().every_nth_instruction(COUNTED_EVERY);
        lua.set_hook(triggers, move |_, _| {
            spent.fetch_add(COUNTED_EVERY.into(), Ordering::Relaxed);
            if is_exhausted(&spent) {
                return Err(mlua::Error::runtime("too many instructions"));
            }
            Ok(VmState::Continue)
        })?;

        let spent = instructions.clone();
        let exhausted = lua.create_function(move |_, ()| Ok(is_exhausted(&spent)))?;
        let prelude = lua.load(include_str!("lua/prelude.lua")).set_name("=prelude");
        let run = prelude.call(exhausted)?;
        Ok(Self { lua, run, scripts: BTreeMap::new(), instructions })
    }

    /// Runs a script. Returns whether it ended well, and its result or the error that it raised.
    fn call(
        &self,
        script: &Function,
        (keys, arguments): Words<'_>,
        execute: Execute<'_>,
    ) -> mlua::Result<(bool, Value)> {
        let strings = |words: &[Vec<u8>]| {
            let words = words.iter().map(|word| self.lua.create_string(word));
            self.lua.create_sequence_from(words.collect::<mlua::Result<Vec<_>>>()?)
        };
        let (keys, arguments) = (strings(keys)?, strings(arguments)?);
        self.lua.scope(|scope| {
            let ask = scope.create_function_mut(|lua, words: Vec<LuaString>| {
                value_of(lua, &execute(words.iter().map(|word| word.as_bytes().to_vec()).collect()))
            })?;
            self.run.call((script, keys, arguments, ask))
        })
    }
}

fn is_exhausted(instructions: &AtomicU64) -> bool {
    instructions.load(Ordering::Relaxed) > MOST_INSTRUCTIONS
}

fn not_compiled(error: &mlua::Error) -> Reply {
    let mlua::Error::SyntaxError { message, .. } = error else { return failure(error) };
    Reply::error(format!("ERR Error compiling script (new function): {message}"))
}

fn failure(error: &mlua::Error) -> Reply {
    Reply::error(format!("ERR {error}"))
}

/// Converts a reply to the value that a script gets, always in RESP2.
fn value_of(lua: &Lua, reply: &Reply) -> mlua::Result<Value> {
    let field = |name: &str, text: &[u8]| {
        let table = lua.create_table()?;
        table.raw_set(name, lua.create_string(text)?)?;
        Ok(Value::Table(table))
    };
    match reply {
        Reply::Status(text) => field("ok", text),
        Reply::Error(text) => field("err", text),
        Reply::Integer(number) => Ok(Value::Integer(*number)),
        Reply::Bulk(bytes) | Reply::Text(bytes) => Ok(Value::String(lua.create_string(bytes)?)),
        Reply::Double(number) => Ok(Value::String(lua.create_string(number.to_string())?)),
        Reply::Null => Ok(Value::Boolean(false)),
        Reply::Array(items)
        | Reply::Map(items)
        | Reply::Pairs(items)
        | Reply::Push(items)
        | Reply::Several(items) => {
            let items: mlua::Result<Vec<Value>> =
                items.iter().map(|item| value_of(lua, item)).collect();
            Ok(Value::Table(lua.create_sequence_from(items?)?))
        }
    }
}

/// Converts a script's result, or a part of it at that depth, to a reply.
fn reply_at(value: &Value, depth: usize) -> Reply {
    match value {
        Value::Boolean(true) => Reply::Integer(1),
        Value::Integer(number) => Reply::Integer(*number),
        // Towards zero, and to the nearest that fits.
        Value::Number(number) => Reply::Integer(*number as i64),
        Value::String(text) => Reply::bulk(text.as_bytes().to_vec()),
        Value::Table(_) if depth == DEEPEST => Reply::error("ERR reached lua stack limit"),
        Value::Table(table) => {
            if let Some(text) = text_field(table, "err") {
                return Reply::Error(text);
            }
            if let Some(text) = text_field(table, "ok") {
                return Reply::Status(text);
            }
            let item = |place: usize| table.raw_get::<Value>(place).ok();
            let items = (1..).map_while(item).take_while(|item| !item.is_nil());
            Reply::Array(items.map(|item| reply_at(&item, depth + 1)).collect())
        }
        _ => Reply::Null,
    }
}

fn text_field(table: &Table, name: &str) -> Option<Vec<u8>> {
    match table.raw_get(name) {
        Ok(Value::String(text)) => Some(text.as_bytes().to_vec()),
        _ => None,
    }
}

pub(super) fn eval(machine: &mut Machine, call: &Call<'_>) -> Reply {
    run(machine, call, load).unwrap_or_else(|error| error)
}

pub(super) fn evalsha(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let hash = |_: &mut Engine, hash: &[u8]| Ok(String::from_utf8_lossy(hash).to_ascii_lowercase());
    run(machine, call, hash).unwrap_or_else(|error| error)
}

pub(super) fn script_load(machine: &mut Machine, call: &Call<'_>) -> Reply {
    load(&mut machine.process.engine, &call.arguments[2]).map_or_else(|error| error, Reply::bulk)
}

pub(super) fn flush(machine: &mut Machine, _: &Call<'_>) -> Reply {
    machine.process.engine = None;
    Reply::ok()
}

/// Runs the script whose hash is what `find` returns for the first argument.
fn run(
    machine: &mut Machine,
    call: &Call<'_>,
    find: impl FnOnce(&mut Engine, &[u8]) -> Result<String, Reply>,
) -> Result<Reply, Reply> {
    let words = keys_and_arguments(call)?;
    let hash = find(&mut machine.process.engine, &call.arguments[1])?;
    // The commands of a script need the machine, and none of them needs the engine.
    let engine = std::mem::take(&mut machine.process.engine);
    let mut execute =
        |words: Vec<Vec<u8>>| machine.call(&Call { arguments: &words, ..*call }, true);
    let reply = engine.as_ref().and_then(|lua| lua.run(&hash, words, &mut execute));
    machine.process.engine = engine;
    reply.ok_or_else(|| Reply::error("NOSCRIPT No matching script. Please use EVAL."))
}

/// Splits the arguments after `EVAL script numkeys`.
fn keys_and_arguments<'a>(call: &Call<'a>) -> Result<Words<'a>, Reply> {
    let Some(count) = integer(&call.arguments[2]) else { return Err(Reply::error(NOT_AN_INTEGER)) };
    let Ok(count) = usize::try_from(count) else {
        return Err(Reply::error("ERR Number of keys can't be negative"));
    };
    call.arguments[3..]
        .split_at_checked(count)
        .ok_or_else(|| Reply::error("ERR Number of keys can't be greater than number of args"))
}
