//! From one side to the other in bounded memory: while a page is written the next is read.

use futures_util::{StreamExt, future::try_join};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::{Page, Row, Rows, Side, Table, Value};
use crate::Error;

/// Whichever comes first; a single row may be larger.
const ROWS_MAX: usize = 1_000;
const BYTES_MAX: usize = 8 << 20;

/// Copies a table; answers with the rows that were written.
pub(super) async fn pour(
    source: &mut dyn Side,
    target: &mut dyn Side,
    table: Table,
    progress: &mut (dyn FnMut(usize) + Send),
) -> Result<usize, Error> {
    let (sender, receiver) = channel(1);
    let read = read(source.rows(table), sender);
    let ((), written) = try_join(read, write(target, table, receiver, progress)).await?;
    Ok(written)
}

async fn read(mut rows: Rows<'_>, pages: Sender<Page>) -> Result<(), Error> {
    let (mut page, mut bytes) = (Page::default(), 0);
    while let Some(row) = rows.next().await {
        let row = row?;
        bytes += size(&row);
        page.rows.push(row);
        if page.rows.len() == ROWS_MAX || bytes >= BYTES_MAX {
            let next = Page { rows: Vec::new(), before: page.before + page.rows.len() };
            // A writer that went has an error to tell.
            let Ok(()) = pages.send(std::mem::replace(&mut page, next)).await else { return Ok(()) };
            bytes = 0;
        }
    }
    if !page.rows.is_empty() {
        let _ = pages.send(page).await;
    }
    Ok(())
}

async fn write(
    target: &mut dyn Side,
    table: Table,
    mut pages: Receiver<Page>,
    progress: &mut (dyn FnMut(usize) + Send),
) -> Result<usize, Error> {
    let mut written = 0;
    while let Some(page) = pages.recv().await {
        target.write(table, &page).await?;
        written += page.rows.len();
        progress(page.rows.len());
    }
    Ok(written)
}

/// Bytes in memory, about.
fn size(row: &Row) -> usize {
    let text = |value: &Value| match value {
        Value::Text(text) => text.len(),
        Value::Null | Value::Int(_) | Value::Real(_) => 0,
    };
    row.iter().map(|value| size_of::<Value>() + text(value)).sum()
}
