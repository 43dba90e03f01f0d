//! One table: median, spread, ratio, statements, processors.

use super::{Line, Section, percentile};
use crate::meter::Cost;

/// Prints these workloads.
pub fn print(sections: &[Section]) {
    for section in sections {
        println!("\n{} ({})", section.title, section.unit);
        println!(
            "  {:44} {:>9} {:>21} {:>6} {:>13} {:>9} {:>8} {:>8}",
            "", "median", "spread", "ratio", "", "stmts/1k", "srv µs", "cli µs"
        );
        for line in section.lines.iter().filter(|line| !line.figures.is_empty()) {
            let limit = line.limit.map(|limit| &section.lines[limit]);
            println!("  {}", row(line, limit.filter(|limit| !limit.figures.is_empty())));
        }
    }
}

fn row(line: &Line, limit: Option<&Line>) -> String {
    let spread = format!("{} to {}", number(line.value(0.0)), number(line.value(1.0)));
    let ratio = limit.map_or_else(String::new, |limit| {
        let [low, median, high] = line.ratios(limit);
        format!("{median:>6.2} {:>13}", format!("{low:.2} to {high:.2}"))
    });
    let cost = |of: fn(&Cost) -> Option<f64>, times: f64| {
        let values: Vec<f64> = line.figures.iter().filter_map(|f| Some(of(f.cost.as_ref()?)? * times)).collect();
        if values.is_empty() { String::new() } else { number(percentile(values.into_iter(), 0.5)) }
    };
    let (statements, server) = (cost(|c| c.statements, 1_000.0), cost(|c| c.server, 1.0));
    let (name, median, client) = (&line.name, number(line.value(0.5)), cost(|c| c.client, 1.0));
    format!("{name:44} {median:>9} {spread:>21} {ratio:20} {statements:>9} {server:>8} {client:>8}")
}

/// Three digits at least.
fn number(value: f64) -> String {
    match value.abs() {
        100.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}
