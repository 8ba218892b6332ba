#![forbid(unsafe_code)]
//! The client's binary.

fn main() -> std::process::ExitCode {
    match nfs4_client::cli::run() {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("nfs4-client: {error:#}");
            std::process::ExitCode::FAILURE
        }
    }
}
