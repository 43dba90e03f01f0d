//! Cancel, on the way to `on_cancel` or to the end.

use std::time::Duration;

use gen_durable::{Filter, Status, prelude::*, start};
use serde::{Deserialize, Serialize};
use suite::{Db, eventually, nothing_lost, order, size};

use crate::{Work, machines::Double, machines::Hands};

suite::stores! {
    both(flavor = "multi_thread", worker_threads = 2) {
        a_cancelled_instance_goes_to_its_on_cancel_with_what_it_had,
        without_on_cancel_it_ends_and_says_why,
        a_running_step_is_told_and_its_outcome_is_dropped_unless_it_ends,
        a_shielded_step_is_left_before_the_cancel_counts,
        a_shielded_run_is_not_told,
        a_run_that_does_not_listen_is_dropped_and_its_on_cancel_runs,
        a_cancel_goes_down_to_all_descendants,
        the_rest_of_a_join_is_cancelled_where_it_says_so,
        a_cancelled_instance_whose_process_died_does_not_run_again,
        an_instance_that_has_ended_is_no_target_and_a_dry_run_changes_nothing,
        a_retried_instance_goes_on_from_its_step_with_its_key_and_its_signals,
        a_child_that_is_retried_counts_once,
        a_cancel_goes_down_to_children_that_other_code_started,
    }
    postgres(flavor = "multi_thread", worker_threads = 2) {
        a_cancelled_instance_without_children_asks_for_none => "SQLite counts no statements",
    }
}

const LONG: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Serialize, Deserialize, Signal)]
pub struct Nudge {}

/// Books, and gives back what it booked.
#[durable_fsm(output(String), handler(Hands), on_cancel(Undo))]
pub enum Trip {
    #[step(start, await(Nudge), next(Fly))]
    Pack { bag: u32 },
    #[step(start, next(Land), done)]
    Fly { bag: u32, ends: bool },
    #[step(start, shield, await(Nudge), next(Fly))]
    Land { bag: u32 },
    #[step(start, shield, next(Fly))]
    Climb { bag: u32 },
    #[step(start, next(Land))]
    Doze { bag: u32 },
    #[step(next(Home))]
    Undo { was: String },
    #[step(done)]
    Home { was: String },
}

impl From<gen_durable::Cancelled<Trip>> for Undo {
    fn from(cancelled: gen_durable::Cancelled<Trip>) -> Self {
        Self {
            was: match cancelled.step {
                Trip::Pack { bag } => format!("pack {bag}"),
                Trip::Fly { bag, .. } => format!("fly {bag}"),
                Trip::Doze { bag } => format!("doze {bag}"),
                Trip::Climb { .. } | Trip::Land { .. } | Trip::Undo { .. } | Trip::Home { .. } => "elsewhere".into(),
            },
        }
    }
}

impl TripSteps for Hands {
    async fn pack(&self, step: Pack, _: Nudge, _: &StepContext) -> StepResult<Pack> {
        Ok(goto(Fly { bag: step.bag, ends: false }))
    }

    /// Flies until it is told.
    async fn fly(&self, step: Fly, cx: &StepContext) -> StepResult<Fly> {
        self.note(format!("fly {}", step.bag));
        cx.cancelled().await;
        self.note("told");
        if step.ends { Ok(done("landed".into())) } else { Ok(goto(Land { bag: step.bag })) }
    }

    async fn land(&self, step: Land, _: Nudge, _: &StepContext) -> StepResult<Land> {
        self.note("land");
        Ok(goto(Fly { bag: step.bag, ends: false }))
    }

    async fn climb(&self, step: Climb, cx: &StepContext) -> StepResult<Climb> {
        self.note("climb");
        tokio::time::sleep(Duration::from_millis(700)).await;
        self.note(format!("told: {}", cx.is_cancelled()));
        Ok(goto(Fly { bag: step.bag, ends: false }))
    }

    async fn doze(&self, step: Doze, _: &StepContext) -> StepResult<Doze> {
        self.note("doze");
        tokio::time::sleep(LONG).await;
        Ok(goto(Land { bag: step.bag }))
    }

    async fn undo(&self, step: Undo, cx: &StepContext) -> StepResult<Undo> {
        assert!(!cx.is_cancelled(), "what follows a cancel is not cancelled");
        Ok(goto(Home { was: step.was }))
    }

    async fn home(&self, step: Home, _: &StepContext) -> StepResult<Home> {
        Ok(done(format!("undid {}", step.was)))
    }
}

/// Waits for children that wait for theirs.
#[durable_fsm(output(u32), handler(Hands))]
pub enum Clan {
    #[step(start, next(Elder))]
    Found { depth: u32, width: u32 },
    #[step(join(Clan), done)]
    Elder { depth: u32 },
    #[step(start, await(Nudge), done)]
    Young { n: u32 },
}

impl ClanSteps for Hands {
    async fn found(&self, step: Found, _: &StepContext) -> StepResult<Found> {
        let Found { depth, width } = step;
        let fan = fan_out(Elder { depth });
        Ok(match depth {
            0 => fan.children((0..width).map(|n| start(Young { n }))).into(),
            _ => fan.children((0..width).map(|_| start(Found { depth: depth - 1, width }))).into(),
        })
    }

    async fn elder(&self, _: Elder, joined: Joined<Clan>, _: &StepContext) -> StepResult<Elder> {
        let _ = joined.counts();
        Ok(done(0))
    }

    async fn young(&self, step: Young, _: Nudge, _: &StepContext) -> StepResult<Young> {
        Ok(done(step.n))
    }
}

/// Takes the first, and lets the others go.
#[durable_fsm(output(u64), handler(Hands))]
pub enum Auction {
    #[step(start, next(Sold))]
    Open { pauses: Vec<u64> },
    #[step(join(Double), quorum = 1, rest = "cancel", done)]
    Sold,
}

impl AuctionSteps for Hands {
    async fn open(&self, step: Open, _: &StepContext) -> StepResult<Open> {
        let bids = (1..).zip(step.pauses).map(|(n, pause)| Double::start(n, false, pause));
        Ok(fan_out(Sold).children(bids).into())
    }

    async fn sold(&self, _: Sold, joined: Joined<Double>, _: &StepContext) -> StepResult<Sold> {
        Ok(done(joined.counts().done))
    }
}

async fn a_cancelled_instance_goes_to_its_on_cancel_with_what_it_had(db: Db) {
    let work = Work::on(&db).await;
    let trip = work.client.start(start(Pack { bag: 3 })).await.expect("starts");
    trip.cancel("rain").await.expect("asks");
    // Asking again changes nothing.
    trip.cancel("snow").await.ok();
    assert_eq!(trip.wait().timeout(LONG).await.expect("ends"), "undid pack 3");
    let steps: Vec<_> = trip.history().await.expect("its history").into_iter().map(|h| (h.from, h.to)).collect();
    let line = |from: &str, to: Option<&str>| (from.to_owned(), to.map(str::to_owned));
    assert_eq!(steps, [line("pack", Some("undo")), line("undo", Some("home")), line("home", None)]);
    let later = work.client.start(start(Pack { bag: 4 }).delay(Duration::from_secs(3_600))).await.expect("starts");
    later.cancel("rain").await.expect("asks");
    assert_eq!(later.wait().timeout(LONG).await.expect("ends"), "undid pack 4");
    work.stop().await;
}

async fn without_on_cancel_it_ends_and_says_why(db: Db) {
    let work = Work::on(&db).await;
    let young = work.client.start(start(Young { n: 1 })).await.expect("starts");
    young.cancel("no need").await.expect("asks");
    young.wait().timeout(LONG).await.expect_err("it failed");
    let stands = young.show().await.expect("stands");
    assert_eq!((stands.status, stands.cancelled), (Status::Failed, true));
    assert_eq!(stands.last_error.as_deref(), Some("cancelled: no need"));
    nothing_lost(&db, &[young.id().expect("known")]).await;
    work.stop().await;
}

async fn a_running_step_is_told_and_its_outcome_is_dropped_unless_it_ends(db: Db) {
    let work = Work::on(&db).await;
    for (ends, result) in [(false, "undid fly 7"), (true, "landed")] {
        let trip = work.client.start(start(Fly { bag: 7, ends })).await.expect("starts");
        let flies = async || work.hands.notes().last().is_some_and(|note| note == "fly 7");
        eventually("it flies", LONG, flies).await;
        let told = std::time::Instant::now();
        trip.cancel("storm").await.expect("asks");
        assert_eq!(trip.wait().timeout(LONG).await.expect("ends"), result);
        assert!(told.elapsed() < Duration::from_secs(5), "told after {:?}", told.elapsed());
    }
    assert!(!work.hands.notes().contains(&"land".to_owned()));
    work.stop().await;
}

async fn a_shielded_step_is_left_before_the_cancel_counts(db: Db) {
    let work = Work::on(&db).await;
    let trip = work.client.start(start(Land { bag: 5 })).await.expect("starts");
    trip.cancel("storm").await.expect("asks");
    tokio::time::sleep(Duration::from_millis(300)).await;
    let stands = trip.show().await.expect("stands");
    assert_eq!((stands.status, stands.step.as_str(), stands.cancelled), (Status::AwaitingSignal, "land", true));
    trip.signal(Nudge {}).await.expect("delivers");
    assert_eq!(trip.wait().timeout(LONG).await.expect("ends"), "undid fly 5");
    assert_eq!(work.hands.notes(), ["land"], "the step after the shield does not run");
    work.stop().await;
}

async fn a_shielded_run_is_not_told(db: Db) {
    let work = Work::on(&db).await;
    let trip = work.client.start(start(Climb { bag: 2 })).await.expect("starts");
    eventually("it climbs", LONG, async || !work.hands.notes().is_empty()).await;
    trip.cancel("storm").await.expect("asks");
    assert_eq!(trip.wait().timeout(LONG).await.expect("ends"), "undid fly 2");
    assert_eq!(work.hands.notes(), ["climb", "told: false"]);
    work.stop().await;
}

/// After the grace time of 10 s.
async fn a_run_that_does_not_listen_is_dropped_and_its_on_cancel_runs(db: Db) {
    let work = Work::on(&db).await;
    let trip = work.client.start(start(Doze { bag: 6 })).await.expect("starts");
    eventually("it dozes", LONG, async || !work.hands.notes().is_empty()).await;
    trip.cancel("storm").await.expect("asks");
    assert_eq!(trip.wait().timeout(Duration::from_secs(20)).await.expect("ends"), "undid doze 6");
    work.stop().await;
}

async fn a_cancel_goes_down_to_all_descendants(db: Db) {
    let work = Work::on(&db).await;
    let clan = work.client.start(start(Found { depth: 2, width: 4 })).await.expect("starts");
    let waiting = async || db.count("SELECT count(*) FROM gen_durable WHERE status = 'awaiting_signal'").await == 64;
    eventually("all wait", LONG, waiting).await;
    clan.cancel("famine").await.expect("asks");
    let all = async || {
        db.count("SELECT count(*) FROM gen_durable WHERE status = 'failed' AND cancelled_at IS NOT NULL").await == 85
    };
    eventually("all have ended", LONG, all).await;
    nothing_lost(&db, &[clan.id().expect("known")]).await;
    work.stop().await;
}

/// The machine has no join, as it stands here; whoever had one left these behind.
async fn a_cancel_goes_down_to_children_that_other_code_started(db: Db) {
    let work = Work::on(&db).await;
    for round in ["0", "NULL"] {
        let parent = work.client.start(start(Pack { bag: 1 })).await.expect("starts");
        let child = work.client.start(start(Young { n: 1 })).await.expect("starts");
        let (parent_id, child_id) = (parent.id().expect("known"), child.id().expect("known"));
        let kin = format!("UPDATE gen_durable SET parent_id = {parent_id}, parent_round = {round}");
        db.run(format!("{kin} WHERE id = {child_id}")).await;
        parent.cancel("storm").await.expect("asks");
        assert_eq!(parent.wait().timeout(LONG).await.expect("ends"), "undid pack 1");
        let why = child.wait().timeout(LONG).await.expect_err("it is cancelled too").to_string();
        assert!(why.contains("its parent does not wait for it any more"), "{why}");
    }
    work.stop().await;
}

#[cfg(feature = "postgres")]
async fn a_cancelled_instance_without_children_asks_for_none(db: Db) {
    let asked = "SELECT coalesce(sum(calls), 0)::bigint FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
        WHERE d.datname = current_database() AND s.query LIKE '%parent_round = $2%AS missed%' AND s.query NOT LIKE '%pg_stat_statements%'";
    db.run("CREATE EXTENSION IF NOT EXISTS pg_stat_statements").await;
    let work = Work::on(&db).await;
    work.client.start_many((0..50).map(|n| start(Young { n }))).await.expect("starts");
    work.client.cancel_all(Filter::default().machine("clan"), "x", false).await.expect("asks");
    let failed = "SELECT count(*) FROM gen_durable WHERE status = 'failed'";
    eventually("all have ended", LONG, async || db.count(failed).await == 50).await;
    assert_eq!(db.count(asked).await, 0);
    let clan = work.client.start(start(Found { depth: 0, width: 1 })).await.expect("starts");
    clan.wait_parked().timeout(LONG).await.expect("parks");
    clan.cancel("x").await.expect("asks");
    clan.wait().timeout(LONG).await.expect_err("cancelled");
    assert_eq!(db.count(asked).await, 1);
    work.stop().await;
}

async fn the_rest_of_a_join_is_cancelled_where_it_says_so(db: Db) {
    let work = Work::on(&db).await;
    let auction = work.client.start(start(Open { pauses: vec![0, 3_600_000, 3_600_000] })).await.expect("starts");
    assert_eq!(auction.wait().timeout(LONG).await.expect("ends"), 1);
    let rest = "SELECT count(*) FROM gen_durable WHERE fsm = 'double' AND cancelled_at IS NOT NULL";
    assert_eq!(db.count(rest).await, 2);
    // They run, and are dropped after the grace time.
    let ended = "SELECT count(*) FROM gen_durable WHERE fsm = 'double' AND status = 'failed'";
    eventually("the rest has ended", LONG, async || db.count(ended).await == 2).await;
    work.stop().await;
}

async fn a_cancelled_instance_whose_process_died_does_not_run_again(db: Db) {
    let client = gen_durable::Client::on(db.store.clone());
    let trip = client.start(start(Fly { bag: 9, ends: false })).await.expect("starts");
    let known = gen_durable_runtime::store::Known {
        machines: vec!["trip".into()],
        versions: vec![1],
        steps: vec!["fly".into()],
        ..Default::default()
    };
    assert_eq!(db.store.claim(&order(&known, 1, "gone#1")).await.expect("claims").claims.len(), 1);
    trip.cancel("storm").await.expect("asks");
    assert_eq!(db.store.reclaim("gone", 10).await.expect("reclaims").rows, 1);
    let work = Work::on(&db).await;
    assert_eq!(trip.wait().timeout(LONG).await.expect("ends"), "undid fly 9");
    assert_eq!(work.hands.notes(), Vec::<String>::new());
    work.stop().await;
}

async fn an_instance_that_has_ended_is_no_target_and_a_dry_run_changes_nothing(db: Db) {
    let work = Work::on(&db).await;
    let ended = work.client.start(start(Pack { bag: 1 })).await.expect("starts");
    ended.cancel("x").await.expect("asks");
    ended.wait().timeout(LONG).await.expect("ends");
    assert!(ended.cancel("x").await.expect_err("it has ended").is_no_target());
    let many = size(100);
    work.client.start_many((0..many).map(|_| start(Young { n: 1 }))).await.expect("starts");
    let filter = || Filter::default().machine("clan");
    let dry = work.client.cancel_all(filter(), "x", true).await.expect("looks");
    assert_eq!(dry.asked.len(), many);
    let asked = "SELECT count(*) FROM gen_durable WHERE fsm = 'clan' AND cancelled_at IS NOT NULL";
    assert_eq!(db.count(asked).await, 0);
    assert_eq!(work.client.cancel_all(filter(), "x", false).await.expect("asks").asked.len(), many);
    let failed = "SELECT count(*) FROM gen_durable WHERE fsm = 'clan' AND status = 'failed'";
    let many = i64::try_from(many).expect("small");
    eventually("all have ended", LONG, async || db.count(failed).await == many).await;
    work.stop().await;
}

/// Fails until it may.
#[durable_fsm(output(String), handler(Hands))]
pub enum Stubborn {
    #[step(start, key(name), await(Nudge), done, retry(attempts = 1))]
    Try { name: String },
}

impl StubbornSteps for Hands {
    async fn try_(&self, step: Try, _: Nudge, cx: &StepContext) -> StepResult<Try> {
        self.note(cx.idempotency_key());
        if self.failed.load(std::sync::atomic::Ordering::Relaxed) == 0 {
            return Err(StepError::new("not yet"));
        }
        Ok(done(step.name))
    }
}

async fn a_retried_instance_goes_on_from_its_step_with_its_key_and_its_signals(db: Db) {
    let work = Work::on(&db).await;
    let stubborn = work.client.start(start(Try { name: "a".into() })).await.expect("starts");
    assert!(stubborn.retry().await.expect_err("it waits").is_no_target());
    stubborn.signal(Nudge {}).await.expect("delivers");
    stubborn.wait().timeout(LONG).await.expect_err("it fails");
    work.hands.failed.store(1, std::sync::atomic::Ordering::Relaxed);
    // Its key was taken meanwhile.
    let other = work.client.start(start(Try { name: "a".into() })).await.expect("starts");
    let taken = stubborn.retry().await.expect_err("the key is taken");
    assert!(taken.is_duplicate(), "{taken}");
    assert_eq!(stubborn.show().await.expect("stands").status, Status::Failed);
    other.cancel("make room").await.expect("asks");
    other.wait().timeout(LONG).await.expect_err("cancelled");
    stubborn.retry().await.expect("goes on");
    assert_eq!(stubborn.wait().timeout(LONG).await.expect("ends"), "a");
    let keys = work.hands.notes();
    assert_eq!(keys.len(), 2);
    assert_eq!(keys[0], keys[1], "one visit, one key");
    work.stop().await;
}

async fn a_child_that_is_retried_counts_once(db: Db) {
    let work = Work::on(&db).await;
    let split = crate::machines::Split { numbers: vec![1, 2], odd_fails: true, fails: 0, rounds: 0 };
    let family = work.client.start(start(split)).await.expect("starts");
    let seen = family.wait().timeout(LONG).await.expect("ends");
    assert_eq!(seen[0].counts, (2, 1, 1));
    let report = work.client.retry_all(Filter::default().machine("double"), true).await.expect("looks");
    assert_eq!(report.again.len(), 1);
    work.client.retry_all(Filter::default().machine("double"), false).await.expect("retries");
    let again = "SELECT count(*) FROM gen_durable_history WHERE outcome = 'failed'";
    eventually("it failed again", LONG, async || db.count(again).await == 2).await;
    nothing_lost(&db, &[family.id().expect("known")]).await;
    work.stop().await;
}
