//! Migrators that do not come to their end.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use gen_durable_runtime::store::SchemaName;
use gen_durable_runtime::store::postgres::migrate::{Plan, migrate};
use schema_tests::*;

const ROUNDS: u32 = 20;

/// How long a whole migration takes here, so that the rounds hit all parts of it.
async fn whole(db: &Db, schema: &SchemaName) -> Result<Duration, Fault> {
    let start = Instant::now();
    db.migrate(schema, &Plan::latest()).await?;
    let took = start.elapsed();
    db.migrate(schema, &Plan::to_seed(0)).await?;
    Ok(took)
}

/// One of the versions stands whole, no lock is left, and the next migrator gets through.
async fn assert_nothing_half_done(db: &mut Db, schema: &SchemaName) -> Result<usize, Fault> {
    db.alone().await?;
    assert_eq!(db.advisory_locks().await?, 0);
    let facts = db.facts(schema).await?;
    let place = FACTS.iter().position(|wanted| facts.lines().eq(wanted.lines()));
    let place = place.ok_or_else(|| format!("half done:\n{facts}"))?;
    assert_eq!(db.remains(schema).await?.is_empty(), place == 0);
    db.migrate(schema, &Plan::latest()).await?;
    assert_facts(&db.facts(schema).await?, 4);
    Ok(place)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_migrator_leaves_nothing_half_done() -> Outcome {
    let mut db = Db::new().await?;
    let schema = odd();
    let whole = whole(&db, &schema).await?;
    for round in 0..ROUNDS {
        let (options, of) = (db.options.clone(), schema.clone());
        let task = tokio::spawn(async move { migrate(&options, &of, &Plan::latest()).await });
        tokio::time::sleep(whole * round / ROUNDS).await;
        task.abort();
        let place = assert_nothing_half_done(&mut db, &schema).await?;
        assert!(place == 0 || place == 4, "one transaction: {place}");
        db.migrate(&schema, &Plan::to_seed(0)).await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_migrator_cancelled_on_its_way_down_leaves_nothing_half_done() -> Outcome {
    let mut db = Db::new().await?;
    let schema = odd();
    for round in 0..ROUNDS {
        db.migrate(&schema, &Plan::latest()).await?;
        let (options, of) = (db.options.clone(), schema.clone());
        let task = tokio::spawn(async move { migrate(&options, &of, &Plan::to_seed(0)).await });
        tokio::time::sleep(Duration::from_millis(2) * round).await;
        task.abort();
        assert_nothing_half_done(&mut db, &schema).await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_migrator_whose_session_is_terminated_leaves_nothing_half_done() -> Outcome {
    const TERMINATE: &str = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'";
    let mut db = Db::new().await?;
    let schema = odd();
    let whole = whole(&db, &schema).await?;
    let mut broken = 0;
    for round in 0..ROUNDS {
        let (options, of) = (db.options.clone(), schema.clone());
        let task = tokio::spawn(async move { migrate(&options, &of, &Plan::latest()).await });
        tokio::time::sleep(whole * round / ROUNDS).await;
        db.number(TERMINATE).await?;
        if let Err(error) = task.await? {
            assert!(error.is_transient(), "{error}");
            broken += 1;
        }
        assert_nothing_half_done(&mut db, &schema).await?;
        db.migrate(&schema, &Plan::to_seed(0)).await?;
    }
    assert!(broken >= ROUNDS / 4, "only {broken} were hit");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn with_one_of_eight_processes_killed_the_others_end_well() -> Outcome {
    let mut db = Db::new().await?;
    let schema = odd();
    let whole = whole(&db, &schema).await?;
    let url = db.database.url();
    let start = |_| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_schema-tests"));
        command.args([url.as_str(), schema.as_str()]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()
    };
    for round in 0..ROUNDS {
        let mut processes = (0..8).map(start).collect::<Result<Vec<_>, _>>()?;
        tokio::time::sleep(whole * 2 * round / ROUNDS).await;
        processes[0].kill()?;
        for (number, process) in processes.into_iter().enumerate() {
            let output = process.wait_with_output()?;
            let ended_well = output.status.success() || number == 0;
            assert!(ended_well, "{}", String::from_utf8_lossy(&output.stderr));
        }
        assert_facts(&db.facts(&schema).await?, 4);
        assert_eq!(assert_nothing_half_done(&mut db, &schema).await?, 4);
        db.migrate(&schema, &Plan::to_seed(0)).await?;
    }
    Ok(())
}
