//! The verb `serve`: the service and its worker in one process.

use std::time::Duration;

use gen_durable::{Command, Migration, Worker};
use tokio::net::TcpListener;

use crate::{api, carrier::Carrier, shop::Shop};

type Fault = Box<dyn std::error::Error + Send + Sync>;

const USAGE: &str = "usage: orders serve [ADDRESS] [--without-worker] [--carrier-takes 30ms]";

#[derive(Debug)]
struct Options {
    address: String,
    worker: bool,
    carrier: Carrier,
}

/// Serves until Ctrl-C or SIGTERM. Killed at any moment, it goes on where it was when it is started again.
pub async fn serve(command: Command) -> Result<(), Fault> {
    let Options { address, worker, carrier } = read(command.args())?;
    let listener = TcpListener::bind(&address).await.map_err(|error| format!("{address}: {error}"))?;
    let client = command.client()?;
    // Before the shop opens: its tables stand in the same database, and on SQLite this makes the file.
    client.migrate(Migration::default()).await?;
    let shop = Shop::with_carrier(&client, carrier).await?;
    let worker = match worker {
        true => Some(Worker::new(client.clone()).handler(shop.clone()).start().await?),
        false => None,
    };
    println!("listening on http://{}", listener.local_addr()?);
    let routes = api::routes(client.clone(), shop.clone());
    let served = axum::serve(listener, routes).with_graceful_shutdown(stop()).await;
    if let Some(worker) = worker {
        worker.stop().await;
    }
    shop.close().await;
    client.close().await;
    Ok(served?)
}

fn read(args: &[String]) -> Result<Options, Fault> {
    let mut options = Options { address: "127.0.0.1:8080".into(), worker: true, carrier: Carrier::default() };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--without-worker" => options.worker = false,
            "--carrier-takes" => options.carrier = Carrier::new(duration(args.next().ok_or(USAGE)?)?),
            address if !address.starts_with('-') => options.address = address.to_owned(),
            other => return Err(format!("unexpected {other:?}; {USAGE}").into()),
        }
    }
    Ok(options)
}

fn duration(text: &str) -> Result<Duration, Fault> {
    let span: jiff::SignedDuration = text.parse().map_err(|error| format!("{text:?}: {error}; {USAGE}"))?;
    Ok(Duration::try_from(span)?)
}

async fn stop() {
    let interrupted = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminated) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = interrupted => {}
                _ = terminated.recv() => {}
            }
            return;
        }
    }
    let _ = interrupted.await;
}
