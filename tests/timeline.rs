//! The picture of a run: its contents, their places, and that a browser shows it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "timeline/browser.rs"]
mod browser;
#[path = "timeline/chromium.rs"]
mod chromium;
#[path = "timeline/drawing.rs"]
mod drawing;
#[path = "timeline/overlapping.rs"]
mod overlapping;
#[path = "timeline/reading.rs"]
mod reading;
#[path = "timeline/scenes.rs"]
mod scenes;
#[path = "support/timeline/mod.rs"]
mod timeline;
