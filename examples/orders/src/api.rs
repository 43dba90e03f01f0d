//! The service's three routes.

use axum::{
    Json, Router,
    extract::{Path, State, rejection::JsonRejection},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use gen_durable::Client;
use serde::Deserialize;
use serde_json::json;

use crate::{
    fault::{Fault, refuse},
    machine::{Declined, Order, Paid},
    place::{NewOrder, Placed},
    shop::Shop,
    view::View,
};

#[derive(Debug, Clone)]
struct Service {
    client: Client,
    shop: Shop,
}

/// What the payment provider tells.
#[derive(Debug, Deserialize)]
struct News {
    /// Its own name for it: the same however often it is sent.
    event: String,
    order: i64,
    #[serde(flatten)]
    result: Payment,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "result", rename_all = "snake_case")]
enum Payment {
    Paid { payment: i64 },
    Declined { reason: String },
}

pub fn routes(client: Client, shop: Shop) -> Router {
    Router::new()
        .route("/orders", post(place))
        .route("/orders/{order}", get(look))
        .route("/webhooks/payment", post(payment))
        .with_state(Service { client, shop })
}

/// 201 for a new order; 200 for one that was placed before, with the same instance; 409 when the number is another's.
async fn place(State(service): State<Service>, body: Result<Json<NewOrder>, JsonRejection>) -> Result<Response, Fault> {
    let Json(new) = body?;
    if let Err(why) = new.check() {
        return Ok(refuse(StatusCode::UNPROCESSABLE_ENTITY, why));
    }
    let order = new.order;
    Ok(match service.shop.place(&service.client, &new).await? {
        Placed::New { instance } => {
            let body = Json(json!({ "order": order, "instance": instance }));
            (StatusCode::CREATED, [("location", format!("/orders/{order}"))], body).into_response()
        }
        Placed::Before { instance } => Json(json!({ "order": order, "instance": instance })).into_response(),
        Placed::Taken => refuse(StatusCode::CONFLICT, "another order has this number"),
        Placed::NoSuchItem => refuse(StatusCode::UNPROCESSABLE_ENTITY, "no such item"),
    })
}

async fn look(State(service): State<Service>, Path(order): Path<i64>) -> Result<Response, Fault> {
    let view = View::of(&service.client, &service.shop, order).await?;
    Ok(view.map_or_else(no_such_order, |view| Json(view).into_response()))
}

/// 200 as soon as it stands in the order's inbox, whatever the order is doing; 404 when there is no such order, 409 when
/// it has ended. A repeated one changes nothing, and is 200 after the end as well.
async fn payment(State(service): State<Service>, body: Result<Json<News>, JsonRejection>) -> Result<Response, Fault> {
    let Json(News { event, order, result }) = body?;
    let (instance, id) = (service.client.of::<Order>(order), event.clone());
    let signal = match result {
        Payment::Paid { payment } => instance.signal(Paid { event, payment }),
        Payment::Declined { reason } => instance.signal(Declined { event, reason }),
    };
    match signal.dedup(&id).await {
        Ok(receipt) => Ok(heard(receipt.duplicate)),
        Err(error) if error.is_no_target() => Ok(match service.shop.order(order).await? {
            None => no_such_order(),
            // The inbox went with the instance; the order's row knows what decided it.
            Some(row) if row.event.as_deref() == Some(&id) => heard(true),
            Some(_) => refuse(StatusCode::CONFLICT, "the order has ended"),
        }),
        Err(error) => Err(error.into()),
    }
}

fn heard(before: bool) -> Response {
    Json(json!({ "heard_before": before })).into_response()
}

fn no_such_order() -> Response {
    refuse(StatusCode::NOT_FOUND, "no such order")
}
