//! Half of the functions at once.

use dyntrace::__traced::Site;
use serde_json::{Value, json};

use crate::machine::{SETTER, median, runtime, settle, stay_on, time};
use crate::{made, session};

pub fn measure(sites: &'static [Site], rounds: usize) -> Value {
    stay_on(SETTER);
    let runtime = runtime();
    let set_sites = || sites.iter().filter(|site| site.is_set()).count();
    let [mut set, mut removed] = [const { Vec::new() }; 2];
    for _ in 0..=rounds {
        let session = session();
        settle();
        let (took, pattern) = time(|| runtime.block_on(session.set(made::FIRST)));
        assert_eq!(pattern.expect("there are such functions").functions, sites.len() / 2);
        assert_eq!(set_sites(), sites.len() / 2);
        set.push(took);
        settle();
        removed.push(time(|| runtime.block_on(session.close())).0);
        assert_eq!(set_sites(), 0);
    }
    let first = set.remove(0);
    json!({"functions": sites.len() / 2, "first": first, "set": median(set), "removed": median(removed)})
}
