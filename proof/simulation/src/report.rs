//! The report on a world that fails: how to play it again, the shortest plan that still fails, what
//! happened then, and a picture of it.

use super::clock::shown;
use super::flaw::Flaw;
use super::picture;
use super::play::{draw, play_plan};
use super::seed::Seed;
use super::shrink::shrink;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

/// Returns the command that plays one seed again, and shows what happens.
pub(super) fn command(seed: Seed) -> String {
    format!(
        "QUORUMLOCK_SEED={seed} QUORUMLOCK_SEEDS=1 MATCH_EVERY=1 cargo test -p simulation \
         trials::any_world -- --nocapture"
    )
}

/// Returns the whole report on a seed that fails.
pub(super) fn report(seed: Seed, flaw: Option<Flaw>, violation: &str) -> String {
    let (setup, plan) = draw(seed, flaw);
    let whole = plan.len();
    let plan = shrink(seed, &setup, plan, violation);
    let world = play_plan(seed, &setup, &plan, true);
    let mut text = format!("{violation}\n\n{}\n\n{setup:?}\n\n", command(seed));
    let _ = writeln!(text, "Of {whole} acts these are enough:");
    for (at, act) in &plan {
        let _ = writeln!(text, "{}  {act:?}", shown(*at));
    }
    let _ = writeln!(text, "\nWhat happens:");
    world.log().iter().for_each(|line| _ = writeln!(text, "{line}"));
    let _ = writeln!(text, "\n{}", draw_picture(seed, &picture::timeline(seed, &world).to_html()));
    text
}

/// Writes a picture where `cargo clean` finds it; returns the place.
pub(super) fn draw_picture(seed: Seed, html: &str) -> String {
    let target = env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target =
        target.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target"));
    let folder = target.join("simulation");
    let file = folder.join(format!("{seed}.html"));
    match fs::create_dir_all(&folder).and_then(|()| fs::write(&file, html)) {
        Ok(()) => format!("a picture of it: {}", file.display()),
        Err(error) => format!("no picture of it: {error}"),
    }
}
