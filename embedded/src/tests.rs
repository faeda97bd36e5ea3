//! Tests that the comparison with a real server can't cover: seeds, restarts, and bounds of our
//! own.

use super::*;

const NOW: Duration = Duration::from_secs(1_000_000);

fn command(words: &[&str]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len());
    words.iter().for_each(|word| bytes += &format!("${}\r\n{word}\r\n", word.len()));
    bytes.into_bytes()
}

fn outputs(machine: &mut Machine) -> Vec<Output> {
    std::iter::from_fn(|| machine.poll_output()).collect()
}

fn ask(machine: &mut Machine, client: ClientId, words: &[&str]) -> String {
    machine.receive(client, NOW, &command(words));
    match &outputs(machine)[..] {
        [Output::Send(to, bytes)] if *to == client => String::from_utf8(bytes.clone()).unwrap(),
        other => panic!("{words:?}: {other:?}"),
    }
}

#[test]
fn the_same_seed_gives_the_same_master_and_another_one_another() {
    let info = |seed| {
        let mut machine = Machine::new(seed, NOW);
        let client = machine.open();
        ask(&mut machine, client, &["INFO"])
    };
    assert_eq!(info(1), info(1));
    assert_ne!(info(1), info(2));
}

#[test]
fn every_executed_command_counts_those_within_scripts_too() {
    let mut machine = Machine::new(1, NOW);
    let client = machine.open();
    ask(&mut machine, client, &["SET", "a", "token", "PX", "1000"]);
    ask(&mut machine, client, &["EVAL", "return redis.call('set', 'a', 'b')", "0"]);
    ask(&mut machine, client, &["SET", "too few"]);
    ask(&mut machine, client, &["CLIENT", "ID"]);
    let lines = "# Commandstats\r\ncmdstat_client|id:calls=1\r\ncmdstat_eval:calls=1\r\n\
                 cmdstat_set:calls=2\r\n";
    let expected = format!("${}\r\n{lines}\r\n", lines.len());
    assert_eq!(ask(&mut machine, client, &["INFO", "commandstats"]), expected);
    assert!(!ask(&mut machine, client, &["INFO"]).contains("cmdstat"));
    machine.restart(true, NOW);
    let client = machine.open();
    let none = "$16\r\n# Commandstats\r\n\r\n";
    assert_eq!(ask(&mut machine, client, &["INFO", "commandstats"]), none);
}

#[test]
fn a_restart_is_another_process_with_or_without_the_keys() {
    for keep in [true, false] {
        let mut machine = Machine::new(1, NOW);
        let (_, client) = (machine.open(), machine.open());
        assert_eq!(ask(&mut machine, client, &["CLIENT", "ID"]), ":2\r\n");
        let before = ask(&mut machine, client, &["INFO", "server"]);
        ask(&mut machine, client, &["SET", "a", "token", "PX", "1000"]);
        ask(&mut machine, client, &["SCRIPT", "LOAD", "return 1"]);

        machine.restart(keep, NOW);
        machine.receive(client, NOW, &command(&["PING"]));
        assert_eq!(outputs(&mut machine), [], "the connections are gone");
        let client = machine.open();
        assert_eq!(ask(&mut machine, client, &["CLIENT", "ID"]), ":1\r\n");
        assert_ne!(ask(&mut machine, client, &["INFO", "server"]), before);
        assert_eq!(machine.value(b"a", NOW).is_some(), keep);
        assert_eq!(machine.keys(NOW).count(), usize::from(keep));
        let hash = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db";
        assert!(ask(&mut machine, client, &["EVALSHA", hash, "0"]).starts_with("-NOSCRIPT"));
    }
}

fn field(machine: &mut Machine, client: ClientId, now: Duration, name: &str) -> String {
    machine.receive(client, now, &command(&["INFO"]));
    let [Output::Send(_, bytes)] = &outputs(machine)[..] else { panic!("no answer to INFO") };
    let text = String::from_utf8(bytes.clone()).unwrap();
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    value.unwrap_or_else(|| panic!("no {name} in {text}")).to_owned()
}

#[test]
fn a_promoted_replica_reports_what_it_was_until_it_restarts() {
    let mut machine = Machine::new(1, NOW);
    let client = machine.open();
    let own = field(&mut machine, client, NOW, "master_replid");
    assert_eq!(ask(&mut machine, client, &["REPLICAOF", "NO", "ONE"]), "+OK\r\n");
    assert_eq!(field(&mut machine, client, NOW, "master_replid"), own, "it was a master");

    ask(&mut machine, client, &["REPLICAOF", "10.0.0.1", "6379"]);
    assert_eq!(field(&mut machine, client, NOW, "role"), "slave");
    assert_eq!(field(&mut machine, client, NOW, "master_host"), "10.0.0.1");
    assert_eq!(field(&mut machine, client, NOW, "master_port"), "6379");
    assert_eq!(field(&mut machine, client, NOW, "master_replid"), own);

    ask(&mut machine, client, &["REPLICAOF", "NO", "ONE"]);
    assert_eq!(field(&mut machine, client, NOW, "role"), "master");
    assert_ne!(field(&mut machine, client, NOW, "master_replid"), own);
    assert_eq!(field(&mut machine, client, NOW, "master_replid2"), own);

    machine.restart(true, NOW);
    let client = machine.open();
    assert_eq!(field(&mut machine, client, NOW, "master_replid2"), "0".repeat(40));
}

#[test]
fn a_restart_changes_nothing_that_the_operator_decided() {
    let mut machine = Machine::new(1, NOW);
    let client = machine.open();
    ask(&mut machine, client, &["CONFIG", "SET", "appendonly", "yes", "maxmemory", "1kb"]);
    ask(&mut machine, client, &["REPLICAOF", "10.0.0.1", "6379"]);
    machine.deny(&["time"]).unwrap();
    machine.restart(false, NOW);
    let client = machine.open();
    assert_eq!(field(&mut machine, client, NOW, "aof_enabled"), "1");
    assert_eq!(field(&mut machine, client, NOW, "maxmemory"), "1024");
    assert_eq!(field(&mut machine, client, NOW, "role"), "slave");
    assert!(ask(&mut machine, client, &["TIME"]).starts_with("-NOPERM"));
}

#[test]
fn only_what_can_be_denied_is_and_only_until_something_else_is() {
    let mut machine = Machine::new(1, NOW);
    let client = machine.open();
    machine.deny(&["CLIENT", "time"]).unwrap();
    for wrong in ["nosuch", "client|nosuch", "client id", "HELLO", "auth", ""] {
        let problem = machine.deny(&[wrong]).unwrap_err();
        assert!(problem.contains(&format!("{wrong:?}")), "{problem}");
    }
    assert!(ask(&mut machine, client, &["CLIENT", "ID"]).contains("'client|id'"));
    assert!(ask(&mut machine, client, &["TIME"]).starts_with("-NOPERM"));

    machine.deny(&["info"]).unwrap();
    assert_eq!(ask(&mut machine, client, &["CLIENT", "ID"]), ":1\r\n");
    assert!(ask(&mut machine, client, &["INFO"]).starts_with("-NOPERM"));
}

/// A second that has begun counts as a whole one, so an uptime is up to a second too long.
#[test]
fn uptime_counts_from_the_restart_and_goes_by_the_masters_clock() {
    const UP: &str = "uptime_in_seconds";
    let at = |millis: u64| NOW + Duration::from_millis(millis);
    let mut machine = Machine::new(1, NOW);
    machine.restart(false, at(900));
    let client = machine.open();
    for (now, up) in [(999, "0"), (1_000, "1"), (61_900, "61")] {
        assert_eq!(field(&mut machine, client, at(now), UP), up, "at {now} ms");
    }
    let set_back = NOW - Duration::from_secs(1);
    assert_eq!(field(&mut machine, client, set_back, UP), "-1");
    machine.set_uptime(2 * 86_400 * 1_000_000, at(1_000));
    assert_eq!(field(&mut machine, client, at(1_000), UP), "172800");
    assert_eq!(field(&mut machine, client, at(2_000), UP), "172801");
    machine.restart(true, at(2_000));
    let client = machine.open();
    assert_eq!(field(&mut machine, client, at(2_000), UP), "0");
}

#[test]
fn what_a_killed_connection_sends_is_not_executed() {
    let mut machine = Machine::new(1, NOW);
    let (old, new) = (machine.open(), machine.open());
    machine.receive(old, NOW, &command(&["SET", "a", "late"])[..9]);
    machine.receive(new, NOW, &command(&["CLIENT", "KILL", "ID", "1"]));
    let expected = [Output::Close(old), Output::Send(new, b":1\r\n".to_vec())];
    assert_eq!(outputs(&mut machine), expected);
    machine.receive(old, NOW, &command(&["SET", "a", "late"])[9..]);
    assert_eq!(machine.value(b"a", NOW), None);
}

#[test]
fn an_endless_script_is_stopped_even_if_it_catches_errors() {
    let mut machine = Machine::new(1, NOW);
    let client = machine.open();
    for script in [
        "while true do end",
        "while true do pcall(function() while true do end end) end",
        "local function again() return xpcall(again, again) end while true do again() end",
    ] {
        let answer = ask(&mut machine, client, &["EVAL", script, "0"]);
        assert_eq!(
            answer, "-ERR the script is stopped after 10000000 instructions\r\n",
            "{script}"
        );
        assert_eq!(ask(&mut machine, client, &["EVAL", "return 7", "0"]), ":7\r\n");
    }
}

#[test]
fn a_script_with_unbounded_memory_or_result_is_an_error() {
    let mut machine = Machine::new(1, NOW);
    let client = machine.open();
    for script in ["local a = 'x' while true do a = a .. a end", "local a = {} a[1] = a return a"] {
        let answer = ask(&mut machine, client, &["EVAL", script, "0"]);
        assert!(answer.contains("-ERR "), "{script}: {answer}");
    }
    assert_eq!(ask(&mut machine, client, &["EVAL", "return 7", "0"]), ":7\r\n");
}

#[test]
fn a_script_may_have_many_results_on_the_way() {
    let mut machine = Machine::new(1, NOW);
    let client = machine.open();
    let script = "local many = {} for i = 1, 1000 do many[i] = i end
        local function all() return unpack(many) end
        local caught = {select('#', pcall(all)), select('#', xpcall(all, error))}
        return caught[1] + caught[2] + select('#', all())";
    assert_eq!(ask(&mut machine, client, &["EVAL", script, "0"]), ":3002\r\n");
    assert_eq!(ask(&mut machine, client, &["EVAL", "return 1, 2, 3", "0"]), ":1\r\n");
    let script = "local many = {} for i = 1, 1000 do many[i] = i end return unpack(many)";
    assert_eq!(ask(&mut machine, client, &["EVAL", script, "0"]), ":1\r\n");
}

#[test]
fn time_stands_still_within_a_script() {
    let mut machine = Machine::new(1, NOW);
    let client = machine.open();
    let script = "redis.call('SET', 'a', 'v', 'PX', 1) local before = redis.call('TIME')
        for i = 1, 100000 do end
        local after = redis.call('TIME')
        return {redis.call('PTTL', 'a'), before[1] == after[1] and before[2] == after[2]}";
    assert_eq!(ask(&mut machine, client, &["EVAL", script, "0"]), "*2\r\n:1\r\n:1\r\n");
}

/// As redis-server does: its scripts get every answer in RESP2, whatever their client speaks.
#[test]
fn a_score_is_a_double_outside_scripts_and_a_string_within() {
    let mut machine = Machine::new(1, NOW);
    let client = machine.open();
    ask(&mut machine, client, &["HELLO", "3"]);
    assert_eq!(ask(&mut machine, client, &["ZADD", "a", "1.5", "m", "-inf", "l"]), ":2\r\n");
    let range = ["ZRANGE", "a", "-1", "-1", "WITHSCORES"];
    assert_eq!(ask(&mut machine, client, &range), "*1\r\n*2\r\n$1\r\nm\r\n,1.5\r\n");
    for (script, answer) in [
        ("return redis.call('ZSCORE', 'a', 'l')", "$4\r\n-inf\r\n"),
        ("return redis.call('ZSCORE', 'a', 'nosuch') == false", ":1\r\n"),
        ("return redis.call('ZRANGE', 'a', 1, 1, 'WITHSCORES')[2]", "$3\r\n1.5\r\n"),
    ] {
        assert_eq!(ask(&mut machine, client, &["EVAL", script, "0"]), answer, "{script}");
    }
}

#[test]
fn a_sorted_set_is_in_order_and_gone_with_its_last_member() {
    let mut machine = Machine::new(1, NOW);
    let client = machine.open();
    ask(&mut machine, client, &["ZADD", "a", "7", "late", "-1", "b", "-1", "a", "3", "mid"]);
    ask(&mut machine, client, &["ZADD", "a", "XX", "0", "nosuch", "7", "late"]);
    let names = |machine: &Machine| -> Vec<String> {
        let members = machine.sorted_set(b"a", NOW).iter();
        members.map(|(name, _)| String::from_utf8(name.clone()).unwrap()).collect()
    };
    assert_eq!(names(&machine), ["a", "b", "mid", "late"]);
    ask(&mut machine, client, &["ZADD", "a", "9", "a"]);
    assert_eq!(names(&machine), ["b", "mid", "late", "a"]);
    let range = ["ZRANGEBYSCORE", "a", "(-1", "7"];
    assert_eq!(ask(&mut machine, client, &range), "*2\r\n$3\r\nmid\r\n$4\r\nlate\r\n");
    assert_eq!(ask(&mut machine, client, &["ZRANK", "a", "late"]), ":2\r\n");
    let range = ["ZREMRANGEBYSCORE", "a", "-inf", "(7"];
    assert_eq!(ask(&mut machine, client, &range), ":2\r\n");
    assert_eq!(names(&machine), ["late", "a"]);
    assert_eq!(ask(&mut machine, client, &["ZREM", "a", "late", "a", "a"]), ":2\r\n");
    assert_eq!(machine.keys(NOW).count(), 0);
}

#[test]
fn a_restart_keeps_a_sorted_set_with_its_life() {
    let mut machine = Machine::new(1, NOW);
    let client = machine.open();
    ask(&mut machine, client, &["ZADD", "a", "5", "m"]);
    ask(&mut machine, client, &["PEXPIRE", "a", "100"]);
    machine.restart(true, NOW);
    assert_eq!(machine.sorted_set(b"a", NOW), [(b"m".to_vec(), 5.0)]);
    let late = NOW + Duration::from_millis(101);
    assert_eq!(machine.sorted_set(b"a", late), []);
}

#[test]
fn a_life_may_end_at_a_moment_of_the_masters_clock() {
    let mut machine = Machine::new(1, NOW);
    let client = machine.open();
    for (option, end, left) in [
        ("PXAT", "1000000250", Some(250)),
        ("PXAT", "1000000000", Some(0)),
        ("PXAT", "999999999", None),
    ] {
        assert_eq!(ask(&mut machine, client, &["SET", "a", "v", option, end]), "+OK\r\n");
        let left = left.map(Duration::from_millis);
        assert_eq!(machine.time_to_live(b"a", NOW), left, "{option} {end}");
    }
}

/// Setting a field leaves the key's life unchanged; a field that is set after the key has expired
/// begins a new life.
#[test]
fn a_hash_expires_as_a_whole() {
    let mut machine = Machine::new(1, NOW);
    let client = machine.open();
    ask(&mut machine, client, &["HSET", "a", "max_ttl", "30000"]);
    ask(&mut machine, client, &["PEXPIRE", "a", "100"]);
    ask(&mut machine, client, &["HSET", "a", "lists", "1"]);
    let key =
        |machine: &Machine, after| machine.time_to_live(b"a", NOW + Duration::from_millis(after));
    assert_eq!(key(&machine, 40), Some(Duration::from_millis(60)));
    assert_eq!(key(&machine, 101), None);
    let late = NOW + Duration::from_millis(101);
    machine.receive(client, late, &command(&["HSET", "a", "max_ttl", "1"]));
    assert_eq!(outputs(&mut machine), [Output::Send(client, b":1\r\n".to_vec())]);
    assert_eq!(key(&machine, 101), Some(Duration::MAX));
    assert_eq!(machine.hash(b"a", late), [(b"max_ttl".to_vec(), b"1".to_vec())]);
}
