//! One machine for each option: what the annotation says is what a run does.
#![allow(missing_debug_implementations)]

use std::{sync::Arc, time::Duration};

use gen_durable::{Cancelled, Expired, Failed, InstanceId, Received, Slot, prelude::*};
use gen_durable_runtime::{
    machine::{ExitKind, registry},
    model::{Deadline, Json},
};
use language::{End, Instance};
use serde::{Deserialize, Serialize};

pub struct App;

// ---- carry, retry, catch of the machine, shields

#[derive(Debug, Serialize, Deserialize, PartialEq)]
pub struct Tenant {
    pub tenant: String,
    pub calls: u32,
}

#[derive(ConcurrencyKey)]
#[concurrency(key(String, u64))]
pub struct TenantLock;

#[derive(RateLimit)]
#[rate_limit(allowed = 10, per = "1s", burst = 8, shards = 2, key(String))]
pub struct Calls;

#[durable_fsm(
    output(u32),
    carry(Tenant),
    handler(App),
    concurrency(TenantLock, by(carry.tenant, number)),
    retry(attempts = 2),
    catch(GiveUp)
)]
pub enum Billing {
    #[step(start, key(carry.tenant, number), next(Charge))]
    Open { number: u64 },
    #[step(rate_limit(Calls, by(carry.tenant), weight(tokens)), next(Close), retry(crashes = 3))]
    Charge { number: u64, tokens: u8 },
    #[step(done, shield)]
    Close { number: u64 },
    #[step(done)]
    GiveUp { number: u64, why: String },
}

impl From<Failed<Billing>> for GiveUp {
    fn from(failed: Failed<Billing>) -> Self {
        let number = match failed.step {
            Billing::Open { number }
            | Billing::Charge { number, .. }
            | Billing::Close { number }
            | Billing::GiveUp { number, .. } => number,
        };
        GiveUp { number, why: format!("{} after {} for {}", failed.error, failed.attempts, failed.carry.tenant) }
    }
}

impl BillingSteps for App {
    async fn open(&self, step: Open, carry: &mut Tenant, _cx: &StepContext) -> StepResult<Open> {
        carry.calls += 1;
        Ok(goto(Charge { number: step.number, tokens: u8::try_from(step.number)? }))
    }
    async fn charge(&self, step: Charge, carry: &mut Tenant, _cx: &StepContext) -> StepResult<Charge> {
        carry.calls += 100;
        if step.tokens == 3 {
            Err("three")?;
        }
        Ok(goto(Close { number: step.number }))
    }
    async fn close(&self, _step: Close, carry: &mut Tenant, _cx: &StepContext) -> StepResult<Close> {
        Ok(done(carry.calls))
    }
    async fn give_up(&self, step: GiveUp, carry: &mut Tenant, _cx: &StepContext) -> StepResult<GiveUp> {
        assert!(step.why.ends_with("after 2 for t:1"));
        Ok(done(carry.calls))
    }
}

fn tenant() -> Tenant {
    Tenant { tenant: "t:1".into(), calls: 0 }
}

#[test]
fn the_carry_is_kept_only_when_the_handler_returns_ok() {
    let app = Arc::new(App);
    let mut ok = Instance::start(start(Open { number: 2 }).carry(tenant()));
    assert_eq!(ok.key.as_deref(), Some("billing:t%3A1:2"));
    assert_eq!(ok.concurrency().as_deref(), Some("tenant_lock:t%3A1:2"));
    ok.run(&app);
    assert_eq!(ok.result::<Billing>(), 101);
    let mut caught = Instance::start(start(Open { number: 3 }).carry(tenant()));
    caught.run(&app);
    assert_eq!(caught.result::<Billing>(), 1);
}

#[test]
fn a_weight_above_the_bucket_is_an_error_of_the_step_that_made_the_outcome() {
    let mut late = Instance::start(start(Open { number: 5 }).carry(tenant()));
    late.run(&Arc::new(App));
    assert!(late.errors[0].contains("weight is 5"), "{:?}", late.errors);
    assert_eq!(late.step, "give_up");
}

#[test]
fn the_machines_catch_spares_shields_and_where_it_leads() {
    let catch = |step: &str| Billing::INFO.step(step).unwrap().catch;
    assert_eq!(["open", "charge", "close", "give_up"].map(catch), [Some("give_up"), Some("give_up"), None, None]);
    let retry = Billing::INFO.step("charge").unwrap().retry;
    assert_eq!((retry.attempts, retry.crashes), (2, 3));
}

// ---- signals of every kind

#[derive(Debug, PartialEq, Serialize, Deserialize, Signal)]
#[signal(name = "approved", alias = "ok")]
pub struct Approved {
    pub by: String,
}
#[derive(Debug, PartialEq, Serialize, Deserialize, Signal)]
pub struct Paid;
#[derive(Debug, PartialEq, Serialize, Deserialize, Signal)]
pub struct Stop {}
#[derive(Debug, PartialEq, Serialize, Deserialize, Signal)]
pub struct Later {
    pub n: u32,
}
#[derive(Debug, PartialEq, Signals)]
pub enum Event {
    Paid(Paid),
    Later(Later),
}

#[durable_fsm(
    output(String),
    handler(App),
    on(Stop, Stopped),
    on_cancel(Stopped),
    deadline = "30d",
    on_deadline(Stopped)
)]
pub enum Approval {
    #[step(start, await(all(Approved, Paid)), timeout(wait), next(Votes))]
    Both { wait: Duration },
    #[step(await(Later, count = 2), until(at), next(Any))]
    Votes { at: jiff::Timestamp },
    #[step(await(Event), next(Plain))]
    Any,
    #[step(await(Approved), next(Nap))]
    Plain,
    #[step(timeout = "1h30m", next(Ordered))]
    Nap,
    #[step(await(Later, Approved, biased), done)]
    Ordered,
    #[step(done)]
    Stopped { why: String },
}

impl From<Cancelled<Approval>> for Stopped {
    fn from(_: Cancelled<Approval>) -> Self {
        Stopped { why: "cancelled".into() }
    }
}
impl From<Expired<Approval>> for Stopped {
    fn from(_: Expired<Approval>) -> Self {
        Stopped { why: "expired".into() }
    }
}
impl From<Received<Approval, Stop>> for Stopped {
    fn from(_: Received<Approval, Stop>) -> Self {
        Stopped { why: "stopped".into() }
    }
}

impl ApprovalSteps for App {
    async fn both(
        &self,
        _: Both,
        signal: Result<BothSignals, Partial<(Option<Approved>, Option<Paid>)>>,
        cx: &StepContext,
    ) -> StepResult<Both> {
        match signal {
            Ok(BothSignals { approved, paid: Paid }) => assert_eq!(approved.by, "me"),
            Err(Partial { received, .. }) => assert_eq!(received, (None, Some(Paid))),
        }
        Ok(goto(Votes { at: cx.now() }))
    }
    async fn votes(
        &self,
        _: Votes,
        signal: Result<Vec<Later>, Partial<Vec<Later>>>,
        _: &StepContext,
    ) -> StepResult<Votes> {
        match signal {
            Ok(two) => assert_eq!(two, [Later { n: 1 }, Later { n: 2 }]),
            Err(Partial { received, .. }) => assert_eq!(received, [Later { n: 1 }]),
        }
        Ok(goto(Any))
    }
    async fn any(&self, _: Any, signal: Event, _: &StepContext) -> StepResult<Any> {
        assert_eq!(signal, Event::Paid(Paid));
        Ok(goto(Plain))
    }
    async fn plain(&self, _: Plain, signal: Approved, _: &StepContext) -> StepResult<Plain> {
        assert_eq!(signal.by, "me");
        Ok(goto(Nap))
    }
    async fn nap(&self, _: Nap, _: &StepContext) -> StepResult<Nap> {
        Ok(goto(Ordered))
    }
    async fn ordered(&self, _: Ordered, signal: OrderedSignal, _: &StepContext) -> StepResult<Ordered> {
        Ok(done(match signal {
            OrderedSignal::Later(later) => format!("later {}", later.n),
            OrderedSignal::Approved(_) => "approved".into(),
        }))
    }
    async fn stopped(&self, step: Stopped, _: &StepContext) -> StepResult<Stopped> {
        Ok(done(step.why))
    }
}

#[test]
fn every_kind_of_wait_gives_its_type() {
    let app = Arc::new(App);
    let mut a = Instance::start(start(Both { wait: Duration::from_secs(60) }));
    assert_eq!(a.entry.wait.as_ref().unwrap().deadline, Some(Deadline::After(Duration::from_secs(60))));
    a.send(&Paid);
    a.run(&app);
    assert_eq!(a.step, "both");
    a.time_out();
    a.run(&app);
    assert_eq!(a.step, "votes");
    a.send(&Later { n: 1 });
    a.send(&Later { n: 2 });
    a.send(&Paid);
    a.run(&app);
    assert_eq!(a.step, "plain");
    a.send(&Approved { by: "me".into() });
    a.run(&app);
    assert_eq!(a.step, "ordered");
    a.send(&Approved { by: "x".into() });
    a.send(&Later { n: 7 });
    a.run(&app);
    assert_eq!(a.result::<Approval>(), "later 7");
}

#[test]
fn waits_are_described_with_their_aliases() {
    let nap = Approval::Nap.into_entry(&()).unwrap();
    assert_eq!(nap.timer, Some(Deadline::After(Duration::from_secs(5400))));
    assert_eq!(nap.state.as_str(), "{}");
    let plain = Approval::INFO.step("plain").unwrap().awaits.as_ref().unwrap();
    assert_eq!(plain.signals, [["approved", "ok"]]);
    let any = Approval::INFO.step("any").unwrap().awaits.as_ref().unwrap();
    assert_eq!(any.signals, [["paid", "later"]]);
    let kinds: Vec<_> = Approval::INFO.exits.iter().map(|e| e.kind).collect();
    assert_eq!(kinds, [ExitKind::Cancel, ExitKind::Deadline, ExitKind::Signal(&["stop"])]);
}

#[test]
fn exits_lead_from_every_step_but_where_they_lead() {
    use gen_durable_runtime::machine::registry::{Exit, Stored};
    let machine = registry::machines().find(|m| (m.info)().name == "approval").unwrap();
    let at = |step: &str, state: &str| Stored { step: step.into(), state: Json::stored(state), carry: None };
    let stop = Json::object();
    for (exit, why) in
        [(Exit::Cancel, "cancelled"), (Exit::Deadline, "expired"), (Exit::Signal("stop", &stop), "stopped")]
    {
        let (entry, _) = (machine.exit)(at("nap", "{}"), exit).unwrap().unwrap();
        assert_eq!((entry.step, entry.state.as_str()), ("stopped", &*format!(r#"{{"why":"{why}"}}"#)));
        assert!((machine.exit)(at("stopped", r#"{"why":""}"#), exit).is_none());
    }
    assert!((machine.exit)(at("nap", "{}"), Exit::Signal("other", &stop)).is_none());
}

#[test]
fn a_schedule_starts_from_its_slot() {
    let mail = registry::machines().find(|m| (m.info)().name == "mail").unwrap();
    let spec = (mail.slot)("run", jiff::Timestamp::UNIX_EPOCH).unwrap().unwrap();
    assert_eq!(spec.key.as_deref(), Some("mail:1"));
    assert!((mail.slot)("other", jiff::Timestamp::UNIX_EPOCH).is_none());
}

fn may_send<M, G, SLOT>(_: G)
where
    M: Machine + gen_durable::Awaits<G, SLOT>,
    G: Signal,
{
}

#[test]
fn what_is_awaited_can_be_sent() {
    may_send::<Approval, _, _>(Approved { by: "me".into() });
    may_send::<Approval, _, _>(Stop {});
    // Awaited alone and in a set of the same machine.
    may_send::<Approval, _, _>(Later { n: 1 });
    may_send::<Approval, _, _>(Paid);
}

// ---- versions

pub mod v1 {
    use super::*;
    #[durable_fsm(name = "signup")]
    pub enum Signup {
        #[step(start, next(Welcome))]
        Create { mail: String },
        #[step(done)]
        Welcome { mail: String },
    }
}
pub mod v2 {
    use super::*;
    #[derive(Debug, Serialize, Deserialize)]
    pub struct Facts {
        pub lang: String,
    }
    impl From<()> for Facts {
        fn from((): ()) -> Self {
            Facts { lang: "en".into() }
        }
    }
    #[durable_fsm(name = "signup", version = 2, from(v1::Signup), carry(Facts))]
    pub enum Signup {
        #[step(start, next(Greet))]
        Create { mail: String },
        #[step(done, name = "welcome")]
        Greet { mail: String },
    }
    impl From<v1::Signup> for Signup {
        fn from(old: v1::Signup) -> Self {
            match old {
                v1::Signup::Create { mail } => Signup::Create { mail },
                v1::Signup::Welcome { mail } => Signup::Greet { mail },
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Greeting {
    pub mail: String,
}
#[derive(Debug, Serialize, Deserialize)]
pub struct Language(String);
impl From<v2::Facts> for Language {
    fn from(facts: v2::Facts) -> Self {
        Language(facts.lang)
    }
}

#[durable_fsm(name = "registration", alias = "signup", version = 3, from(v2::Signup), carry(Language), handler(App))]
#[derive(Debug)]
pub enum Signup {
    #[step(start, next(Greet))]
    Create { mail: String },
    #[step(done, name = "greet", alias = "welcome")]
    Greet(Greeting),
}
impl From<v2::Signup> for Signup {
    fn from(old: v2::Signup) -> Self {
        match old {
            v2::Signup::Create { mail } => Signup::Create { mail },
            v2::Signup::Greet { mail } => Signup::Greet(Greeting { mail }),
        }
    }
}
impl SignupSteps for App {
    async fn create(&self, step: Create, _: &mut Language, _: &StepContext) -> StepResult<Create> {
        Ok(goto(Greeting { mail: step.mail }))
    }
    async fn greet(&self, _: Greeting, _: &mut Language, _: &StepContext) -> StepResult<Greeting> {
        Ok(done(()))
    }
}

#[test]
fn rows_of_older_versions_are_taken_over_through_the_chain() {
    let machine = registry::machines().find(|m| (m.info)().name == "registration").unwrap();
    let row = || registry::Stored { step: "welcome".into(), state: Json::stored(r#"{"mail":"a@b"}"#), carry: None };
    let new = (machine.upgrade)(1, row()).unwrap().unwrap();
    assert_eq!((new.step.as_str(), new.state.as_str()), ("greet", r#"{"mail":"a@b"}"#));
    assert_eq!(new.carry.unwrap().as_str(), r#""en""#);
    assert!((machine.upgrade)(3, row()).is_none());
    assert!((machine.upgrade)(4, row()).is_none());
    let greet = Signup::load_version(1, "welcome", &row().state).unwrap();
    assert!(matches!(greet, Signup::Greet(Greeting { mail }) if mail == "a@b"));
    assert!(matches!(Signup::load("welcome", &row().state), Ok(Signup::Greet(_))));
    assert!(Signup::load_version(9, "welcome", &row().state).is_err());
    assert!(Signup::load("nope", &row().state).unwrap_err().to_string().contains("create, greet"));
}

// ---- jobs, schedules, starts

#[durable_job(name = "mail", key(to), queue = "mail", retry(attempts = 1), every = "1h")]
async fn send_mail(_app: &App, to: Vec2, cx: &StepContext) -> Result<u32, std::num::ParseIntError> {
    assert_eq!(cx.attempt(), 0);
    to.0.parse::<u32>()
}
#[derive(Debug, Clone, Serialize, Deserialize, KeyPart)]
pub struct Vec2(String);
impl From<Slot> for SendMail {
    fn from(_: Slot) -> Self {
        SendMail { to: Vec2("1".into()) }
    }
}

#[durable_job]
async fn nothing(_app: &App) -> Result<(), StepError> {
    Ok(())
}

#[test]
fn a_job_is_a_machine_of_one_step() {
    let app = Arc::new(App);
    let mut mail = Instance::start(SendMail::start(Vec2("7".into())).delay(Duration::from_secs(1)).priority(-3));
    assert_eq!(mail.key.as_deref(), Some("mail:7"));
    assert_eq!((mail.step.as_str(), mail.state.as_str()), ("run", r#"{"to":"7"}"#));
    mail.run(&app);
    assert_eq!(mail.result::<SendMail>(), 7);
    let mut wrong = Instance::start(SendMail::start(Vec2("x".into())));
    wrong.run(&app);
    assert_eq!(wrong.end, Some(End::Failed("invalid digit found in string".into())));
    let mut nothing = Instance::start(Nothing::start());
    nothing.run(&app);
    nothing.result::<Nothing>();
    assert!(SendMail::INFO.job && SendMail::INFO.steps[0].schedules.len() == 1);
}

fn key<M: gen_durable::Keyed>(key: impl gen_durable::IntoKey<M::Key>) -> String {
    M::business_key(key)
}

#[test]
fn business_keys_are_addressed_by_their_type() {
    assert_eq!(key::<SendMail>(Vec2("a:b".into())), "mail:a%3Ab");
    assert_eq!(key::<Billing>(("t:a", 7)), "billing:t%3Aa:7");
    assert_eq!(key::<Billing>((String::from("t"), 7)), "billing:t:7");
    assert_eq!(key::<Keys>((1, "x")), "keys:1:x");
    assert_eq!(key::<Keys>((1, &String::from("x"))), "keys:1:x");
    assert_eq!(key::<Single>(InstanceId::new(4)), "single:4");
}

#[durable_fsm]
pub enum Keys {
    #[step(start, key(a, b, kept), done)]
    OnlyStep { a: i32, b: String },
}
#[durable_fsm]
pub enum Single {
    #[step(start, key(id), done)]
    Alone { id: InstanceId },
}

#[test]
fn a_start_from_raw_json() {
    let machine = registry::machines().find(|m| (m.info)().name == "billing").unwrap();
    let spec = (machine.start)(None, r#"{"number":4}"#, Some(r#"{"tenant":"a","calls":0}"#)).unwrap();
    assert_eq!(spec.key.as_deref(), Some("billing:a:4"));
    assert!((machine.start)(None, r#"{"number":4}"#, None).is_err());
    assert!((machine.start)(Some("charge"), "{}", None).is_err());
    let keys = registry::machines().find(|m| (m.info)().name == "keys").unwrap();
    assert!((keys.start)(Some("only_step"), r#"{"a":1,"b":"x"}"#, None).unwrap().key_kept);
}
