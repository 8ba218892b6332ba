//! docs/protocol-coverage.md, from the operation tables.

use std::fmt::Write as _;

use nfs4_proto::{CbOpNum, OpNum, Served};

/// The page.
pub(crate) fn page() -> String {
    let mut page = String::from(
        "# Protocol coverage\n\n\
         Made from the operation tables by `cargo xtask tidy --write`; do not edit. All operations and callbacks of \
         NFSv4.1 and 4.2 are decoded and encoded (`nfs4-proto`). This is what the server does with them. Unknown numbers, \
         and those of a later minor version than the compound's, are answered with NFS4ERR_OP_ILLEGAL; minor versions \
         other than 1 and 2 with NFS4ERR_MINOR_VERS_MISMATCH.\n\n\
         ## Operations\n\n| number | operation | since | server | what it is |\n|---|---|---|---|---|\n",
    );
    for num in OpNum::ALL {
        let since = match num.minor() {
            0 => "4.0 only".to_owned(),
            minor => format!("4.{minor}"),
        };
        let served = match num.served() {
            Served::Yes("") => "served".to_owned(),
            Served::Yes(note) => format!("served: {note}"),
            Served::No(why) => format!("NFS4ERR_NOTSUPP: {why}"),
        };
        // Writing to a string does not fail.
        let _ = writeln!(page, "| {} | {} | {since} | {served} | {} |", num.number(), num.name(), num.doc());
    }
    page.push_str(
        "\n## Callbacks\n\nThe server sends CB_SEQUENCE alone, to find out whether a back channel works, CB_NOTIFY_LOCK, and CB_OFFLOAD. The client \
         answers all; it holds nothing that could be recalled.\n\n| number | callback | what it is |\n|---|---|---|\n",
    );
    for num in CbOpNum::ALL {
        let _ = writeln!(page, "| {} | {} | {} |", num.number(), num.name(), num.doc());
    }
    page
}
