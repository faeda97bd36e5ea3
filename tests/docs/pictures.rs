//! The picture of a run: its contents, their places, and that a browser shows it.

mod browser;
mod chromium;
mod drawing;
mod overlapping;
mod reading;
mod scenes;
#[path = "../support/timeline/mod.rs"]
mod timeline;
