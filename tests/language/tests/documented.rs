//! What rustdoc shows of a machine: its steps as a table, each handler's signature and the impl, ready to copy.

use std::{env, fs, path::Path};

use language::compile::Case;

/// The text of a page, as it is read and copied.
fn text(html: &str) -> String {
    let mut text = String::new();
    let mut inside = false;
    for c in html.chars() {
        match c {
            '<' => inside = true,
            '>' if inside => inside = false,
            c if !inside => text.push(c),
            _ => {}
        }
    }
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'").replace("&amp;", "&")
}

fn pages(names: &[&str]) -> Vec<String> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/documented");
    let source = manifest.join("documented.rs");
    let out = env::temp_dir().join(format!("language-{}-documented", std::process::id()));
    let output = Case { source: &source, manifest: &manifest, facade: "gen_durable", edition: "2024" }.document(&out);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{said}");
    let page = |name: &&str| fs::read_to_string(out.join("documented").join(name)).map(|html| text(&html));
    let pages = names.iter().map(page).collect::<Result<_, _>>();
    let _ = fs::remove_dir_all(&out);
    pages.expect("a page for each")
}

#[test]
fn a_machine_is_documented() {
    let pages = pages(&["trait.CheckoutSteps.html", "trait.EverySteps.html", "enum.Checkout.html", "enum.Every.html"]);
    let [checkout_steps, every_steps, checkout, every] = pages.as_slice() else { unreachable!("four were asked for") };
    let signatures = [
        "async fn reserve(&self, step: Reserve, cx: &StepContext) -> StepResult<Reserve>",
        "async fn await_payment(&self, step: AwaitPayment, signal: Result<AwaitPaymentSignal, TimedOut>, \
         cx: &StepContext) -> StepResult<AwaitPayment>",
        "async fn ship(&self, step: Ship, cx: &StepContext) -> StepResult<Ship>",
        "async fn release(&self, step: Release, cx: &StepContext) -> StepResult<Release>",
        "impl CheckoutSteps for Handler {",
        "Holds the stock.",
        "Never twice.",
    ];
    signatures.iter().for_each(|text| has(checkout_steps, text));
    let signatures = [
        "async fn all(&self, step: All, signal: Result<AllSignals, Partial<(Option<Paid>, Option<Declined>)>>, \
         carry: &mut Facts, cx: &StepContext) -> StepResult<All>",
        "async fn several(&self, step: Several, signal: Vec<Paid>, carry: &mut Facts, cx: &StepContext) -> \
         StepResult<Several>",
        "async fn children(&self, step: Children, children: Joined<Note>, carry: &mut Facts, cx: &StepContext) -> \
         StepResult<Children>",
        "async fn both(&self, step: Both, children: (Joined<Note>, Joined<Checkout>), carry: &mut Facts, \
         cx: &StepContext) -> StepResult<Both>",
        "async fn type_(&self, step: Type, carry: &mut Facts, cx: &StepContext) -> StepResult<Type>",
    ];
    signatures.iter().for_each(|text| has(every_steps, text));
    let table = [
        "An order, from the stock to the door.",
        "Stored as checkout, version 1.",
        "stepwaits forruns underleads to",
        "Reserve (start)OrderLockAwaitPayment",
        "AwaitPaymentPaid, Declined, 900sOrderLockShip",
        "ShipCarrier, OrderLockdone, on failure Release",
        "Releasedone, fail",
    ];
    table.iter().for_each(|text| has(checkout, text));
    let table =
        ["Stored as every, version 3.", "All (start)all of Paid, Declined, 60sSeveral", "Several3 × PaidChildren"];
    table.iter().for_each(|text| has(every, text));
}

#[track_caller]
fn has(page: &str, text: &str) {
    assert!(page.contains(text), "{text:?} is missing in:\n{page}");
}
