//! Accounts, and transfers between them. The fault: a transfer locks its accounts in the order of the request.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use dyntrace::sync::Mutex;
use dyntrace::time::sleep;

use crate::{Answer, Bank};

/// The coins of each customer.
pub struct Accounts([(&'static str, Mutex<i64>); 3]);

impl Accounts {
    pub fn open() -> Accounts {
        Accounts(["alice", "bob", "carol"].map(|name| (name, Mutex::named(name, 100))))
    }

    fn of(&self, name: &str) -> Result<&Mutex<i64>, (StatusCode, String)> {
        let found = self.0.iter().find(|(known, _)| *known == name).map(|(_, account)| account);
        found.ok_or_else(|| (StatusCode::NOT_FOUND, format!("{name:?} has no account\n")))
    }
}

/// Moves one coin.
pub async fn transfer(bank: Arc<Bank>, from: String, to: String) -> Answer {
    if from == to {
        return Err((StatusCode::BAD_REQUEST, "a transfer needs two accounts\n".to_owned()));
    }
    let (payer, payee) = (bank.accounts.of(&from)?, bank.accounts.of(&to)?);
    let mut source = payer.lock().await;
    check().await;
    let mut target = payee.lock().await;
    *source -= 1;
    *target += 1;
    Ok(format!("{from} {source}, {to} {target}\n"))
}

/// Asks another service for fraud.
async fn check() {
    sleep(Duration::from_millis(300)).await;
}
