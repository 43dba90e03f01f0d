use std::fmt;

use crate::model::Invalid;

/// The database schema the tables live in: 1 to 63 bytes, no control characters, not `pg_…`.
///
/// Any other text works, exactly as named: it is always quoted.
///
/// ```
/// # use gen_durable_runtime::store::SchemaName;
/// assert_eq!(SchemaName::new(r#"My "own""#)?.quoted(), r#""My ""own""""#);
/// assert!(SchemaName::new("pg_temp").is_err());
/// # Ok::<(), gen_durable_runtime::model::Invalid>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SchemaName(String);

impl SchemaName {
    /// Checks the name.
    ///
    /// # Errors
    /// When it is empty, over 63 bytes (Postgres would cut it in silence), reserved, or has a control character.
    pub fn new(name: impl Into<String>) -> Result<Self, Invalid> {
        let name = name.into();
        let problem = match name.as_str() {
            "" => "is empty: 1 to 63 bytes are allowed".into(),
            n if n.len() > 63 => format!("has {} bytes: at most 63 are allowed", n.len()),
            n if n.chars().any(char::is_control) => "has a control character".into(),
            n if n.starts_with("pg_") || n == "information_schema" => "is reserved by Postgres".into(),
            _ => return Ok(Self(name)),
        };
        Err(Invalid::new("schema", problem))
    }

    /// The bare name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name as a quoted identifier.
    pub fn quoted(&self) -> String {
        format!("\"{}\"", self.0.replace('"', "\"\""))
    }

    /// Fills the one placeholder of a statement, `{schema}`.
    pub fn fill(&self, sql: &str) -> String {
        sql.replace("{schema}", &self.quoted())
    }
}

impl Default for SchemaName {
    /// `public`.
    fn default() -> Self {
        Self("public".into())
    }
}

impl fmt::Display for SchemaName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
