//! The names that a list of locks asks for, and those that it finds.

use super::Options;
use super::names::{LONGEST_RESOURCE, RESERVED};
use crate::error::InvalidSetting;

impl Options {
    /// Checks that names of resources can begin with `prefix`, which may be empty.
    pub(crate) fn check_prefix(&self, prefix: &str) -> Result<(), InvalidSetting> {
        let problem = if prefix.len() > LONGEST_RESOURCE {
            let len = prefix.len();
            format!("{len} bytes are more than {LONGEST_RESOURCE}: list a shorter prefix")
        } else if prefix.contains(RESERVED) || self.prefix_completes(prefix) {
            format!(
                "\"{prefix}\" leads to keys with \"{RESERVED}\", which are reserved and no locks: \
                 list another prefix"
            )
        } else {
            return Ok(());
        };
        Err(InvalidSetting::new("prefix", problem))
    }

    /// Returns the resource that a key in Redis stands for; `None` for keys of our own, and for
    /// what cannot be locked.
    pub(crate) fn resource_of<'a>(&self, key: &'a str) -> Option<&'a str> {
        let resource = key.strip_prefix(&self.key_prefix)?;
        self.check_resource(resource).is_ok().then_some(resource)
    }
}
