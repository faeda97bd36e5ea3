//! The SQL of the documents on a real PostgreSQL, with two sessions at a time.

#[path = "../support/page.rs"]
mod page;

use crate::postgresql::Postgresql;
use crate::psql::Session;
use page::block;

const FENCING: &str = include_str!("../../docs/fencing.md");
const COOKBOOK: &str = include_str!("../../docs/cookbook.md");

/// Returns the statement of a block that decides, after `BEGIN`, with its parameters.
fn deciding(block: &str, first: &str, second: i64) -> String {
    let (statement, _) = block.split_once("-- No row").expect("what it means");
    let statement = statement.trim_start_matches("BEGIN;\n");
    statement.replace("$1", first).replace("$2", &second.to_string())
}

fn accounts(session: &mut Session) {
    session.run("CREATE TABLE account (id bigint PRIMARY KEY, balance bigint);");
    session.run("INSERT INTO account VALUES (42, 100);");
}

fn balance(session: &mut Session) -> String {
    session.run("SELECT balance FROM account WHERE id = 42;")
}

#[test]
fn of_two_writers_the_second_waits_and_a_stale_one_is_refused() {
    let Some(server) = Postgresql::start() else { return };
    let [mut writer, mut other, mut witness] = [(); 3].map(|()| server.session());
    accounts(&mut writer);
    writer.run(block(FENCING, "sql", "CREATE TABLE fence"));
    let write = block(FENCING, "sql", "BEGIN;");
    let present = |resource: &str, token| deciding(write, &format!("'{resource}'"), token);
    // The row of the fence exists already, or the first of the two inserts it.
    writer.run(&present("old", 1));
    for resource in ["old", "new"] {
        for (late, admitted) in [(7, false), (9, true), (11, true)] {
            writer
                .run("UPDATE account SET balance = 100; DELETE FROM fence WHERE resource = 'new';");
            writer.run("UPDATE fence SET token = 1;");
            writer.run("BEGIN;");
            assert_eq!(writer.run(&present(resource, 9)), "INSERT 0 1");
            other.run("BEGIN;");
            other.begin(&present(resource, late));
            witness.until_one_waits();
            writer.run("UPDATE account SET balance = balance - 50 WHERE id = 42;");
            writer.run("COMMIT;");
            let rows = other.end();
            assert_eq!(
                rows,
                if admitted { "INSERT 0 1" } else { "INSERT 0 0" },
                "{resource} {late}"
            );
            // The second session sees what the first has written.
            assert_eq!(balance(&mut other), "50");
            other.run("ROLLBACK;");
        }
    }

    // Above the default isolation level, it gets an error that asks it to start again.
    writer.run("BEGIN;");
    other.run("BEGIN ISOLATION LEVEL REPEATABLE READ;");
    assert_eq!(balance(&mut other), "50");
    writer.run(&present("old", 20));
    other.begin(&present("old", 21));
    witness.until_one_waits();
    writer.run("COMMIT;");
    let reply = other.end();
    assert!(reply.contains("could not serialize access"), "{reply}");
}

#[test]
fn the_function_fails_a_stale_transaction_that_writes_nothing() {
    let Some(server) = Postgresql::start() else { return };
    let [mut writer, mut other, mut witness] = [(); 3].map(|()| server.session());
    accounts(&mut writer);
    writer.run(block(FENCING, "sql", "CREATE TABLE fence"));
    writer.run(block(FENCING, "sql", "CREATE FUNCTION"));
    let check = |token| format!("SELECT check_fence('account:42', {token});");
    let write = "UPDATE account SET balance = 0 WHERE id = 42;";

    writer.run("BEGIN;");
    assert_eq!(writer.run(&check(9_007_199_254_740_991_i64)), "");
    other.run("BEGIN;");
    other.begin(&check(9_007_199_254_740_990));
    witness.until_one_waits();
    writer.run("COMMIT;");
    let reply = other.end();
    let stale = "stale fencing token 9007199254740990 for account:42";
    assert!(reply.contains(stale), "{reply}");
    assert!(other.run(write).contains("current transaction is aborted"));
    assert_eq!(other.run("COMMIT;"), "ROLLBACK");
    assert_eq!(balance(&mut other), "100");
}

#[test]
fn the_fenced_transaction_of_the_cookbook_is_one_that_its_package_compiles() {
    let source = crate::read("fencing/src/sqlx.rs");
    let shown = block(COOKBOOK, "rust,ignore", "fence(&mut tx");
    let shown: Vec<&str> = shown.lines().filter(|line| !line.is_empty()).collect();
    let compiled = source.lines().filter_map(|line| line.strip_prefix("//! "));
    let compiled = compiled.skip_while(|line| *line != shown[0]).take(shown.len());
    assert_eq!(compiled.collect::<Vec<_>>(), shown);
}

#[test]
fn a_row_with_a_token_refuses_stale_writers_and_jobs_run_once() {
    let Some(server) = Postgresql::start() else { return };
    let [mut writer, mut other, mut witness] = [(); 3].map(|()| server.session());
    accounts(&mut writer);
    writer.run(block(FENCING, "sql", "ALTER TABLE"));
    let write = block(FENCING, "sql", "UPDATE account SET balance = 50, fencing_token");
    for (late, rows) in [(7, "UPDATE 0"), (9, "UPDATE 1"), (11, "UPDATE 1")] {
        writer.run("UPDATE account SET fencing_token = 0;");
        writer.run("BEGIN;");
        assert_eq!(writer.run(&deciding(write, "42", 9)), "UPDATE 1");
        other.begin(&deciding(write, "42", late));
        witness.until_one_waits();
        writer.run("COMMIT;");
        assert_eq!(other.end(), rows, "{late}");
    }

    writer.run(block(COOKBOOK, "sql", "CREATE TABLE done"));
    let insert = deciding(block(COOKBOOK, "sql", "INSERT INTO done"), "'job:7'", 0);
    for (first, second) in [("ROLLBACK;", "INSERT 0 1"), ("COMMIT;", "INSERT 0 0")] {
        writer.run("BEGIN;");
        assert_eq!(writer.run(&insert), "INSERT 0 1");
        other.run("BEGIN;");
        other.begin(&insert);
        witness.until_one_waits();
        writer.run(first);
        assert_eq!(other.end(), second, "after {first}");
        other.run("ROLLBACK;");
    }
}
