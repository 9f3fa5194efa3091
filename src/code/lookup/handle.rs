//! Handles: the program calls exports through them.

use std::fmt;
use std::marker::PhantomData;
use std::mem::transmute;
use std::panic::Location;

use super::view::View;
use crate::code::call::call_error::CallError;
use crate::code::call::export_entry::{Entered, ExportEntry};
use crate::code::call::hold::Hold;
use crate::code::call::panicked::Panicked;
use crate::code::call::pending::Pending;

/// A handle of an exported function, [called](Handle::call) with `ARITY` arguments: `F` is `fn(A, B, ...) -> R`.
///
/// It follows every upgrade. It can be copied and sent, and a call costs little more than one through a function pointer.
pub struct Handle<F, const ARITY: usize>(Calls<F>);

/// A handle of an exported `async fn`, called with `ARITY` arguments: `F` is `fn(A, B, ...) -> Pending<R>`.
pub struct AsyncHandle<F, const ARITY: usize>(Calls<F>);

/// A handle of an export in one version: it calls that version even after an upgrade, and keeps it from being purged.
///
/// Handles borrowed through one [`View`] belong to the same instant.
pub struct Borrowed<F, const ARITY: usize> {
    code: *const (),
    signature: PhantomData<F>,
    _hold: Hold,
}

// SAFETY: its pointer leads to code, which any thread may call.
unsafe impl<F, const ARITY: usize> Send for Borrowed<F, ARITY> {}
// SAFETY: as above.
unsafe impl<F, const ARITY: usize> Sync for Borrowed<F, ARITY> {}

struct Calls<F> {
    entry: &'static ExportEntry,
    signature: PhantomData<F>,
}

macro_rules! arity {
    ($number:literal: $($argument:ident $type:ident)*) => {
        impl<F> Handle<F, $number> {
            /// Calls the export in the current version.
            ///
            /// # Errors
            ///
            /// No version has the export, or the function panicked.
            // Always inlined, so that traces name the caller of this.
            #[inline(always)]
            pub fn call<R $(, $type)*>(&self $(, $argument: $type)*) -> Result<R, CallError>
            where
                F: Fn($($type),*) -> R,
            {
                let entered = self.0.enter()?;
                // SAFETY: the entry's code has the entry's signature, which is `F`'s.
                let code = unsafe { transmute::<*const (), fn($($type),*) -> Result<R, Panicked>>(entered.code) };
                Ok(code($($argument),*)?)
            }
        }

        impl<F> Borrowed<F, $number> {
            /// Calls the export in the version it was borrowed from.
            ///
            /// # Errors
            ///
            /// The function panicked.
            #[inline(always)]
            pub fn call<R $(, $type)*>(&self $(, $argument: $type)*) -> Result<R, CallError>
            where
                F: Fn($($type),*) -> R,
            {
                // SAFETY: the entry's code has the entry's signature, which is `F`'s; the hold keeps it.
                let code = unsafe { transmute::<*const (), fn($($type),*) -> Result<R, Panicked>>(self.code) };
                Ok(code($($argument),*)?)
            }
        }

        impl<F> AsyncHandle<F, $number> {
            /// Calls the export in the current version. Await the result.
            ///
            /// # Errors
            ///
            /// No version has the export. The future returns other errors.
            #[inline]
            #[track_caller]
            pub fn call<R $(, $type)*>(&self $(, $argument: $type)*) -> Result<Pending<R>, CallError>
            where
                F: Fn($($type),*) -> Pending<R>,
            {
                let (entered, hold) = self.0.enter_and_hold()?;
                // SAFETY: the entry's code has the entry's signature, which is `F`'s.
                let code = unsafe { transmute::<*const (), fn($($type),*) -> Result<Pending<R>, Panicked>>(entered.code) };
                Ok(code($($argument),*)?.holding(hold, self.0.entry, Location::caller()))
            }
        }
    };
}

arity!(0:);
arity!(1: a A);
arity!(2: a A b B);
arity!(3: a A b B c C);
arity!(4: a A b B c C d D);
arity!(5: a A b B c C d D e E);
arity!(6: a A b B c C d D e E f G);

impl<F, const ARITY: usize> Handle<F, ARITY> {
    /// Borrows the export in the version that the view sees.
    ///
    /// # Errors
    ///
    /// No version has the export.
    pub fn borrow(&self, view: &View) -> Result<Borrowed<F, ARITY>, CallError> {
        let (code, hold) = view.hold(self.0.entry).ok_or_else(|| self.0.entry.not_there())?;
        Ok(Borrowed { code, signature: PhantomData, _hold: hold })
    }
}

impl<F, const ARITY: usize> fmt::Debug for Borrowed<F, ARITY> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Borrowed")
    }
}

impl<F> Calls<F> {
    /// Enters the current version, which stays in use until the result is dropped.
    #[inline(always)]
    fn enter(&self) -> Result<Entered, CallError> {
        match self.entry.enter() {
            Some(entered) => Ok(entered),
            None => self.enter_pinned(),
        }
    }

    #[cold]
    #[inline(never)]
    fn enter_pinned(&self) -> Result<Entered, CallError> {
        let (entered, _) = match self.entry.enter_pinned() {
            Some(entered) => entered,
            None => self.entry.missing(ExportEntry::enter_pinned)?,
        };
        Ok(entered)
    }

    fn enter_and_hold(&self) -> Result<(Entered, Hold), CallError> {
        match self.entry.enter_and_hold() {
            Some(entered) => Ok(entered),
            None => self.entry.missing(ExportEntry::enter_and_hold),
        }
    }
}

macro_rules! plain_traits {
    ($($handle:ident)*) => { $(
        impl<F, const ARITY: usize> Clone for $handle<F, ARITY> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<F, const ARITY: usize> Copy for $handle<F, ARITY> {}

        impl<F, const ARITY: usize> fmt::Debug for $handle<F, ARITY> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", self.0.entry)
            }
        }

        impl<F, const ARITY: usize> From<&'static ExportEntry> for $handle<F, ARITY> {
            fn from(entry: &'static ExportEntry) -> Self {
                $handle(Calls { entry, signature: PhantomData })
            }
        }
    )* };
}

plain_traits!(Handle AsyncHandle);

impl<F> Clone for Calls<F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F> Copy for Calls<F> {}
