//! What engines and waiting clients say to each other, as payloads of the wake-up channel.
//!
//! No queue is named so: names have no control characters, and no `:`.

use std::collections::BTreeSet;

use crate::model::InstanceId;

/// An engine proves that it hears; waiting clients greet one they do not know.
const PING: char = '\u{1}';
/// A client waits, and for which steps.
const HELLO: char = '\u{2}';
/// What became of instances.
const NEWS: char = '\u{3}';
/// A client waits no more.
const BYE: char = '\u{4}';
/// An instance was cancelled: whoever runs it tells its run.
const CANCEL: char = '\u{5}';
/// A schedule was made or changed.
const SCHEDULES: char = '\u{6}';
/// A queue was paused or goes on.
const QUEUES: char = '\u{7}';
/// Every step; every instance.
const ALL: &str = ":";

/// Postgres refuses payloads of 8,000 bytes.
const PAYLOAD: usize = 7_900;
/// Payloads sent at once, about 4,000 instances: beyond them clients are asked to look at all they wait for.
const PAYLOADS: usize = 8;

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// This engine listens.
    Ping(String),
    /// This client waits.
    Hello(String, Steps),
    /// This client waits no more.
    Bye(String),
    /// What became of instances.
    News(Vec<News>),
    /// More became of instances than can be told.
    Look,
    /// A running instance was cancelled.
    Cancel(InstanceId),
    /// A schedule was made or changed: engines look when the next slot comes.
    Schedules,
    /// A queue was paused or goes on: engines look which.
    Queues,
}

/// The steps that somebody waits for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Steps {
    /// None.
    #[default]
    None,
    /// These stored names.
    These(BTreeSet<String>),
    /// More than one message can name.
    All,
}

/// What became of an instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct News {
    /// The instance.
    pub id: InstanceId,
    /// What it became.
    pub became: Became,
}

/// What an instance became.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Became {
    /// Done or failed.
    Ended,
    /// Parked at this step; empty where it was parked there before.
    Parked(String),
    /// It reached this step.
    At(String),
}

impl Said {
    /// The message, unless it is the name of a queue.
    pub fn parse(payload: &str) -> Option<Self> {
        let mut parts = payload.chars();
        let kind = parts.next()?;
        let rest = parts.as_str();
        match kind {
            PING => Some(Self::Ping(rest.to_owned())),
            BYE => Some(Self::Bye(rest.to_owned())),
            HELLO => {
                let (client, steps) = rest.split_once(HELLO).unwrap_or((rest, ""));
                Some(Self::Hello(client.to_owned(), Steps::parse(steps)))
            }
            CANCEL => rest.parse().ok().map(|id| Self::Cancel(InstanceId::new(id))),
            SCHEDULES => Some(Self::Schedules),
            QUEUES => Some(Self::Queues),
            NEWS if rest == ALL => Some(Self::Look),
            NEWS => Some(Self::News(rest.split(NEWS).filter_map(News::parse).collect())),
            _ => None,
        }
    }

    /// That an engine listens.
    pub fn ping(engine: &str) -> String {
        format!("{PING}{engine}")
    }

    /// That a running instance was cancelled.
    pub fn cancel(id: InstanceId) -> String {
        format!("{CANCEL}{}", id.get())
    }

    /// That a schedule was made or changed.
    pub fn schedules() -> String {
        SCHEDULES.into()
    }

    /// That a queue was paused or goes on.
    pub fn queues() -> String {
        QUEUES.into()
    }

    /// That a client waits.
    pub fn hello(client: &str, steps: &Steps) -> String {
        match steps {
            Steps::None => format!("{HELLO}{client}"),
            Steps::All => format!("{HELLO}{client}{HELLO}{ALL}"),
            Steps::These(names) => {
                let said = names.iter().fold(format!("{HELLO}{client}"), |said, name| format!("{said}{HELLO}{name}"));
                if said.len() <= PAYLOAD { said } else { Self::hello(client, &Steps::All) }
            }
        }
    }

    /// That a client waits no more.
    pub fn bye(client: &str) -> String {
        format!("{BYE}{client}")
    }

    /// News in as few payloads as they fit in, never many.
    pub fn news(news: &[News]) -> Vec<String> {
        let mut payloads: Vec<String> = Vec::new();
        for line in news.iter().map(News::text) {
            match payloads.last_mut().filter(|last| last.len() + line.len() < PAYLOAD) {
                Some(last) => *last = format!("{last}{NEWS}{line}"),
                None => payloads.push(format!("{NEWS}{line}")),
            }
        }
        if payloads.len() <= PAYLOADS { payloads } else { vec![format!("{NEWS}{ALL}")] }
    }
}

impl Steps {
    fn parse(text: &str) -> Self {
        match text {
            "" => Self::None,
            ALL => Self::All,
            names => Self::These(names.split(HELLO).map(str::to_owned).collect()),
        }
    }

    /// Whether somebody waits for this one.
    pub fn has(&self, step: &str) -> bool {
        match self {
            Self::None => false,
            Self::These(names) => names.contains(step),
            Self::All => true,
        }
    }
}

impl News {
    fn text(&self) -> String {
        let id = self.id;
        match &self.became {
            Became::Ended => id.to_string(),
            Became::Parked(step) => format!("{id}:p{step}"),
            Became::At(step) => format!("{id}:s{step}"),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let (id, became) = text.split_once(':').unwrap_or((text, ""));
        let became = match (became.get(..1), became.get(1..)) {
            (Some("p"), Some(step)) => Became::Parked(step.to_owned()),
            (Some("s"), Some(step)) => Became::At(step.to_owned()),
            _ => Became::Ended,
        };
        Some(Self { id: id.parse().ok()?, became })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn news(id: i64, became: Became) -> News {
        News { id: InstanceId::new(id), became }
    }

    #[test]
    fn what_is_said_is_understood() {
        let all = vec![
            news(7, Became::Ended),
            news(8, Became::Parked("wait".into())),
            news(9, Became::Parked(String::new())),
            news(10, Became::At("ship".into())),
        ];
        let said = Said::news(&all);
        assert_eq!(said.iter().map(|s| Said::parse(s)).collect::<Vec<_>>(), [Some(Said::News(all))]);
        let steps = Steps::These(["a".into(), "b c".into()].into());
        assert_eq!(Said::parse(&Said::schedules()), Some(Said::Schedules));
        assert_eq!(Said::parse(&Said::queues()), Some(Said::Queues));
        for steps in [Steps::None, Steps::All, steps] {
            assert_eq!(Said::parse(&Said::hello("c", &steps)), Some(Said::Hello("c".into(), steps)));
        }
        assert_eq!(Said::parse(&Said::bye("c")), Some(Said::Bye("c".into())));
        assert_eq!(Said::parse(&Said::ping("e")), Some(Said::Ping("e".into())));
        assert_eq!(Said::parse("default"), None);
    }

    #[test]
    fn no_payload_is_too_long_and_never_are_there_many() {
        let many = |n: i64| (0..n).map(|id| news(i64::MAX - id, Became::Parked("s".repeat(200)))).collect::<Vec<_>>();
        let said = Said::news(&many(200));
        assert!(said.len() > 1 && said.iter().all(|s| s.len() < 8_000), "{}", said.len());
        assert_eq!(Said::news(&many(5_000)).iter().map(|s| Said::parse(s)).collect::<Vec<_>>(), [Some(Said::Look)]);
        let steps = Steps::These((0..100).map(|n| format!("{n}{}", "s".repeat(190))).collect());
        assert_eq!(Said::parse(&Said::hello("c", &steps)), Some(Said::Hello("c".into(), Steps::All)));
    }
}
