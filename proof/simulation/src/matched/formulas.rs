//! The pages of the proof, as `scripts/prove --export` has written them.

use crate::seed::Seed;
use evaluator::Page;
use std::env;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

const HINT: &str = "`scripts/prove --export target/formulas` writes the formulas; `make simulate` and `make verify` call it.";

/// Names another folder of formulas.
const FOLDER: &str = "FORMULAS";

/// Names another number of worlds of which one is matched.
const EVERY: &str = "MATCH_EVERY";

/// The pages that each resource of a world is matched with; the last one sees all of them at once.
pub(super) const PAGES: [&str; 7] =
    ["lock", "handover", "warm", "min_hold", "joint", "readers", "several"];

/// The pages that each client and master of a world are matched with.
pub(super) const OF_CONNECTIONS: [&str; 3] = ["order", "sent", "debts"];

/// The page that worlds are matched with whose clients are at odds.
pub(super) const AT_ODDS: &str = "agreement";

/// The pages of resources, those of connections, and that of clients at odds.
#[derive(Clone)]
pub(crate) struct Proof(
    pub(super) Arc<[Arc<Page>]>,
    pub(super) [Arc<Page>; 3],
    pub(super) Arc<Page>,
);

impl std::fmt::Debug for Proof {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let pages = self.0.iter().chain(&self.1).chain([&self.2]);
        f.debug_list().entries(pages.map(|page| &page.name)).finish()
    }
}

/// Returns of how many worlds one is matched: of all that are played by the million, and of some in a test.
pub(crate) fn every() -> u64 {
    static NUMBER: OnceLock<u64> = OnceLock::new();
    *NUMBER.get_or_init(|| match env::var(EVERY) {
        Ok(text) => match text.parse() {
            Ok(number @ 1..) => number,
            _ => panic!("{EVERY}={text} is no number of worlds"),
        },
        Err(_) if cfg!(debug_assertions) => 4,
        Err(_) => 1,
    })
}

/// Returns the pages that the world of a seed is matched with, if it is one of those that are.
pub(crate) fn of(seed: Seed) -> Option<Proof> {
    seed.0.is_multiple_of(every()).then(exported)
}

/// Returns the pages, which are read once. Without formulas there is nothing to compare with, and
/// whatever needs them fails.
pub(crate) fn exported() -> Proof {
    static ALL: OnceLock<Proof> = OnceLock::new();
    let read = || {
        let folder = folder();
        if env::var_os(FOLDER).is_none() && is_old(&folder) {
            panic!("{} is older than the pages. {HINT}", folder.display());
        }
        read(&folder)
    };
    ALL.get_or_init(read).clone()
}

/// Returns whether a page has changed since it was exported.
fn is_old(folder: &Path) -> bool {
    let at = |path: &Path| path.metadata().and_then(|file| file.modified());
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../induction");
    PAGES.iter().chain(&OF_CONNECTIONS).chain([&AT_ODDS]).any(|name| {
        let (page, exported) = (pages.join(name).with_extension("py"), folder.join(name));
        let exported = at(&exported.join("signature.smt2"));
        // What is missing is found out as it is read.
        matches!((at(&page), exported), (Ok(page), Ok(exported)) if page > exported)
    })
}

/// Returns the folder of the formulas.
pub(super) fn folder() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    env::var_os(FOLDER).map_or_else(|| root.join("target/formulas"), PathBuf::from)
}

pub(super) fn read(folder: &Path) -> Proof {
    let page = |name: &str| match Page::read(folder, name) {
        Ok(page) => Arc::new(page),
        Err(error) => panic!("the formulas of the proof cannot be read: {error}. {HINT}"),
    };
    Proof(PAGES.map(page).into(), OF_CONNECTIONS.map(page), page(AT_ODDS))
}
