//! Settings in a program of 1,000 traced functions.

#![allow(long_running_const_eval, reason = "the functions are made by the compiler, one after the other")]

settings::program!(1_000);
