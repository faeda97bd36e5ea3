//! Rules that are broken on purpose and properties, each with its name.

use std::fmt::Debug;

/// Values with names.
pub trait Named: Copy + PartialEq + Debug + 'static {
    const ALL: &'static [Self];

    fn words(self) -> &'static str;
}

/// Declares an enumeration whose values are written with their names.
macro_rules! named {
    ($(#[$about:meta])* pub enum $of:ident {
        $($(#[$what:meta])* $name:ident: $words:literal,)*
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $of { $($(#[$what])* $name,)* }

        impl $crate::named::Named for $of {
            const ALL: &'static [Self] = &[$(Self::$name,)*];

            fn words(self) -> &'static str {
                match self { $(Self::$name => $words,)* }
            }
        }
    };
}

pub(crate) use named;
