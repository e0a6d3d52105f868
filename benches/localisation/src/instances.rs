//! The instances, with the texts of their repositories.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use semdex_engine::Registry;
use semdex_engine::files::{File, Files};
use semdex_ops::ranking::{Index, Ranking, Weights};
use semdex_workspace::ChangeHistory;
use serde_json::Value;

/// Larger texts are not read.
const MOST_BYTES: usize = 2 << 20;

/// A question with its truth.
pub(crate) struct Instance {
    pub set: String,
    pub name: String,
    pub repository: String,
    pub language: String,
    pub base: String,
    pub issue: String,
    pub files: BTreeSet<String>,
    pub lines: BTreeMap<String, BTreeSet<usize>>,
    pub functions: Vec<(String, usize, usize)>,
}

/// An instance that can be ranked.
pub(crate) struct Prepared {
    pub instance: Instance,
    pub index: Arc<Index>,
    pub history: Arc<ChangeHistory>,
    /// The last ranking, with the weights that it was made with.
    pub ranked: Mutex<Option<(Weights, Arc<Ranking>)>>,
}

/// The instances of a file. The set is named after the file.
pub(crate) fn read(path: &Path) -> Vec<Instance> {
    let text = std::fs::read_to_string(path).expect("a file of instances");
    let set = path.file_stem().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    text.lines().filter_map(|it| serde_json::from_str(it).ok()).map(|it: Value| instance(&it, &set)).collect()
}

fn instance(value: &Value, set: &str) -> Instance {
    let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let spans = |name: &str| -> Vec<(String, usize, usize)> {
        let list = value[name].as_array().into_iter().flatten();
        let number = |it: &Value, name: &str| it[name].as_u64().unwrap_or_default() as usize;
        list.map(|it| (it["file"].as_str().unwrap_or_default().to_owned(), number(it, "start"), number(it, "end")))
            .collect()
    };
    let mut lines: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for (file, start, end) in spans("spans") {
        lines.entry(file).or_default().extend(start..=end);
    }
    let files = value["files"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
    Instance {
        set: set.to_owned(),
        name: text("instance"),
        repository: text("repository"),
        language: text("language"),
        base: text("base"),
        issue: text("issue"),
        files,
        lines,
        functions: spans("functions"),
    }
}

/// The files of a repository that were read, by path and object. Instances of one repository have most of them in
/// common.
pub(crate) type Known = HashMap<(String, String), Arc<File>>;

impl Prepared {
    /// Reads the texts at the base. None if the commit is not there.
    pub(crate) fn new(instance: Instance, mirror: &Path, known: &mut Known) -> Option<Prepared> {
        let name = instance.repository.replace('/', "+").to_lowercase();
        let entries = std::fs::read_dir(mirror).ok()?.filter_map(Result::ok);
        let mut found = entries.filter(|it| it.file_name().to_string_lossy().to_lowercase() == name);
        let repository = found.next()?.path().join("repo");
        let files = files(&repository, &instance.base, known)?;
        let history = history(&repository, &instance.base);
        let index = Arc::new(Index::new(&files, |_| false, |_| false));
        Some(Prepared { index, history: Arc::new(history), instance, ranked: Mutex::default() })
    }

    /// One of the two halves of the repositories.
    pub(crate) fn half(&self) -> usize {
        self.instance.repository.bytes().map(usize::from).sum::<usize>() % 2
    }
}

fn git(repository: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(repository).args(arguments).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn files(repository: &Path, base: &str, known: &mut Known) -> Option<Files> {
    let registry = Registry::new(vec![Arc::new(semdex_rust::RustKind), Arc::new(semdex_go::GoKind)], semdex_lsp::kinds);
    let mut files = Files::new(registry.languages().clone());
    let list = git(repository, &["ls-tree", "-r", "-l", "-z", base])?;
    let mut wanted: Vec<(String, String)> = Vec::new();
    for entry in list.split('\0') {
        let Some((head, path)) = entry.split_once('\t') else { continue };
        let head: Vec<&str> = head.split_ascii_whitespace().collect();
        let [mode, "blob", object, size] = head[..] else { continue };
        if mode.starts_with("100") && size.parse().is_ok_and(|it: usize| it <= MOST_BYTES) {
            match known.get(&(path.to_owned(), object.to_owned())) {
                Some(file) => drop(files.insert(file.clone())),
                None => wanted.push((object.to_owned(), path.to_owned())),
            }
        }
    }
    let mut child = Command::new("git")
        .arg("-C")
        .arg(repository)
        .args(["cat-file", "--batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let mut input = child.stdin.take()?;
    let names: String = wanted.iter().map(|it| format!("{}\n", it.0)).collect();
    let writer = std::thread::spawn(move || input.write_all(names.as_bytes()));
    let mut output = BufReader::new(child.stdout.take()?);
    for (object, path) in wanted {
        let mut head = String::new();
        output.read_line(&mut head).ok()?;
        let size: usize = head.trim_end().rsplit(' ').next()?.parse().ok()?;
        let mut content = vec![0; size + 1];
        output.read_exact(&mut content).ok()?;
        content.pop();
        if let Ok(text) = String::from_utf8(content)
            && !text.contains('\0')
        {
            let file = Arc::new(files.file(&path, text));
            known.insert((path, object), file.clone());
            files.insert(file);
        }
    }
    drop(writer.join());
    drop(child.wait());
    Some(files)
}

fn history(repository: &Path, base: &str) -> ChangeHistory {
    let log = git(repository, &["log", "--no-merges", "--format=%x01", "--name-only", "-n", "2000", base])
        .unwrap_or_default();
    let commits = log.split('\x01').skip(1).map(|it| it.lines().filter(|it| !it.is_empty()).collect());
    ChangeHistory::new(commits)
}
