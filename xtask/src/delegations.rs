//! docs/delegations.md, from the conflict table.

use std::fmt::Write as _;

use nfs4_deleg::server::{Need, RULES};

const fn says(need: Need) -> &'static str {
    match need {
        Need::Nothing => "goes on",
        Need::Recall => "CB_RECALL, waits",
        Need::Ask => "CB_GETATTR, else CB_RECALL; waits",
    }
}

/// The page.
pub(crate) fn page() -> String {
    let mut page = String::from(
        "# Delegations of files\n\n\
         Made from the conflict table of `nfs4-deleg` by `cargo xtask tidy --write`; do not edit. What an operation needs \
         of a delegation that *another* client holds on the same file, whichever of its names is used. A client's own \
         delegation never stands in its way, and operations that are not here need nothing. All holders are called at \
         once; an operation that waits goes on when the last delegation is back or revoked, or is answered \
         NFS4ERR_DELAY when its patience ends.\n\n\
         | operation | another's read delegation | another's write delegation | source |\n|---|---|---|---|\n",
    );
    for rule in &RULES {
        // Writing to a string does not fail.
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} |",
            rule.what,
            says(rule.read),
            says(rule.write),
            rule.source
        );
    }
    page
}
