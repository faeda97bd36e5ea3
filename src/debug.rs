//! `Debug` that is not derived.

/// `Debug` of an error is its `Display`: it is what a `main` that returns the error prints, and `unwrap`.
macro_rules! debug_is_display {
    ($($({ $($of:tt)+ })? $error:ty),+ $(,)?) => {$(
        impl $(<$($of)+>)? std::fmt::Debug for $error {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }
    )+};
}

/// `Debug` shows these fields, and two dots for the rest: a token, or what cannot be shown.
macro_rules! debug_fields {
    (
        $(#[$about:meta])* $({ $($of:tt)+ })? $name:ident $(<$arg:ident>)?
        $(, $this:ident { $($field:ident: $value:expr),+ $(,)? })?
    ) => {
        $(#[$about])*
        impl $(<$($of)+>)? std::fmt::Debug for $name $(<$arg>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let mut shown = f.debug_struct(stringify!($name));
                $(
                    let $this = self;
                    $(shown.field(stringify!($field), &$value);)+
                )?
                shown.finish_non_exhaustive()
            }
        }
    };
}
