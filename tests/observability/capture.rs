//! A subscriber that records what it receives, for the thread that it is set on.

use crate::page::Event;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Metadata, Subscriber};

/// A span or an event.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) event: Event,
    pub(crate) fields: BTreeMap<String, String>,
    /// The enclosing span of an event, or the span itself.
    pub(crate) span: Option<u64>,
    /// The fields that were recorded after a span was created, each as often as it was.
    pub(crate) recorded: Vec<String>,
}

impl Entry {
    pub(crate) fn is(&self, name: &str) -> bool {
        self.event.name == name
    }

    /// Returns the value of the field; empty if it is not there.
    pub(crate) fn field(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", String::as_str)
    }
}

/// Spans and events on this thread since the subscriber was set.
#[derive(Clone, Default)]
pub(crate) struct Capture {
    entries: Arc<Mutex<Vec<Entry>>>,
    spans: Arc<AtomicU64>,
}

impl Capture {
    pub(crate) fn set() -> (Self, DefaultGuard) {
        let capture = Self::default();
        let guard = tracing::subscriber::set_default(capture.clone());
        (capture, guard)
    }

    pub(crate) fn entries(&self) -> Vec<Entry> {
        self.entries.lock().unwrap().clone()
    }

    pub(crate) fn named(&self, name: &str) -> Vec<Entry> {
        self.entries().into_iter().filter(|entry| entry.is(name)).collect()
    }

    fn keep(&self, metadata: &Metadata<'_>, mut fields: Fields, span: Option<u64>) {
        let name = match fields.0.remove("message") {
            Some(message) => message,
            None => metadata.name().to_owned(),
        };
        let kind = if metadata.is_span() { "span" } else { "event" };
        let (target, level) = (metadata.target().to_owned(), metadata.level().to_string());
        let event = Event { name, kind: kind.to_owned(), target, level };
        self.entries.lock().unwrap().push(Entry {
            event,
            fields: fields.0,
            span,
            recorded: Vec::new(),
        });
    }
}

#[derive(Default)]
struct Fields(BTreeMap<String, String>);

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }
}

impl Subscriber for Capture {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("quorumlock")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let id = self.spans.fetch_add(1, Ordering::Relaxed) + 1;
        let mut fields = Fields::default();
        span.record(&mut fields);
        self.keep(span.metadata(), fields, Some(id));
        Id::from_u64(id)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let mut fields = Fields::default();
        values.record(&mut fields);
        let mut entries = self.entries.lock().unwrap();
        let id = Some(span.into_u64());
        let span = entries.iter_mut().find(|entry| entry.event.kind == "span" && entry.span == id);
        let span = span.expect("a span");
        span.recorded.extend(fields.0.keys().cloned());
        span.fields.extend(fields.0);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        self.keep(event.metadata(), fields, event.parent().map(Id::into_u64));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
