//! Just enough of the wire protocol to run SQL over the socket: the simple query, text results.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use crate::{Error, Result};

/// A row of text values; `None` is NULL.
///
/// ```
/// # fn main() -> Result<(), local_postgres::Error> {
/// # let server = local_postgres::shared(local_postgres::Profile::Fast)?;
/// let rows: Vec<local_postgres::Row> = server.query("postgres", "SELECT 1, NULL")?;
/// assert_eq!(rows, [[Some("1".to_owned()), None]]);
/// # Ok(())
/// # }
/// ```
pub type Row = Vec<Option<String>>;

/// Longer than any statement of a test set-up, so that a stuck server is an error and not a hang.
const ANSWER_MAX: Duration = Duration::from_secs(120);

const PROTOCOL_3_0: u32 = 196_608;

#[derive(Debug)]
pub(crate) struct Connection {
    stream: UnixStream,
}

struct Message {
    kind: u8,
    body: Vec<u8>,
}

impl Connection {
    /// Connects as the server's superuser.
    pub(crate) fn open(socket: &Path, database: &str) -> Result<Self> {
        let stream = UnixStream::connect(socket).map_err(Error::io(format_args!("connect to {}", socket.display())))?;
        stream.set_read_timeout(Some(ANSWER_MAX)).map_err(Error::io("set a read timeout"))?;
        let mut connection = Self { stream };
        let mut startup = PROTOCOL_3_0.to_be_bytes().to_vec();
        for text in ["user", "postgres", "database", database] {
            push_text(&mut startup, text);
        }
        startup.push(0);
        connection.send(None, &startup)?;
        connection.rows_until_ready()?;
        Ok(connection)
    }

    /// Runs statements in one implicit transaction and gives all their rows.
    pub(crate) fn query(&mut self, sql: &str) -> Result<Vec<Row>> {
        let mut body = Vec::new();
        push_text(&mut body, sql);
        self.send(Some(b'Q'), &body)?;
        self.rows_until_ready()
    }

    fn send(&mut self, kind: Option<u8>, body: &[u8]) -> Result<()> {
        let length = u32::try_from(body.len() + 4).map_err(|_| Error::other("the statement is too long"))?;
        let mut message: Vec<u8> = kind.into_iter().collect();
        message.extend(length.to_be_bytes());
        message.extend(body);
        self.stream.write_all(&message).map_err(Error::io("send to the server"))
    }

    /// After an error the server still sends that it is ready, except while connecting: then it hangs up.
    fn rows_until_ready(&mut self) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        let mut refused = None;
        loop {
            let message = match (self.receive(), refused.take()) {
                (Ok(message), before) => {
                    refused = before;
                    message
                }
                (Err(_), Some(refused)) => return Err(refused),
                (Err(error), None) => return Err(Error::io("read from the server")(error)),
            };
            match message.kind {
                b'D' => rows.push(data_row(&message.body).ok_or_else(|| Error::other("the server sent a broken row"))?),
                b'E' => refused = refused.or_else(|| Some(refusal(&message.body))),
                b'R' if message.body != [0; 4] => return Err(Error::other("the server asks for a password")),
                b'Z' => return refused.map_or(Ok(rows), Err),
                // Notices, parameters, descriptions, tags: nothing we need.
                _ => {}
            }
        }
    }

    fn receive(&mut self) -> io::Result<Message> {
        let mut head = [0; 5];
        self.stream.read_exact(&mut head)?;
        let [kind, length @ ..] = head;
        let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(0);
        let mut body = vec![0; length.saturating_sub(4)];
        self.stream.read_exact(&mut body)?;
        Ok(Message { kind, body })
    }
}

fn push_text(body: &mut Vec<u8>, text: &str) {
    body.extend(text.as_bytes());
    body.push(0);
}

fn data_row(mut body: &[u8]) -> Option<Row> {
    let columns = u16::from_be_bytes(take(&mut body)?);
    (0..columns)
        .map(|_| {
            // A negative length is NULL.
            let Ok(length) = usize::try_from(i32::from_be_bytes(take(&mut body)?)) else { return Some(None) };
            let (value, rest) = body.split_at_checked(length)?;
            body = rest;
            Some(Some(String::from_utf8_lossy(value).into_owned()))
        })
        .collect()
}

fn take<const N: usize>(body: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = body.split_first_chunk()?;
    *body = rest;
    Some(*taken)
}

fn refusal(body: &[u8]) -> Error {
    let fields: Vec<_> = body.split(|&byte| byte == 0).filter_map(<[u8]>::split_first).collect();
    let field = |wanted: u8| {
        let found = fields.iter().find(|(kind, _)| **kind == wanted);
        found.map(|(_, text)| String::from_utf8_lossy(text).into_owned()).unwrap_or_default()
    };
    Error::server(field(b'C'), format!("{} ({})", field(b'M'), field(b'C')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read_with_its_nulls() {
        let body = [0, 2, 0, 0, 0, 1, b'7', 0xff, 0xff, 0xff, 0xff];
        assert_eq!(data_row(&body), Some(vec![Some("7".to_owned()), None]));
    }

    #[test]
    fn a_cut_row_is_no_row() {
        assert_eq!(data_row(&[0, 1, 0, 0, 0, 9, b'7']), None);
    }
}
