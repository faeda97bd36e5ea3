//! The settings of a run, which are built up step by step, and their bounds in words.

use crate::named::Named;

/// The settings of one run.
pub trait Settings: Clone {
    type Mutant: Named;

    fn name(&self) -> &'static str;

    fn states(&self) -> usize;

    /// Returns the rule that is broken on purpose.
    fn broken(&self) -> Option<Self::Mutant>;

    fn unbroken(self) -> Self;
}

/// Declares the steps that build a `Config`: a step each that sets a value of every client or attempt
/// of a list, that sets a value of the run, and that turns something on.
macro_rules! settings {
    (
        $(each $list:ident { $($field:ident: $kind:ty),* })?
        set { $($value:ident: $of:ty),* }
        on { $($flag:ident),* }
    ) => {
        impl Config {
            $($(
                pub fn $field(mut self, values: &[$kind]) -> Self {
                    self.$list.iter_mut().zip(values).for_each(|(item, value)| item.$field = *value);
                    self
                }
            )*)?

            $(
                pub fn $value(mut self, $value: $of) -> Self {
                    self.$value = $value;
                    self
                }
            )*

            $(
                pub fn $flag(mut self) -> Self {
                    self.$flag = true;
                    self
                }
            )*

            pub fn name(mut self, name: &'static str) -> Self {
                self.name = name;
                self
            }

            pub fn restarts(mut self, restarts: u8) -> Self {
                self.restarts = restarts;
                self
            }

            pub fn mutant(mut self, mutant: Mutant) -> Self {
                self.mutant = Some(mutant);
                self
            }

            pub fn is(&self, mutant: Mutant) -> bool {
                self.mutant == Some(mutant)
            }
        }

        impl $crate::settings::Settings for Config {
            type Mutant = Mutant;

            fn name(&self) -> &'static str {
                self.name
            }

            fn states(&self) -> usize {
                self.states
            }

            fn broken(&self) -> Option<Mutant> {
                self.mutant
            }

            fn unbroken(self) -> Self {
                Self { mutant: None, ..self }
            }
        }
    };
}

pub(crate) use settings;

pub(crate) fn plural(count: impl Into<usize>, what: &str) -> String {
    let count = count.into();
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Returns what there is some of.
pub(crate) fn counted<const N: usize>(counts: [(u8, &str); N]) -> impl Iterator<Item = String> {
    let some = counts.into_iter().filter(|(count, _)| *count > 0);
    some.map(|(count, what)| plural(count, what))
}

/// Returns in how many clients the attempts are, if that is fewer.
pub(crate) fn of_clients(clients: impl Iterator<Item = u8>) -> Option<String> {
    let mut clients: Vec<u8> = clients.collect();
    let attempts = clients.len();
    clients.sort_unstable();
    clients.dedup();
    (clients.len() < attempts).then(|| format!("of {}", plural(clients.len(), "client")))
}

/// Returns the nodes of a list, as `{1,2,3}`.
pub(crate) fn list(bits: u8) -> String {
    let names: Vec<String> =
        crate::masters::members(bits).map(|node| (node + 1).to_string()).collect();
    format!("{{{}}}", names.join(","))
}
