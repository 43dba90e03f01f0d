//! The verb `demo`: a worker, customers and a bank in one process.

use std::{collections::HashMap, fs::File, io::Write, pin::pin, time::Duration};

use gen_durable::{
    Client, Command, Filter, InstanceId, Migration, RunningWorker, Signalling, Snapshot, WaitError, Worker, start,
};
use progress::Progress;
use tokio::task::JoinSet;

use crate::{
    machine::{Checkout, PaymentConfirmed, PaymentDeclined, Reserve},
    orders::{self, Order, Payment},
    shop::{Books, Shop},
    table::{self, Row},
};

type Fault = Box<dyn std::error::Error + Send + Sync>;

/// The bank sends its news in so many batches.
const BATCHES: usize = 16;
const TICK: Duration = Duration::from_millis(250);
/// The most a page of instances has.
const PAGE: u32 = 1_000;

/// Works the orders of a file to their end and prints what became of each. Whatever kills it, run it again: every order
/// goes on where it was.
pub async fn demo(command: Command) -> Result<(), Fault> {
    let orders = read(command.args())?;
    let client = command.client()?;
    // Before the shop opens: its tables stand in the same database, and on SQLite this makes the file.
    client.migrate(Migration::default()).await?;
    let shop = Shop::connect(&client).await?;
    let worker = Worker::new(client.clone()).handler(shop.clone()).queue("checkout", 50).start().await?;
    let ended = work(&worker, &shop, &orders).await;
    worker.stop().await;
    // The last to leave a SQLite file empties its log into it.
    shop.close().await;
    client.close().await;
    ended
}

/// Nothing in here knows whether this is the first run: a second start of an order is none, nor is a second payment.
async fn work(worker: &RunningWorker, shop: &Shop, orders: &[Order]) -> Result<(), Fault> {
    let client = worker.client();
    let started = client.start_many(orders.iter().map(first_step)).await?;
    let ids: Vec<InstanceId> = started.iter().map(|started| started.id()).collect();
    let instances = instances(client, &ids).await?;
    let open = orders.iter().zip(ids.iter().copied()).filter(|(_, id)| !instances[id].status.is_ended());
    let open: Vec<(&Order, InstanceId)> = open.collect();
    let new = started.iter().filter(|started| started.is_new()).count();
    say(orders.len(), new, open.len());
    if !open.is_empty() {
        carry_on(client, shop, &open).await?;
    }
    report(client, shop, orders, &ids).await
}

fn first_step(order: &Order) -> gen_durable::Start<Checkout> {
    let Order { number, item, pieces, patience, .. } = order;
    start(Reserve { order: *number, item: item.clone(), pieces: *pieces, patience: *patience })
}

fn say(orders: usize, new: usize, open: usize) {
    match (new, open) {
        (0, 0) => eprintln!("all {orders} orders have ended before: none is started again"),
        (0, _) => eprintln!("{orders} orders, all started before: {open} of them go on"),
        (new, _) if new == orders => eprintln!("{orders} orders started"),
        (new, _) => eprintln!("{orders} orders: {new} started, {} before", orders - new),
    }
}

/// Sends the payments and waits for every end.
async fn carry_on(client: &Client, shop: &Shop, open: &[(&Order, InstanceId)]) -> Result<(), Fault> {
    let mut ends = JoinSet::new();
    for (_, id) in open {
        ends.spawn(client.by_id::<Checkout>(*id).wait().into_future());
    }
    let mut news = open.iter().filter_map(|(order, _)| news(client, order)).collect::<Vec<_>>().into_iter();
    let (payments, batch) = (news.len(), news.len().div_ceil(BATCHES));
    let so_far = |ended: usize, sent: usize, books: Books| {
        let Books { calls, failed_calls, .. } = books;
        let open = open.len();
        format!(
            "{ended} of {open} orders ended, {sent} of {payments} payments sent, {calls} calls to the carrier, {failed_calls} in vain"
        )
    };
    let mut tick = tokio::time::interval(TICK);
    let mut progress = Progress::begin();
    let mut stop = pin!(tokio::signal::ctrl_c());
    while !ends.is_empty() {
        tokio::select! {
            Some(end) = ends.join_next() => match end? {
                // What became of it is read from the database.
                Ok(_) | Err(WaitError::Failed { .. }) => {}
                Err(error) => return Err(error.into()),
            },
            _ = tick.tick() => {
                client.signal_many(news.by_ref().take(batch)).await?;
                progress.show(so_far(open.len() - ends.len(), payments - news.len(), shop.books().await?));
            }
            _ = &mut stop => {
                progress.end(so_far(open.len() - ends.len(), payments - news.len(), shop.books().await?));
                return Err(format!("stopped with {} orders under way; run it again: they go on", ends.len()).into());
            }
        }
    }
    progress.end(so_far(open.len(), payments - news.len(), shop.books().await?));
    Ok(())
}

/// What the bank will say of this order. It may say it twice: the key lets it count once.
fn news(client: &Client, order: &Order) -> Option<Signalling> {
    let checkout = client.of::<Checkout>(order.number);
    let payment = 700_000 + order.number;
    let signal = match order.payment {
        Payment::Paid => checkout.signal(PaymentConfirmed { payment }),
        Payment::Declined => checkout.signal(PaymentDeclined { reason: "the card has expired".into() }),
        Payment::Never => return None,
    };
    Some(signal.dedup(format!("payment {payment}")))
}

/// Prints the table, from nothing but the database.
async fn report(client: &Client, shop: &Shop, orders: &[Order], ids: &[InstanceId]) -> Result<(), Fault> {
    let instances = instances(client, ids).await?;
    let rows = orders.iter().zip(ids).map(|(order, id)| Row::of(order, &instances[id]));
    let rows: Vec<Row> = rows.collect::<Result<_, _>>()?;
    let books = shop.books().await?;
    let text = format!(
        "\n{}\n{}\n{} calls to the carrier, {} in vain; stock: {} pieces left, {} held, {} sold\n",
        table::table(&rows),
        table::totals(&rows),
        books.calls,
        books.failed_calls,
        books.left,
        books.held,
        books.sold,
    );
    match std::io::stdout().write_all(text.as_bytes()) {
        // `| head` has seen enough.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// The instances with these ids, page by page from the newest on.
async fn instances(client: &Client, ids: &[InstanceId]) -> Result<HashMap<InstanceId, Snapshot>, Fault> {
    let mut found = HashMap::new();
    let mut filter = Filter::default();
    (filter.machine, filter.limit) = (Some("checkout".into()), PAGE);
    while !ids.iter().all(|id| found.contains_key(id)) {
        let page = client.list(filter.clone()).await?;
        filter.before = Some(page.last().ok_or("an order's instance is gone")?.id);
        found.extend(page.into_iter().map(|instance| (instance.id, instance)));
    }
    Ok(found)
}

/// The orders of the file that stood behind `demo`, if one did.
fn read(args: &[String]) -> Result<Vec<Order>, Fault> {
    match args {
        [] => Ok(orders::read(orders::SAMPLE.as_bytes())?),
        [path] if !path.starts_with('-') => {
            let file = File::open(path).map_err(|error| format!("{path}: {error}"))?;
            Ok(orders::read(file).map_err(|fault| format!("{path}: {fault}"))?)
        }
        other => Err(format!("unexpected {:?}; usage: checkout demo [ORDERS.csv]", other.join(" ")).into()),
    }
}
