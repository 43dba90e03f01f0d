//! The enum, without our attributes and those of serde that moved, and with its steps in the docs.

use proc_macro2::TokenStream;
use quote::quote;

use super::docs;
use crate::model::Machine;

pub fn item(m: &Machine) -> TokenStream {
    let Some(item) = &m.item else { return quote!() };
    let table = if m.broken { quote!() } else { docs::table(m) };
    let mut item = item.clone();
    let attrs = std::mem::take(&mut item.attrs);
    quote!(#(#attrs)* #table #item)
}
