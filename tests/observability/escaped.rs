//! What is reported as a text is one line, whatever the name is; fields that are names have them as they
//! are, for the subscriber to escape.

use crate::capture::Capture;
use quorumlock::embedded::Masters;

#[tokio::test]
async fn a_text_in_an_event_stays_one_line_whatever_the_name_is() {
    let name = "order:1\nforged line \u{1b}[31m\u{202e}";
    let (capture, _capturing) = Capture::set();
    let masters = Masters::start_in_memory(3).unwrap();
    let (holder, other) = (masters.builder(), masters.builder());
    let holder = holder.connect().await.unwrap();
    let other = other.connect().await.unwrap();
    let guard = holder.acquire(name).await.unwrap();
    other.try_acquire(name).await.unwrap_err();
    let inspection = other.inspect(name).await.unwrap();
    other.force_release(&inspection).await.unwrap();
    guard.extend().await.unwrap_err();

    let refused = capture.named("not acquired").remove(0);
    assert_eq!(refused.field("resource"), name);
    let shown = r#""order:1\nforged line \u{1b}[31m\u{202e}" is held by "#;
    assert!(refused.field("error").starts_with(shown), "{refused:?}");
    for entry in capture.entries() {
        for (field, value) in entry.fields.iter().filter(|(field, _)| *field != "resource") {
            assert!(!value.contains(['\n', '\u{1b}', '\u{202e}']), "{field}: {value:?}");
        }
    }
}
