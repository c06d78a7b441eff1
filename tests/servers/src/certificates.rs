//! Certificates for servers on the local machine.

use std::io;
use std::path::Path;
use std::process::Command;

use mallbox_bench_servers::ServerError;

const PROGRAM: &str = "openssl";

/// Creates the authority `ca.crt`, and `server.crt` with `server.key`, signed by the authority for 127.0.0.1.
///
/// # Errors
/// [`ServerError`].
pub fn certificates(dir: &Path) -> Result<(), ServerError> {
    std::fs::write(dir.join("names"), "subjectAltName=IP:127.0.0.1\n")?;
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    for command in [
        format!("req -x509 {key} -keyout ca.key -out ca.crt -subj /CN=authority -days 2"),
        format!("req {key} -keyout server.key -out server.csr -subj /CN=server"),
        "x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -out server.crt -days 2 -extfile names"
            .to_owned(),
    ] {
        let done = Command::new(PROGRAM).args(command.split(' ')).current_dir(dir).output();
        let done = done.map_err(|source: io::Error| ServerError::Missing { program: PROGRAM, source })?;
        if !done.status.success() {
            let output = String::from_utf8_lossy(&done.stderr).into_owned();
            return Err(ServerError::Failed { program: PROGRAM, output });
        }
    }
    Ok(())
}
