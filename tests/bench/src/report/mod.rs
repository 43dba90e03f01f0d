//! Medians, spreads and ratios; one table; a plot of each workload.

mod plot;
mod table;

use crate::{Args, Fault, meter::Figure};

pub use plot::write;
pub use table::print;

/// One way to do a workload.
#[derive(Debug)]
pub struct Way<V> {
    pub name: String,
    pub of: V,
    /// The place of the way that is its limit.
    pub limit: Option<usize>,
}

impl<V> Way<V> {
    /// A limit.
    pub fn bare(name: impl Into<String>, of: V) -> Self {
        Self { name: name.into(), of, limit: None }
    }

    /// What is measured beside the limit at this place.
    pub fn beside(limit: usize, name: impl Into<String>, of: V) -> Self {
        Self { name: name.into(), of, limit: Some(limit) }
    }
}

/// The figures of one way, a round each.
#[derive(Debug)]
pub struct Line {
    pub name: String,
    pub figures: Vec<Figure>,
    pub limit: Option<usize>,
}

/// One workload.
#[derive(Debug)]
pub struct Section {
    /// The name of its plot's file.
    pub id: &'static str,
    pub title: String,
    pub unit: &'static str,
    pub lines: Vec<Line>,
}

impl Section {
    pub fn of(id: &'static str, title: impl Into<String>, unit: &'static str) -> Self {
        Self { id, title: title.into(), unit, lines: vec![] }
    }

    /// Measures all ways that are wanted in turn, each first as often as the others.
    pub async fn measure<V>(
        mut self,
        args: &Args,
        ways: Vec<Way<V>>,
        run: impl AsyncFn(&V) -> Result<Figure, Fault>,
    ) -> Result<Self, Fault> {
        let (lines, ways): (Vec<_>, Vec<_>) = ways.into_iter().map(|way| ((way.name, way.limit), way.of)).unzip();
        self.lines = lines.into_iter().map(|(name, limit)| Line { name, limit, figures: vec![] }).collect();
        for round in 0..args.rounds {
            let turns = (0..ways.len()).map(|n| (n + round) % ways.len());
            for at in turns.filter(|at| self.lines[*at].name.contains(&args.way)).collect::<Vec<_>>() {
                self.lines[at].figures.push(run(&ways[at]).await?);
            }
        }
        table::print(std::slice::from_ref(&self));
        Ok(self)
    }
}

impl Line {
    /// What `at` of its figures do not exceed.
    pub fn value(&self, at: f64) -> f64 {
        percentile(self.figures.iter().map(|f| f.value), at)
    }

    /// In parts of the limit, of each round's pair: the lowest, the median, the highest.
    pub fn ratios(&self, limit: &Self) -> [f64; 3] {
        let pairs = self.figures.iter().zip(&limit.figures);
        let ratios: Vec<f64> = pairs.map(|(ours, theirs)| ours.value / theirs.value).collect();
        [0.0, 0.5, 1.0].map(|at| percentile(ratios.iter().copied(), at))
    }
}

/// The value that `at` of the others do not exceed.
pub fn percentile(values: impl Iterator<Item = f64>, at: f64) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1) as f64;
    sorted.iter().enumerate().find(|(i, _)| *i as f64 >= (last * at).round()).map_or(f64::NAN, |(_, v)| *v)
}
