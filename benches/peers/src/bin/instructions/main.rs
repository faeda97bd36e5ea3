//! Cost of an acquire and its release in instructions and allocations. `scripts/instructions` runs
//! this under an instruction counter; this program counts the allocations itself.
//!
//! Everything is on one thread and nothing goes through the kernel, so that the count is the same
//! each time. The masters are inside the process and only give the expected answers. Their work is
//! counted as well, but it is little: the case `floor` is that work, and nothing else that could be
//! left out.

mod case;
mod floor;
#[path = "../../heap.rs"]
mod heap;
mod master;

use case::Case;
use heap::Heap;

const USAGE: &str = "usage: instructions CASE CYCLES";

const NODES: usize = 5;

#[global_allocator]
static HEAP: Heap = Heap::new();

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (case, cycles) = read(&arguments).unwrap_or_else(|| {
        let cases = Case::ALL.map(Case::name).join(", ");
        eprintln!("{USAGE}\nCASE is one of {cases}");
        std::process::exit(2);
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let (first, last) = runtime.expect("a runtime").block_on(case.run(cycles));
    let cycles = cycles as f64;
    let allocations = (last.allocations - first.allocations) as f64 / cycles;
    let bytes = (last.bytes - first.bytes) as f64 / cycles;
    println!("{allocations:.2} allocations of {bytes:.0} bytes");
}

fn read(arguments: &[String]) -> Option<(Case, u64)> {
    let [case, cycles] = arguments else { return None };
    let case = Case::ALL.into_iter().find(|known| known.name() == case)?;
    Some((case, cycles.parse().ok()?))
}
