//! The orders file.

use std::{collections::HashMap, io::Read, str::FromStr, time::Duration};

use csv::StringRecord;
use jiff::SignedDuration;

/// What the demo works on unless it is given a file.
pub const SAMPLE: &str = include_str!("../orders.csv");

const COLUMNS: [&str; 6] = ["order", "customer", "item", "pieces", "payment", "patience"];

/// A line of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    pub number: u64,
    pub customer: String,
    pub item: String,
    pub pieces: u32,
    pub payment: Payment,
    /// How long the shop waits for the payment.
    pub patience: Duration,
}

/// What the bank will say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payment {
    Paid,
    Declined,
    Never,
}

/// What is wrong with the file, and where.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Fault {
    #[error("the first line is {found:?}: expected {:?}", COLUMNS.join(","))]
    Head { found: String },
    #[error("line {line}, {column}: {what}")]
    Field { line: u64, column: &'static str, what: String },
    #[error("{0}")]
    File(String),
}

/// Reads every order, or says what is wrong with the first that is not one.
pub fn read(file: impl Read) -> Result<Vec<Order>, Fault> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(file);
    let head = reader.headers()?;
    if head.iter().ne(COLUMNS) {
        return Err(Fault::Head { found: head.iter().collect::<Vec<_>>().join(",") });
    }
    let mut lines: HashMap<u64, u64> = HashMap::new();
    let mut orders = Vec::new();
    for record in reader.records() {
        let record = record?;
        let order = order(&record)?;
        let line = line_of(&record);
        if let Some(first) = lines.insert(order.number, line) {
            return Err(Fault::Field {
                line,
                column: "order",
                what: format!("{} is on line {first} too", order.number),
            });
        }
        orders.push(order);
    }
    Ok(orders)
}

fn order(record: &StringRecord) -> Result<Order, Fault> {
    let text = |at: usize| record.get(at).unwrap_or_default();
    let fault = |at: usize, what: String| {
        let what = format!("{:?}: {what}", text(at));
        Fault::Field { line: line_of(record), column: COLUMNS[at], what }
    };
    let named = |at: usize| match text(at) {
        "" => Err(fault(at, "is missing".into())),
        text => Ok(text.to_owned()),
    };
    Ok(Order {
        number: parsed(text(0)).map_err(|what| fault(0, what))?,
        customer: named(1)?,
        item: named(2)?,
        pieces: parsed::<std::num::NonZeroU32>(text(3)).map_err(|what| fault(3, what))?.get(),
        payment: parsed(text(4)).map_err(|what| fault(4, what))?,
        patience: patience(text(5)).map_err(|what| fault(5, what))?,
    })
}

fn parsed<T: FromStr<Err: ToString>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

fn patience(text: &str) -> Result<Duration, String> {
    let span: Option<SignedDuration> = text.parse().ok();
    span.and_then(|span| Duration::try_from(span).ok()).ok_or("expected a duration such as 4s or 15m".into())
}

fn line_of(record: &StringRecord) -> u64 {
    record.position().map_or(0, csv::Position::line)
}

impl FromStr for Payment {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "paid" => Ok(Self::Paid),
            "declined" => Ok(Self::Declined),
            "never" => Ok(Self::Never),
            _ => Err("expected paid, declined or never"),
        }
    }
}

impl From<csv::Error> for Fault {
    fn from(error: csv::Error) -> Self {
        match error.kind() {
            csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
                let line = pos.as_ref().map_or(0, csv::Position::line);
                Self::File(format!("line {line} has {len} fields, expected {expected_len}"))
            }
            _ => Self::File(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(lines: &str) -> String {
        let file = format!("{}\n{lines}", COLUMNS.join(","));
        read(file.as_bytes()).expect_err(lines).to_string()
    }

    #[test]
    fn the_sample_has_an_order_of_every_kind() {
        let orders = read(SAMPLE.as_bytes()).expect("it is well formed");
        assert_eq!(orders.len(), 20);
        let of = |payment| orders.iter().filter(|order| order.payment == payment).count();
        assert_eq!((of(Payment::Paid), of(Payment::Declined), of(Payment::Never)), (18, 1, 1));
        let first = Order {
            number: 1,
            customer: "Ada".into(),
            item: "teapot".into(),
            pieces: 1,
            payment: Payment::Paid,
            patience: Duration::from_secs(900),
        };
        assert_eq!(orders[0], first);
    }

    #[test]
    fn a_fault_names_its_line_and_field() {
        assert_eq!(fault("x,Ada,lamp,1,paid,1m"), "line 2, order: \"x\": invalid digit found in string");
        assert_eq!(fault("1,Ada,lamp,1,paid,1m\n2,Ada,,1,paid,1m"), "line 3, item: \"\": is missing");
        assert_eq!(fault("1,Ada,lamp,0,paid,1m"), "line 2, pieces: \"0\": number would be zero for non-zero type");
        assert_eq!(fault("1,Ada,lamp,1,maybe,1m"), "line 2, payment: \"maybe\": expected paid, declined or never");
        assert_eq!(fault("1,Ada,lamp,1,paid,-1s"), "line 2, patience: \"-1s\": expected a duration such as 4s or 15m");
        assert_eq!(fault("1,Ada,lamp,1,paid,1m\n1,Bo,lamp,1,paid,1m"), "line 3, order: 1 is on line 2 too");
        assert_eq!(fault("1,Ada,lamp"), "line 2 has 3 fields, expected 6");
    }

    #[test]
    fn another_file_is_told_by_its_head() {
        let error = read("a,b\n1,2".as_bytes()).expect_err("no orders").to_string();
        assert_eq!(error, "the first line is \"a,b\": expected \"order,customer,item,pieces,payment,patience\"");
    }
}
