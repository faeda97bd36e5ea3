//! The settings of other clients of a master, compared with ours.

use super::*;
use std::time::Duration;

/// Returns the findings where this is recorded; the master's clock shows 1,000 s.
fn found_beside(noted: &[(&str, &str)]) -> Vec<String> {
    let mut heard = heard([
        (Question::InfoMemory, text("maxmemory:0\r\n")),
        (Question::Noted, map(noted)),
        (Question::NotedLife, Reply::Int(7_000)),
    ]);
    let asked_at = Duration::from_secs(1_000);
    let reply = Reply::Array(vec![text("1000"), text("0")]);
    heard.times.push(TimeSample { asked: NOW, asked_at, round_trip: Duration::ZERO, reply });
    judged(&heard).findings.iter().map(ToString::to_string).collect()
}

#[test]
fn what_other_clients_have_noted_is_compared_with_ours() {
    let alike = [("max_ttl", "20000"), ("window back", "2000"), ("window ahead", "2000")];
    for lists in ["lists\na b\nc\n", "lists\na b\n", "lists\nd\nc\n"] {
        let noted = [&alike[..], &[(lists, "1000001")]].concat();
        assert_eq!(found_beside(&noted), [""; 0], "{lists:?}");
    }
    assert_eq!(found_beside(&[]), [""; 0]);
    let equal = "make them equal, or stop all clients and wait 7 s";
    for (field, value, difference) in [
        ("max_ttl", "30000", "max_ttl is 20s here and 30s"),
        ("window back", "2001", "fencing_window is 2s here and 2s 1ms"),
        ("window ahead", "1999", "fencing_window is 2s here and 1s 999ms"),
    ] {
        let finding = format!("failure: {difference} with another client: {equal}");
        assert_eq!(found_beside(&[(field, value)]), [finding]);
    }
    let finding = |theirs| {
        format!(
            "failure: this client's masters are [a, b] and [c], another client's {theirs}: two such \
             clients could both win; name both lists while masters change, with \
             joint_with, or wait 3 s after the other has stopped"
        )
    };
    for (lists, until, theirs) in [
        ("lists\na\n", "1003000", Some("[a]")),
        ("lists\na c\nb c\n", "1003000", Some("[a, c] and [b, c]")),
        // Out of use.
        ("lists\na\n", "1000000", None),
    ] {
        assert_eq!(found_beside(&[(lists, until)]), Vec::from_iter(theirs.map(finding)));
    }
    assert_eq!(found_beside(&[("lists\nd\n", "1003000"), ("max_ttl", "1")]).len(), 2);
}
