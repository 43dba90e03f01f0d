//! A machine of a hundred steps, each with rules and a handler, compiles in a time one can wait for.

use std::{
    env, fmt, fs,
    path::Path,
    time::{Duration, Instant},
};

use language::compile::Case;

/// Far above what it takes; on a busy computer the steps may take longer, but not each of them the more they are.
const PATIENCE: Duration = Duration::from_secs(30);
const RATIO_MAX: u32 = 25;

struct Steps(usize);

impl fmt::Display for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "#![deny(warnings)]\n{HEAD}")?;
        for n in 0..self.0 {
            let rules = match n {
                0 => "start, key(order), ".to_owned(),
                n if n % 3 == 0 => "await(Paid, Declined), timeout = \"15m\", ".to_owned(),
                n if n % 3 == 1 => "rate_limit(Carrier, by(order)), retry(attempts = 5, backoff = \"2s\"), ".to_owned(),
                _ => "run_timeout = \"1m\", queue = \"slow\", ".to_owned(),
            };
            let next = if n + 1 == self.0 { "done".to_owned() } else { format!("next(Step{}, Last)", n + 1) };
            writeln!(f, "    /// Step {n}.\n    #[step({rules}catch(Last), {next})]")?;
            writeln!(f, "    Step{n} {{ order: u64, note: Option<String> }},")?;
        }
        writeln!(f, "    #[step(done)]\n    Last,\n}}\nimpl LongSteps for Shop {{")?;
        for n in 0..self.0 {
            let waited = if n % 3 == 0 && n > 0 { ", _: Result<StepSignal, TimedOut>" } else { "" };
            let waited = waited.replace("StepSignal", &format!("Step{n}Signal"));
            let out = match n + 1 {
                next if next == self.0 => "done(step.order)".to_owned(),
                next => format!("goto(Step{next} {{ order: step.order, note: step.note }})"),
            };
            writeln!(
                f,
                "    async fn step{n}(&self, step: Step{n}{waited}, _: &StepContext) -> StepResult<Step{n}> {{"
            )?;
            writeln!(f, "        Ok({out})\n    }}")?;
        }
        writeln!(
            f,
            "    async fn last(&self, _: Last, _: &StepContext) -> StepResult<Last> {{\n        Ok(done(0))\n    }}\n}}"
        )?;
        (0..self.0).try_for_each(|n| {
            writeln!(f, "impl From<Failed<Step{n}>> for Last {{ fn from(_: Failed<Step{n}>) -> Self {{ Self }} }}")
        })
    }
}

const HEAD: &str = r#"use gen_durable::{Failed, prelude::*};
#[derive(serde::Serialize, serde::Deserialize, Signal)]
pub struct Paid {}
#[derive(serde::Serialize, serde::Deserialize, Signal)]
pub struct Declined {}
#[derive(RateLimit)]
#[rate_limit(allowed = 100, per = "1m", key(u64))]
pub struct Carrier;
#[derive(ConcurrencyKey)]
#[concurrency(key(u64))]
pub struct OrderLock;
pub struct Shop;
#[durable_fsm(output(u64), handler(Shop))]
pub enum Long {"#;

fn compile(steps: usize) -> Duration {
    let source = env::temp_dir().join(format!("language-{}-{steps}_steps.rs", std::process::id()));
    fs::write(&source, Steps(steps).to_string()).unwrap();
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let begun = Instant::now();
    let output = Case { source: &source, manifest, facade: "gen_durable", edition: "2024" }.check_library();
    let took = begun.elapsed();
    let _ = fs::remove_file(source);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    took
}

#[test]
fn a_hundred_steps_compile() {
    let (few, many) = (compile(10), compile(100));
    eprintln!("10 steps: {few:?}, 100 steps: {many:?}");
    assert!(many < PATIENCE || many < few * RATIO_MAX, "10 steps: {few:?}, 100 steps: {many:?}");
}
