//! Inspecting a lock, and taking it away.

use super::{play, play_from_the_start};

#[test]
fn every_master_is_asked_and_waited_for() {
    play(
        3,
        "inspect 1 r
         n1-3 < EVAL inspect 1 r
         n1 > nil
         n2 > stands 1500 who
         = -
         n3 > stands -1 who
         = inspected 1: free | who for 1500ms | who for ever",
    );
}

#[test]
fn as_many_wait_as_the_master_with_the_longest_list_says() {
    for (third, waiting) in [
        ("queued 2", "free, 7 waiting"),
        ("queued 9", "free, 9 waiting"),
        ("queued -1", "free, 7 waiting"),
        ("-ERR", "error of the server (ERR), 7 waiting"),
    ] {
        let script = format!(
            "inspect 1 r all
             n1-3 < EVAL inspect 4 r readers waitlist:r waitlist-due:r
             n1 > queued 4
             n2 > queued 7 1500 quorumlock:next:who
             n3 > {third}
             = inspected 1: free | quorumlock:next:who for 1500ms | {waiting}"
        );
        play(3, &script);
    }
    play(
        3,
        "inspect 1 r all
         n1-3 < EVAL ..
         n1 > queued 0 700 who
         n2-3 > queued -1
         = inspected 1: who for 700ms | free | free, 0 waiting",
    );
}

#[test]
fn what_is_in_the_way_is_known_once_a_quorum_has_answered_for_each_key() {
    play(
        3,
        "ways 1 a b
         n1-3 < EVAL look 1 a
         n1-3 < EVAL look 1 b
         n1 > 700
         n1 > -2
         n2 > 600
         = -
         n2 > -2
         = in the way of 1: holder nothing
         n3 > 600
         n3 > 600
         = -",
    );
}

#[test]
fn a_silent_master_is_given_up_after_the_operation_timeout() {
    play(
        3,
        "n3 breaks
         inspect 1 r
         n1-2 < EVAL inspect 1 r
         n1 > nil
         +199ms
         = -
         +1ms
         = inspected 1: free | no answer in time | down (reset by peer)
         n2 > nil                       // too late, and harmless
         +50ms
         n3 < DIAL",
    );
    play_from_the_start(1, "n1 < DIAL \n inspect 1 r \n = inspected 1: down (not connected yet)");
}

#[test]
fn what_is_no_answer_or_comes_from_a_lost_connection_is_unknown() {
    play(
        3,
        "inspect 1 r
         n1-3 < EVAL inspect 1 r
         n1 > -WRONGTYPE Operation against a key holding the wrong kind of value
         n2 > 7
         n3 breaks
         = inspected 1: error of the server (WRONGTYPE Operation against a key holding the wrong \
           kind of value) | error of the server (unexpected reply int(7)) | connection lost \
           (reset by peer)",
    );
}

#[test]
fn a_forced_release_is_a_compare_and_delete_of_what_was_seen() {
    play(
        3,
        "force 1 r who
         n1-3 < EVAL shorten 1 r who 0
         n1 > 1
         n2 > 0
         = -                            // each master that is reached deletes it
         n3 > 1
         = forced 1: deleted | no key there | deleted",
    );
}

#[test]
fn it_is_unconfirmed_without_a_quorum() {
    play(
        3,
        "n3 breaks
         force 1 r who
         n1-2 < EVAL shorten 1 r who 0
         n1 > 1
         n2 > -READONLY You can't write against a read only replica.
         = not forced 1: deleted | error of the server (READONLY You can't write against a read \
           only replica.) | down (reset by peer)
         +50ms
         n3 < DIAL",
    );
}

#[test]
fn the_former_holder_learns_by_extending_and_tops_nothing_up() {
    play(
        3,
        "acquire 1 r
         n1-3 < SET ..
         n1-3 > ok
         = acquired 1 ..
         extend 2 of 1
         n1-3 < EVALSHA ..
         n1-2 > 0
         = lost 1: quorum gone: ..
         = extend 2 lost
         n3 > 0
         n1-3 < -",
    );
}
