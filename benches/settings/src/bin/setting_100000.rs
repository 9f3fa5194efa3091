//! Settings in a program of 100,000 traced functions.

#![allow(long_running_const_eval, reason = "the functions are made by the compiler, one after the other")]

settings::program!(100_000);
