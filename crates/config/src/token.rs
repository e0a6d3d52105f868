//! The bearer token of clients: a file that only its owner can read, created at the first start.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq;
use tempfile::NamedTempFile;

use crate::create_private_dir;
use crate::hmac::hmac_sha256;

const BYTES: usize = 32;
/// The length of `BYTES` in base64.
const LENGTH: usize = 43;

/// `Debug` does not print it, so that it does not get into a log.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// Whether a client has presented the token. Compares in constant time.
    pub fn matches(&self, presented: &str) -> bool {
        self.0.as_bytes().ct_eq(presented.as_bytes()).into()
    }

    /// The token as in the header `Authorization: Bearer`. It must not be logged.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Proves to a client that chose the nonce that the sender knows the token: HMAC-SHA256 in hex.
    pub fn proof(&self, nonce: &str) -> String {
        hmac_sha256(self.0.as_bytes(), nonce.as_bytes()).iter().map(|it| format!("{it:02x}")).collect()
    }

    /// The same for a server at this address. Another program cannot get it from a server at another address and send it
    /// on. No nonce contains the line break.
    pub fn address_proof(&self, nonce: &str, address: &str) -> String {
        self.proof(&format!("{nonce}\n{address}"))
    }
}

/// A nonce that nobody can foresee.
pub fn nonce() -> io::Result<String> {
    let mut random = [0; BYTES];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    Ok(URL_SAFE_NO_PAD.encode(random))
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// The file of the token.
pub fn token_file(state_dir: &Path) -> PathBuf {
    state_dir.join("token")
}

/// Reads the user's token, or creates it. Processes that start at the same time get the same token.
pub fn load_or_create(state_dir: &Path) -> io::Result<Token> {
    let path = token_file(state_dir);
    match load(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        found => return found,
    }
    create_private_dir(state_dir)?;
    // The file appears under its name atomically and with its content, unless another process was first.
    let (token, file) = create(state_dir)?;
    match file.persist_noclobber(&path) {
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => return load(&path),
        persisted => persisted.map_err(|error| error.error)?,
    };
    File::open(state_dir)?.sync_all()?;
    Ok(token)
}

/// Replaces the user's token by a new one. Running servers refuse the old one, and all that were derived from it, from
/// now on.
pub fn rotate(state_dir: &Path) -> io::Result<Token> {
    create_private_dir(state_dir)?;
    let (token, file) = create(state_dir)?;
    file.persist(token_file(state_dir)).map_err(|error| error.error)?;
    File::open(state_dir)?.sync_all()?;
    Ok(token)
}

/// A new token in a temporary file, which has mode 0600.
fn create(state_dir: &Path) -> io::Result<(Token, NamedTempFile)> {
    let token = Token(nonce()?);
    let mut file = tempfile::Builder::new().prefix(".token-").tempfile_in(state_dir)?;
    writeln!(file, "{}", token.0)?;
    file.as_file().sync_all()?;
    Ok((token, file))
}

/// Reads the token from its file. Fails if another user could have read or chosen it.
pub fn load(path: &Path) -> io::Result<Token> {
    let shown = path.display();
    let refuse = |why: String| Err(io::Error::new(io::ErrorKind::InvalidData, why));
    // Refuses links, which could lead to a file that another user chose, and FIFOs, on which the open would block.
    let mut open = OpenOptions::new();
    open.read(true).custom_flags((rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits().cast_signed());
    let file = match open.open(path) {
        Err(_) if fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) => {
            return refuse(format!("{shown} is not a regular file; remove it, and semdex makes a new token"));
        }
        opened => opened.map_err(|error| io::Error::new(error.kind(), format!("{shown}: {error}")))?,
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return refuse(format!("{shown} is not a regular file; remove it, and semdex makes a new token"));
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return refuse(format!("{shown} belongs to another user (uid {}), who could know it", metadata.uid()));
    }
    if metadata.mode() & 0o077 != 0 {
        let mode = metadata.mode() & 0o777;
        return refuse(format!(
            "{shown} is open to other users (mode {mode:03o}): run `chmod 600 {shown}`, or remove it for a new token \
             if somebody may have read it"
        ));
    }
    let mut bytes = Vec::new();
    file.take(1024).read_to_end(&mut bytes)?;
    let text = bytes.trim_ascii();
    match (String::from_utf8(text.to_vec()), URL_SAFE_NO_PAD.decode(text)) {
        (Ok(token), Ok(random)) if token.len() == LENGTH && random.len() == BYTES => Ok(Token(token)),
        _ => refuse(format!("{shown} holds no token; remove it, and semdex makes a new one")),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::sync::Barrier;
    use std::thread;

    use super::*;

    #[test]
    fn fuzz_token_files() {
        const TEXTS: &[&str] = &["mJ8f0bXcNw3Jq1K9sZ5T7vYxA2dE4gH6iL8nO0pQrSt\n", ""];
        const SIGNS: &[&str] =
            &["A", "_", "-", "=", "+", "/", "\n", " ", "mJ8f0bXcNw3Jq1K9sZ5T7vYxA2dE4gH6iL8nO0pQrSt"];
        let home = tempfile::tempdir().unwrap();
        let file = token_file(home.path());
        fs::write(&file, "").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        semdex_testing::fuzz::fuzz("token_files", semdex_testing::fuzz::mutated(TEXTS, SIGNS), |text| {
            fs::write(&file, &text).unwrap();
            if let Ok(token) = load_or_create(home.path()) {
                assert_eq!(token.as_str(), text.trim_ascii());
                assert!(token.matches(token.as_str()) && token.as_str().len() == LENGTH && !token.matches(""));
            }
            assert_eq!(fs::read_to_string(&file).unwrap(), text, "a file that is there is left as it is");
        });
    }

    #[test]
    fn a_token_is_made_once_and_kept() {
        let home = tempfile::tempdir().unwrap();
        let state = home.path().join("state/semdex");
        let token = load_or_create(&state).unwrap();
        assert_eq!(token.as_str().len(), LENGTH);
        assert_eq!(load_or_create(&state).unwrap(), token);
        assert_eq!(fs::metadata(token_file(&state)).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(&state).unwrap().count(), 1, "no temporary file is left");
        assert_ne!(load_or_create(&home.path().join("other")).unwrap(), token);
        assert!(!format!("{token:?}").contains(token.as_str()));
    }

    #[test]
    fn a_rotated_token_is_another_one() {
        let home = tempfile::tempdir().unwrap();
        let old = load_or_create(home.path()).unwrap();
        let new = rotate(home.path()).unwrap();
        assert_ne!(new, old);
        assert_eq!(load_or_create(home.path()).unwrap(), new);
        assert_eq!(fs::metadata(token_file(home.path())).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1, "no temporary file is left");
    }

    #[test]
    fn a_proof_is_of_one_nonce_and_one_address() {
        let home = tempfile::tempdir().unwrap();
        let token = load_or_create(home.path()).unwrap();
        let other = rotate(home.path()).unwrap();
        assert_eq!(token.proof("a").len(), 64);
        assert_ne!(token.proof("a"), token.proof("b"));
        assert_ne!(token.proof("a"), other.proof("a"));
        assert_ne!(token.address_proof("a", "x"), token.address_proof("a", "y"));
    }

    #[test]
    fn only_the_whole_token_matches() {
        let home = tempfile::tempdir().unwrap();
        let token = load_or_create(home.path()).unwrap();
        assert!(token.matches(token.as_str()));
        for wrong in ["", &token.as_str()[1..], &format!("{}x", token.as_str()), &"A".repeat(LENGTH), "é"] {
            assert!(!token.matches(wrong), "{wrong}");
        }
    }

    #[test]
    fn starts_at_the_same_time_agree() {
        let home = tempfile::tempdir().unwrap();
        let state = home.path().join("state");
        let ready = Barrier::new(8);
        let tokens: BTreeSet<String> = thread::scope(|scope| {
            let start = || {
                ready.wait();
                load_or_create(&state).unwrap().as_str().to_owned()
            };
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(start)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(tokens.len(), 1);
    }

    #[test]
    fn a_file_that_others_can_read_or_choose_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let path = token_file(home.path());
        let refused = |why: &str| {
            let error = load_or_create(home.path()).unwrap_err().to_string();
            assert!(error.contains(why) && error.contains(path.to_str().unwrap()), "{error}");
        };
        let token = load_or_create(home.path()).unwrap();
        for mode in [0o640, 0o604, 0o620] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            refused("chmod 600");
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(load_or_create(home.path()).unwrap(), token);

        fs::rename(&path, home.path().join("elsewhere")).unwrap();
        symlink("elsewhere", &path).unwrap();
        refused("not a regular file");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        refused("not a regular file");
    }

    #[test]
    fn a_file_without_a_token_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let token = load_or_create(home.path()).unwrap();
        for text in ["", "password\n", &"é".repeat(30), &"A".repeat(2000), &"!".repeat(LENGTH)] {
            fs::write(token_file(home.path()), text).unwrap();
            let error = load_or_create(home.path()).unwrap_err().to_string();
            assert!(error.contains("holds no token"), "{error}");
        }
        fs::write(token_file(home.path()), format!("  {}\r\n", token.as_str())).unwrap();
        assert_eq!(load_or_create(home.path()).unwrap(), token);
    }
}
