//! What a run took, and what it cost: statements, and the processors' time of the server and of this process.

use std::{
    fs,
    time::{Duration, Instant},
};

use sqlx::{PgPool, Row};

use crate::{Fault, place::Bench};

/// One run: a rate or a span, and what one of its things cost.
#[derive(Debug, Clone, Copy)]
pub struct Figure {
    pub value: f64,
    pub cost: Option<Cost>,
}

/// What one thing cost.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    /// Each is one round trip: nobody sends a second one before the first is answered. `None` where nothing counts them.
    pub statements: Option<f64>,
    /// Microseconds of a processor.
    pub server: Option<f64>,
    pub client: Option<f64>,
}

impl Figure {
    /// A span, or a rate that needs no run.
    pub fn of(value: f64) -> Self {
        Self { value, cost: None }
    }
}

/// A run that has begun.
pub struct Meter<'b> {
    began: Instant,
    bench: Option<&'b Bench>,
    server: Option<Duration>,
    client: Option<Duration>,
}

impl<'b> Meter<'b> {
    pub async fn start(bench: &'b Bench) -> Result<Self, Fault> {
        if bench.counts {
            sqlx::query(include_str!("sql/reset.sql")).execute(&bench.pool).await?;
        }
        let server = bench.server.and_then(of_family);
        Ok(Self { server, client: of_process("self"), bench: Some(bench), began: Instant::now() })
    }

    /// Without a server.
    pub fn here() -> Self {
        Self { began: Instant::now(), bench: None, server: None, client: of_process("self") }
    }

    /// It has done so many things.
    pub async fn stop(self, things: usize) -> Result<Figure, Fault> {
        let (took, things) = (self.began.elapsed(), things as f64);
        let each = |now: Option<Duration>, before: Option<Duration>| {
            Some(now?.saturating_sub(before?).as_secs_f64() * 1e6 / things)
        };
        let client = each(of_process("self"), self.client);
        let server = each(self.bench.and_then(|b| b.server).and_then(of_family), self.server);
        if let Some(bench) = self.bench.filter(|b| b.profile) {
            profile(&bench.pool).await?;
        }
        let statements = match self.bench.filter(|b| b.counts) {
            Some(bench) => Some(statements(&bench.pool).await? as f64 / things),
            None => None,
        };
        Ok(Figure { value: things / took.as_secs_f64(), cost: Some(Cost { statements, server, client }) })
    }
}

/// Says what took the server longest.
async fn profile(pool: &PgPool) -> Result<(), Fault> {
    println!("  {:>7} {:>10} {:>9} {:>9}", "calls", "total ms", "mean ms", "longest");
    for row in sqlx::query(include_str!("sql/profile.sql")).fetch_all(pool).await? {
        let [total, mean, longest] = ["total", "mean", "longest"].map(|column| row.get::<f64, _>(column));
        let (calls, text): (i64, String) = (row.get("calls"), row.get("bench_text"));
        println!("  {calls:>7} {total:>10.1} {mean:>9.3} {longest:>9.2}  {text}");
    }
    Ok(())
}

async fn statements(pool: &PgPool) -> Result<i64, Fault> {
    Ok(sqlx::query_scalar(include_str!("sql/statements.sql")).fetch_one(pool).await?)
}

/// Of the server's first process and all its others; those that ended are counted by the first.
fn of_family(first: u32) -> Option<Duration> {
    let mut all = ticks(&first.to_string(), 4)?;
    for entry in fs::read_dir("/proc").ok()?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.bytes().all(|b| b.is_ascii_digit()) && parent(&name) == Some(first) {
            all += ticks(&name, 2).unwrap_or(0);
        }
    }
    Some(Duration::from_millis(10 * all))
}

fn of_process(name: &str) -> Option<Duration> {
    Some(Duration::from_millis(10 * ticks(name, 2)?))
}

/// The fields of `/proc/<pid>/stat` after the name, which may hold anything: the state is the first.
fn fields(name: &str) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{name}/stat")).ok()?;
    Some(text.rsplit_once(") ")?.1.split(' ').map(str::to_owned).collect())
}

fn parent(name: &str) -> Option<u32> {
    fields(name)?.get(1)?.parse().ok()
}

/// User and system time, and with four those of its children that ended: hundredths of a second.
fn ticks(name: &str, how_many: usize) -> Option<u64> {
    Some(fields(name)?.iter().skip(11).take(how_many).filter_map(|field| field.parse::<u64>().ok()).sum())
}
