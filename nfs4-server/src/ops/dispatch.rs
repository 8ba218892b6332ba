//! The one `match` over all operations.

use nfs4_proto::{ArgOp, OpNum, ResOp, Status};

use super::told::Told;
use super::{
    access, attrs, copy, deleg, filehandle, io, lock, lookup, namespace, offload, open, readdir, security,
    session, sparse, xattr,
};
use crate::compound::Ctx;

/// Carries out one operation.
pub(crate) async fn dispatch(ctx: &mut Ctx<'_>, op: ArgOp) -> Told {
    let result = match op {
        ArgOp::Access(args) => ResOp::Access(access::access(ctx, args).await),
        ArgOp::Close(args) => ResOp::Close(open::close(ctx, args)),
        ArgOp::Commit(args) => ResOp::Commit(io::commit(ctx, args).await),
        ArgOp::Create(args) => ResOp::Create(namespace::create(ctx, args).await),
        ArgOp::Delegreturn(args) => ResOp::Delegreturn(deleg::delegreturn(ctx, args)),
        ArgOp::Getattr(args) => ResOp::Getattr(attrs::getattr(ctx, args).await),
        ArgOp::Getfh => ResOp::Getfh(filehandle::getfh(ctx)),
        ArgOp::Link(args) => ResOp::Link(namespace::link(ctx, args).await),
        ArgOp::Lock(args) => ResOp::Lock(lock::lock(ctx, args).await),
        ArgOp::Lockt(args) => ResOp::Lockt(lock::lockt(ctx, args).await),
        ArgOp::Locku(args) => ResOp::Locku(lock::locku(ctx, args)),
        ArgOp::Lookup(args) => ResOp::Lookup(lookup::lookup(ctx, args).await),
        ArgOp::Lookupp => ResOp::Lookupp(lookup::lookupp(ctx).await),
        ArgOp::Nverify(args) => ResOp::Nverify(attrs::nverify(ctx, args).await),
        ArgOp::Open(args) => ResOp::Open(open::open(ctx, args).await),
        ArgOp::OpenDowngrade(args) => ResOp::OpenDowngrade(open::open_downgrade(ctx, args)),
        ArgOp::Putfh(args) => ResOp::Putfh(filehandle::putfh(ctx, args).await),
        ArgOp::Putpubfh => {
            filehandle::putrootfh(ctx);
            ResOp::Putpubfh(Ok(()))
        }
        ArgOp::Putrootfh => {
            filehandle::putrootfh(ctx);
            ResOp::Putrootfh(Ok(()))
        }
        ArgOp::Read(args) => ResOp::Read(io::read(ctx, args).await),
        ArgOp::Readdir(args) => match readdir::readdir(ctx, args).await {
            Ok(page) => return Told::Encoded(OpNum::Readdir, page),
            Err(status) => ResOp::error(OpNum::Readdir, status),
        },
        ArgOp::Readlink => ResOp::Readlink(lookup::readlink(ctx).await),
        ArgOp::Remove(args) => ResOp::Remove(namespace::remove(ctx, args).await),
        ArgOp::Rename(args) => ResOp::Rename(namespace::rename(ctx, args).await),
        ArgOp::Restorefh => ResOp::Restorefh(ctx.restore()),
        ArgOp::Savefh => ResOp::Savefh(ctx.save()),
        ArgOp::Secinfo(args) => ResOp::Secinfo(security::secinfo(ctx, args).await),
        ArgOp::Setattr(args) => ResOp::Setattr(attrs::setattr(ctx, args).await),
        ArgOp::Verify(args) => ResOp::Verify(attrs::verify(ctx, args).await),
        ArgOp::Write(args) => ResOp::Write(io::write(ctx, args).await),
        ArgOp::BackchannelCtl(args) => ResOp::BackchannelCtl(session::backchannel_ctl(ctx, &args)),
        ArgOp::BindConnToSession(args) => ResOp::BindConnToSession(session::bind_conn_to_session(ctx, args)),
        ArgOp::ExchangeId(args) => ResOp::ExchangeId(session::exchange_id(ctx, args).await),
        ArgOp::CreateSession(args) => ResOp::CreateSession(session::create_session(ctx, args).await),
        ArgOp::DestroySession(args) => ResOp::DestroySession(session::destroy_session(ctx, args)),
        ArgOp::FreeStateid(args) => ResOp::FreeStateid(deleg::free_stateid(ctx, args).await),
        ArgOp::GetDirDelegation(args) => ResOp::GetDirDelegation(deleg::get_dir_delegation(ctx, &args)),
        ArgOp::SecinfoNoName(style) => ResOp::SecinfoNoName(security::secinfo_no_name(ctx, style).await),
        ArgOp::TestStateid(args) => ResOp::TestStateid(deleg::test_stateid(ctx, &args)),
        ArgOp::WantDelegation(args) => ResOp::WantDelegation(deleg::want_delegation(ctx, &args).await),
        ArgOp::DestroyClientid(args) => ResOp::DestroyClientid(session::destroy_clientid(ctx, args).await),
        ArgOp::ReclaimComplete(args) => ResOp::ReclaimComplete(session::reclaim_complete(ctx, args).await),
        ArgOp::Allocate(args) => ResOp::Allocate(sparse::allocate(ctx, args).await),
        ArgOp::Copy(args) => ResOp::Copy(copy::copy(ctx, args).await),
        ArgOp::OffloadCancel(args) => ResOp::OffloadCancel(offload::offload_cancel(ctx, args)),
        ArgOp::OffloadStatus(args) => ResOp::OffloadStatus(offload::offload_status(ctx, args)),
        ArgOp::Deallocate(args) => ResOp::Deallocate(sparse::deallocate(ctx, args).await),
        ArgOp::IoAdvise(args) => ResOp::IoAdvise(sparse::io_advise(ctx, args).await),
        ArgOp::ReadPlus(args) => ResOp::ReadPlus(sparse::read_plus(ctx, args).await),
        ArgOp::Seek(args) => ResOp::Seek(sparse::seek(ctx, args).await),
        ArgOp::Clone(args) => ResOp::Clone(copy::clone(ctx, args).await),
        ArgOp::Getxattr(args) => ResOp::Getxattr(xattr::getxattr(ctx, args).await),
        ArgOp::Setxattr(args) => ResOp::Setxattr(xattr::setxattr(ctx, args).await),
        ArgOp::Listxattrs(args) => ResOp::Listxattrs(xattr::listxattrs(ctx, args).await),
        ArgOp::Removexattr(args) => ResOp::Removexattr(xattr::removexattr(ctx, args).await),
        // It is first in its compound, and the executor's.
        ArgOp::Sequence(_) => ResOp::error(OpNum::Sequence, Status::SequencePos),
        // No client ID was made with SP4_SSV (RFC 8881 §18.47.3).
        ArgOp::SetSsv(_) => ResOp::error(OpNum::SetSsv, Status::Inval),
        ArgOp::Illegal => ResOp::error(OpNum::Illegal, Status::OpIllegal),
        // Known, and not served: nfs4_proto::OpNum::served says so too, and docs/protocol-coverage.md with it.
        ArgOp::Delegpurge(_)
        | ArgOp::Openattr(_)
        | ArgOp::Getdeviceinfo(_)
        | ArgOp::Getdevicelist(_)
        | ArgOp::Layoutcommit(_)
        | ArgOp::Layoutget(_)
        | ArgOp::Layoutreturn(_)
        | ArgOp::CopyNotify(_)
        | ArgOp::Layouterror(_)
        | ArgOp::Layoutstats(_)
        | ArgOp::WriteSame(_)
        | ArgOp::OpenConfirm(_)
        | ArgOp::Renew(_)
        | ArgOp::Setclientid(_)
        | ArgOp::SetclientidConfirm(_)
        | ArgOp::ReleaseLockowner(_) => ResOp::error(op.num(), Status::NotSupp),
    };
    Told::Result(result)
}
