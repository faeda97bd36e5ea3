//! The instructions in `docs/fencing.md` do what that page says.

use crate::support::page::block;
use crate::support::prelude::*;
use quorumlock::FencingToken;
use redis::RedisResult;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

const PAGE: &str = include_str!("../../docs/fencing.md");

/// A store that writes through the script of the page.
struct Store {
    _server: Server,
    connection: redis::Connection,
    script: redis::Script,
}

impl Store {
    fn start() -> Self {
        let server = Server::start();
        let connection = redis::Client::open(server.url()).unwrap().get_connection().unwrap();
        let script = redis::Script::new(block(PAGE, "lua", "KEYS[1]"));
        Self { _server: server, connection, script }
    }

    fn write(&mut self, token: &str, value: &str) -> RedisResult<String> {
        let mut call = self.script.key("fence:42");
        call.key("data:42").arg(token).arg(value).invoke(&mut self.connection)
    }

    fn read(&mut self, key: &str) -> Option<String> {
        redis::cmd("GET").arg(key).query(&mut self.connection).unwrap()
    }
}

#[test]
fn the_script_admits_equal_and_greater_tokens_and_no_smaller() {
    let mut store = Store::start();
    // Sixteen digits, one apart; the last two are close to the greatest possible.
    let rows: [(&str, &str, bool); 11] = [
        ("7", "first", true),
        ("7", "again", true),
        ("10", "more digits", true),
        ("9", "stale", false),
        ("1795158604154900", "a day in 2026", true),
        ("1795158604154899", "stale by one", false),
        ("1795158604154901", "by one greater", true),
        ("1795158604154900", "stale again", false),
        ("9007199254740990", "nearly the last", true),
        ("9007199254740991", "the last", true),
        ("9007199254740990", "stale at the end", false),
    ];
    let mut seen = (None, None);
    for (token, value, admitted) in rows {
        assert!(token.parse::<FencingToken>().is_ok(), "{token} is no token");
        let answer = store.write(token, value);
        if admitted {
            assert_eq!(answer.as_deref(), Ok("OK"), "{token} {value}");
            seen = (Some(token.to_owned()), Some(value.to_owned()));
        } else {
            let error = answer.unwrap_err();
            assert_eq!(error.code(), Some("STALETOKEN"), "{token} {value}: {error}");
            let greatest = seen.0.as_deref().unwrap();
            assert!(error.to_string().contains(greatest), "{error}");
        }
        assert_eq!((store.read("fence:42"), store.read("data:42")), seen, "{token} {value}");
    }
}

#[test]
fn the_script_writes_nothing_for_what_is_no_token() {
    let mut store = Store::start();
    store.write("7", "right").unwrap();
    for token in
        ["", "0", "-1", "nan", "inf", "1e15", "0x10", " 8", "8 ", "8.5", "12345678901234567"]
    {
        let error = store.write(token, "wrong").unwrap_err();
        assert_eq!(error.code(), Some("BADTOKEN"), "{token:?}: {error}");
        assert_eq!(store.read("fence:42").as_deref(), Some("7"), "{token:?}");
        assert_eq!(store.read("data:42").as_deref(), Some("right"), "{token:?}");
    }
}

#[test]
fn a_number_that_lua_prints_is_another_token_as_the_page_says() {
    let mut store = Store::start();
    let number = "1795158604154900";
    let printed = "1.7951586041549e+15";
    assert!(PAGE.contains(&format!("`tostring({number})`")) && PAGE.contains(printed));
    let script = redis::Script::new(&format!("return tostring({number})"));
    let text: String = script.invoke(&mut store.connection).unwrap();
    assert_eq!(text, printed);
    assert!(printed.parse::<FencingToken>().is_err());
}

/// SQLite accepts the same statements. It cannot show two concurrent writers.
fn sqlite(input: &str) -> Option<String> {
    let mut command = Command::new("sqlite3");
    command.args(["-bail", ":memory:"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut sqlite) = command.spawn() else {
        assert!(std::env::var_os("CI").is_none(), "CI is set, and there is no sqlite3");
        eprintln!("no sqlite3 here: the SQL of docs/fencing.md was not tested");
        return None;
    };
    sqlite.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = sqlite.wait_with_output().unwrap();
    assert!(output.status.success(), "{}:\n{input}", output.status);
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Runs a write of the page with its parameters; returns how many rows its deciding statement
/// changed.
fn presented(statement: &str, resource: &str, token: i64) -> String {
    let statement = statement.replace("$1", resource).replace("$2", &token.to_string());
    format!("{statement}\nSELECT changes();\n")
}

const TOKENS: [i64; 6] = [7, 7, 9, 7, 8, 9_007_199_254_740_991];
const CHANGES: &str = "1\n1\n1\n0\n0\n1\n";

#[test]
fn the_table_of_fences_takes_no_smaller_token() {
    let write = block(PAGE, "sql", "BEGIN;");
    let (check, _) = write.split_once("-- No row").unwrap();
    let check = check.strip_prefix("BEGIN;\n").unwrap();
    let mut input = block(PAGE, "sql", "CREATE TABLE").to_owned();
    TOKENS.iter().for_each(|token| input.push_str(&presented(check, "'orders:42'", *token)));
    input.push_str("SELECT resource, token FROM fence;");
    if let Some(output) = sqlite(&input) {
        assert_eq!(output, format!("{CHANGES}orders:42|9007199254740991\n"));
    }
}

#[test]
fn a_row_with_a_token_takes_no_smaller_one() {
    let mut input = "CREATE TABLE account (id bigint, balance bigint);\n".to_owned();
    input.push_str("INSERT INTO account VALUES (42, 100);\n");
    input.push_str(block(PAGE, "sql", "ALTER TABLE"));
    let write = block(PAGE, "sql", "UPDATE account SET balance = 50, fencing_token");
    TOKENS.iter().for_each(|token| input.push_str(&presented(write, "42", *token)));
    input.push_str("SELECT balance, fencing_token FROM account;");
    if let Some(output) = sqlite(&input) {
        assert_eq!(output, format!("{CHANGES}50|9007199254740991\n"));
    }
}

#[test]
fn the_files_that_the_page_names_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    assert!(PAGE.contains("--example fenced_store"));
    assert!(root.join("examples/fenced_store.rs").exists());
}
