//! What can be locked.

use std::borrow::Cow;
use std::sync::Arc;

/// The name of what is to be locked: a `&str`, a `String`, an `Arc<str>`, a `Cow<str>`.
///
/// Sealed, so that what else can name a resource may be added later.
pub trait IntoResource: sealed::Sealed {
    #[doc(hidden)]
    fn into_resource(self) -> Arc<str>;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! names_a_resource {
    ($($type:ty),*) => {$(
        impl sealed::Sealed for $type {}

        impl IntoResource for $type {
            fn into_resource(self) -> Arc<str> {
                self.into()
            }
        }
    )*};
}

names_a_resource!(&str, String, Arc<str>, Box<str>, Cow<'_, str>);

impl sealed::Sealed for &String {}

impl IntoResource for &String {
    fn into_resource(self) -> Arc<str> {
        self.as_str().into()
    }
}
