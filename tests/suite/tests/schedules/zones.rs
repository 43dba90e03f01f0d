//! O-38: zones of the database, the role and the process.

use std::time::Duration;

use gen_durable::{Schedule, start};
use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use suite::Db;

use super::{SECOND, are_all, client, fired, process, schedule, slots, tocks, until_fired};
use crate::clockwork::Chime;

suite::stores! {
    both {
        nine_in_berlin_is_the_same_moment_whatever_zones_the_database_and_the_process_have,
    }
}

/// The first nine o'clock of Berlin after a moment.
fn nine(after: Timestamp) -> Timestamp {
    let zone = TimeZone::get("Europe/Berlin").expect("a zone");
    let today = zone.to_datetime(after).date();
    let days = [today, today.tomorrow().expect("a day")];
    let nine = days.map(|day| zone.to_timestamp(day.at(9, 0, 0, 0)).expect("it exists"));
    nine.into_iter().find(|nine| *nine > after).expect("within a day")
}

async fn nine_in_berlin_is_the_same_moment_whatever_zones_the_database_and_the_process_have(db: Db) {
    let settings = [
        ["timezone = 'America/New_York'", "datestyle = 'SQL, DMY'", "intervalstyle = 'iso_8601'"],
        ["timezone = 'Asia/Kolkata'", "datestyle = 'German'", "intervalstyle = 'sql_standard'"],
    ];
    for (at, settings) in settings.into_iter().enumerate() {
        if db.store.dialect() == "postgres" {
            for (setting, whose) in settings.iter().zip(["DATABASE", "ROLE", "DATABASE"]) {
                let name = if whose == "DATABASE" { "current_database()" } else { "current_user" };
                let name = db.text(format!("SELECT quote_ident({name})::text")).await;
                db.run(format!("ALTER {whose} {name} SET {setting}")).await;
            }
        }
        // New sessions have them.
        let client = client(&db);
        let chime = || start(Chime { at: Timestamp::UNIX_EPOCH, tenant: 7 });
        let nines = Schedule::cron("0 9 * * *").tz("Europe/Berlin").slot_field("at");
        let name = format!("nine {at}");
        client.schedule(&name, nines, chime()).await.expect("schedules");
        assert_eq!(schedule(&client, &name).await.next, Some(nine(Timestamp::now())));
        let delayed = client.start(chime().delay(3_600 * SECOND)).await.expect("starts");
        let shown = client.show(&gen_durable::Target::Id(delayed.id().expect("new"))).await.expect("shows");
        let wait = shown.eligible_at.duration_since(Timestamp::now());
        assert!((3_590..=3_600).contains(&wait.as_secs()), "{wait}");

        let before = fired(&client, "tick").await.len();
        let worker = process(&db).with("TZ", "Pacific/Auckland").with("PGTZ", "Pacific/Auckland").spawn().await;
        until_fired(&client, "tick", before + 3, 6 * SECOND).await;
        drop(worker);
        let ticks = slots(&client, "tick").await;
        are_all(&ticks[before..].iter().map(|(slot, ..)| *slot).collect::<Vec<_>>(), SECOND);
        for (slot, started, _) in &ticks[before..] {
            let late = started.duration_since(*slot);
            assert!(late >= SignedDuration::ZERO && late < SignedDuration::from_secs(2), "{late}");
        }
        // Missed by three days and an hour: the nine o'clock of this morning or yesterday is caught up, at its own moment.
        db.run(format!("UPDATE gen_durable_schedules SET next_at = next_at - interval '3 d' WHERE name = '{name}'"))
            .await;
        let tocks_before = fired(&client, "tock").await.len();
        let worker = tocks(&client).await;
        let slot = *until_fired(&client, "tock", tocks_before + 1, 10 * SECOND).await.last().expect("fired");
        worker.stop().await;
        assert_eq!(nine(slot.checked_sub(SignedDuration::from_secs(1)).expect("a moment")), slot);
        let passed = Timestamp::now().duration_since(slot);
        assert!(passed < SignedDuration::from_hours(25), "{passed}");
        client.unschedule(&name).await.expect("removes");
        db.run("DELETE FROM gen_durable").await;
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
