//! The files of `docs/deploy` do what `docs/deploying-masters.md` says: the programs that they are
//! for take them, and masters that run with them are fit.

use crate::support::docker::tell;
use crate::support::page::blocks;
use crate::support::poll::{PAUSE, eventually};
use crate::support::server::Server;
use crate::support::witness;
use quorumlock::preflight::Severity;
use quorumlock::{Config, Redlock};
use redis::{Client, Cmd, FromRedisValue, RedisResult, cmd};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::sleep;

const PAGE: &str = include_str!("../../docs/deploying-masters.md");
const CONF: &str = include_str!("../../docs/deploy/redis.conf");
const USERS: &str = include_str!("../../docs/deploy/users.acl");
const UNIT: &str = include_str!("../../docs/deploy/redis-quorumlock@.service");
const KUBERNETES: &str = include_str!("../../docs/deploy/kubernetes.yaml");

/// For a busy machine, which answers late.
const PATIENT: &str = "ttl = \"20s\"\noperation_timeout = \"2s\"\nconnect_timeout = \"2s\"\n";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Reports that a program is missing: a failure if `CI` is set, else a line that says so.
fn not_tested(what: &str, program: &str) {
    assert!(std::env::var_os("CI").is_none(), "CI is set, and there is no {program}");
    tell(&format!("NOT TESTED: {what}, since there is no {program}"));
}

fn on_path(program: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).map(|folder| folder.join(program)).find(|path| path.exists())
}

#[track_caller]
fn assert_accepted(output: &Output) {
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}{err}");
}

/// Returns a text of several lines from the manifest: what is indented below `name: |`.
fn in_manifest(name: &str) -> String {
    let below = KUBERNETES.split_once(&format!("  {name}: |\n")).expect(name).1;
    let lines = below.lines().take_while(|line| line.is_empty() || line.starts_with("    "));
    lines.map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or(line))).collect()
}

#[test]
fn kubernetes_gets_the_same_configuration_and_the_same_users() {
    assert_eq!(in_manifest("redis.conf"), CONF);
    assert_eq!(in_manifest("users.acl"), USERS);
}

/// A master that runs with the files, in a place of its own.
struct Master {
    server: Server,
    _files: TempDir,
}

impl Master {
    /// Starts one with these users, and with more arguments behind the file.
    fn start(users: &str, more: &[&str]) -> Self {
        let files = tempfile::tempdir().unwrap();
        let (conf, acl) = (files.path().join("redis.conf"), files.path().join("users.acl"));
        fs::write(&acl, users).unwrap();
        // The harness chooses the port.
        let lines = CONF.lines().filter(|line| !line.starts_with("port "));
        let lines: Vec<&str> = lines.collect();
        let here = lines.join("\n").replace("/etc/quorumlock/users.acl", acl.to_str().unwrap());
        fs::write(&conf, here).unwrap();
        let arguments = [&["--include", conf.to_str().unwrap()], more].concat();
        Self { server: Server::start_with(&arguments), _files: files }
    }

    /// Returns the page's client of five such masters, whose passwords are those of the file.
    fn configuration(masters: &[Self]) -> Config {
        let mut toml = blocks(PAGE, "toml")[0].replace("PASSWORD", "change-me");
        for (number, master) in (1..).zip(masters) {
            let address = master.server.addr().to_string();
            toml = toml.replacen(&format!("10.0.0.{number}\""), &format!("{address}\""), 1);
        }
        assert!(!toml.contains("10.0.0."), "{toml}");
        Config::from_toml(&format!("{PATIENT}{toml}")).unwrap()
    }

    async fn ask<T: FromRedisValue>(&self, user: &str, command: &Cmd) -> RedisResult<T> {
        let url = self.server.url().replace("//", &format!("//{user}"));
        loop {
            let mut connection = witness::connect(&Client::open(url.as_str())?).await?;
            let answer: RedisResult<T> = command.query_async(&mut connection).await;
            // It answers before it has read its append-only file.
            match answer {
                Err(error) if error.code() == Some("LOADING") => sleep(PAUSE).await,
                answered => return answered,
            }
        }
    }
}

#[tokio::test]
async fn five_masters_with_the_files_are_fit_and_vote_at_once() {
    let masters: Vec<Master> = (0..5).map(|_| Master::start(USERS, &[])).collect();
    let mut config = Master::configuration(&masters);
    let redlock = Redlock::builder().config(config.clone()).connect().await.unwrap();
    for acquire in [redlock.acquire_all(["orders:42"]), redlock.acquire_all(["a", "b"])] {
        let guard = acquire.keep_alive().await.unwrap();
        guard.extend().await.unwrap();
        drop(guard);
    }
    assert!(redlock.acquire("orders:43").fenced().await.is_ok());
    redlock.shutdown().await.unwrap();

    config.restart_guard = None;
    let preflight = Redlock::builder().config(config).preflight().await.unwrap();
    assert!(preflight.is_ok(), "{preflight}");
    for finding in preflight.into_iter().flat_map(|node| &node.findings) {
        // The page on rights has what a Valkey 9 or a Redis 8.4 needs on top.
        let text = finding.to_string().to_lowercase();
        let is_of_newer = ["delifeq", "delex"].iter().any(|name| text.contains(name));
        assert!(finding.severity == Severity::Note || is_of_newer, "{finding}");
    }
}

/// Many servers load their log as the default user, and drop what a script has set if that user may
/// not do it.
#[tokio::test]
async fn a_restart_forgets_nothing_that_a_script_has_set() {
    let masters: Vec<Master> = (0..5).map(|_| Master::start(USERS, &[])).collect();
    let config = Master::configuration(&masters);
    let redlock = Redlock::builder().config(config).connect().await.unwrap();
    let _guard = redlock.acquire_all(["a", "b"]).fenced().await.unwrap();
    let mut get = cmd("GET");
    get.arg("a");
    for master in &masters {
        let key =
            async || -> Option<String> { master.ask("locks:change-me@", &get).await.unwrap() };
        let has_it = async || key().await.is_some();
        eventually("the master has the key", Duration::from_secs(5), has_it).await;
        let before = key().await;
        master.server.restart();
        assert_eq!(key().await, before);
    }
}

#[tokio::test]
async fn the_users_may_do_what_they_are_for_and_nothing_that_forgets() {
    let master = Master::start(USERS, &[]);
    let (locks, operator) = ("locks:change-me@", "operator:change-me-too@");
    for line in ["INFO server", "CLIENT LIST", "CONFIG GET appendfsync", "SLOWLOG GET"] {
        assert!(master.ask::<redis::Value>(operator, &command(line)).await.is_ok(), "{line}");
    }
    for line in ["FLUSHALL", "CONFIG SET appendonly no", "REPLICAOF NO ONE", "SHUTDOWN"] {
        for user in [locks, operator] {
            let denied = master.ask::<redis::Value>(user, &command(line)).await.unwrap_err();
            assert_eq!(denied.code(), Some("NOPERM"), "{user} {line}: {denied}");
        }
    }
    assert!(master.ask::<redis::Value>(operator, &command("GET a")).await.is_ok());
    for line in ["SET a b", "DEL a", "PEXPIRE a 1", "HSET a b c", "ZREM a b", "PUBLISH a b"] {
        let denied = master.ask::<redis::Value>(operator, &command(line)).await.unwrap_err();
        assert_eq!(denied.code(), Some("NOPERM"), "{line}: {denied}");
        let words: Vec<String> = line.split(' ').map(|word| format!("'{word}'")).collect();
        let script = format!("return redis.call({})", words.join(", "));
        let within = cmd("EVAL").arg(script).arg(1).arg("a").clone();
        assert!(master.ask::<redis::Value>(operator, &within).await.is_err(), "{line} in a script");
    }
    let nameless = master.ask::<redis::Value>("", &command("PING")).await.unwrap_err();
    assert_eq!(nameless.code(), Some("NOAUTH"), "{nameless}");
}

fn command(line: &str) -> Cmd {
    let mut words = line.split(' ');
    let mut command = cmd(words.next().unwrap());
    command.arg(words.collect::<Vec<_>>());
    command
}

#[tokio::test]
async fn what_the_page_types_gives_clients_a_password_of_their_own() {
    let here = tempfile::tempdir().unwrap();
    fs::write(here.path().join("users.acl"), USERS).unwrap();
    let typed = format!("{}\nprintf %s \"$password\"", blocks(PAGE, "sh")[0]);
    let output = Command::new("sh").args(["-euc", &typed]).current_dir(&here).output().unwrap();
    assert_accepted(&output);
    let password = String::from_utf8(output.stdout).unwrap();
    assert!(password.len() >= 32, "{password}");
    let users = fs::read_to_string(here.path().join("users.acl")).unwrap();
    let master = Master::start(&users, &[]);
    let mut get = cmd("GET");
    get.arg("a");
    let its_own = master.ask::<Option<String>>(&format!("locks:{password}@"), &get).await;
    assert_eq!(its_own.unwrap(), None);
    assert!(master.ask::<Option<String>>("locks:change-me@", &get).await.is_err());
}

/// `docker compose`, or its predecessor.
fn compose() -> Option<Command> {
    let plugin = || {
        let mut command = Command::new("docker");
        command.arg("compose");
        command
    };
    let works = |mut command: Command| {
        command.arg("version").output().is_ok_and(|output| output.status.success())
    };
    let standalone = || Command::new("docker-compose");
    if works(plugin()) { Some(plugin()) } else { works(standalone()).then(standalone) }
}

#[test]
fn compose_takes_its_file_and_asks_for_the_address() {
    let Some(mut asked) = compose() else {
        return not_tested("docs/deploy/compose.yml", "docker compose");
    };
    let file = root().join("docs/deploy/compose.yml");
    asked.arg("--file").arg(&file).arg("config").env_remove("ADDRESS");
    let without = asked.output().unwrap();
    let stderr = String::from_utf8_lossy(&without.stderr);
    assert!(!without.status.success() && stderr.contains("by which clients know it"), "{stderr}");
    let output = asked.env("ADDRESS", "10.0.0.1").output().unwrap();
    assert_accepted(&output);
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(shown.contains("10.0.0.1") && shown.contains("/etc/quorumlock"), "{shown}");
}

#[test]
fn systemd_takes_the_unit() {
    let Some(systemd) = on_path("systemd-analyze") else {
        return not_tested("docs/deploy/redis-quorumlock@.service", "systemd-analyze");
    };
    let verify = |text: &str| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("redis-quorumlock@.service");
        // The server may be elsewhere on this machine.
        let server = on_path("redis-server").expect("a redis-server");
        fs::write(&file, text.replace("/usr/bin/redis-server", server.to_str().unwrap())).unwrap();
        Command::new(&systemd).args(["verify", "--man=no"]).arg(file).output().unwrap()
    };
    let output = verify(UNIT);
    assert_accepted(&output);
    // It takes unknown settings, and says so.
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let wrong = verify(&UNIT.replace("RestartSec=1", "RestartSeconds=1"));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("RestartSeconds"), "{wrong:?}");
}

#[tokio::test]
async fn the_unit_starts_a_server_with_the_file() {
    let started = UNIT.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    let mut words = started.split(' ').skip(1);
    assert_eq!(words.next(), Some("/etc/quorumlock/redis.conf"));
    let data = tempfile::tempdir().unwrap();
    let mut arguments: Vec<&str> = words.collect();
    for (option, here) in [("--port", None), ("--dir", data.path().to_str())] {
        let at = arguments.iter().position(|word| *word == option).expect(option);
        assert!(arguments[at + 1].ends_with("%i"), "{started}");
        match here {
            Some(here) => arguments[at + 1] = here,
            // The harness has chosen one.
            None => drop(arguments.drain(at..at + 2)),
        }
    }
    let master = Master::start(USERS, &arguments);
    let mut ask = cmd("CONFIG");
    ask.arg("GET").arg("appendfsync");
    let reply: Vec<String> = master.ask("operator:change-me-too@", &ask).await.unwrap();
    assert_eq!(reply, ["appendfsync", "always"]);
    assert_ne!(fs::read_dir(&data).unwrap().count(), 0, "the data is where the unit says");
}

#[test]
fn kubernetes_takes_the_manifest() {
    let checker = root().join("target/python/bin/kubernetes-validate");
    if !checker.exists() {
        let how = "target/python/bin/kubernetes-validate (scripts/install python)";
        return not_tested("docs/deploy/kubernetes.yaml", how);
    }
    let check = |file: &Path| {
        Command::new(&checker).args([OsStr::new("--strict"), file.as_os_str()]).output().unwrap()
    };
    assert_accepted(&check(&root().join("docs/deploy/kubernetes.yaml")));
    for (right, wrong) in [
        ("replicas: 5", "replicas: five"),
        ("minReadySeconds:", "minReadySecond:"),
        ("accessModes: [ReadWriteOncePod]", "accessModes: ReadWriteOncePod"),
    ] {
        let file = tempfile::NamedTempFile::with_suffix(".yaml").unwrap();
        fs::write(&file, KUBERNETES.replace(right, wrong)).unwrap();
        assert!(!check(file.path()).status.success(), "{wrong}");
    }
}

/// The scripts of the manifest in a folder, with another number of seconds after which a master votes.
fn scripts(votes_after: u64) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let votes = in_manifest("votes");
    assert!(votes.contains("-ge 40 ]"), "{votes}");
    let votes = votes.replace("-ge 40 ]", &format!("-ge {votes_after} ]"));
    fs::write(folder.path().join("votes"), votes).unwrap();
    fs::write(folder.path().join("may-stop"), in_manifest("may-stop")).unwrap();
    folder
}

fn operators_url(master: &Master) -> String {
    format!("redis://operator:change-me-too@{}", master.server.addr())
}

fn votes(scripts: &TempDir, master: &Master) -> bool {
    let mut votes = Command::new("sh");
    votes.arg(scripts.path().join("votes")).arg(operators_url(master));
    votes.output().unwrap().status.success()
}

#[tokio::test]
async fn a_pod_is_ready_once_its_master_may_vote() {
    let (master, scripts) = (Master::start(USERS, &[]), scripts(4));
    assert!(!votes(&scripts, &master), "it has only just started");
    let ready = async || votes(&scripts, &master);
    eventually("it is ready", Duration::from_secs(20), ready).await;
    master.server.restart();
    assert!(!votes(&scripts, &master), "it warms up again");
    master.server.kill();
    assert!(!votes(&scripts, &master), "it is down");
}

/// Runs the script of the first of these masters, which waits for a second at most; returns for how long.
fn may_stop(scripts: &TempDir, masters: &[Master], path: &str) -> Duration {
    let urls: Vec<String> = masters.iter().map(operators_url).collect();
    let mut script = Command::new("sh");
    script.arg(scripts.path().join("may-stop")).env("PATH", path).env("WAITS", "3");
    script.env("ADDRESS", masters[0].server.addr().to_string());
    let began = std::time::Instant::now();
    assert_accepted(&script.env("QUORUMLOCK_NODES", urls.join(",")).output().unwrap());
    began.elapsed()
}

#[test]
fn before_it_stops_a_pod_waits_for_a_quorum_of_the_others_and_not_forever() {
    let (masters, scripts) = ((0..5).map(|_| Master::start(USERS, &[])), scripts(0));
    let (masters, path) = (masters.collect::<Vec<_>>(), std::env::var("PATH").unwrap());
    let waits = Duration::from_secs(3);
    assert!(may_stop(&scripts, &masters, &path) < waits);
    masters[4].server.kill();
    assert!(may_stop(&scripts, &masters, &path) < waits, "three others vote");
    masters[3].server.kill();
    assert!(may_stop(&scripts, &masters, &path) >= waits - Duration::from_secs(1), "only two do");

    // The command is asked where there is one.
    let asked = scripts.path().join("asked");
    let command =
        format!("#!/bin/sh\necho \"$@\" >>{0}\n[ $(wc -l <{0}) -ge 3 ]\n", asked.display());
    let program = scripts.path().join("quorumlock");
    fs::write(&program, command).unwrap();
    assert!(Command::new("chmod").arg("+x").arg(&program).status().unwrap().success());
    may_stop(&scripts, &masters, &format!("{}:{path}", scripts.path().display()));
    let line = format!("doctor --may-stop {}\n", masters[0].server.addr());
    assert_eq!(fs::read_to_string(asked).unwrap(), line.repeat(3));
}

/// Lays an overlay over the base, as `kubectl apply --kustomize` does.
fn kustomized(kubectl: &Path, folder: &Path) -> String {
    let output = Command::new(kubectl).arg("kustomize").arg(folder).output().unwrap();
    assert_accepted(&output);
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_overlay_of_the_page_replaces_passwords_image_and_namespace() {
    let base = root().join("docs/deploy/kustomization.yaml");
    let resources = "resources:\n  - kubernetes.yaml\n";
    assert!(fs::read_to_string(base).unwrap().ends_with(resources), "nothing is there twice");
    let Some(kubectl) = on_path("kubectl") else {
        // Nothing that the tests install has one.
        return tell("NOT TESTED: docs/deploy/kustomization.yaml, since there is no kubectl");
    };
    let kinds = |text: &str| {
        let mut kinds: Vec<_> = text.lines().filter(|line| line.starts_with("kind: ")).collect();
        kinds.sort_unstable();
        kinds.join(" ")
    };
    let plain = kustomized(&kubectl, &root().join("docs/deploy"));
    assert_eq!(kinds(&plain), kinds(KUBERNETES));

    let folder = tempfile::tempdir().unwrap();
    let (deploy, overlay) = (folder.path().join("deploy"), folder.path().join("overlay"));
    fs::create_dir_all(&deploy).and_then(|()| fs::create_dir_all(&overlay)).unwrap();
    for file in ["kubernetes.yaml", "kustomization.yaml"] {
        fs::copy(root().join("docs/deploy").join(file), deploy.join(file)).unwrap();
    }
    fs::write(overlay.join("kustomization.yaml"), blocks(PAGE, "yaml")[0]).unwrap();
    fs::write(overlay.join("users.acl"), "user default off\n").unwrap();
    fs::write(overlay.join("passwords.env"), "operator-password=secret\n").unwrap();
    let laid = kustomized(&kubectl, &overlay);
    assert_eq!(kinds(&laid), kinds(KUBERNETES), "{laid}");
    let count = |text: &str| laid.matches(text).count();
    assert_eq!((count("namespace: locks"), count("namespace: production")), (0, 5), "{laid}");
    assert_eq!(count("image: registry.example.org/redis-quorumlock:8.0"), 1, "{laid}");
    // Both in base64.
    let secrets = ["operator-password: c2VjcmV0", "users.acl: dXNlciBkZWZhdWx0IG9mZgo="];
    assert!(secrets.iter().all(|secret| count(secret) == 1) && count("change-me") == 0, "{laid}");
    assert_eq!(count("storageClassName: fast"), 1, "{laid}");
    // Names that the addresses and the probes use are as they were.
    for kept in ["serviceName: quorumlock\n", "key: operator-password\n", "name: quorumlock\n"] {
        assert!(count(kept) > 0, "{kept}: {laid}");
    }
}

/// What no schema knows.
#[test]
fn the_five_pods_fail_one_by_one() {
    for needed in [
        "replicas: 5",
        "clusterIP: None",
        "maxUnavailable: 1",
        "requiredDuringSchedulingIgnoredDuringExecution",
        "topologyKey: kubernetes.io/hostname",
        "topologyKey: topology.kubernetes.io/zone",
        "volumeClaimTemplates:",
        "command: [sh, /etc/quorumlock/votes]",
        "command: [sh, /etc/quorumlock/may-stop]",
        "${WAITS:-50}",
        "terminationGracePeriodSeconds: 75",
        "livenessProbe:",
    ] {
        assert_eq!(KUBERNETES.matches(needed).count(), 1, "{needed}");
    }
    // Every selector finds the pods: the set's own, the service's, the budget's and both rules of the scheduler.
    assert_eq!(KUBERNETES.matches("app: quorumlock\n").count(), 6);
    let password = USERS.split_once("user operator on >").unwrap().1.split(' ').next().unwrap();
    assert!(KUBERNETES.contains(&format!("  operator-password: {password}\n")));
    for number in 0..5 {
        let pod = format!("@quorumlock-{number}.quorumlock.$(NAMESPACE).svc.cluster.local");
        assert_eq!(KUBERNETES.matches(&pod).count(), 1, "{pod}");
    }
}
