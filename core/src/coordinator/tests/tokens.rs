//! The tokens of one process.

use crate::shared::Random;
use crate::wire::Token;

/// Bits of which both halves differ each time.
struct Halves(u128);

impl Random for Halves {
    fn bits(&mut self) -> Option<u128> {
        self.0 += 1;
        Some((self.0 << 64) | self.0)
    }
}

#[test]
fn all_tokens_of_a_process_begin_with_its_mailbox_and_none_comes_twice() {
    let drawn = |begins_with_a_token: bool| -> Vec<String> {
        let mut stage = super::open(1);
        let masters = &mut stage.machine.at.cx.masters;
        masters.random = Box::new(Halves(0xa0));
        let mailbox = (!begins_with_a_token).then(|| masters.mailbox().expect("random bits"));
        let tokens: Vec<Token> = (0..3).map(|_| masters.token().expect("random bits")).collect();
        let mailbox = mailbox.or_else(|| masters.mailbox());
        assert!(tokens.iter().all(|token| Some(token.mailbox()) == mailbox));
        tokens
            .iter()
            .map(|token| token.digits()[14..].iter().map(|digit| char::from(*digit)).collect())
            .collect()
    };
    let ends = |last: [&str; 3]| last.map(|last| format!("a1{last:0>16}")).to_vec();
    assert_eq!(drawn(true), ends(["a1", "a2", "a3"]));
    assert_eq!(drawn(false), ends(["a2", "a3", "a4"]));
}
