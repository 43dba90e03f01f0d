//! A copy that is killed in the middle, and the verb itself.

use std::{
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use copy_tests::{EVERYTHING, Kind, MANY, MANY_POSTGRES, Outcome, Place, dump, many, raw};

/// The program of a user.
fn program(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_copy-tests"));
    command.args(args).env_remove("DATABASE_URL").env_remove("RUST_LOG").stdin(Stdio::null());
    command
}

fn copy(from: &Place, to: &Place) -> Command {
    program(&["copy", "--from", &from.url(), "--to", &to.url()])
}

/// Rows that are on their way: not committed, but in the files.
fn bytes_under_way(target: &Place) -> u64 {
    match target {
        Place::Sqlite(path) => {
            let log = format!("{}-wal", path.display());
            std::fs::metadata(log).map_or(0, |m| m.len())
        }
        Place::Postgres(database) => {
            let size = database.query("SELECT pg_relation_size('gen_durable')");
            size.ok().and_then(|rows| rows[0][0].as_ref()?.parse().ok()).unwrap_or(0)
        }
    }
}

/// Killed so often, each time with more rows under way; then it must still work as a whole.
async fn killed_in_the_middle(from: Kind, to: Kind, rows: &str, bytes: [u64; 3]) -> Outcome {
    let (first, second) = (Place::migrated(from).await?, Place::migrated(to).await?);
    first.execute(rows).await?;
    let before = raw(&first).await?;
    let quiet = bytes_under_way(&second);
    for more in bytes {
        let mut child = copy(&first, &second).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let until = Instant::now() + Duration::from_secs(60);
        while bytes_under_way(&second) < quiet + more {
            assert!(Instant::now() < until, "nothing was under way");
            assert!(child.try_wait()?.is_none(), "it ended before it was killed: more rows are needed");
        }
        child.kill()?;
        let ended = child.wait_with_output()?;
        assert!(!ended.status.success(), "it was killed too late");
        if let Place::Postgres(database) = &second {
            let gone = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'gen-durable copy'";
            while database.query(gone)?[0][0].as_deref() != Some("0") {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            // The space of rows that never were.
            database.query("VACUUM FULL gen_durable")?;
        }
        assert!(dump(&second).await?.iter().all(|(_, rows)| rows.is_empty()), "a part of it stayed");
    }
    assert!(raw(&first).await? == before, "the source changed");
    let whole = copy(&first, &second).output()?;
    assert!(whole.status.success(), "{}", String::from_utf8_lossy(&whole.stderr));
    assert!(dump(&second).await? == dump(&first).await?, "the second try is not whole");
    Ok(())
}

#[tokio::test]
async fn a_copy_to_postgres_that_is_killed_never_was() -> Outcome {
    killed_in_the_middle(Kind::Sqlite, Kind::Postgres, &many(MANY, 12_000, 50), [1, 1 << 20, 2 << 20]).await
}

#[tokio::test]
async fn a_copy_to_sqlite_that_is_killed_never_was() -> Outcome {
    // What is not committed is written once it is above the cache, 16 MB.
    let rows = many(MANY_POSTGRES, 12_000, 3_000);
    killed_in_the_middle(Kind::Postgres, Kind::Sqlite, &rows, [1, 4 << 20, 8 << 20]).await
}

fn said(output: &Output) -> (String, String) {
    (String::from_utf8_lossy(&output.stdout).into_owned(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[tokio::test]
async fn the_verb_says_the_rows_of_both_sides() -> Outcome {
    let (first, up, back) =
        (Place::migrated(Kind::Sqlite).await?, Place::new(Kind::Postgres)?, Place::new(Kind::Sqlite)?);
    first.execute(EVERYTHING).await?;
    let (out, err) = said(&copy(&first, &up).output()?);
    let words: Vec<Vec<&str>> = out.lines().map(|line| line.split_whitespace().collect()).collect();
    let expected = [
        vec!["table", "rows", "from", "rows", "to"],
        vec!["gen_durable", "13", "13"],
        vec!["signals", "4", "4"],
        vec!["gen_durable_history", "3", "3"],
        vec!["gen_durable_bucket_configs", "2", "2"],
        vec!["gen_durable_buckets", "3", "3"],
        vec!["gen_durable_schedules", "2", "2"],
        vec!["gen_durable_queues", "2", "2"],
    ];
    assert_eq!(words, expected, "{err}");
    let (out, err) = said(&copy(&up, &back).arg("--json").output()?);
    assert_eq!(out.lines().next(), Some(r#"{"from":13,"table":"gen_durable","to":13}"#), "{err}");
    Ok(())
}

#[tokio::test]
async fn a_password_is_never_said() -> Outcome {
    let first = Place::migrated(Kind::Sqlite).await?;
    let away = "postgres://someone:secret@127.0.0.1:1/shop";
    for [from, to] in [[first.url().as_str(), away], [away, first.url().as_str()]] {
        let output = program(&["copy", "--from", from, "--to", to]).output()?;
        let (out, err) = said(&output);
        assert!(!output.status.success());
        assert!(err.contains("postgres shop on 127.0.0.1") && !(err + &out).contains("secret"));
    }
    Ok(())
}
