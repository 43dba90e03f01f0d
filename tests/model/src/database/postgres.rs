use local_postgres::Profile;
use sqlx::PgPool;

use super::{Database, Deed, Outside, store};

pub(super) async fn open() -> Database {
    let create = || local_postgres::shared(Profile::Fast)?.create_database();
    let database = tokio::task::spawn_blocking(create).await.expect("the thread").expect("a database");
    let url = database.url();
    let pool = sqlx::postgres::PgPoolOptions::new().max_connections(1).connect(&url).await.expect("connects");
    Database { store: store(&url).await, outside: Outside::Postgres(pool, database) }
}

pub(super) async fn run(pool: &PgPool, deed: Deed) {
    let query = match deed {
        Deed::Pin(moments) => sqlx::query(include_str!("sql/pin.postgres.sql")).bind(moments),
        Deed::Shift(micros) => sqlx::query(include_str!("sql/shift.postgres.sql")).bind(micros),
        Deed::Foreign(id) => sqlx::query(include_str!("sql/foreign.postgres.sql")).bind(id),
        Deed::Reset => sqlx::query(include_str!("sql/reset.postgres.sql")),
    };
    query.execute(pool).await.expect("the deed");
}
