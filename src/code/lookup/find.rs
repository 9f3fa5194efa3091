//! Look-ups of exports by name.

use dyntrace_probes::host;

use super::signature::{HandleOf, Signature};
use crate::code::call::export_entry::ExportEntry;
use crate::code::call::export_name::SignatureHash;
use crate::code::error::Error;
use crate::code::load_error::LoadError;
use crate::code::version::tables::{Tables, tables};

/// Returns a handle of the export that has this name in the current version of its module. The handle follows every upgrade.
///
/// # Errors
///
/// No version of the module is current, or it has no export of that name and signature. Inside a module: always; use
/// [`import!`](crate::import) there.
pub fn lookup<F: Signature>(module: &str, name: &str) -> Result<HandleOf<F>, Error> {
    if host::is_guest() {
        return Err(LoadError::in_module(&format!("find the export {module}::{name}")).into());
    }
    find(tables(), module, name, F::HASH, F::text()).map(HandleOf::<F>::from)
}

pub(crate) fn find(
    tables: &Tables,
    module: &str,
    name: &str,
    signature: SignatureHash,
    wanted: &str,
) -> Result<&'static ExportEntry, Error> {
    let Some(current) = tables.look(|set| set.modules.get(module)?.current.clone()) else {
        return Err(Error::NoModule { doing: "find an export of", module: module.into(), which: "current" });
    };
    let mut of_name = current.exports_of(name).peekable();
    let Some(has) = of_name.peek().map(|export| export.signature.clone()) else {
        let exports = current.exports.iter().map(|export| export.entry.export().name.as_str());
        let near = exports.filter(|export| strsim::damerau_levenshtein(export, name) <= 2).map(str::to_owned);
        let version = current.image.version.to_string();
        return Err(Error::NoExport { module: module.into(), version, export: name.into(), near: near.collect() });
    };
    let entry = of_name.map(|export| export.entry).find(|entry| entry.export().signature == signature);
    let (module, export, wanted) = (module.to_owned(), name.to_owned(), wanted.to_owned());
    entry.ok_or(Error::Signature { module, export, wanted, has })
}
