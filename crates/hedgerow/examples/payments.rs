//! Payments between accounts: transactions that read before they write are run again after a conflict, so no
//! money is lost or created, however many threads move it.
//!
//! ```sh
//! cargo run --release --example payments
//! ```

use hedgerow::{Graph, LabelOptions, PropertyType, Value};

const ACCOUNTS: u64 = 20;
const TELLERS: u64 = 4;

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> Outcome<()> {
    let bank = Graph::in_memory()?;
    bank.define_label("paid", LabelOptions::new().multi(true).property("cents", PropertyType::I64))?;
    for account in 0..ACCOUNTS {
        let mut txn = bank.write()?;
        txn.put_vertex_with(account, [("balance", 10_000i64)])?;
        txn.commit()?;
    }

    std::thread::scope(|scope| {
        let tellers = (0..TELLERS).map(|teller| {
            scope.spawn({
                let bank = bank.clone();
                move || (0..100).try_for_each(|n| pay(&bank, teller, n))
            })
        });
        tellers.collect::<Vec<_>>().into_iter().try_for_each(|t| t.join().expect("a teller ends"))
    })?;

    let snapshot = bank.snapshot()?;
    let mut total = 0;
    for account in 0..ACCOUNTS {
        total += balance(snapshot.vertex_property(account, "balance")?);
    }
    assert_eq!(total, ACCOUNTS as i64 * 10_000);
    println!("{} payments, {total} cents in all", snapshot.edge_count()?);
    Ok(())
}

/// Moves one cent, and adds an edge that records the payment. Runs again after each conflict with another
/// teller.
fn pay(bank: &Graph, teller: u64, n: u64) -> Outcome<()> {
    let (from, to) = ((teller * 7 + n) % ACCOUNTS, (teller * 3 + n * 5 + 1) % ACCOUNTS);
    if from == to {
        return Ok(());
    }
    bank.transact(1_000, |txn| {
        let (payer, payee) = (txn.vertex_property(from, "balance")?, txn.vertex_property(to, "balance")?);
        txn.update_vertex(from, [("balance", balance(payer) - 1)])?;
        txn.update_vertex(to, [("balance", balance(payee) + 1)])?;
        let payment = hedgerow::EdgeKey::new("paid", from, to).rank(teller * 1_000 + n);
        txn.put_edge_with(payment, [("cents", 1i64)])
    })?;
    Ok(())
}

fn balance(property: Option<Value>) -> i64 {
    match property {
        Some(Value::I64(cents)) => cents,
        _ => 0,
    }
}
