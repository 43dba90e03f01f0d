//! What became of each order, as text.

use gen_durable::{Snapshot, Status};

use crate::{
    machine::{Because, Receipt},
    orders::Order,
};

/// A row of the table.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    cells: [String; 8],
    outcome: &'static str,
}

const HEAD: [&str; 8] = ["order", "customer", "item", "outcome", "payment", "tracking", "attempts", "seconds"];

impl Row {
    /// From the order as it was given, and its instance as it stands in the database.
    pub fn of(order: &Order, instance: &Snapshot) -> serde_json::Result<Self> {
        let receipt = match &instance.result {
            Some(json) => Some(serde_json::from_str(json.get())?),
            None => None,
        };
        let (outcome, why, payment, tracking, attempts) = match receipt {
            Some(Receipt::Shipped { payment, tracking, attempts }) => {
                ("shipped", None, Some(payment), Some(tracking), Some(attempts))
            }
            Some(Receipt::Released { because, payment }) => {
                let (why, attempts) = because.told();
                ("released", Some(why), payment, None, attempts)
            }
            None if instance.status == Status::Failed => ("failed", instance.last_error.clone(), None, None, None),
            None => ("under way", Some(format!("{} at {}", instance.status, instance.step)), None, None, None),
        };
        let seconds = instance.updated_at.duration_since(instance.inserted_at).as_secs_f64();
        let cells = [
            order.number.to_string(),
            order.customer.clone(),
            format!("{} {}", order.pieces, order.item),
            why.map_or(outcome.to_owned(), |why| format!("{outcome}: {why}")),
            text(payment),
            text(tracking),
            text(attempts),
            format!("{seconds:.1}"),
        ];
        Ok(Self { cells, outcome })
    }
}

impl Because {
    /// In words; how often the parcel was tried.
    fn told(self) -> (String, Option<u32>) {
        match self {
            Self::NobodyPaid => ("nobody paid".into(), None),
            Self::Declined { reason } => (format!("declined, {reason}"), None),
            Self::NotShipped { error, attempts } => (error, Some(attempts)),
        }
    }
}

fn text(cell: Option<impl ToString>) -> String {
    cell.map_or("-".into(), |cell| cell.to_string())
}

/// Columns as wide as their widest cell; numbers to the right.
pub fn table(rows: &[Row]) -> String {
    let lines = || std::iter::once(HEAD.map(String::from)).chain(rows.iter().map(|row| row.cells.clone()));
    let widths: [usize; 8] =
        std::array::from_fn(|at| lines().map(|cells| cells[at].chars().count()).max().unwrap_or(0));
    let line = |cells: [String; 8]| {
        let padded = cells.iter().zip(HEAD).zip(widths).map(|((cell, head), width)| match head {
            "order" | "attempts" | "seconds" => format!("{cell:>width$}"),
            _ => format!("{cell:width$}"),
        });
        format!("{}\n", padded.collect::<Vec<_>>().join("  ").trim_end())
    };
    lines().map(line).collect()
}

/// `20 orders: 16 shipped, 3 released, 1 failed`
pub fn totals(rows: &[Row]) -> String {
    let of = |outcome: &str| match rows.iter().filter(|row| row.outcome == outcome).count() {
        0 => None,
        count => Some(format!("{count} {outcome}")),
    };
    let counts: Vec<String> = ["shipped", "released", "failed", "under way"].into_iter().filter_map(of).collect();
    format!("{} orders: {}", rows.len(), counts.join(", "))
}
