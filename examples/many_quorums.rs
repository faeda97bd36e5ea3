//! Two sets of masters become three while clients work:
//!
//! ```text
//! cargo run --example many_quorums --features embedded
//! ```
//!
//! Processes of the old deployment, of the joint one between, and of the new one take turns at a
//! resource that the new set takes over. The masters are embedded.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

#[path = "support/quorums.rs"]
mod quorums;

use quorumlock::embedded::Masters;
use quorumlock::{AcquireError, Redlock};
use quorums::{Quorums, Sets, owner};
use std::error::Error;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let masters = [Masters::start(3)?, Masters::start(3)?, Masters::start(3)?];
    let three: Sets = ["one", "two", "three"]
        .into_iter()
        .zip(&masters)
        .map(|(name, masters)| (name.to_owned(), masters.urls()))
        .collect();
    let mut two = three.clone();
    two.remove("three");
    let resource = (0..)
        .map(|number| format!("orders:{number}"))
        .find(|resource| owner(&three, resource) == "three")
        .unwrap_or_default();
    println!("{resource} moves from {} to three", owner(&two, &resource));

    let deployments = [
        ("old", Quorums::connect(two.clone(), two.clone(), Redlock::builder).await?),
        ("joint", Quorums::connect(three.clone(), two, Redlock::builder).await?),
        ("new", Quorums::connect(three.clone(), three, Redlock::builder).await?),
    ];
    for (name, holder) in &deployments {
        let guard = holder.of(&resource).acquire(&*resource).await?;
        for (other, quorums) in deployments.iter().filter(|(other, _)| other != name) {
            let outcome = match quorums.of(&resource).try_acquire(&*resource).await {
                Ok(_second) => "gets the lock as well: these two must never run at the same time",
                Err(AcquireError::Contended(_)) => "is kept out",
                Err(error) => return Err(error.into()),
            };
            println!("while {name} holds it, {other} {outcome}");
        }
        guard.release().await?;
    }
    Ok(())
}
