//! The options of the attributes `main` and `test`: those of tokio's.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::{Error, Ident, LitBool, LitInt, LitStr, Path, Result, Token, ext::IdentExt as _};

use super::EntryKind;

#[derive(Clone, Copy, PartialEq)]
pub enum Flavor {
    MultiThread,
    CurrentThread,
}

#[derive(Default)]
pub struct Options {
    flavor: Option<Flavor>,
    worker_threads: Option<LitInt>,
    start_paused: Option<LitBool>,
    unhandled_panic: Option<LitStr>,
    name: Option<LitStr>,
    path: Option<Path>,
}

/// An option: its name, and the value as it is written.
struct Setting {
    name: Ident,
    value: TokenStream,
}

const KNOWN: &str = "expected one of: flavor, worker_threads, start_paused, unhandled_panic, name, crate";

impl Parse for Setting {
    fn parse(input: ParseStream) -> Result<Setting> {
        let name = input.call(Ident::parse_any)?;
        if !input.peek(Token![=]) {
            return Err(Error::new_spanned(&name, without_value(&name)));
        }
        input.parse::<Token![=]>()?;
        let value = input.parse::<syn::Expr>()?.into_token_stream();
        Ok(Setting { name, value })
    }
}

fn without_value(name: &Ident) -> String {
    match name.to_string().as_str() {
        "multi_thread" | "current_thread" => format!("a flavor is written as a value: flavor = \"{name}\""),
        "flavor" | "worker_threads" | "start_paused" | "unhandled_panic" | "name" | "crate" => {
            format!("it has a value: {name} = ...")
        }
        _ => KNOWN.to_owned(),
    }
}

impl Options {
    pub fn read(kind: EntryKind, tokens: TokenStream) -> Result<Options> {
        let mut options = Options::default();
        for Setting { name, value } in Punctuated::<Setting, Token![,]>::parse_terminated.parse2(tokens)? {
            let is_second = match name.to_string().as_str() {
                "flavor" => options.flavor.replace(flavor(&value)?).is_some(),
                "worker_threads" => options.worker_threads.replace(number(value)?).is_some(),
                "start_paused" => options.start_paused.replace(literal(value, "true or false")?).is_some(),
                "unhandled_panic" => options.unhandled_panic.replace(behavior(value)?).is_some(),
                "name" => options.name.replace(literal(value, "a name as a string")?).is_some(),
                "crate" => {
                    let path: LitStr = literal(value, "a path as a string")?;
                    options.path.replace(path.parse()?).is_some()
                }
                _ => return Err(Error::new_spanned(name, KNOWN)),
            };
            if is_second {
                return Err(Error::new_spanned(&name, format!("`{name}` is set twice")));
            }
        }
        options.fit(kind)?;
        Ok(options)
    }

    /// Refuses settings that the flavor does not have.
    fn fit(&self, kind: EntryKind) -> Result<()> {
        let refused = |setting: Option<TokenStream>, name, flavor| match setting {
            Some(setting) => {
                let told = format!("`{name}` is for the other flavor: set flavor = \"{flavor}\"");
                Err(Error::new_spanned(setting, told))
            }
            None => Ok(()),
        };
        match self.flavor(kind) {
            Flavor::CurrentThread => {
                let number = self.worker_threads.as_ref().map(|number| number.to_token_stream());
                refused(number, "worker_threads", "multi_thread")
            }
            Flavor::MultiThread => {
                let paused = self.start_paused.as_ref().map(|paused| paused.to_token_stream());
                refused(paused, "start_paused", "current_thread")?;
                let panic = self.unhandled_panic.as_ref().map(|panic| panic.to_token_stream());
                refused(panic, "unhandled_panic", "current_thread")
            }
        }
    }

    pub fn flavor(&self, kind: EntryKind) -> Flavor {
        self.flavor.unwrap_or(match kind {
            EntryKind::Main => Flavor::MultiThread,
            EntryKind::Test => Flavor::CurrentThread,
        })
    }

    /// The path of the crate `dyntrace`.
    pub fn path(&self) -> TokenStream {
        self.path.as_ref().map_or_else(|| quote! { ::dyntrace }, |path| path.to_token_stream())
    }

    /// The calls of the builder's methods.
    pub fn settings(&self) -> Vec<TokenStream> {
        let dyntrace = self.path();
        let panic = self.unhandled_panic.as_ref().map(|panic| match panic.value().as_str() {
            "ignore" => quote! { .tokio().unhandled_panic(#dyntrace::__runtime::UnhandledPanic::Ignore) },
            _ => quote! { .tokio().unhandled_panic(#dyntrace::__runtime::UnhandledPanic::ShutdownRuntime) },
        });
        [
            self.worker_threads.as_ref().map(|number| quote! { .worker_threads(#number) }),
            self.start_paused.as_ref().map(|paused| quote! { .tokio().start_paused(#paused) }),
            self.name.as_ref().map(|name| quote! { .tokio().name(#name) }),
            panic,
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

fn literal<T: Parse>(value: TokenStream, expected: &str) -> Result<T> {
    syn::parse2(value.clone()).map_err(|_| Error::new_spanned(value, format!("expected {expected}")))
}

fn number(value: TokenStream) -> Result<LitInt> {
    const EXPECTED: &str = "a number of threads, from 1";
    let number: LitInt = literal(value, EXPECTED)?;
    match number.base10_parse::<usize>() {
        Ok(1..) => Ok(number),
        _ => Err(Error::new_spanned(number, format!("expected {EXPECTED}"))),
    }
}

fn flavor(value: &TokenStream) -> Result<Flavor> {
    const EXPECTED: &str = "\"multi_thread\" or \"current_thread\"";
    match literal::<LitStr>(value.clone(), EXPECTED)?.value().as_str() {
        "multi_thread" => Ok(Flavor::MultiThread),
        "current_thread" => Ok(Flavor::CurrentThread),
        _ => Err(Error::new_spanned(value, format!("expected {EXPECTED}"))),
    }
}

fn behavior(value: TokenStream) -> Result<LitStr> {
    const EXPECTED: &str = "\"ignore\" or \"shutdown_runtime\"";
    let behavior: LitStr = literal(value, EXPECTED)?;
    match behavior.value().as_str() {
        "ignore" | "shutdown_runtime" => Ok(behavior),
        _ => Err(Error::new_spanned(behavior, format!("expected {EXPECTED}"))),
    }
}
