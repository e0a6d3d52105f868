//! Which directories their owner trusts. Only in a trusted directory does semdex run code of the workspace: build
//! scripts, proc macros, toolchain overrides.
//!
//! A decision covers the directory and everything below it, except where a decision further down differs.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{self, Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::create_private_dir;

/// The decisions in `trust.json` of the state directory. They are read again for each query, since other processes
/// write the file, too.
#[derive(Debug, Clone)]
pub struct TrustStore {
    state_dir: PathBuf,
}

/// The owner's decision on a directory, and its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Decision {
    /// Programs of the workspace may run.
    pub trusted: bool,
    /// Seconds since 1970.
    pub since: u64,
}

type Decisions = BTreeMap<PathBuf, Decision>;

impl TrustStore {
    /// The store in this directory. Each call reads or writes the file.
    pub fn new(state_dir: &Path) -> TrustStore {
        TrustStore { state_dir: state_dir.to_path_buf() }
    }

    /// Whether the owner trusts this directory. Fails if the store is invalid. Then no directory is trusted.
    pub fn is_trusted(&self, root: &Path) -> io::Result<bool> {
        Ok(decided(&self.read()?, &fs::canonicalize(root)?))
    }

    /// Trusts a directory from now on. Fails if the directory does not exist or the store cannot be written.
    pub fn trust(&self, root: &Path) -> io::Result<()> {
        let root = fs::canonicalize(root)?;
        self.update(|decisions| {
            decisions.insert(root, Decision { trusted: true, since: now() });
        })
    }

    /// Whether the owner has decided on this directory, positively or not.
    pub fn is_decided(&self, root: &Path) -> io::Result<bool> {
        let decisions = self.read()?;
        Ok(fs::canonicalize(root)?.ancestors().any(|directory| decisions.contains_key(directory)))
    }

    /// Records a negative decision, so that the owner is not asked again.
    pub fn decline(&self, root: &Path) -> io::Result<()> {
        let root = fs::canonicalize(root)?;
        self.update(|decisions| {
            decisions.insert(root, Decision { trusted: false, since: now() });
        })
    }

    /// Revokes the trust in a directory and everything below it, even if a directory further up is trusted.
    pub fn distrust(&self, root: &Path) -> io::Result<()> {
        // The directory may no longer exist.
        let root = fs::canonicalize(root).or_else(|_| path::absolute(root))?;
        self.update(|decisions| {
            decisions.retain(|path, _| !path.starts_with(&root));
            if decided(decisions, &root) {
                decisions.insert(root, Decision { trusted: false, since: now() });
            }
        })
    }

    /// All decisions, sorted by path.
    #[cfg(test)]
    fn list(&self) -> io::Result<Vec<(PathBuf, Decision)>> {
        Ok(self.read()?.into_iter().collect())
    }

    fn file(&self) -> PathBuf {
        self.state_dir.join("trust.json")
    }

    fn read(&self) -> io::Result<Decisions> {
        let path = self.file();
        let refuse = |why: &str| {
            let shown = path.display();
            io::Error::new(io::ErrorKind::InvalidData, format!("{shown} {why}, so no directory is trusted"))
        };
        let metadata = match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Decisions::new()),
            found => found?,
        };
        if !metadata.is_file() {
            return Err(refuse("is not a regular file"));
        }
        if metadata.uid() != rustix::process::geteuid().as_raw() || metadata.mode() & 0o022 != 0 {
            return Err(refuse("can be written by other users"));
        }
        let text = fs::read(&path)?;
        serde_json::from_slice(&text).map_err(|error| refuse(&format!("is broken ({error}); fix or remove it")))
    }

    /// Reads, changes and writes the file under a lock, so that no decision of another process is lost. An invalid file
    /// is not overwritten, so that its owner can inspect it.
    fn update(&self, change: impl FnOnce(&mut Decisions)) -> io::Result<()> {
        create_private_dir(&self.state_dir)?;
        let directory = File::open(&self.state_dir)?;
        flock(&directory, FlockOperation::LockExclusive)?;
        let mut decisions = self.read()?;
        change(&mut decisions);
        // A temporary file has mode 0600.
        let mut file = tempfile::Builder::new().prefix(".trust-").tempfile_in(&self.state_dir)?;
        serde_json::to_writer_pretty(&mut file, &decisions)?;
        writeln!(file)?;
        file.as_file().sync_all()?;
        file.persist(self.file()).map_err(|error| error.error)?;
        directory.sync_all()
    }
}

/// The decision of the nearest directory.
fn decided(decisions: &Decisions, root: &Path) -> bool {
    root.ancestors().find_map(|directory| decisions.get(directory)).is_some_and(|decision| decision.trusted)
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::thread;

    use super::*;

    struct Home {
        directory: tempfile::TempDir,
        store: TrustStore,
    }

    impl Home {
        fn new() -> Home {
            let directory = tempfile::tempdir().unwrap();
            let store = TrustStore::new(&directory.path().join("state"));
            Home { directory, store }
        }

        fn dir(&self, name: &str) -> PathBuf {
            let path = self.directory.path().join(name);
            fs::create_dir_all(&path).unwrap();
            path
        }

        fn trusted(&self, name: &str) -> bool {
            self.store.is_trusted(&self.dir(name)).unwrap()
        }

        fn set_mode(&self, mode: u32) {
            fs::set_permissions(self.store.file(), fs::Permissions::from_mode(mode)).unwrap();
        }
    }

    #[test]
    fn the_nearest_decision_counts() {
        let home = Home::new();
        assert!(!home.trusted("a"));
        home.store.trust(&home.dir("a")).unwrap();
        assert!(home.trusted("a") && home.trusted("a/b/c"));
        assert!(!home.trusted("ab") && !home.trusted(""));

        home.store.distrust(&home.dir("a/b")).unwrap();
        assert!(home.trusted("a") && !home.trusted("a/b") && !home.trusted("a/b/c"));
        home.store.trust(&home.dir("a/b/c")).unwrap();
        assert!(!home.trusted("a/b") && home.trusted("a/b/c"));

        home.store.distrust(&home.dir("a")).unwrap();
        assert!(!home.trusted("a") && !home.trusted("a/b/c"));
        assert_eq!(home.store.list().unwrap(), []);
    }

    #[test]
    fn a_no_is_kept_and_can_be_changed() {
        let home = Home::new();
        let root = home.dir("a");
        assert!(!home.store.is_decided(&root).unwrap());
        home.store.decline(&root).unwrap();
        assert!(home.store.is_decided(&root).unwrap() && !home.trusted("a"));
        home.store.trust(&root).unwrap();
        assert!(home.trusted("a") && home.store.is_decided(&home.dir("a/b")).unwrap());
    }

    #[test]
    fn names_are_canonical_and_may_be_gone() {
        let home = Home::new();
        let real = home.dir("real");
        symlink(&real, home.directory.path().join("link")).unwrap();
        home.store.trust(&home.directory.path().join("link/../link")).unwrap();
        assert!(home.trusted("real") && home.trusted("link"));
        assert!(home.store.trust(&home.directory.path().join("missing")).is_err());

        fs::remove_dir(&real).unwrap();
        home.store.distrust(&fs::canonicalize(home.directory.path()).unwrap().join("real")).unwrap();
        assert!(!home.trusted("real"));
    }

    #[test]
    fn a_store_that_is_not_ours_alone_trusts_nothing() {
        let home = Home::new();
        home.store.trust(&home.dir("a")).unwrap();
        assert_eq!(fs::metadata(home.store.file()).unwrap().mode() & 0o777, 0o600);
        home.set_mode(0o660);
        let error = home.store.is_trusted(&home.dir("a")).unwrap_err();
        assert!(error.to_string().contains("trust.json can be written by other users"), "{error}");
        home.set_mode(0o600);
        assert!(home.trusted("a"));

        fs::write(home.store.file(), "{\"/\": tru").unwrap();
        let error = home.store.is_trusted(&home.dir("a")).unwrap_err();
        assert!(error.to_string().contains("trust.json is broken"), "{error}");
        assert!(home.store.trust(&home.dir("a")).is_err() && home.store.list().is_err());
        assert_eq!(fs::read_to_string(home.store.file()).unwrap(), "{\"/\": tru");
    }

    #[test]
    fn fuzz_trust_files() {
        const TEXTS: &[&str] = &[r#"{"/a": {"trusted": true, "since": 1}, "/a/b": {"trusted": false, "since": 2}}"#];
        const SIGNS: &[&str] =
            &["{", "}", "\"", ":", ",", "null", "true", "\"trusted\"", "\"since\"", "-1", "1e9", "\\u0000", "/"];
        let home = Home::new();
        let root = home.dir("a");
        home.store.trust(&root).unwrap();
        semdex_testing::fuzz::fuzz("trust_files", semdex_testing::fuzz::mutated(TEXTS, SIGNS), |text| {
            fs::write(home.store.file(), &text).unwrap();
            let decisions = home.store.list();
            let trusts = home.store.is_trusted(&root).unwrap_or(false);
            assert!(!trusts || text.contains("true"), "{text}");
            if decisions.is_ok() {
                home.store.trust(&root).unwrap();
                assert!(home.store.is_trusted(&root).unwrap());
            } else {
                assert!(home.store.trust(&root).is_err());
                assert_eq!(fs::read_to_string(home.store.file()).unwrap(), text);
            }
        });
    }

    #[test]
    fn decisions_at_the_same_time_are_all_kept() {
        let home = Home::new();
        let directories: Vec<_> = (0..8).map(|number| home.dir(&number.to_string())).collect();
        thread::scope(|scope| {
            for directory in &directories {
                scope.spawn(|| home.store.trust(directory).unwrap());
            }
        });
        assert_eq!(home.store.list().unwrap().len(), 8);
    }
}
