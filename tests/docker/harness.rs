//! Tests of the masters in containers: each fault does what it says, and nothing is left behind.

use crate::helper::{self, Helper};
use crate::support::docker::{Containers, Fault, Profile, Project, docker, is_available, tell};
use crate::support::poll::eventually_blocking;
use std::io::ErrorKind;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Long enough for Docker to do what it is asked, even on a busy machine.
const SOON: Duration = Duration::from_secs(30);
/// Time for which the test listens to a silent connection.
const SILENCE: Duration = Duration::from_millis(100);

async fn dial(masters: &Containers, node: usize) -> std::io::Result<TcpStream> {
    TcpStream::connect(masters.address(node)).await
}

async fn set(masters: &Containers, node: usize) {
    masters.ask::<()>(node, redis::cmd("SET").arg("key").arg("value")).await.unwrap();
}

async fn has_key(masters: &Containers, node: usize) -> bool {
    masters.keys().await[node] == ["key"]
}

async fn is_silent(client: &mut TcpStream) -> bool {
    client.write_all(b"PING\r\n").await.unwrap();
    tokio::time::timeout(SILENCE, client.read_u8()).await.is_err()
}

/// Creates a volume, the least that a project can leave behind.
fn create_volume(project: &str) {
    let label = format!("com.docker.compose.project={project}");
    docker(&["volume", "create", "--label", &label, project]);
}

#[tokio::test]
async fn each_fault_is_what_it_says_on_the_published_port() {
    let Some(masters) = Containers::start(Profile::Volatile).await else { return };
    set(&masters, 0).await;
    let mut client = dial(&masters, 0).await.unwrap();

    masters.strike(Fault::Paused, 0);
    assert!(is_silent(&mut client).await, "an open connection");
    assert!(is_silent(&mut dial(&masters, 0).await.unwrap()).await, "a new connection");
    masters.heal(Fault::Paused, 0);
    assert_eq!(client.read_u8().await.unwrap(), b'+', "what was sent arrives late");
    assert!(has_key(&masters, 0).await, "a pause keeps the memory");

    for fault in [Fault::Disconnected, Fault::Killed] {
        let mut client = dial(&masters, 0).await.unwrap();
        masters.strike(fault, 0);
        assert!(!matches!(client.read(&mut [0; 64]).await, Ok(1..)), "{fault:?}: it ends");
        let refused = dial(&masters, 0).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused, "{fault:?}");
        masters.heal(fault, 0);
        let kept = has_key(&masters, 0).await;
        assert_eq!(kept, fault == Fault::Disconnected, "{fault:?}: is the key kept");
    }
}

#[tokio::test]
async fn a_durable_master_keeps_its_keys_and_a_panic_leaves_nothing() {
    let Some(masters) = Containers::start(Profile::Durable).await else { return };
    set(&masters, 4).await;
    masters.kill(4);
    masters.restart(4);
    assert!(has_key(&masters, 4).await);

    let project = masters.project().to_owned();
    assert!(Project::all().contains(&project));
    let panicked = tokio::spawn(async move {
        // In the states that are hardest to take down.
        masters.pause(1);
        masters.disconnect(2);
        panic!("as asked, with {}", masters.project());
    });
    assert!(panicked.await.unwrap_err().is_panic());
    assert!(!Project::all().contains(&project));
}

#[test]
fn a_test_that_is_killed_leaves_nothing() {
    if !is_available() {
        return;
    }
    let mut helper = Helper::start("harness::helper_that_is_killed", "project=");
    let project = helper.announced.clone();
    assert!(Project::all().contains(&project));
    helper.process.kill().unwrap();
    assert!(!helper.process.wait().unwrap().success());
    let gone = || !Project::all().contains(&project);
    eventually_blocking(&format!("{project} is gone"), SOON, gone);
}

#[test]
#[ignore = "not a test: the process that the test above starts and kills"]
fn helper_that_is_killed() {
    if !helper::is_started() {
        return;
    }
    let project = Project::new();
    create_volume(project.name());
    tell(&format!("project={}", project.name()));
    std::thread::sleep(SOON);
}

#[test]
fn leftovers_of_dead_processes_are_swept_and_of_live_ones_kept() {
    if !is_available() {
        return;
    }
    let (living, dead) = (Project::new(), "quorumlock-test-4194305-1-0");
    create_volume(living.name());
    create_volume(dead);
    Project::sweep();
    let all = Project::all();
    assert!(all.contains(living.name()) && !all.contains(dead), "{all:?}");
    let name = living.name().to_owned();
    drop(living);
    assert!(!Project::all().contains(&name));
}
