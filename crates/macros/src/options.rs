//! The options of the attribute.

use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Error, Result, Token, Type, parenthesized};

#[derive(Default)]
pub struct Options {
    /// `in = Type`: the type whose method it is.
    pub within: Option<Type>,
    /// `skip(a, b)`, `secret(c)`: hidden arguments.
    pub hidden: Vec<Ident>,
    /// `caller`: the function gets its caller's location.
    pub caller: bool,
    /// Set by the attribute `export`: the name of the export.
    pub export: Option<String>,
    /// `off`: the function is not traced, though its block has the attribute.
    pub off: bool,
}

impl Parse for Options {
    fn parse(input: ParseStream) -> Result<Options> {
        let mut options = Options::default();
        while !input.is_empty() {
            let name = input.call(Ident::parse_any)?;
            match name.to_string().as_str() {
                "in" => {
                    input.parse::<Token![=]>()?;
                    options.within = Some(input.parse()?);
                }
                "skip" | "secret" => options.hidden.extend(names(input)?),
                "caller" => options.caller = true,
                "off" => options.off = true,
                _ => {
                    return Err(Error::new(
                        name.span(),
                        "expected one of: in = Type, skip(ARGUMENT, ...), secret(ARGUMENT, ...), caller, off",
                    ));
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(options)
    }
}

fn names(input: ParseStream) -> Result<Punctuated<Ident, Token![,]>> {
    let inner;
    parenthesized!(inner in input);
    inner.parse_terminated(Ident::parse_any, Token![,])
}
