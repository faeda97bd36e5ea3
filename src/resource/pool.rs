//! The slots of a semaphore: any one of them is a permit.

use crate::failure::InvalidSetting;
use crate::options::Options;
use quorumlock_core::coordinator::Slots;
use std::sync::Arc;

/// As a semaphore was created.
#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) resource: Arc<str>,
    /// As many as were asked for, if there may be so many.
    pub(crate) permits: usize,
    pub(crate) slots: Arc<Slots>,
}

impl Pool {
    pub(crate) fn check(&self, options: &Options) -> Result<(), InvalidSetting> {
        options.check_resource(&self.resource)?;
        let problem = match self.permits {
            0 => "must be at least 1".to_owned(),
            more if more > usize::from(Slots::MOST) => {
                format!("{more} are more than {}", Slots::MOST)
            }
            _ => return Ok(()),
        };
        Err(InvalidSetting::new("permits", problem))
    }
}
