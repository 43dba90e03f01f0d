//! Money moves within the transactions of outcomes, while workers are killed and answers to COMMIT are lost.

use std::time::{Duration, Instant};

use gen_durable::start;
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use suite::{BALANCE, Db, Oracle, is_long, open_accounts, size};

use crate::{client, ids, kills::Killing, trials::Book, worker};

suite::stores! {
    both(flavor = "multi_thread", worker_threads = 2) {
        every_transfer_is_booked_once_and_the_sum_stays_under_kills_and_lost_commits,
    }
}

const ACCOUNTS: i64 = 200;

fn transfers(many: usize) -> Vec<Book> {
    let mut random = StdRng::seed_from_u64(7);
    let one = |number| {
        let from = random.random_range(0..ACCOUNTS);
        let to = (from + random.random_range(1..ACCOUNTS)) % ACCOUNTS;
        let (amount, millis) = (random.random_range(1..100), random.random_range(0..200));
        Book { number, from, to, amount, millis }
    };
    (0..i64::try_from(many).expect("small")).map(one).collect()
}

/// What must stand on each account in the end, in one number that differs if any of them does.
fn expected(transfers: &[Book]) -> i64 {
    let mut balances = vec![BALANCE; usize::try_from(ACCOUNTS).expect("small")];
    for t in transfers {
        balances[usize::try_from(t.from).expect("small")] -= t.amount;
        balances[usize::try_from(t.to).expect("small")] += t.amount;
    }
    (0..).zip(balances).map(|(id, balance): (i64, i64)| balance * (id * id + 1)).sum()
}

const STANDS: &str = "SELECT CAST(sum(balance * (id * id + 1)) AS bigint) FROM accounts";

/// Until all is done the wire is cut at random: after COMMIT was sent, or whenever that is.
#[cfg(feature = "postgres")]
async fn cut_at_random(wire: &suite::Wire) {
    loop {
        let pause = rand::rng().random_range(20..250);
        tokio::time::sleep(Duration::from_millis(pause)).await;
        wire.lose_answers_to("COMMIT", 1);
        // Not the one of every boot, when no worker is left that commits.
        tokio::time::sleep(Duration::from_millis(30)).await;
        wire.lose_answers_to("COMMIT", 0);
        if pause % 10 == 0 {
            wire.reset();
        }
    }
}

/// Works all of it off; answers how many kills and lost answers there were.
async fn work_off(db: &Db, transfers: usize) -> (usize, usize) {
    let every = if is_long() { 500..2_000 } else { 300..900 };
    let within = Duration::from_secs(if is_long() { 300 } else { 40 });
    let all_done = crate::all_done(db, "transfer", transfers, within);
    #[cfg(feature = "postgres")]
    if db.store.dialect() == "postgres" {
        let wire = suite::Wire::to(db).await;
        let workers = Killing::begin(worker(db).url(wire.url()), every).await;
        tokio::select! {
            () = cut_at_random(&wire) => unreachable!("it has no end"),
            () = all_done => {}
        }
        return (workers.end().await, wire.losses());
    }
    let workers = Killing::begin(worker(db), every).await;
    all_done.await;
    (workers.end().await, 0)
}

async fn every_transfer_is_booked_once_and_the_sum_stays_under_kills_and_lost_commits(db: Db) {
    open_accounts(&db, ACCOUNTS).await;
    let client = client(&db).await;
    let transfers = transfers(size(5_000));
    let many = i64::try_from(transfers.len()).expect("small");
    let began = Instant::now();
    let started = client.start_many(transfers.iter().map(|t| start(Book { ..*t }))).await.expect("starts");
    let (kills, losses) = work_off(&db, transfers.len()).await;
    let took = began.elapsed();
    assert_eq!(db.count("SELECT CAST(sum(balance) AS bigint) FROM accounts").await, ACCOUNTS * BALANCE, "the sum");
    assert_eq!(db.count(STANDS).await, expected(&transfers), "each account");
    assert_eq!(db.count("SELECT count(*) FROM bookings").await, many, "each is booked once");
    let moved = "SELECT count(*) FROM gen_durable_history WHERE from_step = 'book' AND outcome = 'goto'";
    assert_eq!(db.count(moved).await, many);
    let again =
        db.count("SELECT count(*) FROM gen_durable_history WHERE from_step = 'book' AND outcome = 'retry'").await;
    let oracle = Oracle::of(&db).expect_in_log("deadlock detected");
    oracle.check(&ids(&started)).await;
    assert!(kills >= 2, "{kills} kills: too fast to try anything");
    assert!(losses >= 2 || db.store.dialect() != "postgres", "{losses} answers to COMMIT lost");
    eprintln!(
        "{}: {many} transfers between {ACCOUNTS} accounts in {took:?}, {kills} kills, {losses} answers to COMMIT lost, \
         {again} retries",
        db.store.dialect()
    );
}
