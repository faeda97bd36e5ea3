//! The picture of a run: the holders of each lock over time, the faults of the masters, and the
//! verdict on top.
//!
//! Values in, one text out: no clock, no file, nothing of the crate, so that integration tests and
//! tests inside the crate include the same files. The same timeline gives the same picture.

// Each including test uses only a part of it.
#![allow(dead_code, unused_imports)]

mod html;
mod marks;
mod model;
mod overlaps;
mod rows;
mod scale;
mod style;
mod svg;
mod text;
mod tracks;

pub(crate) use model::{
    Client, Ended, Fault, Hold, Master, Span, State, Timeline, Verdict, Violation,
};
pub(crate) use overlaps::{Overlap, overlaps};

impl Timeline {
    /// Returns one page that needs nothing else: no network, no script.
    pub(crate) fn to_html(&self) -> String {
        html::page(self)
    }

    /// Returns the picture alone, with its verdict, for a document to show as an image.
    pub(crate) fn to_svg(&self) -> String {
        svg::picture(self, svg::Header::Shown)
    }
}
