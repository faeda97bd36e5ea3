//! Lua: what a script is given, what it may call, and what becomes of its result.

use super::reply::Reply;
use mlua::chunk::ChunkMode;
use mlua::debug::HookTriggers;
use mlua::{Function, Lua, LuaOptions, LuaString, StdLib, Table, Value, VmState};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A script that runs for longer is stopped, where a server would answer BUSY to all others.
const MOST_INSTRUCTIONS: u64 = 10_000_000;
const COUNTED_EVERY: u32 = 10_000;

/// In bytes, of all that the interpreter holds.
const MOST_MEMORY: usize = 64 << 20;

/// Tables within tables, in a result.
const DEEPEST: usize = 100;

/// Executes one command for a script.
pub(super) type Execute<'a> = &'a mut dyn FnMut(Vec<Vec<u8>>) -> Reply;

/// The scripts that are loaded, and the interpreter, once one is.
#[derive(Default)]
pub(super) struct Engine {
    interpreter: Option<Interpreter>,
}

struct Interpreter {
    lua: Lua,
    /// The prelude's: runs a script.
    run: Function,
    scripts: BTreeMap<String, Function>,
    instructions: Arc<AtomicU64>,
}

impl Engine {
    pub(super) fn knows(&self, hash: &str) -> bool {
        self.interpreter.as_ref().is_some_and(|it| it.scripts.contains_key(hash))
    }

    pub(super) fn forget(&mut self) {
        self.interpreter = None;
    }

    /// Compiles a script; answers its hash.
    ///
    /// # Errors
    ///
    /// In the server's own words, when it is no Lua.
    pub(super) fn load(&mut self, source: &[u8]) -> Result<String, Reply> {
        let hash = sha1_smol::Sha1::from(source).digest().to_string();
        if !self.knows(&hash) {
            let it = match self.interpreter.take() {
                Some(it) => it,
                None => Interpreter::new().map_err(|error| failure(&error))?,
            };
            let it = self.interpreter.insert(it);
            let script = it.compile(source).map_err(|error| not_compiled(&error))?;
            it.scripts.insert(hash.clone(), script);
        }
        Ok(hash)
    }

    /// Runs a loaded script; `None` if it is not.
    pub(super) fn run(
        &self,
        hash: &str,
        keys: &[Vec<u8>],
        arguments: &[Vec<u8>],
        execute: Execute<'_>,
    ) -> Option<Reply> {
        let it = self.interpreter.as_ref()?;
        let script = it.scripts.get(hash)?;
        it.instructions.store(0, Ordering::Relaxed);
        let result = it.run(script, keys, arguments, execute);
        Some(match result {
            _ if is_exhausted(&it.instructions) => Reply::error(format!(
                "ERR the script is stopped after {MOST_INSTRUCTIONS} instructions"
            )),
            Ok((true, value)) => reply_of(&value, 0),
            Ok((false, problem)) => raised(&problem, hash),
            Err(error) => failure(&error),
        })
    }
}

impl Interpreter {
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

        let sha1hex = lua.create_function(|_, text: LuaString| {
            Ok(sha1_smol::Sha1::from(&*text.as_bytes()).digest().to_string())
        })?;
        let raised_at = lua.create_function(|lua, ()| Ok(place_in_script(lua)))?;
        let spent = instructions.clone();
        let exhausted = lua.create_function(move |_, ()| Ok(is_exhausted(&spent)))?;
        let prelude = lua.load(include_str!("prelude.lua")).set_name("=prelude");
        let run = prelude.call((sha1hex, raised_at, exhausted))?;
        Ok(Self { lua, run, scripts: BTreeMap::new(), instructions })
    }

    fn compile(&self, source: &[u8]) -> mlua::Result<Function> {
        self.lua.load(source).set_name(SCRIPT).set_mode(ChunkMode::Text).into_function()
    }

    /// Whether it ended well, and its result or what it raised.
    fn run(
        &self,
        script: &Function,
        keys: &[Vec<u8>],
        arguments: &[Vec<u8>],
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

/// What a script is called in messages.
const SCRIPT: &str = "@user_script";

fn is_exhausted(instructions: &AtomicU64) -> bool {
    instructions.load(Ordering::Relaxed) > MOST_INSTRUCTIONS
}

/// Where in a script we are: its name, and the line.
fn place_in_script(lua: &Lua) -> (Option<&'static str>, Option<usize>) {
    let place = |level| {
        lua.inspect_stack(level, |frame| {
            let within = frame.source().source.is_some_and(|source| source == SCRIPT);
            frame.current_line().filter(|_| within)
        })
    };
    let line = (1..).map_while(place).flatten().next();
    (line.map(|_| SCRIPT), line)
}

/// A reply as a script sees it, in RESP2 always.
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
        Reply::Null => Ok(Value::Boolean(false)),
        Reply::Array(items) | Reply::Push(items) | Reply::Several(items) => {
            let items: mlua::Result<Vec<Value>> =
                items.iter().map(|item| value_of(lua, item)).collect();
            Ok(Value::Table(lua.create_sequence_from(items?)?))
        }
        Reply::Map(fields) => {
            let flat = fields.iter().flat_map(|(name, value)| [name, value]);
            let items: mlua::Result<Vec<Value>> = flat.map(|item| value_of(lua, item)).collect();
            Ok(Value::Table(lua.create_sequence_from(items?)?))
        }
    }
}

/// A script's result as a reply.
fn reply_of(value: &Value, depth: usize) -> Reply {
    match value {
        Value::Boolean(true) => Reply::Integer(1),
        Value::Integer(number) => Reply::Integer(*number),
        Value::Number(number) => Reply::Integer(truncated(*number)),
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
            Reply::Array(items.map(|item| reply_of(&item, depth + 1)).collect())
        }
        _ => Reply::Null,
    }
}

/// Towards zero; what does not fit, and what is no number, is the least integer.
#[allow(clippy::cast_possible_truncation)]
fn truncated(number: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&number) { number as i64 } else { i64::MIN }
}

fn text_field(table: &Table, name: &str) -> Option<Vec<u8>> {
    match table.raw_get(name) {
        Ok(Value::String(text)) => Some(text.as_bytes().to_vec()),
        _ => None,
    }
}

/// What a script raised, as the prelude describes it.
fn raised(problem: &Value, hash: &str) -> Reply {
    let Value::Table(problem) = problem else { return Reply::error("ERR the script failed") };
    let mut text = text_field(problem, "err").unwrap_or_else(|| b"ERR unknown error".to_vec());
    let source = text_field(problem, "source");
    if let (Some(source), Ok(line)) = (source, problem.raw_get::<usize>("line")) {
        let source = String::from_utf8_lossy(&source);
        text.extend_from_slice(format!(" script: {hash}, on {source}:{line}.").as_bytes());
    }
    Reply::Error(text)
}

fn not_compiled(error: &mlua::Error) -> Reply {
    let mlua::Error::SyntaxError { message, .. } = error else { return failure(error) };
    Reply::error(format!("ERR Error compiling script (new function): {message}"))
}

fn failure(error: &mlua::Error) -> Reply {
    Reply::error(format!("ERR {error}"))
}
