//! The days on which clocks are set, and a slow search that needs no library.

use super::*;

fn at(text: &str) -> Timestamp {
    text.parse().expect("a moment")
}

fn zone(name: &str) -> TimeZone {
    TimeZone::get(name).expect("a zone database")
}

fn cron(pattern: &str, tz: &str) -> Cron {
    Cron::read(pattern, zone(tz)).expect("reads")
}

/// The slots after `from`, as long as they are not after `to`.
fn slots(cron: &Cron, from: Timestamp, to: Timestamp) -> Vec<Timestamp> {
    std::iter::successors(cron.after(from), |at| cron.after(*at)).take_while(|slot| *slot <= to).collect()
}

#[track_caller]
fn fires(pattern: &str, tz: &str, from: &str, expected: &[&str]) {
    let found = std::iter::successors(cron(pattern, tz).after(at(from)), |at| cron(pattern, tz).after(*at));
    let found: Vec<String> = found.take(expected.len()).map(|slot| slot.to_string()).collect();
    assert_eq!(found, expected, "{pattern} {tz}");
}

#[test]
fn a_time_that_does_not_exist_fires_once_at_the_moment_after_the_gap() {
    // Berlin goes from 02:00 to 03:00 on the 29th, New York on the 8th.
    let berlin = ["2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"];
    fires("30 2 * * *", "Europe/Berlin", "2026-03-28T00:00:00Z", &berlin);
    let york = ["2026-03-07T07:30:00Z", "2026-03-08T07:00:00Z", "2026-03-09T06:30:00Z"];
    fires("30 2 * * *", "America/New_York", "2026-03-07T06:00:00Z", &york);
    // Several times of the gap are one moment, and a time that exists then is the same slot.
    let one = ["2026-03-29T00:40:00Z", "2026-03-29T01:00:00Z", "2026-03-29T01:20:00Z"];
    fires("*/20 1-3 * * *", "Europe/Berlin", "2026-03-29T00:20:00Z", &one);
    // Nothing is due at the gap that was not meant for it.
    let after = ["2026-03-29T01:30:00Z", "2026-03-30T01:30:00Z"];
    fires("30 3 * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", &after);
}

#[test]
fn a_time_that_exists_twice_fires_once_at_the_first() {
    // Berlin goes from 03:00 back to 02:00 on October 25th, New York from 02:00 to 01:00 on November 1st.
    let berlin = ["2026-10-24T00:30:00Z", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"];
    fires("30 2 * * *", "Europe/Berlin", "2026-10-23T12:00:00Z", &berlin);
    let york = ["2026-10-31T05:30:00Z", "2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"];
    fires("30 1 * * *", "America/New_York", "2026-10-31T00:00:00Z", &york);
    // Asked between the two, or while the hour comes again, the second is none.
    fires("30 2 * * *", "Europe/Berlin", "2026-10-25T00:45:00Z", &["2026-10-26T01:30:00Z"]);
    fires("30 2 * * *", "Europe/Berlin", "2026-10-25T01:15:00Z", &["2026-10-26T01:30:00Z"]);
}

#[test]
fn what_fires_in_every_hour_follows_the_time_that_passes() {
    let autumn = ["2026-10-25T00:15:00Z", "2026-10-25T01:15:00Z", "2026-10-25T02:15:00Z"];
    fires("15 * * * *", "Europe/Berlin", "2026-10-25T00:00:00Z", &autumn);
    let spring = ["2026-03-29T00:15:00Z", "2026-03-29T01:15:00Z", "2026-03-29T02:15:00Z"];
    fires("15 * * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", &spring);
    // The moment itself at which the clocks are set.
    fires("0 * * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", &["2026-10-25T01:00:00Z", "2026-10-25T02:00:00Z"]);
    // Half an hour is enough to move by on Lord Howe.
    let howe = ["2026-04-04T14:00:00Z", "2026-04-04T15:30:00Z"];
    fires("0 * * * *", "Australia/Lord_Howe", "2026-04-04T13:30:00Z", &howe);
}

#[test]
fn a_day_that_was_left_out_fires_when_it_would_have_begun() {
    // Samoa went from December 29th to the 31st.
    fires("0 9 30 12 *", "Pacific/Apia", "2011-12-01T00:00:00Z", &["2011-12-30T10:00:00Z"]);
    // In Cairo the hour after midnight is left out.
    fires("0 0 * * 5", "Africa/Cairo", "2026-04-20T00:00:00Z", &["2026-04-23T22:00:00Z"]);
}

#[test]
fn a_day_of_the_month_or_of_the_week_is_enough() {
    let both = ["2026-05-01T00:00:00Z", "2026-05-04T00:00:00Z", "2026-05-11T00:00:00Z", "2026-05-13T00:00:00Z"];
    fires("0 0 1,13 * mon", "UTC", "2026-04-30T00:00:00Z", &both);
    fires("0 0 * * 7", "UTC", "2026-05-01T00:00:00Z", &["2026-05-03T00:00:00Z"]);
    fires("0 0 29 feb *", "UTC", "2026-01-01T00:00:00Z", &["2028-02-29T00:00:00Z"]);
}

/// A pattern, and the same as a question to a clock.
type Case = (&'static str, fn(DateTime) -> bool);

const CASES: [Case; 7] = [
    ("*/7 * * * *", |w| w.minute() % 7 == 0),
    ("0 0 * * *", |w| w.hour() == 0 && w.minute() == 0),
    ("30 2 * * *", |w| w.hour() == 2 && w.minute() == 30),
    ("*/20 1-3 * * *", |w| (1..=3).contains(&w.hour()) && w.minute() % 20 == 0),
    ("5 */2 * * *", |w| w.hour() % 2 == 0 && w.minute() == 5),
    ("59 23 * * 0", |w| w.hour() == 23 && w.minute() == 59 && w.weekday().to_sunday_zero_offset() == 0),
    ("0 * * * *", |w| w.minute() == 0),
];

const PLACES: [(&str, &str); 8] = [
    ("Europe/Berlin", "2026-03-27T12:00:00Z"),
    ("Europe/Berlin", "2026-10-23T12:00:00Z"),
    ("America/New_York", "2026-03-06T12:00:00Z"),
    ("America/New_York", "2026-10-30T12:00:00Z"),
    ("Australia/Lord_Howe", "2026-04-03T00:00:00Z"),
    ("Africa/Cairo", "2026-04-22T00:00:00Z"),
    ("Pacific/Apia", "2011-12-28T12:00:00Z"),
    ("Asia/Kolkata", "2026-03-27T12:00:00Z"),
];

/// Minute by minute through four days. A time of the clock that never was is due when the clocks next show a later one.
fn slowly(cron: &Cron, is_due: fn(DateTime) -> bool, from: Timestamp, to: Timestamp) -> Vec<Timestamp> {
    let minute = SignedDuration::from_mins(1);
    let moments = std::iter::successors(from.checked_add(minute).ok(), |at| at.checked_add(minute).ok());
    let mut found = Vec::new();
    let mut shown = cron.zone.to_datetime(from);
    for moment in moments.take_while(|moment| *moment <= to) {
        let now = cron.zone.to_datetime(moment);
        let is_slot = match cron.hourly {
            true => is_due(now),
            // Everything between the latest time that was shown and now.
            false => std::iter::successors(shown.checked_add(minute).ok(), |w| w.checked_add(minute).ok())
                .take_while(|wall| *wall <= now)
                .any(is_due),
        };
        found.extend(is_slot.then_some(moment));
        shown = shown.max(now);
    }
    found
}

#[test]
fn the_search_finds_what_a_walk_minute_by_minute_finds() {
    for ((pattern, is_due), (tz, from)) in CASES.iter().flat_map(|case| PLACES.iter().map(move |place| (case, place))) {
        let (cron, from) = (cron(pattern, tz), at(from));
        let to = from.checked_add(SignedDuration::from_hours(96)).expect("a moment");
        let expected = slowly(&cron, *is_due, from, to);
        assert_eq!(slots(&cron, from, to), expected, "{pattern} {tz}");
        // From anywhere between two slots the next one is the same.
        for pair in expected.windows(2) {
            let between = pair[1].checked_sub(SignedDuration::from_millis(1)).expect("a moment");
            assert_eq!(cron.after(between), Some(pair[1]), "{pattern} {tz}");
        }
    }
}

#[test]
fn every_pattern_of_an_annotation_is_read_and_no_other() {
    for right in
        ["0 3 * * *", "*/5 0-6 1,15 jan mon-fri", "59 23 31 12 7", "5/15 * * * *", "0 0 * * fri-7", "0-59/10 * * FEB *"]
    {
        assert!(Cron::read(right, TimeZone::UTC).is_ok(), "{right}");
    }
    let wrong = [
        "",
        "* * * *",
        "60 * * * *",
        "*/0 * * * *",
        "5-1 * * * *",
        "* * * * * *",
        "x * * * *",
        "@daily",
        "0 0 L * *",
        "0 0 1W * *",
        "0 0 ? * *",
        "0 0 * * 1#2",
        "0 0 * * +1",
        "1,,2 * * * *",
        "/5 * * * *",
        "-1 * * * *",
        "0 0 31 2 *",
        "0 24 * * *",
    ];
    for wrong in wrong {
        let refused = Cron::read(wrong, TimeZone::UTC).map(|_| ()).expect_err(wrong);
        assert_eq!(refused.field(), "cron");
    }
}
