//! Medians and ratios.

/// Rates measured in alternation.
#[derive(Debug, Default)]
pub struct Rates(Vec<f64>);

impl Rates {
    pub fn add(&mut self, things: usize, took: std::time::Duration) {
        self.0.push(things as f64 / took.as_secs_f64());
    }

    pub fn median(&self) -> f64 {
        percentile(&self.0, 0.5)
    }

    fn spread(&self) -> String {
        let (low, high) = (percentile(&self.0, 0.0), percentile(&self.0, 1.0));
        format!("{low:.0} to {high:.0}")
    }
}

/// What something costs: the rate with it in parts of the rate without it, of each pair of runs.
pub fn cost(what: &str, with: &Rates, without: &Rates) {
    let ratios: Vec<f64> = with.0.iter().zip(&without.0).map(|(with, without)| with / without).collect();
    let [low, median, high] = [0.0, 0.5, 1.0].map(|at| percentile(&ratios, at));
    println!("  {what:40} {median:>9.2} of the rate without it ({low:.2} to {high:.2})");
}

/// The value that `at` of the others do not exceed.
pub fn percentile(values: &[f64], at: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1) as f64;
    sorted.iter().enumerate().find(|(i, _)| *i as f64 >= (last * at).round()).map_or(f64::NAN, |(_, v)| *v)
}

pub fn line(what: &str, rates: &Rates, unit: &str, limit: Option<&Rates>) {
    let ratio = limit.map_or(String::new(), |limit| format!("   {:.2} of the limit", rates.median() / limit.median()));
    println!("  {what:40} {:>9.0} {unit} ({}){ratio}", rates.median(), rates.spread());
}
