//! The readers of a lock, as an inspection finds them.

use super::{Holder, InspectError, Inspection, Named};
use crate::failure::{Closed, InvalidSetting};
use crate::options::readers_key;
use crate::redlock::Redlock;
use crate::report::{Escaped, NodeReport, Span};
use quorumlock_core::coordinator::{Event, Question, SHARED};
use std::fmt;
use std::sync::Arc;

/// The most readers that a line names.
const NAMED: usize = 8;

impl Redlock {
    /// Takes the lock away from one reader that `inspection` found, and from no other. Others go on
    /// to read. As with [`force_release`](Self::force_release), that reader continues to believe that
    /// it holds the lock until its next extension, or its deadline.
    ///
    /// ```no_run
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::InspectError> {
    /// let inspection = redlock.inspect("table:7").await?;
    /// let readers = inspection.holder().map(|holder| holder.readers()).unwrap_or_default();
    /// if let Some(dead) = readers.iter().find(|reader| reader.label() == Some("worker-7")) {
    ///     redlock.force_release_reader(&inspection, dead).await?;
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// - [`InspectError::Unconfirmed`]: too few masters answered in time; try again.
    /// - [`InspectError::Closed`]: after a shutdown.
    ///
    /// # Cancel safety
    ///
    /// Once polled, it continues even if this future is dropped.
    pub async fn force_release_reader(
        &self,
        inspection: &Inspection,
        reader: &Holder,
    ) -> Result<Vec<NodeReport>, InspectError> {
        self.release_readers(inspection, std::slice::from_ref(reader)).await
    }

    /// Takes it away from these readers, all at once, and returns the answers about the last.
    pub(super) async fn release_readers(
        &self,
        inspection: &Inspection,
        readers: &[Holder],
    ) -> Result<Vec<NodeReport>, InspectError> {
        if readers.is_empty() {
            let problem = format!("the readers of {} are not known: inspect it", Named(inspection));
            return Err(InvalidSetting::new("inspection", problem).into());
        }
        let key = readers_key(&inspection.key, &inspection.resource);
        let take_away = |reader| self.take_away(inspection, Some(key.clone()), reader);
        let answers: Vec<_> = readers.iter().map(take_away).collect();
        let mut reports = Vec::new();
        for answer in answers {
            reports = answer.await?;
        }
        Ok(reports)
    }

    /// Sends the request to take it away, and returns where its answer comes. `readers` is their key,
    /// if the holder is one of them.
    pub(super) fn take_away(
        &self,
        inspection: &Inspection,
        readers: Option<Arc<str>>,
        holder: &Holder,
    ) -> impl Future<Output = Result<Vec<NodeReport>, InspectError>> + use<'_> {
        let (key, value) = (inspection.key.clone(), holder.value.clone());
        let asked = self.driver().ask(move |machine, now, request| {
            let question = Question::force_release(request, &key, readers.as_deref(), value);
            machine.handle_question(now, question);
        });
        async {
            match self.driver().answer(asked).await? {
                Event::ForceReleased { result, .. } => result.map_err(InspectError::Unconfirmed),
                _ => Err(Closed::ENDED.into()),
            }
        }
    }
}

impl Holder {
    /// Checks whether the lock is held by readers: see [`RwLock::read`](crate::RwLock::read).
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.value.as_text() == Some(SHARED)
    }

    /// Returns the readers, if the lock is held by readers, each with its label and the time that it
    /// has yet to live; the last to end come first. By quorum, these are the readers that a quorum
    /// has. Of more than 100 on one master, only the last to end. Empty for a writer, and where the
    /// masters' user has no right to see readers (`zrange`).
    #[must_use]
    pub fn readers(&self) -> &[Self] {
        &self.readers
    }

    pub(super) fn fmt_readers(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("read by ")?;
        for (place, reader) in self.readers.iter().take(NAMED).enumerate() {
            f.write_str(if place == 0 { "" } else { ", " })?;
            write!(f, "{}", Escaped(reader.label().unwrap_or("unnamed")))?;
            if let Some(left) = reader.remaining {
                write!(f, " for {}", Span(left))?;
            }
        }
        match self.readers.len() {
            0 => f.write_str("others"),
            all if all > NAMED => write!(f, " and {} more", all - NAMED),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quorumlock_core::coordinator::StoredValue;
    use std::time::Duration;

    #[test]
    fn readers_are_named_by_label_with_their_time_and_never_by_token() {
        let token = "0123456789abcdef0123456789abcdef";
        let life = |seconds| Some(Duration::from_secs(seconds));
        let mut shared = StoredValue::new(SHARED.into(), life(9));
        let text = |stored: &StoredValue| Holder::of(stored.clone()).to_string();
        assert_eq!(text(&shared), "read by others, expires in 9 s");
        let named = StoredValue::new(format!("{token}:worker-7").into(), life(9));
        shared.readers = vec![named, StoredValue::new(token.into(), life(3))];
        let line = "read by worker-7 for 9 s, unnamed for 3 s, expires in 9 s";
        assert_eq!(text(&shared), line);
        shared.readers = vec![StoredValue::new(token.into(), life(3)); 10];
        assert!(text(&shared).contains(", unnamed for 3 s and 2 more, expires"));
        assert!(!format!("{:?}", Holder::of(shared)).contains("0123"));
    }
}
