//! The layouts of `std`'s types. Both sides were compiled by the same compiler with the same `std`, so a name is enough.

use std::borrow::Cow;
use std::cell::{Cell, RefCell, UnsafeCell};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, VecDeque};
use std::ffi::{CStr, CString, OsStr, OsString};
use std::hash::RandomState;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::num::NonZero;
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic;
use std::sync::{Arc, Mutex, OnceLock, RwLock};
use std::time::{Duration, Instant, SystemTime};

use super::{Layout, LayoutHash};

macro_rules! plain {
    ($($of:ty),* $(,)?) => { $(
        // SAFETY: the name is one of `std`'s or of the language's.
        unsafe impl Layout for $of {
            const HASH: LayoutHash = LayoutHash::named(stringify!($of));
        }
    )* };
}

plain!((), bool, char, u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64);
plain!(str, String, CStr, CString, OsStr, OsString, Path, PathBuf, Duration, Instant, SystemTime, RandomState);
plain!(IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6);
plain!(atomic::AtomicBool, atomic::AtomicU8, atomic::AtomicU16, atomic::AtomicU32, atomic::AtomicU64);
plain!(atomic::AtomicUsize, atomic::AtomicI8, atomic::AtomicI16, atomic::AtomicI32, atomic::AtomicI64);
plain!(atomic::AtomicIsize);
plain!(NonZero<u8>, NonZero<u16>, NonZero<u32>, NonZero<u64>, NonZero<usize>);
plain!(NonZero<i8>, NonZero<i16>, NonZero<i32>, NonZero<i64>, NonZero<isize>);

/// Types that contain others: the name, and the hashes of the contents.
macro_rules! holding {
    ($($name:literal $of:ty [$($part:ident),+];)*) => { $(
        // SAFETY: the name is one of `std`'s or of the language's; the contents have layouts of their own.
        unsafe impl<$($part: Layout),+> Layout for $of {
            const HASH: LayoutHash = LayoutHash::named($name)$(.with($part::HASH))+;
        }
    )* };
}

holding! {
    "option" Option<T> [T];
    "result" Result<T, E> [T, E];
    "vec" Vec<T> [T];
    "deque" VecDeque<T> [T];
    "heap" BinaryHeap<T> [T];
    "map" BTreeMap<K, V> [K, V];
    "set" BTreeSet<T> [T];
    "hashmap" HashMap<K, V, S> [K, V, S];
    "hashset" HashSet<T, S> [T, S];
    "cell" Cell<T> [T];
    "maybe" MaybeUninit<T> [T];
    "once" OnceLock<T> [T];
    "range" Range<T> [T];
    "closed range" RangeInclusive<T> [T];
}

/// Types that contain others, which may be unsized.
macro_rules! holding_unsized {
    ($($name:literal $of:ty;)*) => { $(
        // SAFETY: as above.
        unsafe impl<T: Layout + ?Sized> Layout for $of {
            const HASH: LayoutHash = LayoutHash::named($name).with(T::HASH);
        }
    )* };
}

holding_unsized! {
    "&" &T;
    "&mut" &mut T;
    "*const" *const T;
    "*mut" *mut T;
    "box" Box<T>;
    "rc" Rc<T>;
    "arc" Arc<T>;
    "refcell" RefCell<T>;
    "unsafe cell" UnsafeCell<T>;
    "mutex" Mutex<T>;
    "rwlock" RwLock<T>;
    "phantom" PhantomData<T>;
    "manually" ManuallyDrop<T>;
}

// SAFETY: as above.
unsafe impl<T: Layout> Layout for Pin<T> {
    const HASH: LayoutHash = LayoutHash::named("pin").with(T::HASH);
}

// SAFETY: as above; in `std` the borrowed type determines the owned one.
unsafe impl<T: Layout + ToOwned<Owned: Layout> + ?Sized> Layout for Cow<'_, T> {
    const HASH: LayoutHash = LayoutHash::named("cow").with(T::HASH).with(T::Owned::HASH);
}

// SAFETY: as above.
unsafe impl<T: Layout> Layout for [T] {
    const HASH: LayoutHash = LayoutHash::named("slice").with(T::HASH);
}

// SAFETY: as above; the length is hashed, too.
unsafe impl<T: Layout, const N: usize> Layout for [T; N] {
    const HASH: LayoutHash = LayoutHash::named("array").number(N as u128).with(T::HASH);
}

macro_rules! tuples {
    ($($part:ident),*; $($more:ident),*) => {
        // SAFETY: the hash covers the type of each part, in order; the compiler places the parts by these types alone.
        unsafe impl<$($part: Layout),*> Layout for ($($part,)*) {
            const HASH: LayoutHash = LayoutHash::named("tuple")$(.with($part::HASH))*;
        }
        tuples!(@ $($part),*; $($more),*);
    };
    (@ $($part:ident),*; $next:ident $(, $more:ident)*) => {
        tuples!($($part,)* $next; $($more),*);
    };
    (@ $($part:ident),*;) => {};
}

tuples!(A; B, C, D, E, F, G, H);
