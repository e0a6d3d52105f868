//! What a token allows. The user's token allows everything. Tokens that are derived from it allow less, and end with it:
//! `KIND.ROOT.CODE`, with `r` or `w` as kind, the root of the only workspace in base64, and a keyed hash of both.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq as _;

use crate::token::{Token, load, token_file};

/// The purpose of the derived key. The proof of a server uses another function, so that no server can be made to issue
/// a token by a chosen nonce.
const PURPOSE: &str = "semdex 2026-11 tokens that allow less";
const READS: &str = "r";
const WRITES: &str = "w";

/// What a request may do. The default is everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Access {
    /// The request may change nothing and start no program.
    pub reads_only: bool,
    /// The root of the only workspace that the request may use. `None`: all.
    pub workspace: Option<PathBuf>,
}

impl Access {
    /// Everything.
    pub fn is_full(&self) -> bool {
        *self == Access::default()
    }

    /// A token for this access, valid as long as the user's token is. It must not be logged.
    pub fn token(&self, user: &Token) -> String {
        if self.is_full() {
            return user.as_str().to_owned();
        }
        let kind = if self.reads_only { READS } else { WRITES };
        let root = self.workspace.as_deref().map(|it| it.as_os_str().as_bytes()).unwrap_or_default();
        let claim = format!("{kind}.{}", URL_SAFE_NO_PAD.encode(root));
        let code = URL_SAFE_NO_PAD.encode(code(user, &claim));
        format!("{claim}.{code}")
    }

    /// What a presented token allows. `None` if it is neither the user's token nor derived from it.
    fn of(user: &Token, presented: &str) -> Option<Access> {
        if user.matches(presented) {
            return Some(Access::default());
        }
        let (claim, presented) = presented.rsplit_once('.')?;
        let presented = URL_SAFE_NO_PAD.decode(presented).ok()?;
        if !bool::from(code(user, claim)[..].ct_eq(&presented)) {
            return None;
        }
        let (kind, root) = claim.split_once('.')?;
        let root = URL_SAFE_NO_PAD.decode(root).ok().map(OsString::from_vec)?;
        Some(Access {
            reads_only: kind != WRITES,
            workspace: Some(PathBuf::from(root)).filter(|it| !it.as_os_str().is_empty()),
        })
    }
}

fn code(user: &Token, claim: &str) -> [u8; 32] {
    let key = blake3::derive_key(PURPOSE, user.as_str().as_bytes());
    *blake3::keyed_hash(&key, claim.as_bytes()).as_bytes()
}

/// The tokens that a running server accepts: the user's token, which may be rotated at any time, and those derived from
/// it. While its file is missing or unsafe, none is accepted.
#[derive(Debug)]
pub struct Tokens {
    file: PathBuf,
    last: Mutex<Read>,
}

/// The token as it was last read.
#[derive(Debug, Default)]
struct Read {
    /// The state of the file. A rotation replaces the file.
    stamp: Option<Stamp>,
    token: Option<Token>,
}

type Stamp = (u64, u64, u64, u32, [i64; 4]);

impl Tokens {
    /// The tokens of a state directory.
    pub fn new(state_dir: &Path) -> Tokens {
        Tokens { file: token_file(state_dir), last: Mutex::default() }
    }

    /// What a presented token allows now.
    pub fn access(&self, presented: &str) -> Option<Access> {
        self.with_current(|token| Access::of(token, presented)).flatten()
    }

    /// See [`Token::proof`] and [`Token::address_proof`]. `None` while there is no token.
    pub fn proofs(&self, nonce: &str, address: &str) -> Option<(String, String)> {
        self.with_current(|token| (token.proof(nonce), token.address_proof(nonce, address)))
    }

    fn with_current<T>(&self, then: impl FnOnce(&Token) -> T) -> Option<T> {
        let stamp = stamp(&self.file);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if stamp.is_none() || last.stamp != stamp {
            let token = load(&self.file).inspect_err(|error| tracing::warn!(%error, "no token is accepted")).ok();
            *last = Read { stamp, token };
        }
        last.token.as_ref().map(then)
    }
}

fn stamp(file: &Path) -> Option<Stamp> {
    let it = fs::symlink_metadata(file).ok()?;
    Some((it.dev(), it.ino(), it.len(), it.mode(), [it.mtime(), it.mtime_nsec(), it.ctime(), it.ctime_nsec()]))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::token::{load_or_create, rotate};

    fn every_access() -> Vec<Access> {
        let roots = [None, Some("/a/b c".into()), Some(OsString::from_vec(b"/\xff".to_vec()).into())];
        let of = |workspace: &Option<PathBuf>| {
            [false, true].map(|reads_only| Access { reads_only, workspace: workspace.clone() })
        };
        roots.iter().flat_map(of).collect()
    }

    #[test]
    fn a_token_allows_what_it_was_made_for_until_the_users_token_is_rotated() {
        let home = tempfile::tempdir().unwrap();
        let tokens = Tokens::new(home.path());
        let user = load_or_create(home.path()).unwrap();
        let issued: Vec<String> = every_access().iter().map(|it| it.token(&user)).collect();
        for (token, access) in issued.iter().zip(every_access()) {
            assert_eq!(tokens.access(token), Some(access), "{token}");
        }
        let new = rotate(home.path()).unwrap();
        assert!(issued.iter().all(|it| tokens.access(it).is_none()));
        assert_eq!(tokens.access(new.as_str()), Some(Access::default()));
    }

    #[test]
    fn a_token_cannot_be_widened() {
        let home = tempfile::tempdir().unwrap();
        let tokens = Tokens::new(home.path());
        let user = load_or_create(home.path()).unwrap();
        let token = Access { reads_only: true, workspace: Some("/a".into()) }.token(&user);
        let (claim, code) = token.rsplit_once('.').unwrap();
        let root = claim.split_once('.').unwrap().1;
        for wrong in [
            format!("w.{root}.{code}"),
            format!("r..{code}"),
            format!("w..{code}"),
            format!("{claim}."),
            claim.to_owned(),
            code.to_owned(),
            format!("{claim}.{}", user.proof(claim)),
            format!("{claim}.{}", user.as_str()),
            String::new(),
            "..".to_owned(),
        ] {
            assert_eq!(tokens.access(&wrong), None, "{wrong}");
        }
    }

    #[test]
    fn without_a_safe_file_no_token_is_accepted() {
        let home = tempfile::tempdir().unwrap();
        let tokens = Tokens::new(home.path());
        let token = load_or_create(home.path()).unwrap();
        let file = token_file(home.path());
        assert!(tokens.access(token.as_str()).is_some());
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(tokens.access(token.as_str()).is_none());
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(tokens.access(token.as_str()).is_some());
        fs::remove_file(&file).unwrap();
        assert!(tokens.access(token.as_str()).is_none() && tokens.proofs("a", "b").is_none());
    }
}
