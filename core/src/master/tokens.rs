//! The tokens that this process draws.

use super::Masters;
use crate::wire::{Mailbox, Token};

impl Masters {
    /// Draws a token, which was never used before and never is again; `None` if there are no random bits.
    pub(crate) fn token(&mut self) -> Option<Token> {
        let random = self.random.bits()?;
        let mailbox = *self.mailbox.get_or_insert(Mailbox::new(random));
        Some(Token::drawn(mailbox, random))
    }

    /// Returns the mailbox of this process, if it has one by now.
    pub const fn known_mailbox(&self) -> Option<Mailbox> {
        self.mailbox
    }

    /// Returns the mailbox of this process, in which all of its tokens begin; `None` if there are no random
    /// bits.
    pub(crate) fn mailbox(&mut self) -> Option<Mailbox> {
        if self.mailbox.is_none() {
            self.mailbox = Some(Mailbox::new(self.random.bits()?));
        }
        self.mailbox
    }
}
