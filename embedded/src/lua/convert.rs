//! Replies as Lua values, and results as replies.

use crate::reply::Reply;
use mlua::{Lua, Table, Value};

/// The deepest nesting of tables in a result.
const DEEPEST: usize = 100;

/// Converts a reply to the value that a script gets, always in RESP2.
pub(super) fn value_of(lua: &Lua, reply: &Reply) -> mlua::Result<Value> {
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
pub(super) fn reply_at(value: &Value, depth: usize) -> Reply {
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

/// Converts the error that a script raised, as the prelude describes it. A server also says where.
pub(super) fn raised(problem: &Value) -> Reply {
    let text = problem.as_table().and_then(|problem| text_field(problem, "err"));
    Reply::Error(text.unwrap_or_else(|| b"ERR unknown error".to_vec()))
}
