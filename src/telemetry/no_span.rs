//! The empty span of an acquire without `tracing`.

#[derive(Clone)]
pub(crate) struct Span;

impl Span {
    pub(crate) const fn none() -> Self {
        Self
    }

    #[inline]
    pub(crate) const fn acquire(_resource: &str, _fenced: bool, _shared: bool) -> Self {
        Self
    }

    #[inline]
    pub(crate) const fn reused(&self) {}
}
