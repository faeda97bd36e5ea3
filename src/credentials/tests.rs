use super::*;
use crate::{Redlock, RedlockBuilder};
use std::fs;
use std::time::Duration;

/// Returns what a file with this content is read as, or the problem without the path.
fn read(content: &[u8]) -> Result<Credentials, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret");
    fs::write(&path, content).unwrap();
    let path_of = |problem: String| problem.replace(&*path.display().to_string(), "FILE");
    super::read(&path).map_err(path_of)
}

#[test]
fn a_file_has_a_password_or_a_user_and_a_password() {
    for content in ["p:w d", "p:w d\n", "p:w d\r\n"] {
        assert_eq!(read(content.as_bytes()), Ok(Credentials::password("p:w d")), "{content:?}");
    }
    for content in ["app\np", "app\np\n", "app\r\np\r\n"] {
        assert_eq!(read(content.as_bytes()), Ok(Credentials::new("app", "p")), "{content:?}");
    }
}

#[test]
fn a_file_that_cannot_be_used_says_why_and_shows_nothing_of_itself() {
    for (content, problem) in [
        (&b""[..], "FILE is empty: write the password there, or the user and then the password"),
        (b"\n", "FILE is empty: write the password there, or the user and then the password"),
        (b"hunter2\n\n", "FILE has an empty line: write the user, then the password"),
        (b"\nhunter2", "FILE has an empty line: write the user, then the password"),
        (b"a\nhunter2\nb", "FILE has more than two lines: write the user, then the password"),
        (b"\xff\xfe", "FILE cannot be read: it is not UTF-8"),
        (&[b'x'; 70_000], "FILE cannot be read: it is longer than 64 KiB, which no password is"),
    ] {
        assert_eq!(read(content), Err(problem.to_owned()));
    }
    let missing = super::read(std::path::Path::new("/nowhere/secret")).unwrap_err();
    assert!(missing.starts_with("/nowhere/secret cannot be read: "), "{missing}");
}

#[test]
fn nothing_that_is_printed_of_credentials_has_the_password() {
    let given = Credentials::new("app", "hunter2").expires_in(Duration::from_secs(9));
    assert_eq!(
        format!("{given:?}"),
        r#"Credentials { username: Some("app"), password: "***", expires_in: Some(9s) }"#
    );
    let builder = Redlock::builder();
    let builder = builder.credentials(async |_| Ok::<_, String>(Credentials::password("hunter2")));
    assert!(!format!("{builder:?}").contains("hunter2"));
}

fn refusal(builder: RedlockBuilder) -> String {
    builder.masters().err().expect("a refusal").to_string()
}

#[test]
fn a_password_in_an_address_contradicts_a_provider() {
    let provided = || {
        let builder = Redlock::builder();
        builder.credentials(async |_| Ok::<_, String>(Credentials::password("p")))
    };
    let twice = provided().nodes(["redis://a", "redis://app:hunter2@b"]);
    assert_eq!(
        refusal(twice),
        "credentials: b:6379 has a password in its address, and a provider of credentials takes its \
         place: leave one of them out"
    );
    let (masters, _) = provided().node("redis://app@a/3").masters().unwrap();
    assert_eq!(masters[0].login.username.as_deref(), Some("app"));
}

#[test]
fn a_file_that_is_missing_at_the_start_is_a_setting_that_cannot_work() {
    let missing = Redlock::builder().node("redis://a").credentials_file("/nowhere/secret");
    let refusal = refusal(missing);
    assert!(refusal.starts_with("credentials_file: /nowhere/secret cannot be read: "), "{refusal}");
}
