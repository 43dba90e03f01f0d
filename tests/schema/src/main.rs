//! A migrator as a process of its own, to be started many times and killed: `schema-tests URL SCHEMA`.

use gen_durable_runtime::store::SchemaName;
use gen_durable_runtime::store::postgres::migrate::{Plan, migrate};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(url), Some(schema)) = (arguments.next(), arguments.next()) else {
        return Err("usage: schema-tests URL SCHEMA".into());
    };
    print!("{}", migrate(&url.parse()?, &SchemaName::new(schema)?, &Plan::latest()).await?);
    Ok(())
}
