//! The command line of a generated `main`, as a person uses it.

use std::{
    process::Stdio,
    time::{Duration, Instant},
};

use suite::Db;
use tokio::process::{Child, Command};

suite::stores! {
    both {
        a_start_by_the_command_line_is_taken_at_once,
        data_is_printed_for_people_and_as_json,
        a_mistake_on_the_command_line_is_named_and_nothing_is_written,
        show_says_how_the_children_stand_that_are_waited_for,
        a_restart_starts_a_new_instance_from_a_step_of_another_one,
        ctrl_c_drains_and_says_what_it_waits_for_and_a_second_one_does_not_wait,
        schedules_are_listed_paused_resumed_fired_and_removed,
        limits_are_listed_set_and_reset,
        queues_are_listed_paused_and_resumed,
        a_run_is_told_how_long_what_has_ended_stays,
    }
    postgres {
        a_boot_without_a_server_says_so => "there is no server",
        migrate_goes_to_the_seeds_versions_and_takes_everything_down => "the seed's versions are on Postgres",
    }
    sqlite {
        a_boot_on_a_file_that_cannot_be_says_so => "there is no file",
        migrate_takes_a_file_down_and_up_again => "has versions of the seed's below its own",
    }
}

fn program(db: &Db, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_suite-cli"));
    command.args(args).env("DATABASE_URL", &db.url).env_remove("RUST_LOG").stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// Exit code, standard output, standard error.
async fn run(db: &Db, args: &[&str]) -> (i32, String, String) {
    let output = program(db, args).output().await.expect("runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

async fn say(db: &Db, args: &[&str]) -> String {
    let (code, out, err) = run(db, args).await;
    assert_eq!(code, 0, "{args:?}: {err}");
    out
}

async fn refuse(db: &Db, args: &[&str]) -> String {
    let (code, out, err) = run(db, args).await;
    assert_ne!(code, 0, "{args:?}: {out}");
    err
}

fn worker(db: &Db, more: &[&str]) -> Child {
    let args = [&["run", "--poll", "60s"], more].concat();
    program(db, &args).stderr(Stdio::piped()).spawn().expect("runs")
}

async fn until(db: &Db, sql: &'static str, text: &str, within: Duration) {
    let end = Instant::now() + within;
    while db.text(sql).await != text {
        assert!(Instant::now() < end, "it is {}", db.text(sql).await);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn signal(child: &Child, name: &str) {
    let pid = child.id().expect("it runs").to_string();
    let sent = std::process::Command::new("kill").args([name, &pid]).status().expect("kill");
    assert!(sent.success());
}

const STATUS: &str = "SELECT status::text || ' at ' || step FROM gen_durable ORDER BY id DESC LIMIT 1";

async fn a_run_is_told_how_long_what_has_ended_stays(db: Db) {
    for (status, days) in [("done", 8), ("done", 6), ("failed", 8), ("failed", 31)] {
        db.run(format!(
            "INSERT INTO gen_durable (fsm, step, status, updated_at)
             VALUES ('toast', 'a', '{status}', now() - interval '{days} d')"
        ))
        .await;
    }
    let left = "SELECT count(*) || '' FROM gen_durable";
    let mut keeps = worker(&db, &[]);
    tokio::time::sleep(Duration::from_millis(500)).await;
    keeps.kill().await.expect("ends");
    assert_eq!(db.text(left).await, "4");
    let mut deletes = worker(&db, &["--keep-done", "7d", "--keep-failed", "30d"]);
    until(&db, left, "2", Duration::from_secs(20)).await;
    deletes.kill().await.expect("ends");
    assert_eq!(db.count("SELECT count(*) FROM gen_durable WHERE updated_at > now() - interval '9 d'").await, 2);
}

async fn a_start_by_the_command_line_is_taken_at_once(db: Db) {
    let mut worker = worker(&db, &[]);
    db.heard().await;
    for order in 1..=5 {
        assert_eq!(
            say(&db, &["start", "order", &format!("{{\"order\": {order}}}")]).await,
            format!("started instance {order}\n")
        );
        // The poll is a minute away: only the wake-up can have brought it there.
        until(&db, STATUS, "awaiting_signal at await_payment", Duration::from_secs(5)).await;
        let key = format!("order:{order}");
        assert_eq!(
            say(&db, &["signal", &key, "paid", "{\"payment\": 7}"]).await,
            format!("delivered to instance {order}\n")
        );
        until(&db, STATUS, "done at await_payment", Duration::from_secs(5)).await;
    }
    signal(&worker, "-TERM");
    assert!(worker.wait().await.expect("ends").success());
}

async fn data_is_printed_for_people_and_as_json(db: Db) {
    assert_eq!(say(&db, &["start", "order", "{\"order\": 1}", "--json"]).await, "{\"id\":1,\"new\":true}\n");
    assert_eq!(
        say(&db, &["start", "order", "{\"order\": 1}"]).await,
        "not started: instance 1 has this business key\n"
    );
    let shown = say(&db, &["show", "order:1"]).await;
    let state = shown.replace("{\"order\": 1}", "{\"order\":1}").contains("state      {\"order\":1}");
    assert!(state && shown.contains("status     runnable at reserve"), "{shown}");
    let json: serde_json::Value = serde_json::from_str(&say(&db, &["show", "1", "--json"]).await).expect("json");
    assert_eq!(
        (&json["machine"], &json["state"]["order"], &json["status"]),
        (&"order".into(), &1.into(), &"runnable".into())
    );
    let list = say(&db, &["list", "--status", "runnable"]).await;
    assert!(list.starts_with("id  machine  step     status"), "{list}");
    assert_eq!(say(&db, &["list", "--machine", "other", "--json"]).await, "");
    let machines = say(&db, &["machines"]).await;
    assert!(machines.contains("suite_cli::Order") && machines.contains("reserve await_payment slow"), "{machines}");
    assert!(say(&db, &["graph"]).await.contains("    reserve --> await_payment\n"));
    assert!(say(&db, &["graph", "order", "--format", "dot"]).await.contains("\"reserve\" -> \"await_payment\";"));
    assert_eq!(say(&db, &["echo", "--any", "thing"]).await, "--any thing\n");
    assert!(say(&db, &["--help"]).await.contains("Say what was said"));
}

async fn a_mistake_on_the_command_line_is_named_and_nothing_is_written(db: Db) {
    let on_server = db.store.dialect() == "postgres";
    let cases: &[(&[&str], &str)] = &[
        (&["start", "ordr", "{}"], "no machine is named \"ordr\"; this binary has order"),
        (&["start", "order", "{\"ordr\": 1}"], "missing field `order`"),
        (&["start", "order", "nonsense"], "state is not JSON"),
        (&["start", "order", "{\"order\": 1}", "--step", "slow"], "start steps: reserve"),
        (&["start", "order", "{\"order\": 1}", "--queue", "a:b"], "queue contains `:`"),
        (&["start", "order", "{\"order\": 1}", "--delay", "soon"], "expected a duration such as"),
        (&["start", "order", "{\"order\": 1}", "--priority", "40000"], "40000 is not in -32768..=32767"),
        (&["signal", "1", "payed"], "no machine of this binary awaits a signal \"payed\"; they await paid"),
        (&["signal", "1", "paid", "7"], "payload is not a JSON object"),
        (&["signal", "1", "paid"], "the instance has ended or never was"),
        (&["signal", "one", "paid"], "neither an id nor a business key"),
        (&["show", "7"], "no instance 7"),
        (&["show", "order:7"], "no instance has the key order:7 now"),
        (&["list", "--status", "waiting"], "expected one of runnable, executing"),
        (&["--schema", "", "list"], "schema is empty"),
        (&["--schema", "elsewhere", "list"], if on_server { "run `migrate`" } else { "a SQLite file has no schemas" }),
        (&["migrate", "--to", "9"], "9"),
    ];
    for (args, text) in cases {
        let said = refuse(&db, args).await;
        assert!(said.contains(text) && !said.contains("panicked"), "{args:?}: {said}");
    }
    assert_eq!(db.count("SELECT (SELECT count(*) FROM gen_durable) + (SELECT count(*) FROM signals)").await, 0);
}

async fn show_says_how_the_children_stand_that_are_waited_for(db: Db) {
    db.run("INSERT INTO gen_durable (fsm, step, status, transitions) VALUES ('order', 'slow', 'awaiting_children', 2)")
        .await;
    let children = "INSERT INTO gen_durable (fsm, step, parent_id, parent_round, child_index, status)";
    db.run(format!("{children} VALUES ('order', 'slow', 1, 1, 0, 'failed'), ('order', 'slow', 1, 2, 0, 'done')")).await;
    db.run(format!("{children} VALUES ('order', 'slow', 1, 2, 1, 'runnable')")).await;
    let shown = say(&db, &["show", "1"]).await;
    assert!(shown.contains("children   1 pending, 1 done, 0 failed\n"), "{shown}");
    let json: serde_json::Value = serde_json::from_str(&say(&db, &["show", "1", "--json"]).await).expect("json");
    assert_eq!(json["children"], serde_json::json!({"pending": 1, "done": 1, "failed": 0}));
    db.run("UPDATE gen_durable SET status = 'done' WHERE id = 1").await;
    let shown = say(&db, &["show", "1"]).await;
    assert!(!shown.contains("children"), "{shown}");
}

async fn a_restart_starts_a_new_instance_from_a_step_of_another_one(db: Db) {
    say(&db, &["start", "order", "{\"order\": 1}"]).await;
    let lives = refuse(&db, &["restart", "order:1", "reserve"]).await;
    assert!(lives.contains("the business key is occupied by instance 1"), "{lives}");
    let end = "UPDATE gen_durable SET status = 'done', step = 'await_payment'";
    db.run(end).await;
    let said = say(&db, &["restart", "1", "await_payment"]).await;
    assert!(said.starts_with("started instance ") && said.ends_with(" from instance 1\n"), "{said}");
    assert_eq!(db.text(STATUS).await, "awaiting_signal at await_payment");
    assert_eq!(db.count("SELECT count(*) FROM gen_durable WHERE correlation_key = 'order:1'").await, 2);
    let mistakes: &[(&[&str], &str)] = &[
        (&["restart", "1", "slow"], "instance 1 stands at await_payment: say the data of step slow with --state"),
        (&["restart", "1", "slow", "--state", "{}"], "missing field `seconds`"),
        (&["restart", "1", "slow", "--state", "{\"seconds\": 0}"], "the business key is occupied by instance"),
        (&["restart", "1", "fast"], "at a step \"fast\"; it can at reserve, await_payment, slow"),
        (&["restart", "99", "slow"], "no instance 99"),
    ];
    for (args, text) in mistakes {
        let said = refuse(&db, args).await;
        assert!(said.contains(text), "{args:?}: {said}");
    }
    assert_eq!(db.count("SELECT count(*) FROM gen_durable").await, 2);
    db.run("UPDATE gen_durable SET fsm = 'parcel', step = 'sent' WHERE id <> 1").await;
    let join = db.text("SELECT max(id)::text FROM gen_durable").await;
    let said = refuse(&db, &["restart", &join, "sent"]).await;
    assert!(said.contains("no instance can begin at a step \"sent\"; it can at pack"), "{said}");
    db.run(end).await;
    let json = say(&db, &["restart", "1", "slow", "--state", "{\"seconds\": 0}", "--json"]).await;
    let json: serde_json::Value = serde_json::from_str(&json).expect("json");
    assert_eq!(json["from"], 1);
    assert_eq!(db.text(STATUS).await, "runnable at slow");
}

#[cfg(feature = "postgres")]
async fn a_boot_without_a_server_says_so(_: Db) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_suite-cli"));
    let began = Instant::now();
    let refused = command.args(["run", "--database", "postgres://localhost:1/x"]).output().await.expect("runs");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("refused"), "{said}");
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

async fn ctrl_c_drains_and_says_what_it_waits_for_and_a_second_one_does_not_wait(db: Db) {
    let mut worker = worker(&db, &["--log", "json"]);
    db.heard().await;
    say(&db, &["start", "order", "{\"order\": 1002}"]).await;
    say(&db, &["start", "order", "{\"order\": 1060}"]).await;
    until(
        &db,
        "SELECT count(*)::text FROM gen_durable WHERE status = 'executing' AND step = 'slow'",
        "2",
        Duration::from_secs(5),
    )
    .await;
    signal(&worker, "-INT");
    until(&db, "SELECT status::text FROM gen_durable WHERE id = 1", "done", Duration::from_secs(10)).await;
    signal(&worker, "-INT");
    let ended = tokio::time::timeout(Duration::from_secs(5), worker.wait()).await.expect("in time").expect("ends");
    assert!(ended.success());
    // Given back, not lost to its lease, and not counted.
    assert_eq!(db.text("SELECT status::text || attempt || crashes FROM gen_durable WHERE id = 2").await, "runnable00");
    let mut log = String::new();
    let mut stderr = worker.stderr.take().expect("piped");
    tokio::io::AsyncReadExt::read_to_string(&mut stderr, &mut log).await.expect("reads");
    assert!(log.contains("waits for order 2 at slow"), "{log}");
    assert!(log.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "{log}");
}

async fn schedules_are_listed_paused_resumed_fired_and_removed(db: Db) {
    assert_eq!(say(&db, &["schedules"]).await, "name  starts  when  next  last  instance  note\n");
    let mut worker = worker(&db, &[]);
    let stands = "SELECT count(*)::text FROM gen_durable_schedules";
    until(&db, stands, "1", Duration::from_secs(10)).await;
    let listed = say(&db, &["schedules"]).await;
    assert!(listed.contains("toast:cheer  toast cheer  0 0 1 1 * Europe/Berlin  "), "{listed}");
    assert!(listed.contains("-12-31T23:00:00Z  -     -"), "{listed}");
    assert_eq!(say(&db, &["schedules", "pause", "toast:cheer"]).await, "toast:cheer paused\n");
    assert!(say(&db, &["schedules"]).await.trim_end().ends_with("  paused"));
    assert_eq!(say(&db, &["schedules", "resume", "toast:cheer"]).await, "toast:cheer goes on\n");
    assert_eq!(say(&db, &["schedules", "fire", "toast:cheer"]).await, "started instance 1\n");
    until(&db, STATUS, "done at cheer", Duration::from_secs(5)).await;
    let json: serde_json::Value = serde_json::from_str(&say(&db, &["schedules", "--json"]).await).expect("json");
    assert_eq!(
        (&json["name"], &json["last_instance"], &json["paused"]),
        (&"toast:cheer".into(), &1.into(), &serde_json::Value::Null)
    );
    assert!(json["next"].as_str().is_some_and(|next| next.ends_with("-12-31T23:00:00Z")), "{json}");
    assert!(refuse(&db, &["schedules", "remove", "toast:cheer"]).await.contains("in the code of a live worker"));
    signal(&worker, "-TERM");
    assert!(worker.wait().await.expect("ends").success());
    db.run("UPDATE gen_durable_schedules SET known_at = now() - interval '2 min'").await;
    assert!(say(&db, &["schedules"]).await.contains("in no live worker's code"));
    assert_eq!(say(&db, &["schedules", "remove", "toast:cheer"]).await, "toast:cheer removed\n");
    assert!(
        refuse(&db, &["schedules", "remove", "toast:cheer"]).await.contains("there is no schedule \"toast:cheer\"")
    );
    assert!(
        refuse(&db, &["schedules", "fire", "toast:cheer"])
            .await
            .contains("the schedule \"toast:cheer\" does not exist")
    );
}

async fn limits_are_listed_set_and_reset(db: Db) {
    let head = "limit  kind  allows  shards  set by  waiting  busiest keys\n";
    assert_eq!(say(&db, &["limits"]).await, head);
    // Before any worker has made it known.
    assert_eq!(say(&db, &["limits", "set", "counter", "--slots", "5"]).await, "counter set\n");
    let mut worker = worker(&db, &["--concurrency", "4", "--weight", "mail=2"]);
    until(&db, "SELECT count(*)::text FROM gen_durable_bucket_configs", "2", Duration::from_secs(10)).await;
    say(&db, &["start", "relay", "{\"to\": 1}"]).await;
    until(&db, STATUS, "done at hand", Duration::from_secs(5)).await;
    let listed = say(&db, &["limits"]).await;
    assert!(listed.contains("\ncounter  gate  5 at once       1       operator  0\n"), "{listed}");
    assert!(listed.contains("\nstamps   rate  1/s, 4 at once  1       code      0        stamps:1 ("), "{listed}");
    let set = ["limits", "set", "stamps", "--allowed", "2", "--per", "1h", "--burst", "2"];
    assert_eq!(say(&db, &set).await, "stamps set\n");
    let json = say(&db, &["limits", "--json"]).await;
    let stamps: serde_json::Value = serde_json::from_str(json.lines().last().expect("two lines")).expect("json");
    assert_eq!(
        (&stamps["name"], &stamps["burst"], &stamps["set_by"], &stamps["slots"]),
        (&"stamps".into(), &2.0.into(), &"operator".into(), &serde_json::Value::Null)
    );
    let reset = say(&db, &["limits", "reset", "stamps", "--json"]).await;
    let reset: serde_json::Value = serde_json::from_str(&reset).expect("json");
    assert_eq!((&reset["limit"], &reset["did"]), (&"stamps".into(), &"is as its type says".into()));
    assert!(say(&db, &["limits"]).await.contains("1/s, 4 at once"));
    let cases: &[(&[&str], &str)] = &[
        (&["limits", "set", "stamp", "--burst", "9"], "did you mean `stamps`?"),
        (&["limits", "set", "stamps", "--burst", "1"], "`hand` of `relay` takes 2 at once: it needs a burst of 2"),
        (&["limits", "set", "counter", "--burst", "9"], "`counter` is a gate"),
        (&["limits", "set", "stamps", "--slots", "9"], "`stamps` is a rate limit"),
        (&["limits", "set", "stamps", "--allowed", "9"], "--per"),
        (&["limits", "set", "stamps"], "required"),
        (&["limits", "reset", "nothing"], "`nothing` is named by no machine of this program"),
    ];
    for (args, text) in cases {
        let said = refuse(&db, args).await;
        assert!(said.contains(text), "{args:?}: {said}");
    }
    signal(&worker, "-TERM");
    assert!(worker.wait().await.expect("ends").success());
}

async fn queues_are_listed_paused_and_resumed(db: Db) {
    let listed = say(&db, &["queues"]).await;
    assert!(
        listed.starts_with("queue    due  oldest  running  parked  limited  no code  scheduled  paused since  note\n")
    );
    assert!(listed.contains("\nmail     0    -       0        0       0        0        0          -\n"), "{listed}");
    assert_eq!(say(&db, &["queues", "pause", "mail"]).await, "mail paused\n");
    assert_eq!(say(&db, &["queues", "pause", "mail"]).await, "mail is paused already\n");
    let mut worker = worker(&db, &[]);
    db.heard().await;
    say(&db, &["start", "relay", "{\"to\": 1}"]).await;
    say(&db, &["start", "order", "{\"order\": 1}"]).await;
    until(&db, STATUS, "awaiting_signal at await_payment", Duration::from_secs(5)).await;
    let relay = "SELECT status::text FROM gen_durable WHERE fsm = 'relay'";
    assert_eq!(db.text(relay).await, "runnable");
    let json = say(&db, &["queues", "--json"]).await;
    let all: Vec<serde_json::Value> = json.lines().map(|line| serde_json::from_str(line).expect("json")).collect();
    assert_eq!((&all[0]["name"], &all[0]["parked"]), (&"default".into(), &1.into()));
    assert_eq!((&all[1]["name"], &all[1]["due"]), (&"mail".into(), &1.into()));
    assert!(all[1]["paused"].is_string() && all[1]["oldest_due"].is_string() && all[0]["paused"].is_null(), "{json}");
    assert_eq!(say(&db, &["queues", "resume", "mail"]).await, "mail goes on\n");
    until(&db, relay, "done", Duration::from_secs(5)).await;
    assert_eq!(say(&db, &["queues", "resume", "mail"]).await, "mail is not paused\n");
    assert!(refuse(&db, &["queues", "pause", "mial"]).await.contains("did you mean `mail`?"));
    signal(&worker, "-TERM");
    assert!(worker.wait().await.expect("ends").success());
}

#[cfg(feature = "sqlite")]
async fn a_boot_on_a_file_that_cannot_be_says_so(_: Db) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_suite-cli"));
    let refused = command.args(["run", "--database", "sqlite:///nowhere/at/all.db"]).output().await.expect("runs");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("cannot be opened"), "{said}");
}

#[cfg(feature = "sqlite")]
async fn migrate_takes_a_file_down_and_up_again(db: Db) {
    assert_eq!(say(&db, &["migrate"]).await, "nothing to do: the schema is as asked for\n");
    say(&db, &["migrate", "--to", "0"]).await;
    assert!(refuse(&db, &["list"]).await.contains("run `migrate`"));
    let tables = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'";
    assert_eq!(db.count(tables).await, 0);
    say(&db, &["migrate"]).await;
    assert_eq!(say(&db, &["list", "--json"]).await, "");
}

#[cfg(feature = "postgres")]
async fn migrate_goes_to_the_seeds_versions_and_takes_everything_down(db: Db) {
    assert_eq!(say(&db, &["migrate"]).await, "nothing to do: the schema is as asked for\n");
    assert_eq!(
        say(&db, &["migrate", "--to", "2"]).await,
        "down from version 3+3\ndown from version 3+2\ndown from version 3+1\ndown from version 3\n"
    );
    assert!(refuse(&db, &["list"]).await.contains("run `migrate`"));
    say(&db, &["migrate", "--to", "0"]).await;
    assert_eq!(db.count("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").await, 0);
    assert_eq!(say(&db, &["--schema", "we\"ird", "migrate"]).await.lines().count(), 7);
}
