//! Everything survives, in both directions, and goes on.

use std::{collections::BTreeSet, time::Duration};

use copy_tests::{Dump, EVERYTHING, Fault, Kind, MANY, Order, Outcome, Paid, Place, Reserve, Shop, dump, many, raw};
use gen_durable::{Client, InstanceId, Status, Target, Worker, start};
use gen_durable_runtime::store::{SchemaName, copy};
use serde_json::{Map, Value};

async fn everything() -> Result<Place, Fault> {
    let place = Place::migrated(Kind::Sqlite).await?;
    place.execute(EVERYTHING).await?;
    Ok(place)
}

/// Says where two dumps differ: they are long.
fn same(one: &Dump, other: &Dump) {
    for ((table, rows), (_, others)) in one.iter().zip(other) {
        assert_eq!(rows.len(), others.len(), "{table}");
        for (row, other) in rows.iter().zip(others) {
            let columns = |row: &Map<String, Value>| row.keys().cloned().collect::<BTreeSet<_>>();
            assert_eq!(columns(row), columns(other), "{table}");
            let differs = row.iter().filter(|(name, value)| other[name.as_str()] != **value).map(|(name, _)| name);
            assert_eq!(
                differs.collect::<Vec<_>>(),
                Vec::<&String>::new(),
                "{table} {}",
                row.get("id").unwrap_or(&Value::Null)
            );
        }
    }
}

#[tokio::test]
async fn everything_survives_the_way_up_and_back() -> Outcome {
    let (first, up, back) = (everything().await?, Place::new(Kind::Postgres)?, Place::new(Kind::Sqlite)?);
    let (before, untouched) = (dump(&first).await?, raw(&first).await?);
    let copied = first.copy_to(&up).await?;
    let counts: Vec<_> = copied.iter().map(|c| (c.table, c.source, c.target)).collect();
    let expected = [
        ("gen_durable", 13, 13),
        ("signals", 4, 4),
        ("gen_durable_history", 3, 3),
        ("gen_durable_bucket_configs", 2, 2),
        ("gen_durable_buckets", 3, 3),
        ("gen_durable_schedules", 2, 2),
        ("gen_durable_queues", 2, 2),
    ];
    assert_eq!(counts, expected);
    same(&dump(&up).await?, &before);
    assert!(raw(&first).await? == untouched, "a source never changes");
    up.copy_to(&back).await?;
    same(&dump(&back).await?, &before);
    Ok(())
}

#[tokio::test]
async fn a_copy_to_the_same_store_is_exact_to_the_byte() -> Outcome {
    let (first, second) = (everything().await?, Place::new(Kind::Sqlite)?);
    first.copy_to(&second).await?;
    assert!(raw(&second).await? == raw(&first).await?, "they differ");
    let (third, fourth) = (Place::new(Kind::Postgres)?, Place::new(Kind::Postgres)?);
    second.copy_to(&third).await?;
    third.execute("UPDATE gen_durable SET state = '{\"n\": 1e400}', updated_at = 'infinity' WHERE id = 1").await?;
    third.copy_to(&fourth).await?;
    let text = |place: &Place| -> Result<Vec<Option<String>>, Fault> {
        let Place::Postgres(database) = place else { unreachable!("both are Postgres") };
        let rows = database.query("SELECT t::text FROM gen_durable t ORDER BY id")?;
        Ok(rows.iter().map(|row| row[0].clone()).collect())
    };
    assert!(text(&fourth)? == text(&third)?, "they differ");
    Ok(())
}

#[tokio::test]
async fn a_schema_of_any_name_is_copied_to_and_from() -> Outcome {
    let (first, up, back) = (everything().await?, Place::new(Kind::Postgres)?, Place::new(Kind::Sqlite)?);
    let schema = SchemaName::new("My \"own\"")?;
    for (from, to) in [(&first, &up), (&up, &back)] {
        let [from, to] = copy::sides(&from.url(), &to.url(), &schema, false);
        copy::copy(&from, &to, &mut |_| ()).await?;
    }
    same(&dump(&back).await?, &dump(&first).await?);
    Ok(())
}

#[tokio::test]
async fn ids_go_on_above_those_that_ever_were() -> Outcome {
    let first = everything().await?;
    for kind in [Kind::Postgres, Kind::Sqlite] {
        let (second, third) = (Place::new(kind)?, Place::new(kind)?);
        first.copy_to(&second).await?;
        // The mark travels on without a row that shows it.
        second.copy_to(&third).await?;
        let client = Client::connect(third.url()).await?;
        let new = client.start(start(Reserve { order: 1 })).await?;
        assert_eq!(new.id(), Some(InstanceId::new(21)), "{kind:?}");
        let signal = new.signal(Paid { payment: 1 }).await?;
        client.close().await;
        assert_eq!(signal.id, InstanceId::new(21));
        let signals = &raw(&third).await?[1].1;
        assert_eq!(signals.last().and_then(|s| s["id"].as_i64()), Some(31), "{kind:?}");
        let now = if kind == Kind::Sqlite { "0" } else { "now()" };
        let columns = "instance_id, visit, from_step, outcome, attempt, started_at, committed_at";
        let line = format!("INSERT INTO gen_durable_history ({columns}) VALUES (1, 0, 'a', 'done', 0, {now}, {now})");
        third.execute(&line).await?;
        let lines = &raw(&third).await?[2].1;
        assert_eq!(lines.last().and_then(|line| line["id"].as_i64()), Some(41), "{kind:?}");
    }
    Ok(())
}

#[tokio::test]
async fn an_empty_database_is_copied() -> Outcome {
    let (first, second) = (Place::migrated(Kind::Postgres).await?, Place::new(Kind::Sqlite)?);
    let copied = first.copy_to(&second).await?;
    assert!(copied.iter().all(|c| (c.source, c.target) == (0, 0)));
    let client = Client::connect(second.url()).await?;
    assert_eq!(client.start(start(Reserve { order: 1 })).await?.id(), Some(InstanceId::new(1)));
    client.close().await;
    Ok(())
}

#[tokio::test]
async fn parents_may_stand_many_pages_behind_their_children() -> Outcome {
    let (first, up, back) =
        (Place::migrated(Kind::Sqlite).await?, Place::new(Kind::Postgres)?, Place::new(Kind::Sqlite)?);
    first.execute(&many(MANY, 5000, 50)).await?;
    let (mut last, mut calls) = (copy::Progress { rows: 0, total: 0 }, 0);
    copy::copy(&first.options(), &up.options(), &mut |at| {
        assert!(at.rows > last.rows, "{at:?} after {last:?}");
        (last, calls) = (at, calls + 1);
    })
    .await?;
    assert_eq!((last.rows, calls), (last.total, 5 + 2 + 1 + 1), "instances, links, signals, lines; a thousand a page");
    up.copy_to(&back).await?;
    same(&dump(&up).await?, &dump(&first).await?);
    same(&dump(&back).await?, &dump(&first).await?);
    Ok(())
}

async fn works_until(place: &Place, id: InstanceId, status: Status) -> Result<(), Fault> {
    let client = Client::connect(place.url()).await?;
    let worker = Worker::new(client.clone()).handler(Shop).start().await?;
    let until = std::time::Instant::now() + Duration::from_secs(20);
    while client.show(&Target::Id(id)).await?.status != status {
        assert!(std::time::Instant::now() < until, "never {status:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    worker.stop().await;
    client.close().await;
    Ok(())
}

async fn goes_on(kinds: [Kind; 2]) -> Outcome {
    let (first, second) = (Place::migrated(kinds[0]).await?, Place::new(kinds[1])?);
    let client = Client::connect(first.url()).await?;
    let parked = client.start(start(Reserve { order: 7 })).await?.id().ok_or("no id")?;
    client.close().await;
    works_until(&first, parked, Status::AwaitingSignal).await?;
    first.copy_to(&second).await?;

    let client = Client::connect(second.url()).await?;
    let again = client.start(start(Reserve { order: 7 })).await?;
    assert_eq!((again.is_new(), again.id()), (false, Some(parked)), "the business key is still occupied");
    assert!(matches!(client.get::<Order>(parked).await?, Order::AwaitPayment { order: 7 }));
    client.of::<Order>(7_u64).signal(Paid { payment: 5 }).await?;
    client.close().await;
    works_until(&second, parked, Status::Done).await?;
    let client = Client::connect(second.url()).await?;
    assert_eq!(client.by_id::<Order>(parked).wait().await?, 705);
    client.close().await;
    Ok(())
}

#[tokio::test]
async fn a_parked_instance_goes_on_after_the_way_up() -> Outcome {
    goes_on([Kind::Sqlite, Kind::Postgres]).await
}

#[tokio::test]
async fn a_parked_instance_goes_on_after_the_way_down() -> Outcome {
    goes_on([Kind::Postgres, Kind::Sqlite]).await
}
