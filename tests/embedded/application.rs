//! Tests of an application that uses locks, with embedded masters: no Redis, no port, no waiting.
//! `application/shop.rs` is the application, as it would run in production. These are its tests, in
//! tokio's paused time: what takes half a minute here takes a few milliseconds.

mod bank;
mod shop;

use crate::support::prelude::*;
use bank::Bank;
use quorumlock::embedded::{Masters, Memory};
use quorumlock::error::LossReason;
use shop::{ChargeError, Orders, Receipt, Shop};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

const ORDER: &str = "42";
const LOCK: &str = "order:42";

/// The state that all processes of the shop share.
struct World {
    masters: Masters,
    bank: Arc<Bank>,
    orders: Arc<Orders>,
}

impl World {
    /// Makes five masters, and a bank that takes this long for a charge.
    fn new(bank_takes: Duration) -> Self {
        let masters = Masters::start_in_virtual_time(5).unwrap();
        Self { masters, bank: Arc::new(Bank::new(bank_takes)), orders: Arc::default() }
    }

    /// Starts one process of the shop, with its own client.
    async fn shop(&self) -> Shop<Arc<Bank>> {
        let redlock = self.masters.builder().connect().await.unwrap();
        Shop::new(redlock, self.bank.clone(), self.orders.clone())
    }

    /// Returns on how many masters the order is locked.
    fn locked_on(&self) -> usize {
        self.masters.iter().filter(|master| master.holder(LOCK).is_some()).count()
    }
}

#[tokio::test(start_paused = true)]
async fn an_order_is_charged_once_however_often_it_is_asked_for() {
    let world = World::new(SECOND);
    let shop = world.shop().await;
    let first = shop.charge(ORDER).await.unwrap();
    let again = shop.charge(ORDER).await.unwrap();
    assert_eq!((again, world.bank.charged()), (first, 1));
    sleep(SECOND).await; // outstanding releases are done by now
    assert_eq!(world.locked_on(), 0);
}

#[tokio::test(start_paused = true)]
async fn two_dead_masters_of_five_stop_no_client() {
    let world = World::new(SECOND);
    let shop = world.shop().await;
    world.masters[0].kill();
    shop.charge(ORDER).await.unwrap();
    world.masters[1].kill();
    shop.charge("43").await.unwrap();
    assert_eq!(world.bank.charged(), 2);
}

#[tokio::test(start_paused = true)]
async fn of_two_processes_one_charges_and_the_other_finds_it_done() {
    let world = World::new(SECOND);
    let (shop, other) = (world.shop().await, world.shop().await);
    let (first, second) = tokio::join!(shop.charge(ORDER), other.charge(ORDER));
    assert_eq!(first.unwrap(), second.unwrap());
    assert_eq!(world.bank.charged(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_charge_during_a_long_one_waits_and_then_reports_busy() {
    let world = World::new(60 * SECOND);
    let (shop, other) = (world.shop().await, world.shop().await);
    let first = tokio::spawn(async move { shop.charge(ORDER).await });
    sleep(SECOND).await;
    let began = Instant::now();
    assert!(matches!(other.charge(ORDER).await, Err(ChargeError::Busy)));
    assert!(began.elapsed() >= 10 * SECOND, "it waits first");
    first.await.unwrap().unwrap();
    assert_eq!(world.bank.charged(), 1);
}

#[tokio::test(start_paused = true)]
async fn without_a_quorum_nothing_is_charged() {
    let world = World::new(SECOND);
    let shop = world.shop().await;
    world.masters.iter().take(3).for_each(|master| master.kill());
    let refused = shop.charge(ORDER).await;
    assert!(matches!(refused, Err(ChargeError::Unavailable(error)) if error.is_no_quorum()));
    assert_eq!(world.bank.begun(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_loss_in_the_middle_of_a_charge_stops_it_by_the_deadline() {
    let world = World::new(60 * SECOND);
    let shop = Arc::new(world.shop().await);
    let charging = tokio::spawn({
        let shop = shop.clone();
        async move { shop.charge(ORDER).await }
    });
    // The keep-alive extends it in the meantime: it is held for longer than a ttl.
    sleep(25 * SECOND).await;
    assert_eq!((world.bank.begun(), world.locked_on()), (1, 5));

    world.masters.iter().take(3).for_each(|master| master.kill());
    let killed = Instant::now();
    let Err(ChargeError::Lost(lost)) = charging.await.unwrap() else { panic!("not lost") };
    assert_eq!(lost.reason, LossReason::Lapsed);
    assert!(killed.elapsed() < 10 * SECOND, "no later than a ttl: {:?}", killed.elapsed());
    sleep(60 * SECOND).await;
    assert_eq!(world.bank.charged(), 0, "the work was stopped, not only notified");

    // They come back empty: no client trusts them before all that they may have granted has
    // expired.
    for master in &world.masters[..3] {
        master.restart(Memory::Lost).unwrap();
    }
    assert!(matches!(shop.charge(ORDER).await, Err(ChargeError::Unavailable(_))));
    sleep(31 * SECOND).await;
    shop.charge(ORDER).await.unwrap();
    assert_eq!(world.bank.charged(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_a_paused_process_writes_behind_its_deadline_is_refused() {
    let world = World::new(SECOND);
    let redlock = world.masters.builder().connect().await.unwrap();
    // A process that stops just before its write, and resumes long after its lock has expired.
    let paused = redlock.acquire(LOCK).fenced().await.unwrap();
    let token = paused.fencing_token();
    paused.lost().await;
    sleep(SECOND).await; // its keys have expired as well
    let receipt = world.shop().await.charge(ORDER).await.unwrap();

    let late = world.orders.record(ORDER, Receipt::new("late"), token);
    assert!(late.is_err(), "an older token than that of the write before it");
    assert_eq!(world.orders.receipt(ORDER), Some(receipt));
}
