//! `nfs4-client probe`: what a server says of itself, and what it answers.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use anyhow::Result;
use nfs4_proto::{
    AllocateArgs, ArgOp, Attr, AttrSet, Attrs, CbArgOp, CbResOp, CopyArgs, DataContent, Fh,
    GetDirDelegationArgs, GetDirDelegationRes, GetxattrArgs, IoAdviseArgs, ListxattrsArgs, NfsTime,
    OffloadArgs, OpNum, ReadPlusArgs, ResOp, SeekArgs, StateId, Status,
};
use nfs4_xdr::rpc::{Accepted, NFS_PROGRAM, OpaqueAuth};
use serde::Serialize;

use crate::compound::Compound;
use crate::net::{Callbacks, Connection, NoDelegations, dial};
use crate::{CallError, ConnectError, Options, Session};

/// What `probe` takes.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The server.
    #[arg(value_name = "HOST:PORT")]
    server: String,

    /// Seconds to wait for each answer.
    #[arg(long, default_value_t = 5)]
    timeout: u64,

    /// User of AUTH_SYS.
    #[arg(long, default_value_t = 0)]
    uid: u32,

    /// Group of AUTH_SYS.
    #[arg(long, default_value_t = 0)]
    gid: u32,

    /// One JSON object.
    #[arg(long)]
    json: bool,
}

/// What was found. Each text is for people.
#[derive(Debug, Default, Serialize)]
struct Found {
    server: String,
    nfs_v3: String,
    minor_versions: Vec<String>,
    implementation: Option<String>,
    owner: String,
    scope: String,
    pnfs: bool,
    session: SessionFound,
    back_channel: String,
    root: Vec<(String, String)>,
    attributes: Vec<String>,
    operations: Vec<(String, String)>,
    directory_delegation: String,
}

#[derive(Debug, Default, Serialize)]
struct SessionFound {
    minor: u32,
    slots: u32,
    request_bytes: u32,
    reply_bytes: u32,
    cached_reply_bytes: u32,
    operations: u32,
    lease_seconds: u32,
}

/// Counts callbacks.
struct Counting(Arc<AtomicU32>);

impl Callbacks for Counting {
    fn callback(&self, op: &CbArgOp) -> CbResOp {
        self.0.fetch_add(1, Ordering::Relaxed);
        NoDelegations.callback(op)
    }

    fn compound(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn hex(bytes: &[u8]) -> String {
    let printable = !bytes.is_empty() && bytes.iter().all(|b| b.is_ascii_graphic() || *b == b' ');
    if printable {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    bytes.iter().fold(String::new(), |mut text, b| {
        // Writing to a string does not fail.
        let _ = write!(text, "{b:02x}");
        text
    })
}

/// Probes a server and prints what was found.
pub(super) async fn run(args: &Args) -> Result<()> {
    let timeout = Duration::from_secs(args.timeout.max(1));
    let found = tokio::time::timeout(timeout * 12, look(args, timeout))
        .await
        .map_err(|_| ConnectError::TimedOut { address: args.server.clone(), after: timeout * 12 })??;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&found)?);
    } else {
        print(&found);
    }
    Ok(())
}

async fn look(args: &Args, timeout: Duration) -> Result<Found> {
    let mut found = Found { server: args.server.clone(), ..Found::default() };
    let conn = Connection::new(dial(&args.server, timeout).await?, Box::new(NoDelegations));
    tokio::time::timeout(timeout, conn.null())
        .await
        .map_err(|_| ConnectError::TimedOut { address: args.server.clone(), after: timeout })??;
    found.nfs_v3 = version_3(&conn).await;
    found.minor_versions = minor_versions(&conn).await?;
    let options = Options { uid: args.uid, gid: args.gid, timeout, ..Options::default() };
    let calls = Arc::new(AtomicU32::new(0));
    let session =
        Session::connect_with(&args.server, &options, Box::new(Counting(Arc::clone(&calls)))).await?;
    about_server(&session, &mut found);
    root(&session, &mut found).await?;
    operations(&session, &mut found).await?;
    // A server that probes its back channel has done so by now.
    tokio::time::sleep(Duration::from_millis(200)).await;
    let granted = session.granted().flags.contains(nfs4_proto::CreateSessionFlags::CONN_BACK_CHAN);
    found.back_channel = match (granted, calls.load(Ordering::Relaxed)) {
        (true, 0) => "granted; the server did not use it meanwhile".to_owned(),
        (true, n) => format!("granted, and works: {n} callbacks came"),
        (false, _) => "not granted on this connection".to_owned(),
    };
    session.close().await?;
    Ok(found)
}

async fn version_3(conn: &Connection) -> String {
    let answer = conn.call(NFS_PROGRAM, 3, 0, OpaqueAuth::none(), |_| Ok(())).await;
    match answer.map(|record| crate::net::outcome(&record)) {
        Ok(Ok(())) => "served".to_owned(),
        Ok(Err(CallError::NotAccepted(Accepted::ProgMismatch(low, high)))) => {
            format!("not served: the server has versions {low} to {high}")
        }
        Ok(Err(error)) | Err(error) => format!("not served: {error}"),
    }
}

/// Which minor versions a COMPOUND may have.
async fn minor_versions(conn: &Connection) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for minor in 0..=3 {
        let mut c = Compound::new();
        c.putrootfh();
        let compound = nfs4_proto::Compound::new(minor, c.into_ops()).ok_or(CallError::TooLong)?;
        let status = match conn.compound(Options::default().cred(), &compound).await {
            Ok(reply) => reply.status,
            Err(CallError::NotAccepted(how)) => {
                lines.push(format!("4.{minor}: not served ({how:?})"));
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        let served = status != Status::MinorVersMismatch;
        lines.push(format!("4.{minor}: {}", if served { "served" } else { "not served" }));
    }
    Ok(lines)
}

fn about_server(session: &Session, found: &mut Found) {
    let server = session.server();
    found.implementation = server
        .server_impl_id
        .as_ref()
        .map(|id| format!("{} ({})", String::from_utf8_lossy(&id.name), String::from_utf8_lossy(&id.domain)));
    found.owner = format!("{} minor {}", hex(&server.server_owner.major_id), server.server_owner.minor_id);
    found.scope = hex(&server.server_scope);
    found.pnfs = server.flags.contains(nfs4_proto::ExchangeIdFlags::USE_PNFS_MDS);
    let fore = &session.granted().fore_chan_attrs;
    found.session = SessionFound {
        minor: session.minor(),
        slots: fore.maxrequests,
        request_bytes: fore.maxrequestsize,
        reply_bytes: fore.maxresponsesize,
        cached_reply_bytes: fore.maxresponsesize_cached,
        operations: fore.maxoperations,
        lease_seconds: session.lease_seconds(),
    };
}

async fn root(session: &Session, found: &mut Found) -> Result<(), CallError> {
    let mut c = Compound::new();
    c.putrootfh();
    let at = c.getattr(AttrSet::of(&[Attr::SupportedAttrs]));
    let results = session.call(c).await?;
    let supported = results.get(at)?.obj_attributes.supported_attrs().cloned().unwrap_or_default();
    found.attributes = supported.iter().map(|attr| attr.name().to_owned()).collect();
    found.attributes.extend(supported.unknown().map(|number| format!("#{number}")));
    let shown = AttrSet::of(&[
        Attr::Fsid,
        Attr::FhExpireType,
        Attr::LinkSupport,
        Attr::SymlinkSupport,
        Attr::NamedAttr,
        Attr::AclSupport,
        Attr::CaseInsensitive,
        Attr::CasePreserving,
        Attr::MaxFileSize,
        Attr::MaxLink,
        Attr::MaxName,
        Attr::MaxRead,
        Attr::MaxWrite,
        Attr::TimeDelta,
        Attr::ChangeAttrType,
        Attr::XattrSupport,
        Attr::SuppattrExclcreat,
    ]);
    let mut c = Compound::new();
    c.putrootfh();
    let at = c.getattr(shown.and(&supported));
    let results = session.call(c).await?;
    found.root = describe(&results.get(at)?.obj_attributes);
    Ok(())
}

fn describe(attrs: &Attrs) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    let mut line = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            lines.push((name.to_owned(), value));
        }
    };
    let yes = |b: bool| if b { "yes" } else { "no" }.to_owned();
    line("fsid", attrs.fsid().map(|f| format!("{:x}.{:x}", f.major, f.minor)));
    line(
        "filehandles",
        attrs.fh_expire_type().map(|e| if e.is_empty() { "persistent".into() } else { format!("{e:?}") }),
    );
    line("hard links", attrs.link_support().map(yes));
    line("symbolic links", attrs.symlink_support().map(yes));
    line("named attributes", attrs.named_attr().map(yes));
    line("ACLs", attrs.aclsupport().map(|a| if a.is_empty() { "no".into() } else { format!("{a:?}") }));
    line("case-insensitive", attrs.case_insensitive().map(yes));
    line("largest file", attrs.maxfilesize().map(|n| n.to_string()));
    line("most links", attrs.maxlink().map(|n| n.to_string()));
    line("longest name", attrs.maxname().map(|n| n.to_string()));
    line("largest READ", attrs.maxread().map(|n| n.to_string()));
    line("largest WRITE", attrs.maxwrite().map(|n| n.to_string()));
    line("time granularity", attrs.time_delta().map(|t| format!("{} ns", t.nseconds)));
    line("change attribute", attrs.change_attr_type().map(|t| t.to_string()));
    line("extended attributes", attrs.xattr_support().map(yes));
    line("exclusive create sets", attrs.suppattr_exclcreat().map(ToString::to_string));
    lines
}

/// Operations that change nothing whatever they are answered, with arguments that a server must refuse or may carry out.
fn harmless() -> Vec<ArgOp> {
    let stateid = StateId::ANONYMOUS;
    vec![
        ArgOp::Access(nfs4_proto::AccessArgs { access: nfs4_proto::AccessFlags::READ }),
        ArgOp::Lookupp,
        ArgOp::Readlink,
        ArgOp::SecinfoNoName(nfs4_proto::SecinfoStyle::CurrentFh),
        ArgOp::TestStateid(nfs4_proto::TestStateidArgs { stateids: nfs4_xdr::List::default() }),
        ArgOp::Openattr(nfs4_proto::OpenattrArgs { createdir: false }),
        ArgOp::Allocate(AllocateArgs { stateid, offset: 0, length: 0 }),
        ArgOp::Deallocate(AllocateArgs { stateid, offset: 0, length: 0 }),
        ArgOp::Seek(SeekArgs { stateid, offset: 0, what: DataContent::Data }),
        ArgOp::ReadPlus(ReadPlusArgs { stateid, offset: 0, count: 0 }),
        ArgOp::IoAdvise(IoAdviseArgs { stateid, offset: 0, count: 0, hints: nfs4_proto::Bitmap4::new() }),
        ArgOp::Copy(CopyArgs {
            src_stateid: stateid,
            dst_stateid: stateid,
            src_offset: 0,
            dst_offset: 0,
            count: 0,
            consecutive: true,
            synchronous: true,
            source_server: nfs4_xdr::List::default(),
        }),
        ArgOp::Clone(nfs4_proto::CloneArgs {
            src_stateid: stateid,
            dst_stateid: stateid,
            src_offset: 0,
            dst_offset: 0,
            count: 0,
        }),
        ArgOp::OffloadStatus(OffloadArgs { stateid }),
        ArgOp::Getxattr(GetxattrArgs {
            name: nfs4_proto::Component::new(&b"nfs4-probe"[..]).unwrap_or_default(),
        }),
        ArgOp::Listxattrs(ListxattrsArgs { cookie: 0, maxcount: 4096 }),
    ]
}

async fn operations(session: &Session, found: &mut Found) -> Result<(), CallError> {
    let mut c = Compound::new();
    c.putrootfh();
    let at = c.getfh();
    let root: Fh = session.call(c).await?.get(at)?.object.clone();
    for op in harmless() {
        let num = op.num();
        if num.minor() > session.minor() {
            continue;
        }
        let mut c = Compound::new();
        c.putfh(&root).savefh().push(op);
        let results = session.call(c).await?;
        let status = results.status();
        found.operations.push((num.name().to_owned(), verdict(status).to_owned()));
    }
    found.directory_delegation = directory_delegation(session, &root).await?;
    Ok(())
}

fn verdict(status: Status) -> &'static str {
    if status == Status::NotSupp {
        "known, not supported"
    } else if status == Status::OpIllegal {
        "unknown to the server"
    } else {
        "served"
    }
}

async fn directory_delegation(session: &Session, root: &Fh) -> Result<String, CallError> {
    let mut c = Compound::new();
    let never = NfsTime::default();
    c.putfh(root).push(ArgOp::GetDirDelegation(GetDirDelegationArgs {
        signal_deleg_avail: false,
        notification_types: nfs4_proto::Bitmap4::new(),
        child_attr_delay: never,
        dir_attr_delay: never,
        child_attributes: AttrSet::new(),
        dir_attributes: AttrSet::new(),
    }));
    let results = session.call(c).await?;
    Ok(match results.ops().last() {
        Some(ResOp::GetDirDelegation(Ok(GetDirDelegationRes::Ok(ok)))) => {
            // It is given back: a probe leaves nothing behind.
            let mut c = Compound::new();
            let args = nfs4_proto::DelegreturnArgs { deleg_stateid: ok.stateid };
            c.putfh(root).push(ArgOp::Delegreturn(args));
            session.call(c).await?.all_ok()?;
            "given".to_owned()
        }
        Some(ResOp::GetDirDelegation(Ok(GetDirDelegationRes::Unavail { .. }))) => "not available".to_owned(),
        Some(other) if other.num() == OpNum::GetDirDelegation => verdict(other.status()).to_owned(),
        Some(other) => format!("{} failed: {}", other.num().name(), other.status()),
        None => "no answer".to_owned(),
    })
}

fn print(found: &Found) {
    println!("{}", found.server);
    println!("  implementation      {}", found.implementation.as_deref().unwrap_or("not told"));
    println!("  NFSv3               {}", found.nfs_v3);
    for line in &found.minor_versions {
        println!("  NFSv{line}");
    }
    println!("  server owner        {}", found.owner);
    println!("  server scope        {}", found.scope);
    println!("  pNFS                {}", if found.pnfs { "yes" } else { "no" });
    let s = &found.session;
    println!(
        "  session             4.{}: {} slots, {} operations, requests of {} bytes, replies of {} (cached {}), lease {} s",
        s.minor, s.slots, s.operations, s.request_bytes, s.reply_bytes, s.cached_reply_bytes, s.lease_seconds
    );
    println!("  back channel        {}", found.back_channel);
    println!("  directory delegation {}", found.directory_delegation);
    println!("root");
    for (name, value) in &found.root {
        println!("  {name:<22} {value}");
    }
    println!("  attributes             {}", found.attributes.join(" "));
    println!("operations");
    for (name, verdict) in &found.operations {
        println!("  {name:<22} {verdict}");
    }
}
