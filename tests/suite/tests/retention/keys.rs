//! Dedup keys of instances that never end protect as long as their machine says, from when their signal was consumed.

use gen_durable_runtime::{
    model::{InstanceId, Json, SignalSpec, Target},
    store::{Delivered, ExpiredKeys, KeyExpiry},
};
use suite::Db;

use crate::{DAY, fill};

suite::stores! {
    both {
        a_key_of_a_live_instance_protects_for_its_time_and_no_longer,
        what_was_not_consumed_and_what_is_of_others_stays,
        keys_go_in_pieces_in_the_order_in_which_they_came,
    }
}

async fn expire(db: &Db, after: i64, limit: u32) -> ExpiredKeys {
    let machines = [("m".to_owned(), 1), ("o".to_owned(), 1)];
    let expiry = KeyExpiry { age: 7 * DAY, machines: &machines, after, limit };
    db.store.expire_keys(&expiry).await.expect("looks")
}

/// So many signals with keys, each of them so old and consumed so long ago, for each instance.
async fn consumed(db: &Db, count: usize, came: u32, days: u32) {
    db.run(format!(
        "INSERT INTO signals (target_id, name, dedup_key, inserted_at, consumed_at)
         SELECT g.id, 's', 'k{days}:' || i, now() - interval '{came} d', now() - interval '{days} d'
         FROM generate_series(1, {count}) i, gen_durable g"
    ))
    .await;
}

async fn a_key_of_a_live_instance_protects_for_its_time_and_no_longer(db: Db) {
    fill(&db, "m", "awaiting_signal", 1, 0).await;
    consumed(&db, 1, 9, 6).await;
    consumed(&db, 1, 9, 8).await;
    let id = InstanceId::new(db.count("SELECT id FROM gen_durable").await);
    let send = async |key: &str| {
        let spec =
            SignalSpec { target: Target::Id(id), name: "s".into(), payload: Json::object(), dedup: Some(key.into()) };
        db.store.signal(&[spec]).await.expect("answers")[0].delivered
    };
    assert_eq!(send("k8:1").await, Delivered::Duplicate(id));
    assert_eq!(expire(&db, 0, 100).await.gone, 1);
    assert_eq!((send("k6:1").await, send("k8:1").await), (Delivered::Duplicate(id), Delivered::New(id)));
}

async fn what_was_not_consumed_and_what_is_of_others_stays(db: Db) {
    for (machine, status) in [("m", "executing"), ("m", "failed"), ("n", "runnable")] {
        fill(&db, machine, status, 1, 9).await;
    }
    consumed(&db, 1, 9, 8).await;
    db.run("INSERT INTO signals (target_id, name, dedup_key, inserted_at) SELECT id, 's', 'open', now() - interval '9 d' FROM gen_durable").await;
    assert_eq!(expire(&db, 0, 100).await.gone, 1);
    let kept = "SELECT count(*) FROM signals s JOIN gen_durable g ON g.id = s.target_id WHERE g.status";
    assert_eq!(db.count(format!("{kept} = 'executing'")).await, 1, "what waits in its inbox");
    assert_eq!(db.count(format!("{kept} <> 'executing'")).await, 4);
}

async fn keys_go_in_pieces_in_the_order_in_which_they_came(db: Db) {
    fill(&db, "m", "awaiting_signal", 1, 0).await;
    consumed(&db, 25, 9, 8).await;
    consumed(&db, 25, 1, 1).await;
    let (mut after, mut pieces) = (0, vec![]);
    loop {
        let expired = expire(&db, after, 10).await;
        after = expired.last;
        pieces.push(expired.gone);
        if !expired.more {
            break;
        }
    }
    assert_eq!(pieces, [10, 10, 5]);
    assert_eq!(db.count("SELECT count(*) FROM signals").await, 25);
    // Those behind are too young to have been consumed so long ago: the next look begins with them.
    assert_eq!(expire(&db, after, 10).await, ExpiredKeys { gone: 0, last: after, more: false });
    db.run("UPDATE signals SET inserted_at = now() - interval '9 d', consumed_at = now() - interval '8 d'").await;
    assert_eq!(expire(&db, after, 100).await.gone, 25);
}
