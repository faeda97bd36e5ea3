//! `Debug` of an error is its `Display`: it is what a `main` that returns the error prints, and `unwrap`.

macro_rules! debug_is_display {
    ($($({ $($of:tt)+ })? $error:ty),+ $(,)?) => {$(
        impl $(<$($of)+>)? std::fmt::Debug for $error {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }
    )+};
}
