//! Dry runs have the same result in a shadow database as in the first one, whatever happens in between, and do not
//! affect the first one.

use super::impact::{BREAKING, FILES, HARMLESS};
use super::*;
use crate::LANGUAGE;
use semdex_model::ChangeImpact;

impl Loaded {
    fn with_shadow(&mut self) {
        let (sender, receiver) = mpsc::channel();
        self.rust.make_shadow(self.files.clone(), move |made| drop(sender.send(made)));
        self.rust.adopt_shadow(receiver.recv_timeout(DEADLINE).expect("a second database in time"));
        assert!(self.rust.has_shadow());
    }

    /// The result in the first database, and in the second.
    fn impact_in_both(&mut self, file: &str, from: &str, to: &str) -> [ChangeImpact; 2] {
        let (after, edits) = self.change(file, from, to);
        let before = self.files.clone();
        let refuse = |_: &ChangeImpact| false;
        self.fill();
        let known = self.known();
        let beside = self.rust.impact_of(&before, &after, &edits, None);
        assert_eq!(self.known(), known, "nothing is forgotten for a question: {from} -> {to}");
        let here = self.rust.impact_of(&before, &after, &edits, Some(&refuse));
        [here, beside]
    }

    fn known(&self) -> Vec<bool> {
        self.files.of(LANGUAGE).map(|it| self.rust.knows_names_of(&it.path)).collect()
    }

    pub(super) fn becomes(&mut self, file: &str, text: Option<&str>) {
        let text: Option<Arc<str>> = text.map(Arc::from);
        let mut files = (*self.files).clone();
        match &text {
            Some(text) => drop(files.insert(Arc::new(crate::file(file, text.clone())))),
            None => drop(files.remove(file)),
        }
        self.files = Arc::new(files);
        self.rust.apply(&[(Arc::from(file), text)]);
    }
}

#[test]
fn the_second_database_answers_as_the_first() {
    let (_directory, mut it) = fixture(&FILES);
    it.fill();
    it.with_shadow();
    let mut broken = 0;
    for (name, from, to) in BREAKING.iter().chain(HARMLESS) {
        let [here, beside] = it.impact_in_both("src/shapes.rs", from, to);
        assert_eq!(here, beside, "{name}");
        broken += here.impact.broken.len();
    }
    assert!(broken > 100, "{broken}");
}

#[test]
fn the_second_database_follows_the_first() {
    let (_directory, mut it) = fixture(&FILES);
    it.fill();
    it.with_shadow();
    let user = it.files.get("src/user.rs").unwrap().text.clone();
    let lib = it.files.get("src/lib.rs").unwrap().text.clone();
    let helper = ("src/shapes.rs", "pub fn helper() -> u8", "pub fn helped() -> u8");
    let mut broken = Vec::new();
    let mut check = |it: &mut Loaded, when: &str| {
        let [here, beside] = it.impact_in_both(helper.0, helper.1, helper.2);
        assert_eq!(here, beside, "{when}");
        broken.push(beside.impact.broken.len());
    };
    check(&mut it, "at first");
    it.becomes("src/user.rs", Some(&format!("{user}\npub fn one_more() -> u8 {{\n    crate::shapes::helper()\n}}\n")));
    check(&mut it, "one more call");
    it.becomes("src/later.rs", Some("pub fn later() -> u8 {\n    crate::shapes::helper()\n}\n"));
    it.becomes("src/lib.rs", Some(&format!("{lib}\nmod later;\n")));
    check(&mut it, "a file more");
    // Changes that create or delete files are tried in the first.
    let (before, edits) = (
        it.files.clone(),
        vec![FileEdit {
            file: "src/later.rs".to_owned(),
            old: it.files.get("src/later.rs").map(|it| it.text.clone()),
            new: None,
        }],
    );
    let mut after = (*before).clone();
    after.remove("src/later.rs");
    let impact = it.rust.impact_of(&before, &Arc::new(after), &edits, None);
    assert_eq!(impact.impact.changed.len(), 1, "{impact:?}");
    check(&mut it, "asking what a file less would do");
    it.becomes("src/lib.rs", Some(&lib));
    it.becomes("src/later.rs", None);
    it.becomes("src/user.rs", Some(&user));
    it.rust.catch_shadow_up();
    // The types of both are stored in one place. Other tests of this process may prevent garbage collection.
    it.rust.collect_garbage();
    check(&mut it, "all taken back");
    let first = broken[0];
    assert_eq!(broken, [first, first + 1, first + 2, first + 2, first]);
}

#[test]
fn files_that_came_and_went_before_the_second_database_heard_of_them() {
    let (_directory, mut it) = fixture(&FILES);
    it.fill();
    let helper = ("src/shapes.rs", "pub fn helper() -> u8", "pub fn helped() -> u8");
    let come_and_go = |it: &mut Loaded, name: &str| {
        it.becomes(name, Some("pub fn one() {}\n"));
        it.becomes(name, Some("pub fn one() { two(); }\n"));
        it.becomes(name, None);
    };
    // While it is being created.
    let (sender, receiver) = mpsc::channel();
    it.rust.make_shadow(it.files.clone(), move |made| drop(sender.send(made)));
    come_and_go(&mut it, "loose/early.rs");
    it.rust.adopt_shadow(receiver.recv_timeout(DEADLINE).expect("a second database in time"));
    come_and_go(&mut it, "loose/a.rs");
    it.rust.catch_shadow_up();
    // A known file, deleted, restored and deleted.
    it.becomes("loose/known.rs", Some("pub fn known() {}\n"));
    it.rust.catch_shadow_up();
    it.becomes("loose/known.rs", None);
    it.rust.catch_shadow_up();
    come_and_go(&mut it, "loose/known.rs");
    come_and_go(&mut it, "src/inside.rs");
    let [here, beside] = it.impact_in_both(helper.0, helper.1, helper.2);
    assert_eq!(here, beside);
    assert!(it.rust.has_shadow() && !beside.impact.broken.is_empty(), "{beside:?}");
}

#[test]
fn a_file_is_created_deleted_and_created_again_in_one_change() {
    let (_directory, mut it) = fixture(&FILES);
    it.fill();
    it.with_shadow();
    let text = |it: &str| Some(Arc::from(it));
    let steps = [text("pub fn early() {}\n"), None, text("pub fn late() -> u8 {\n    crate::shapes::helper()\n}\n")];
    it.rust.apply(&steps.map(|it| (Arc::from("src/again.rs"), it)));
    it.becomes("src/again.rs", Some("pub fn late() -> u8 {\n    crate::shapes::helper()\n}\n"));
    let lib = it.files.get("src/lib.rs").unwrap().text.clone();
    it.becomes("src/lib.rs", Some(&format!("{lib}\nmod again;\n")));
    let [here, beside] = it.impact_in_both("src/shapes.rs", "pub fn helper() -> u8", "pub fn helped() -> u8");
    assert_eq!(here, beside);
    let is_broken = here.impact.broken.iter().any(|it| it.at.place.file == "src/again.rs");
    assert!(is_broken, "{here:?}");
}

/// Its words are not removed from the postings.
#[test]
fn a_file_that_went_before_the_second_database_was_made_is_not_looked_into() {
    let (_directory, mut it) = fixture(&FILES);
    it.becomes("loose/gone.rs", Some("#[derive(Debug)]\n#[default = \"helper\"]\npub struct S;\n"));
    it.fill();
    it.becomes("loose/gone.rs", None);
    it.fill();
    it.with_shadow();
    let [here, beside] = it.impact_in_both("src/shapes.rs", "pub fn helper() -> u8", "pub fn helped() -> u8");
    assert_eq!(here, beside);
    assert!(it.rust.has_shadow() && !beside.impact.broken.is_empty(), "{beside:?}");
}

#[test]
fn the_second_database_learns_of_another_manifest() {
    let (directory, mut it) = fixture(&FILES);
    it.fill();
    it.with_shadow();
    let helper = ("src/shapes.rs", "pub fn helper() -> u8", "pub fn helped() -> u8");
    let [first, _] = it.impact_in_both(helper.0, helper.1, helper.2);
    let text = |name: &str| it.files.get(name).unwrap().text.clone();
    let lib = format!(
        "{}\n#[cfg(feature = \"more\")]\npub fn more() -> u8 {{\n    shapes::helper()\n}}\n",
        text("src/lib.rs")
    );
    let manifest = format!("{}\n[features]\ndefault = [\"more\"]\nmore = []\n", text("Cargo.toml"));
    for (name, text) in [("src/lib.rs", &lib), ("Cargo.toml", &manifest)] {
        std::fs::write(directory.path().join(name), text).unwrap();
        it.becomes(name, Some(text));
    }
    it.reload();
    it.rust.set_primed(Ended::Finished);
    // The second database receives a new crate graph only when the first one has completed it.
    assert!(!it.rust.is_shadow_behind());
    // As the writer does: again if it was interrupted.
    while !it.rust.is_complete() {
        let (sender, receiver) = mpsc::channel();
        it.rust.index(it.files.clone(), move |finished| sender.send(finished).unwrap());
        it.rust.set_indexed(receiver.recv_timeout(DEADLINE).expect("an index in time"));
    }
    assert!(it.rust.is_shadow_behind());
    it.rust.catch_shadow_up();
    assert!(!it.rust.is_shadow_behind());
    let [here, beside] = it.impact_in_both(helper.0, helper.1, helper.2);
    assert_eq!(here, beside);
    assert_eq!(beside.impact.broken.len(), first.impact.broken.len() + 1, "{beside:?}");
}

#[test]
fn a_small_workspace_gets_no_second_database_of_itself() {
    let (_directory, mut it) = fixture(&FILES);
    assert!(!it.rust.is_large());
    it.becomes("src/large.rs", Some(&"pub fn one_of_many() {}\n".repeat(22_000)));
    assert!(it.rust.is_large());
}

/// `include_bytes!` in a dependency names a file that is no text.
#[test]
fn the_second_database_takes_what_is_no_text() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    };
    let manifest = |name: &str, rest: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{rest}[workspace]\n")
    };
    write("dep/Cargo.toml", manifest("dep", "").as_bytes());
    write("dep/src/lib.rs", b"pub const BYTES: &[u8] = include_bytes!(\"data.bin\");\n");
    write("dep/src/data.bin", &[0xff, 0xfe, 0x00]);
    write("own/Cargo.toml", manifest("own", "[dependencies]\ndep = { path = \"../dep\" }\n").as_bytes());
    write(
        "own/src/lib.rs",
        b"pub fn bytes() -> &'static [u8] {\n    dep::BYTES\n}\n\npub fn user() -> usize {\n    bytes().len()\n}\n",
    );
    let mut it = load(&root.join("own"), false, Std::Small);
    it.fill();
    it.with_shadow();
    let [here, beside] = it.impact_in_both("src/lib.rs", "pub fn bytes()", "pub fn octets()");
    assert_eq!(here, beside);
    assert_eq!(beside.impact.broken.len(), 1);
}
