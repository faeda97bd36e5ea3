//! A lock that is lost before its work has ended stays closed, too.

use super::play;

/// Three masters that have granted `r` to request 1, for 10 s and for 20 s at least.
fn held(script: &str) {
    play(
        3,
        &format!(
            "acquire 1 r least 20s
             n1-3 < SET r #1 NX PX 20202
             n1-3 > ok
             = acquired 1 until 9898ms
             {script}"
        ),
    );
}

/// What a lost holder has begun may be as far as that of one that has crashed.
#[test]
fn what_was_lost_stays_until_it_expires() {
    held("+9.898s \n = lost 1: lapsed \n finish 2 of 1 \n = release 2 lost: lapsed \n n1-3 < -");
    held("+9.898s \n = lost 1: lapsed \n drop 1 \n n1-3 < - \n debts 0");
}

/// Its keys may live for no longer than those of any other lock, and stay all the same.
#[test]
fn what_was_lost_stays_if_its_ttl_is_the_longer_one() {
    for end in ["drop 1", "finish 2 of 1 \n = release 2 lost: lapsed"] {
        play(
            3,
            &format!(
                "acquire 1 r least 5s
                 n1-3 < SET r #1 NX PX 10000
                 n1-3 > ok
                 = acquired 1 until 9898ms
                 +9.898s
                 = lost 1: lapsed
                 {end}
                 n1-3 < -
                 debts 0"
            ),
        );
    }
}
