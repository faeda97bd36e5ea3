//! The compose file of `docs/deploy` starts a master that is fit, and that a restart makes forget
//! nothing.

use crate::support::docker::{Project, docker, is_available, script};
use crate::support::page::blocks;
use crate::support::poll::{eventually, eventually_blocking};
use crate::support::port::ReservedPort;
use crate::support::server::answers;
use quorumlock::preflight::Severity;
use quorumlock::{Config, Redlock};
use std::process::Command;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Starts the file's master on that port, from an image that this machine has or can have.
fn up(project: &Project, port: u16) {
    up_in(std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/deploy")), project, port);
}

/// The same with the files in another folder.
fn up_in(folder: &std::path::Path, project: &Project, port: u16) {
    let image = run(&mut Command::new(script("choose-image")));
    let plugin = Command::new("docker").args(["compose", "version"]).output().unwrap();
    let mut up = match plugin.status.success() {
        true => {
            let mut docker = Command::new("docker");
            docker.arg("compose");
            docker
        }
        false => Command::new("docker-compose"),
    };
    up.arg("--file").arg(folder.join("compose.yml"));
    up.args(["--project-name", project.name(), "up", "--detach"]);
    up.envs([("ADDRESS", "127.0.0.1"), ("PORT", &port.to_string()), ("REDIS_IMAGE", &image)]);
    run(&mut up);
}

#[tokio::test]
async fn a_master_by_compose_is_fit_and_a_restart_keeps_its_locks() {
    if !is_available() {
        return;
    }
    Project::sweep();
    let (project, port) = (Project::new(), ReservedPort::new());
    up(&project, port.address().port());
    eventually_blocking("it answers", PATIENCE, || answers(port.address()));
    let label = format!("label=com.docker.compose.project={}", project.name());
    let container = docker(&["ps", "--quiet", "--filter", &label]);
    let status = || docker(&["inspect", "--format", "{{.State.Health.Status}}", &container]);
    eventually_blocking("it is healthy", PATIENCE, || status() == "healthy");

    let toml = format!(
        "nodes = [\"redis://locks:change-me@{}\"]\nrestart_guard = \"trust-persistence\"\n\
         ttl = \"30s\"\noperation_timeout = \"2s\"\nconnect_timeout = \"2s\"\n",
        port.address()
    );
    let builder = || Redlock::builder().config(Config::from_toml(&toml).unwrap());
    let preflight = builder().preflight().await.unwrap();
    let mut findings = preflight.into_iter().flat_map(|node| &node.findings);
    assert!(findings.all(|finding| finding.severity < Severity::Failure), "{preflight}");

    let (redlock, other) = (builder().connect().await.unwrap(), builder().connect().await.unwrap());
    // A script sets the keys of a fenced lock.
    let guard = redlock.acquire("orders:42").fenced().await.unwrap();
    // A master keeps its vote if it shows that it remembers more than it has been up. The uptime that it
    // reports is up to a second short.
    tokio::time::sleep(Duration::from_secs(3)).await;
    docker(&["restart", &container]);
    let refused = async || {
        let acquired = other.try_acquire("orders:42").await;
        acquired.is_err_and(|error| error.is_contended())
    };
    eventually("the lock is still held after the restart", Duration::from_secs(15), refused).await;
    let extended = async || guard.extend().await.is_ok();
    eventually("its holder extends it", Duration::from_secs(10), extended).await;
    drop(guard);
    redlock.shutdown().await.unwrap();
}

const PAGE: &str = include_str!("../../docs/deploying-masters.md");

/// Runs a script of the page in the folder with its files.
fn typed(folder: &std::path::Path, script: &str) {
    run(Command::new("sh").args(["-euc", script]).current_dir(folder));
}

#[tokio::test]
async fn a_password_is_rotated_as_the_page_says_and_no_lock_is_lost() {
    if !is_available() {
        return;
    }
    Project::sweep();
    let folder = tempfile::tempdir().unwrap();
    for name in ["compose.yml", "redis.conf", "users.acl"] {
        let file = format!("{}/docs/deploy/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::copy(file, folder.path().join(name)).unwrap();
    }
    typed(folder.path(), "chmod 755 . && chmod 644 users.acl");
    let (project, port) = (Project::new(), ReservedPort::new());
    up_in(folder.path(), &project, port.address().port());
    eventually_blocking("it answers", PATIENCE, || answers(port.address()));
    let label = format!("label=com.docker.compose.project={}", project.name());
    let container = docker(&["ps", "--quiet", "--filter", &label]);
    // As in the table of the page, but for compose itself, which is not the same program everywhere.
    let loads = "redis-cli --user operator ACL LOAD";
    assert!(PAGE.contains(loads));
    let load = || {
        let mut exec = vec!["exec", "-e", "REDISCLI_AUTH=change-me-too", &container];
        exec.extend(loads.split(' '));
        assert_eq!(docker(&exec), "OK");
    };
    let connect = async |password: &str| {
        let toml = format!(
            "nodes = [\"redis://locks:{password}@{}\"]\nrestart_guard = \"trust-persistence\"\n\
             ttl = \"30s\"\noperation_timeout = \"2s\"\nconnect_timeout = \"2s\"\n",
            port.address()
        );
        Redlock::builder().config(Config::from_toml(&toml).unwrap()).connect().await
    };
    let section = PAGE.split_once("## Another password").unwrap().1;
    let steps = blocks(section, "sh");
    let (add, take_back) = (steps[0], steps[1]);

    let old = connect("change-me").await.unwrap();
    let held = old.acquire("orders:42").keep_alive().await.unwrap();
    typed(folder.path(), &format!("password=a-new-one\n{add}"));
    load();
    let new = connect("a-new-one").await.unwrap();
    let also = new.acquire("orders:43").keep_alive().await.unwrap();
    assert!(new.try_acquire("orders:42").await.is_err_and(|error| error.is_contended()));
    let extends = async || held.extend().await.is_ok();
    eventually("the old client goes on", Duration::from_secs(10), extends).await;
    held.release().await.unwrap();
    old.shutdown().await.unwrap();

    let sum = "new=$(printf %s a-new-one | sha256sum | cut -d ' ' -f 1)";
    typed(folder.path(), &format!("{sum}\n{take_back}"));
    load();
    for restarts in [false, true] {
        if restarts {
            docker(&["restart", &container]);
            eventually_blocking("it answers", PATIENCE, || answers(port.address()));
        }
        let extends = async || also.extend().await.is_ok();
        eventually("the new client goes on", Duration::from_secs(15), extends).await;
        let refused = connect("change-me").await.map(drop).unwrap_err().to_string();
        assert!(refused.contains("WRONGPASS"), "{refused}");
    }
    also.release().await.unwrap();
    new.shutdown().await.unwrap();
}
