//! What the service answers when it cannot do what it was asked.

use axum::{
    Json,
    extract::rejection::JsonRejection,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::json;

/// Why a request was not done. When it is not known what became of it, the same one may be sent again.
#[derive(Debug)]
pub enum Fault {
    Unreadable(JsonRejection),
    Engine(gen_durable::Error),
    Database(sqlx::Error),
}

/// Says no.
pub fn refuse(status: StatusCode, why: &str) -> Response {
    (status, Json(json!({ "error": why }))).into_response()
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        match self {
            Self::Unreadable(rejection) => refuse(rejection.status(), &rejection.body_text()),
            // It names the field and its limit, and quotes nothing.
            Self::Engine(error) if error.is_invalid() => refuse(StatusCode::UNPROCESSABLE_ENTITY, &error.to_string()),
            Self::Engine(error) => unavailable(&error),
            Self::Database(error) => unavailable(&error),
        }
    }
}

/// The log has the reason; who asked may ask again.
fn unavailable(error: &dyn std::error::Error) -> Response {
    eprintln!("error: {error}");
    refuse(StatusCode::SERVICE_UNAVAILABLE, "try again")
}

impl From<JsonRejection> for Fault {
    fn from(rejection: JsonRejection) -> Self {
        Self::Unreadable(rejection)
    }
}

impl From<gen_durable::Error> for Fault {
    fn from(error: gen_durable::Error) -> Self {
        Self::Engine(error)
    }
}

impl From<sqlx::Error> for Fault {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error)
    }
}
