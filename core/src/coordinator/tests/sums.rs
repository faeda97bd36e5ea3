//! Sums of all that a stage's machine sends: `scripts/same-bytes` compares them with those of another commit.

/// A sum of the bytes sent to each master, printed at the end where the script has built the tests.
pub(super) struct Sums(Vec<u64>);

impl Sums {
    pub(super) fn new(masters: usize) -> Self {
        Self(vec![0xcbf2_9ce4_8422_2325; masters])
    }

    /// Adds what was sent to a master: FNV-1a.
    pub(super) fn add(&mut self, node: usize, bytes: &[u8]) {
        for byte in bytes {
            self.0[node] = (self.0[node] ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

impl Drop for Sums {
    fn drop(&mut self) {
        if option_env!("SAME_BYTES").is_some() {
            let sums: Vec<String> = self.0.iter().map(|sum| format!("{sum:016x}")).collect();
            #[expect(
                clippy::disallowed_macros,
                clippy::print_stdout,
                reason = "the script reads them"
            )]
            {
                print!("\nsent {}\n", sums.join("-"));
            }
        }
    }
}
