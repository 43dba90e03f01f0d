//! What a copy refuses, and that it then leaves everything as it was.

use copy_tests::{Dump, EVERYTHING, Fault, Kind, MANY, Outcome, Place, Reserve, Shop, dump, many, raw};
use gen_durable::{Client, SchemaName, Worker, start};
use gen_durable_runtime::store::copy;

async fn refusal(from: &Place, to: &Place) -> Result<String, Fault> {
    Ok(from.copy_to(to).await.err().ok_or("the copy was not refused")?.to_string())
}

fn rows(dump: &Dump) -> usize {
    dump.iter().map(|(_, rows)| rows.len()).sum()
}

#[tokio::test]
async fn a_live_claim_is_waited_for() -> Outcome {
    for kind in [Kind::Sqlite, Kind::Postgres] {
        let (first, second) = (Place::migrated(kind).await?, Place::new(Kind::Sqlite)?);
        let lease = match kind {
            Kind::Sqlite => "CAST(unixepoch('subsec') * 1000000 AS INTEGER) + 20000000",
            Kind::Postgres => "now() + interval '20 s'",
        };
        let claim = "INSERT INTO gen_durable (fsm, step, status, lease_expires_at) VALUES ('a', 'b', 'executing', ";
        first.execute(&format!("{claim}{lease})")).await?;
        let error = first.copy_to(&second).await.err().ok_or("not refused")?;
        assert!(error.is_transient(), "{error}");
        assert!(error.to_string().contains("1 claims are live for up to 20 s"), "{error}");
        assert!(!std::path::Path::new(second.url().trim_start_matches("sqlite://")).exists(), "the target was made");
    }
    Ok(())
}

#[tokio::test]
async fn nobody_works_on_either_side() -> Outcome {
    for (kinds, busy) in
        [([Kind::Sqlite, Kind::Postgres], 0), ([Kind::Sqlite, Kind::Postgres], 1), ([Kind::Postgres, Kind::Sqlite], 0)]
    {
        let places = [Place::migrated(kinds[0]).await?, Place::migrated(kinds[1]).await?];
        let client = Client::connect(places[busy].url()).await?;
        let worker = Worker::new(client.clone()).handler(Shop).start().await?;
        let error = refusal(&places[0], &places[1]).await?;
        let expected = match kinds[busy] {
            Kind::Sqlite => "other processes have the file open",
            Kind::Postgres => "other sessions of gen-durable are in this database",
        };
        assert!(error.contains(expected), "{error}");
        // It was refused, not stopped.
        client.start(start(Reserve { order: 1 })).await?;
        worker.stop().await;
        client.close().await;
    }
    Ok(())
}

#[tokio::test]
async fn an_idle_client_of_a_file_is_seen() -> Outcome {
    let (first, second) = (Place::migrated(Kind::Sqlite).await?, Place::new(Kind::Postgres)?);
    let client = Client::connect(first.url()).await?;
    client.list(gen_durable::Filter::default()).await?;
    let error = refusal(&first, &second).await?;
    client.close().await;
    assert!(error.contains("other processes have the file open"), "{error}");
    first.copy_to(&second).await?;
    Ok(())
}

#[tokio::test]
async fn a_writer_of_the_source_is_not_waited_for_long() -> Outcome {
    let (first, second) = (Place::migrated(Kind::Postgres).await?, Place::new(Kind::Sqlite)?);
    let Place::Postgres(database) = &first else { unreachable!("it is Postgres") };
    let mut other = <sqlx::PgConnection as sqlx::Connection>::connect(&database.url()).await?;
    sqlx::raw_sql("BEGIN; UPDATE gen_durable SET step = step").execute(&mut other).await?;
    let error = first.copy_to(&second).await.err().ok_or("not refused")?;
    assert!(error.is_transient() && error.to_string().contains("locked by others"), "{error}");
    sqlx::raw_sql("ROLLBACK").execute(&mut other).await?;
    first.copy_to(&second).await?;
    Ok(())
}

#[tokio::test]
async fn a_target_with_rows_is_left_alone() -> Outcome {
    let first = Place::migrated(Kind::Sqlite).await?;
    first.execute(EVERYTHING).await?;
    for kind in [Kind::Sqlite, Kind::Postgres] {
        let second = Place::new(kind)?;
        first.copy_to(&second).await?;
        let before = raw(&second).await?;
        let error = refusal(&first, &second).await?;
        assert!(
            error.contains("must be empty")
                && error.contains("13 in gen_durable, 4 in signals, 3 in gen_durable_history"),
            "{error}"
        );
        assert_eq!(raw(&second).await?, before);
    }
    Ok(())
}

#[tokio::test]
async fn the_source_is_at_the_latest_version() -> Outcome {
    let target = Place::new(Kind::Sqlite)?;
    for kind in [Kind::Sqlite, Kind::Postgres] {
        let error = refusal(&Place::new(kind)?, &target).await?;
        assert!(error.contains("run `migrate`"), "{error}");
        let newer = Place::migrated(kind).await?;
        newer.execute("ALTER TABLE signals ADD COLUMN colour text").await?;
        let error = refusal(&newer, &target).await?;
        assert!(error.contains("signals has a column colour that this program does not know"), "{error}");
    }
    Ok(())
}

#[tokio::test]
async fn one_database_is_not_both_sides() -> Outcome {
    let place = Place::migrated(Kind::Sqlite).await?;
    let error = refusal(&place, &place).await?;
    assert!(error.contains("both the source and the target"), "{error}");
    let mut detour = place.options();
    detour.url = detour.url.replace("/a.db", "/./a.db");
    let error = copy::copy(&place.options(), &detour, &mut |_| ()).await;
    let error = error.err().ok_or("not refused")?.to_string();
    assert!(error.contains("both the source and the target"), "{error}");
    Ok(())
}

#[tokio::test]
async fn a_schema_between_two_files_is_refused() -> Outcome {
    let (first, second) = (Place::migrated(Kind::Sqlite).await?, Place::new(Kind::Sqlite)?);
    let [from, to] = copy::sides(&first.url(), &second.url(), &SchemaName::new("jobs")?, false);
    let error = copy::copy(&from, &to, &mut |_| ()).await.err().ok_or("not refused")?;
    assert!(error.to_string().contains("no schemas"), "{error}");
    Ok(())
}

/// What SQLite keeps and Postgres does not, and where the error must point.
const UNFIT: &[(&str, &str)] = &[
    (r#"UPDATE gen_durable SET state = '{"a": "x\u0000y"}' WHERE id = 3"#, "gen_durable id 3, column state: "),
    (r#"UPDATE gen_durable SET carry = '{"a": "\ud800"}' WHERE id = 9"#, "gen_durable id 9, column carry: "),
    (r#"UPDATE signals SET payload = '{"a": "\u0000"}' WHERE id = 7"#, "signals id 7, column payload: "),
    ("UPDATE gen_durable SET priority = 40000 WHERE id = 5", "gen_durable id 5, column priority: is out of range"),
    ("UPDATE gen_durable SET attempt = 3000000000 WHERE id = 5", "gen_durable id 5, column attempt: is out of range"),
    (
        "UPDATE gen_durable SET eligible_at = -9223372036854775807 WHERE id = 6",
        "gen_durable id 6, column eligible_at: is out",
    ),
    ("UPDATE signals SET consumed_at = -300000000000000000 WHERE id = 6", "signals id 6, column consumed_at: "),
    ("UPDATE gen_durable SET last_error = 'a' || char(0) WHERE id = 8", "gen_durable id 8, column last_error: "),
    ("UPDATE gen_durable SET queue = CAST(X'ff41' AS TEXT) WHERE id = 8", "gen_durable id 8, column queue: "),
    ("UPDATE gen_durable SET awaits = '{}' WHERE id = 3", "gen_durable id 3, column awaits: is no list of texts"),
    (
        "UPDATE gen_durable SET correlation_scope = '[\"x\"]' WHERE id = 3",
        "gen_durable id 3, column correlation_scope: ",
    ),
    (
        "UPDATE gen_durable_bucket_configs SET shards = 99999 WHERE kind = 'rate'",
        "gen_durable_bucket_configs row 2, column shards: ",
    ),
    (
        "UPDATE gen_durable_buckets SET key = 'se' || char(0) WHERE kind = 'conc'",
        "gen_durable_buckets row 1, column key: ",
    ),
    ("DELETE FROM gen_durable WHERE id = 3", "signals id 5, column target_id: names an instance that does not exist"),
    (
        "DELETE FROM gen_durable WHERE id = 12",
        "gen_durable id 9, column parent_id: names an instance that does not exist",
    ),
];

#[tokio::test]
async fn a_row_that_postgres_cannot_hold_is_named() -> Outcome {
    let up = Place::migrated(Kind::Postgres).await?;
    for (unfit, expected) in UNFIT {
        let first = Place::migrated(Kind::Sqlite).await?;
        first.execute(EVERYTHING).await?;
        first.execute(unfit).await?;
        let error = refusal(&first, &up).await.map_err(|e| format!("{unfit}: {e}"))?;
        assert!(error.contains(expected), "{unfit}: {error}");
        assert!(!error.contains("x\\u") && !error.contains("de:clined"), "an error never quotes data: {error}");
        assert_eq!(rows(&dump(&up).await?), 0, "{unfit}");
    }
    Ok(())
}

#[tokio::test]
async fn a_row_of_a_later_page_is_named_too() -> Outcome {
    let (first, up) = (Place::migrated(Kind::Sqlite).await?, Place::migrated(Kind::Postgres).await?);
    first.execute(&many(MANY, 2500, 50)).await?;
    first.execute(r#"UPDATE gen_durable SET state = '["\u0000"]' WHERE id = 1777"#).await?;
    let error = refusal(&first, &up).await?;
    assert!(error.contains("gen_durable id 1777, column state: "), "{error}");
    assert_eq!(rows(&dump(&up).await?), 0);
    Ok(())
}

#[tokio::test]
async fn a_row_that_sqlite_cannot_hold_is_named() -> Outcome {
    let (up, back) = (Place::migrated(Kind::Postgres).await?, Place::new(Kind::Sqlite)?);
    up.execute("INSERT INTO gen_durable (fsm, step) SELECT 'a', 'b' FROM generate_series(1, 1500)").await?;
    // SQLite reads JSON to a depth of 1,000.
    up.execute("UPDATE gen_durable SET state = (repeat('[', 1100) || repeat(']', 1100))::jsonb WHERE id = 1234")
        .await?;
    let error = refusal(&up, &back).await?;
    assert!(error.contains("gen_durable id 1234: CHECK constraint failed: json_valid(state)"), "{error}");
    assert_eq!(rows(&dump(&back).await?), 0);
    Ok(())
}
