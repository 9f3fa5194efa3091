//! Orders to running traces.

use serde_json::Value;

use crate::shop::Shop;

/// Returns the output of an order that succeeded.
#[track_caller]
fn order(shop: &Shop, arguments: &[&str]) -> String {
    let output = shop.command(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The number of a pattern, from its line.
fn id(line: &str) -> String {
    line.split_whitespace().nth(1).unwrap().to_owned()
}

#[test]
fn patterns_come_and_go_while_a_trace_goes_on() {
    let mut shop = Shop::open();
    let trace = shop.trace(&["**::price(_, qty) if qty > 100"]);
    shop.sell(1);
    let added = order(&shop, &["add", "**::order", "--error"]);
    let line = format!("set {} in session 1: **::order do error (1 function)\n", id(&added));
    assert_eq!(added, line);
    shop.sell(1);
    let updated = order(&shop, &["update", &id(&added), "**::pack"]);
    assert_eq!(updated, format!("set {} in session 1: **::pack (1 function)\n", id(&added)));
    shop.sell(1);
    let listed = order(&shop, &["list", "--json"]);
    let listed: Vec<Value> = listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let patterns: Vec<_> = listed.iter().map(|pattern| pattern["pattern"].as_str().unwrap()).collect();
    assert_eq!(patterns, ["**::price(_, qty) if qty > 100", "**::pack"]);
    assert_eq!(
        (&listed[0]["session"], &listed[0]["functions"], &listed[0]["later"]),
        (&"1".into(), &1.into(), &false.into())
    );
    let first = listed[0]["id"].to_string();
    assert_eq!(
        order(&shop, &["remove", &first]),
        format!("removed {first} in session 1: {} (1 function)\n", patterns[0])
    );
    shop.sell(1);
    let (status, out, last) = trace.interrupt();
    let calls: Vec<&str> =
        out.lines().map(|line| line.split_once("] ").unwrap().1.split('(').next().unwrap()).collect();
    let price = "call   trace::price";
    assert_eq!(calls[..3], [price, price, "call   trace::order"]);
    assert!(calls[3].starts_with("error  trace::order -> Err"), "{}", calls[3]);
    assert_eq!(calls[4..], [price, "call   trace::pack", "call   trace::pack"]);
    assert_eq!((status, last.as_str()), (0, "1 pattern removed, 7 events, 0 dropped"));
    shop.refuses(&["list", "--session", "1"], 65, "no session \"1\" traces it");
}

/// Counts survive their pattern.
#[test]
fn counts_of_a_removed_pattern_stay_in_the_table() {
    let mut shop = Shop::open();
    let trace = shop.trace(&["--count", "**::price", "--json"]);
    shop.sell(8);
    let listed: Value = serde_json::from_str(&order(&shop, &["list", "--json"])).unwrap();
    order(&shop, &["add", "**::pack", "--count"]);
    order(&shop, &["remove", &listed["id"].to_string()]);
    shop.sell(5);
    let (_, out, _) = trace.interrupt();
    let mut counts: Vec<_> = out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect();
    counts.sort_by_key(|count| count["function"].to_string());
    let counts: Vec<_> =
        counts.iter().map(|count| (count["function"].as_str().unwrap(), count["calls"].as_u64())).collect();
    assert_eq!(counts, [("trace::pack/1", Some(1)), ("trace::price/2", Some(10))]);
}

/// The shop is one process: its thread, which got its pid with the first trace.
#[test]
fn processes_are_taken_in_and_left_out() {
    let mut shop = Shop::open();
    let trace = shop.trace(&["**::pack"]);
    shop.sell(0);
    let told = order(&shop, &["exclude", "existing"]);
    assert!(told.starts_with("session 1 looks at all from <0.") && told.ends_with(".0> on\n"), "{told}");
    shop.sell(0);
    let told = order(&shop, &["include", "existing", "--json"]);
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["session"], "1");
    shop.sell(0);
    shop.refuses(&["include", "57"], 2, "expected one like <0.57.0>");
    let (_, out, _) = trace.interrupt();
    assert_eq!(out.lines().count(), 2, "{out}");
    let trace = shop.trace(&["**::pack", "--process", "new"]);
    shop.sell(0);
    assert_eq!(trace.interrupt().1, "");
}

#[test]
fn orders_name_the_session_where_there_are_several() {
    let shop = Shop::open();
    shop.refuses(&["add", "**::pack"], 65, "nobody traces it");
    let night = shop.trace(&["**::price", "--session", "night"]);
    let other = shop.trace(&["**::order"]);
    shop.refuses(
        &["**::pack", "--session", "night"],
        65,
        "a session \"night\" is already running: choose another name",
    );
    shop.refuses(&["add", "**::pack"], 65, "the sessions night, 1 trace it: name one by --session");
    let listed = order(&shop, &["list"]);
    let columns: Vec<Vec<&str>> = listed.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(columns[0], ["SESSION", "ID", "FUNCTIONS", "PATTERN"]);
    assert_eq!([columns[1][0], columns[1][3], columns[2][0], columns[2][3]], ["night", "**::price", "1", "**::order"]);
    let id = columns[2][1];
    shop.refuses(&["remove", id, "--session", "night"], 65, &format!("the session has no pattern {id}"));
    shop.refuses(&["update", id, "**::nowhere", "--session", "1"], 65, "names none of the 5 traced functions");
    shop.refuses(&["add", "**::pack", "**::nowhere", "--session", "1"], 65, "names none of the 5 traced functions");
    assert_eq!(order(&shop, &["list", "--session", "1"]).lines().count(), 2, "all are set, or none");
    shop.refuses(&["add", "**::pack("], 2, "cannot read the pattern");
    shop.refuses(&["remove", "x"], 2, "invalid value");
    night.interrupt();
    other.interrupt();
}
