//! Databases that are filled once per server and then cloned.

use std::fs::File;

use crate::{Database, Error, Result, Server};

/// A template in the making: others wait until it is finished or dropped.
///
/// ```
/// # fn main() -> Result<(), local_postgres::Error> {
/// let server = local_postgres::shared(local_postgres::Profile::Fast)?;
/// if let Some(filling) = server.begin_template("doc_filling")? {
///     server.query(filling.database(), "CREATE TABLE t AS SELECT 1 AS n")?; // or migrate `filling.url()`
///     filling.finish()?;
/// }
/// let database = server.clone_template("doc_filling")?;
/// assert_eq!(database.query("SELECT n FROM t")?.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a template is used once it is finished"]
pub struct Filling {
    server: Server,
    template: String,
    database: String,
    _lock: File,
}

impl Server {
    /// A clone of a template, which the first caller on this server fills through the URL it is given.
    ///
    /// The template lives as long as the server; let its name carry what it is made from (a version, a hash).
    ///
    /// ```
    /// # fn main() -> Result<(), local_postgres::Error> {
    /// let server = local_postgres::shared(local_postgres::Profile::Fast)?;
    /// let fill = |url: &str| Ok(assert!(url.starts_with("postgres://")));
    /// let database = server.create_from_template("doc_v1", fill)?;
    /// # drop(database);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`Self::query`]; or `fill` failed: then there is no template, and the next caller tries again.
    pub fn create_from_template<F>(&self, template: &str, fill: F) -> Result<Database>
    where
        F: FnOnce(&str) -> std::result::Result<(), Box<dyn std::error::Error + Send + Sync>>,
    {
        if let Some(filling) = self.begin_template(template)? {
            fill(&filling.url()).map_err(|cause| Error::other(format!("fill the template {template}: {cause}")))?;
            filling.finish()?;
        }
        self.clone_template(template)
    }

    /// `None` if the template is there. Else the caller fills it; for when filling is asynchronous.
    ///
    /// # Errors
    ///
    /// As for [`Self::query`]; or the name is not one of at most 50 of `a` to `z`, digits and `_`.
    pub fn begin_template(&self, template: &str) -> Result<Option<Filling>> {
        let name = template_database(template)?;
        let lock = self.lock(&format!("{name}.lock"))?;
        if !self.run(&format!("SELECT 1 FROM pg_database WHERE datname = '{name}'"))?.is_empty() {
            return Ok(None);
        }
        let database = format!("{name}_filling");
        // What a killed filler left.
        self.run(&format!("DROP DATABASE IF EXISTS {database} WITH (FORCE)"))?;
        self.run(&format!("CREATE DATABASE {database}"))?;
        Ok(Some(Filling { server: self.clone(), template: name, database, _lock: lock }))
    }

    /// A new database like the finished template.
    ///
    /// # Errors
    ///
    /// As for [`Self::query`]; `3D000` if there is no such template.
    pub fn clone_template(&self, template: &str) -> Result<Database> {
        Database::create(self, Some(&template_database(template)?))
    }
}

impl Filling {
    /// The URL to fill.
    #[must_use]
    pub fn url(&self) -> String {
        self.server.url(&self.database)
    }

    /// The name of the database to fill.
    #[must_use]
    pub fn database(&self) -> &str {
        &self.database
    }

    /// Makes the template known. Whoever is still connected to it is cut off.
    ///
    /// # Errors
    ///
    /// As for [`Server::query`].
    pub fn finish(self) -> Result<()> {
        let Self { server, template, database, .. } = &self;
        // A template nobody can connect to is one nobody can change, and cloning it never waits.
        server.run(&format!("ALTER DATABASE {database} WITH ALLOW_CONNECTIONS false"))?;
        server.run(&format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}' AND pid <> pg_backend_pid()"
        ))?;
        server.run(&format!("ALTER DATABASE {database} RENAME TO {template}")).map(drop)
    }
}

/// Plain and short, so that it needs no quotes and the server does not cut it, with `_filling` appended.
fn template_database(template: &str) -> Result<String> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if template.is_empty() || template.len() > 50 || !template.bytes().all(plain) {
        return Err(Error::other(format!("a template's name is 1 to 50 of a-z, 0-9 and _, not {template:?}")));
    }
    Ok(format!("tpl_{template}"))
}
