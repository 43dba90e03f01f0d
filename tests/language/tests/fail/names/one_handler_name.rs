//# steps `HTTPCall` and `HttpCall` have one handler name, `http_call`
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Checkout {
    #[step(start, next(HttpCall))]
    HTTPCall,
    #[step(name = "second", done)]
    HttpCall,
}

fn main() {}
