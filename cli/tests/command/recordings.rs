//! `docs/recordings/doctor.txt` is what `quorumlock doctor` prints on fit, warming and broken
//! masters, and `docs/operations.md` quotes a part of it.

use crate::cli::{self, PATIENCE, run};
use crate::doctor_shown::{BRIEF, on_a_terminal, without_escapes};
use crate::support::normalised::{without_addresses, without_times};
use crate::support::poll::eventually_blocking;
use crate::support::server::Server;
use serde_json::Value;

/// Five masters, as they were when it was recorded.
struct Scene {
    name: &'static str,
    masters: Vec<Server>,
    /// What the masters are, as `Redis 7.0.15`.
    servers: Vec<String>,
    max_ttl: &'static str,
    code: i32,
}

/// The recordings on such masters.
struct Recorded {
    terminal: String,
    piped: String,
    json: Value,
}

fn document(path: &str) -> String {
    std::fs::read_to_string(format!("{}/../docs/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Returns the recordings of this name.
fn recorded(name: &str) -> Recorded {
    let file = document("recordings/doctor.txt");
    let (_, part) = file.split_once(&format!("\n== {name}\n")).expect(name);
    let part = part.split("\n== ").next().unwrap();
    let of = |command: &str| {
        let (_, rest) = part.split_once(&format!("$ quorumlock doctor{command}\n")).expect(command);
        rest.split("\n$ ").next().unwrap().to_owned()
    };
    let json = serde_json::from_str(&of(" --json")).unwrap();
    Recorded { terminal: of(""), piped: of(" | cat"), json }
}

impl Scene {
    fn new(name: &'static str, masters: Vec<Server>, max_ttl: &'static str, code: i32) -> Self {
        let server = |master: &Server| {
            let version = master.version().replace(" server v=", " ");
            version.split(' ').take(2).collect::<Vec<_>>().join(" ")
        };
        let servers = masters.iter().map(server).collect();
        Self { name, masters, servers, max_ttl, code }
    }

    fn urls(&self) -> Vec<String> {
        self.masters.iter().map(Server::url).collect()
    }

    fn variables(&self) -> [(&'static str, &'static str); 5] {
        [
            ("QUORUMLOCK_RESTART_GUARD", "on"),
            ("QUORUMLOCK_TTL", BRIEF),
            ("QUORUMLOCK_FENCING_WINDOW_BACK", "100ms"),
            ("QUORUMLOCK_FENCING_WINDOW_AHEAD", "100ms"),
            ("QUORUMLOCK_MAX_TTL", self.max_ttl),
        ]
    }

    fn piped(&self, arguments: &[&str]) -> cli::Finished {
        run(cli::over(self.urls()).args(arguments).envs(self.variables()))
    }

    /// Replaces what differs from run to run.
    fn comparable(&self, text: &str) -> String {
        let mut text = text.replace("Redis 7.0.15", "<server>");
        for server in &self.servers {
            text = text.replace(server, "<server>");
        }
        let text = without_addresses(&text, &self.masters);
        let unsigned = |word: &str| match word.strip_prefix(['+', '-']) {
            Some(number) if number.starts_with(|c: char| c.is_ascii_digit()) => number.to_owned(),
            _ => word.to_owned(),
        };
        let words: Vec<String> = text.split_whitespace().map(unsigned).collect();
        without_times(&words.join(" ")).replace("<time> to <time>", "<time>")
    }

    /// The same for every text and number of a JSON value.
    fn comparable_json(&self, value: &Value) -> Value {
        let of = |(key, value): (&String, &Value)| {
            let value = match value {
                Value::Number(_) if key.ends_with("_us") || key == "uptime_s" => true.into(),
                Value::Number(left) if key.ends_with("_ms") => (left.as_u64() != Some(0)).into(),
                Value::String(_) if key == "version" => "<version>".into(),
                Value::String(_) if key == "server" => "<server>".into(),
                other => self.comparable_json(other),
            };
            (key.clone(), value)
        };
        match value {
            Value::Object(fields) => Value::Object(fields.iter().map(of).collect()),
            Value::Array(values) => values.iter().map(|item| self.comparable_json(item)).collect(),
            Value::String(text) => self.comparable(text).into(),
            other => other.clone(),
        }
    }

    /// Whether a finding of any master contains these words.
    fn reports(&self, words: &str) -> bool {
        self.piped(&["doctor"]).stdout.lines().any(|line| line.contains(words))
    }

    fn compare(&self) {
        let recorded = recorded(self.name);
        let shown = on_a_terminal(self.urls(), "doctor", &self.variables());
        let terminal = without_escapes(&shown.stdout);
        assert_eq!(shown.code, Some(self.code), "{}: {terminal}", self.name);
        for text in [&terminal, &recorded.terminal] {
            let fits = |line: &str| line.chars().count() <= 80;
            assert!(text.lines().all(fits), "{}: {text}", self.name);
        }
        assert_eq!(
            self.comparable(&recorded.terminal),
            self.comparable(&terminal),
            "{}",
            self.name
        );

        let piped = self.piped(&["doctor"]);
        assert_eq!((piped.code, &*piped.stderr), (Some(self.code), ""), "{}", self.name);
        let lines = |text: &str| {
            text.trim_end().lines().map(|line| self.comparable(line)).collect::<Vec<_>>()
        };
        assert_eq!(lines(&recorded.piped), lines(&piped.stdout), "{}", self.name);

        let json = self.piped(&["doctor", "--json"]);
        let value = serde_json::from_str(&json.stdout).unwrap();
        let (then, now) = (self.comparable_json(&recorded.json), self.comparable_json(&value));
        assert_eq!((json.code, now), (Some(self.code), then), "{}: {}", self.name, json.stdout);
    }
}

fn five() -> Vec<Server> {
    (0..5).map(|_| Server::start()).collect()
}

#[test]
fn fit_masters_are_shown_as_recorded() {
    let scene = Scene::new("Fit masters", five(), BRIEF, 0);
    eventually_blocking("they may vote", PATIENCE, || !scene.reports("started "));
    scene.compare();
}

#[test]
fn warming_masters_are_shown_as_recorded() {
    Scene::new("Masters that warm up", five(), "30s", 112).compare();
}

#[test]
fn broken_masters_are_shown_as_recorded() {
    let mut masters: Vec<Server> = (0..3).map(|_| Server::start()).collect();
    let port = masters[0].port().to_string();
    masters.push(Server::start_with(&["--replicaof", "127.0.0.1", &port]));
    masters.push(Server::start());
    let scene = Scene::new("Broken masters", masters, BRIEF, 1);
    let is_ready = || !scene.reports("started ") && scene.reports("a replica is attached");
    eventually_blocking("they may vote, and the replica is attached", PATIENCE, is_ready);
    scene.masters[1].kill();
    scene.masters[4].kill();
    scene.compare();
}

#[test]
fn the_operations_page_quotes_a_recording() {
    let (page, file) = (document("operations.md"), document("recordings/doctor.txt"));
    let quoted = page.split("```text\n").find(|rest| rest.starts_with("$ quorumlock doctor\n"));
    let block = quoted.unwrap().split("```").next().unwrap();
    assert!(file.contains(block), "{block}");
}
