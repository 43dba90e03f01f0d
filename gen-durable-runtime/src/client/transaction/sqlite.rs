//! Nobody is told: whoever waits sees the commit by a look at the file.

use sqlx::SqliteConnection;

use super::super::{Client, signal_or_start::Both};
use crate::{
    Error,
    model::{SignalSpec, StartSpec, Started},
    store::{Delivered, Delivery, sqlite::Sqlite},
};

pub(super) async fn start(
    client: &Client,
    connection: &mut SqliteConnection,
    specs: &[StartSpec],
) -> Result<Vec<Started>, Error> {
    store(client)?.start_within(connection, specs).await
}

pub(super) async fn signal(
    client: &Client,
    connection: &mut SqliteConnection,
    specs: &[SignalSpec],
) -> Result<Vec<Delivered>, Error> {
    let made = store(client)?.signal_within(connection, specs).await?;
    Ok(made.into_iter().map(|d| d.delivered).collect())
}

pub(super) async fn signal_or_start(
    client: &Client,
    connection: &mut SqliteConnection,
    both: &Both,
) -> Result<(Started, Delivery), Error> {
    store(client)?.signal_or_start_within(connection, &both.start, &both.signal).await
}

fn store(client: &Client) -> Result<&Sqlite, Error> {
    let store = client.0.store.as_any().downcast_ref();
    store.ok_or_else(|| Error::boot("a SQLite transaction needs a client on SQLite"))
}
