//! A file as the store.

use crate::support::other::OneFile;
use crate::support::token;
use crate::{cases, storm};
use quorumlock_fencing::{FenceError, envelope, file::FencedFile};
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread")]
async fn it_refuses_what_is_stale() {
    let folder = tempfile::tempdir().unwrap();
    let store = OneFile(folder.path().join("played"));
    cases::play(&store).await;
    cases::still_fenced(&store).await;
    cases::at_once((0..16).map(|_| OneFile(folder.path().join("at once"))).collect()).await;
}

#[test]
fn a_file_without_a_token_is_damaged_and_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    for content in ["", "of a writer without a token", "fencing-token 0000000000000000\nzero"] {
        fs::write(&path, content).unwrap();
        for result in [
            FencedFile::new(&path).write(token(9), b"write"),
            FencedFile::new(&path).read(token(9)).map(drop),
        ] {
            let error = result.unwrap_err();
            assert!(matches!(error, FenceError::Damaged(_)), "{error}");
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
    }
}

#[test]
fn a_read_of_no_file_raises_and_others_read_without_a_lock() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let file = FencedFile::new(&path);
    assert_eq!(file.read(token(9)).unwrap(), b"");
    assert!(matches!(file.write(token(7), b"stale"), Err(FenceError::Stale(_))));
    file.write(token(9), b"nine").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    file.write(token(10), b"ten").unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(envelope::open(&fs::read(&path).unwrap()), Ok((token(10), &b"ten"[..])));
}

#[test]
fn what_a_writer_left_that_died_before_its_rename_does_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let file = FencedFile::new(folder.path().join("data"));
    file.write(token(9), b"nine").unwrap();
    fs::write(folder.path().join("data.tmp"), "fencing-token 00000000000000").unwrap();
    assert_eq!(file.read(token(9)).unwrap(), b"nine");
    file.write(token(9), b"again").unwrap();
    assert_eq!(file.read(token(10)).unwrap(), b"again");
}

#[test]
fn a_write_waits_for_the_lock_and_compares_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let file = FencedFile::new(&path);
    file.write(token(7), b"seven").unwrap();
    let lock = File::open(folder.path().join("data.lock")).unwrap();
    flock(&lock, FlockOperation::LockExclusive).unwrap();
    let waiting = std::thread::spawn(move || file.write(token(7), b"late"));
    std::thread::sleep(Duration::from_millis(200));
    assert!(!waiting.is_finished());
    fs::write(&path, envelope::seal(token(9), b"nine")).unwrap();
    drop(lock);
    assert!(matches!(waiting.join().unwrap(), Err(FenceError::Stale(_))));
    assert_eq!(envelope::open(&fs::read(&path).unwrap()), Ok((token(9), &b"nine"[..])));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_storm_of_paused_holders_loses_nothing_with_the_kit() {
    let folder = tempfile::tempdir().unwrap();
    storm::both::<OneFile>(folder.path().join("data").to_str().unwrap()).await;
}
