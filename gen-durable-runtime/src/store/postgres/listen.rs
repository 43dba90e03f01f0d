//! Wake-ups by LISTEN and NOTIFY.

use std::{future::Future, pin::Pin};

use sqlx::postgres::PgListener;

use super::{Postgres, error};
use crate::{
    Error,
    store::{SchemaName, WakeUp, WakeUps},
};

/// The channel of a schema. Names are hashed: a channel has at most 63 bytes, a schema as well.
pub(super) fn channel(schema: &SchemaName) -> String {
    // FNV-1a: stable over releases, which the hashers of std are not.
    let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("gen_durable_{:016x}", schema.as_str().bytes().fold(0xcbf2_9ce4_8422_2325, fold))
}

pub(super) async fn notify(store: &Postgres, queues: &[String]) -> Result<(), Error> {
    if store.is_lent() {
        return Ok(());
    }
    let channel = channel(store.schema());
    let mut session = store.session("notifying").await?;
    session.rows(sqlx::query(store.statements().notify()).bind(&channel).bind(queues)).await?;
    session.end().await
}

pub(super) async fn wake_ups(store: &Postgres) -> Result<Option<Box<dyn WakeUps>>, Error> {
    if store.0.options.transaction_pooler || store.is_lent() {
        return Ok(None);
    }
    let connect = async {
        // A connection of its own: a waiting listener must not take one from the pool.
        let pool = sqlx::postgres::PgPoolOptions::new().max_connections(1).test_before_acquire(false);
        let pool = pool.max_lifetime(None).idle_timeout(None).connect_lazy_with(store.0.options.connect()?);
        let mut listener = PgListener::connect_with(&pool).await.map_err(error::at("listening"))?;
        listener.eager_reconnect(false);
        listener.listen(&channel(store.schema())).await.map_err(error::at("listening"))?;
        Ok::<_, Error>(listener)
    };
    let listener = tokio::time::timeout(store.0.options.call_timeout, connect).await;
    let listener = listener.map_err(|_| error::timed_out("listening"))??;
    Ok(Some(Box::new(Listener(listener))))
}

struct Listener(PgListener);

impl WakeUps for Listener {
    fn next(&mut self) -> Pin<Box<dyn Future<Output = WakeUp> + Send + '_>> {
        Box::pin(async move {
            match self.0.try_recv().await {
                Ok(Some(notification)) => WakeUp::Queue(notification.payload().to_owned()),
                Ok(None) | Err(_) => WakeUp::Lost,
            }
        })
    }
}
