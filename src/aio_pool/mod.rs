//! Room aio_pool.
