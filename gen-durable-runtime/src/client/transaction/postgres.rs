use std::collections::BTreeSet;

use sqlx::PgConnection;

use super::{
    super::{
        Client, signal,
        signal_or_start::{Both, wakes},
        start,
    },
    watch::Pending,
};
use crate::{
    Error,
    model::{SignalSpec, StartSpec, Started},
    store::{Delivered, Delivery, postgres::Postgres},
};

pub(super) async fn start(
    client: &Client,
    connection: &mut PgConnection,
    specs: &[StartSpec],
) -> Result<Vec<Started>, Error> {
    let made = store(client)?.start_within(connection, specs).await?;
    wake_after(client, made.xid, start::queues(specs, &made.answers));
    Ok(made.answers)
}

pub(super) async fn signal(
    client: &Client,
    connection: &mut PgConnection,
    specs: &[SignalSpec],
) -> Result<Vec<Delivered>, Error> {
    let made = store(client)?.signal_within(connection, specs).await?;
    wake_after(client, made.xid, signal::wakes(&made.answers));
    Ok(made.answers.into_iter().map(|d| d.delivered).collect())
}

pub(super) async fn signal_or_start(
    client: &Client,
    connection: &mut PgConnection,
    both: &Both,
) -> Result<(Started, Delivery), Error> {
    let mut made = store(client)?.signal_or_start_within(connection, &both.start, &both.signal).await?;
    let (started, delivery) = made.answers.pop().ok_or_else(Error::stopped)?;
    wake_after(client, made.xid, wakes(both, started, &delivery));
    Ok((started, delivery))
}

fn wake_after(client: &Client, xid: Option<String>, queues: BTreeSet<String>) {
    let Some(xid) = xid.filter(|_| !queues.is_empty()) else { return };
    let inner = &client.0;
    inner.watch.send(Pending { xid, queues }, &inner.store, &inner.notifier);
}

fn store(client: &Client) -> Result<&Postgres, Error> {
    let store = client.0.store.as_any().downcast_ref();
    store.ok_or_else(|| Error::boot("a Postgres transaction needs a client on Postgres"))
}
