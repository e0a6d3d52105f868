//! The journal by itself: what is recorded is found, what is settled stays, what is broken is put aside.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use super::*;

const DEADLINE: Duration = Duration::from_secs(20);
const KEPT: JournalBounds = JournalBounds { keep: Duration::from_secs(3600), max_bytes: 1 << 30 };

fn entry(id: &str, undoes: Option<&str>, files: &[(&str, Option<&str>, Option<&str>)]) -> Entry {
    let hash = |text: Option<&str>| text.map(|it| blake3::hash(it.as_bytes()).to_hex().to_string());
    let files = files.iter().map(|(file, old, new)| EntryFile {
        file: (*file).to_owned(),
        old: old.map(Arc::from),
        new: new.map(Arc::from),
        old_hash: hash(*old),
        new_hash: hash(*new),
        mode: Some(0o644),
        made_directories: 1,
    });
    Entry {
        id: id.to_owned(),
        workspace: "/w".to_owned(),
        made_at: milliseconds(),
        revision: 7,
        cause: Cause::Edit,
        client: Some("tests/1".to_owned()),
        undoes: undoes.map(str::to_owned),
        undone_by: None,
        files: files.collect(),
        reached: Some(Reached { changed: 1, broken: 2, affected: 3, tests: 4, is_complete: true }),
        request_key: None,
    }
}

fn query() -> Query {
    Query { workspace: "/w".to_owned(), limit: 10, ..Query::default() }
}

fn made(journal: &Journal, entry: &Entry) {
    journal.begin(entry.clone(), DEADLINE).unwrap();
    journal.settle(entry.id.clone(), RecordOutcome::Done);
}

fn ids(found: &Entries) -> Vec<&str> {
    found.entries.iter().map(|it| it.id.as_str()).collect()
}

#[tokio::test]
async fn a_change_is_found_by_the_key_of_its_request() {
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::new(&home.path().join("semdex"), KEPT);
    let key = |key: &str| Some(RequestKey { key: key.to_owned(), fingerprint: "f".to_owned() });
    let mut first = entry("01A", None, &[("a", None, Some("x"))]);
    first.request_key = key("k");
    made(&journal, &first);
    made(&journal, &entry("01B", None, &[("b", None, Some("y"))]));
    let found = |wanted: &str| {
        let query = Query { request_key: Some(wanted.to_owned()), ..query() };
        let journal = journal.clone();
        async move { journal.find(query).await.unwrap().entries }
    };
    let by_key = found("k").await;
    assert_eq!(by_key.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), ["01A"]);
    assert_eq!(by_key[0].request_key, key("k"));
    assert_eq!(found("other").await, []);
}

#[tokio::test]
async fn what_is_recorded_is_found() {
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join("state/semdex");
    let journal = Journal::new(&directory, KEPT);
    assert_eq!(journal.find(query()).await.unwrap(), Entries::default());
    assert!(!directory.exists(), "nothing is made before there is something to keep");

    let first = entry("01", None, &[("a", Some("old\n"), Some("new\n")), ("b", None, Some("b"))]);
    made(&journal, &first);
    let second = entry("02", None, &[("a", Some("new\n"), None)]);
    journal.begin(second.clone(), DEADLINE).unwrap();
    let dropped = entry("03", None, &[("a", Some("new\n"), Some("never"))]);
    journal.begin(dropped, DEADLINE).unwrap();
    journal.settle("03".to_owned(), RecordOutcome::Dropped);

    assert_eq!(journal.get("/w".to_owned(), "01".to_owned()).await.unwrap(), Some(first.clone()));
    for (workspace, id) in [("/w", "02"), ("/w", "03"), ("/other", "01"), ("/w", "nothing")] {
        assert_eq!(journal.get(workspace.to_owned(), id.to_owned()).await.unwrap(), None, "{workspace} {id}");
    }
    assert_eq!(journal.unfinished("/w".to_owned(), DEADLINE).unwrap(), [second]);
    // Another process sees the same.
    let other = Journal::new(&directory, KEPT);
    assert_eq!(ids(&other.find(query()).await.unwrap()), ["01"]);
    journal.settle("02".to_owned(), RecordOutcome::Done);
    journal.flush().await;
    let found = other.find(Query { limit: 1, ..query() }).await.unwrap();
    assert_eq!((ids(&found), found.total), (vec!["02"], 2));
    assert_eq!(found.entries[0].files[0].old, None, "contents only where they are asked for");
    let older = other.find(Query { before: Some("02".to_owned()), contents: true, ..query() }).await.unwrap();
    assert_eq!(older.entries, [first]);
    let of_b = other.find(Query { file: Some("b".to_owned()), ..query() }).await.unwrap();
    assert_eq!((ids(&of_b), of_b.total), (vec!["01"], 1));
}

#[tokio::test]
async fn undoing_goes_back_and_forth() {
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::new(home.path(), KEPT);
    for (id, undoes) in [("01", None), ("02", Some("01")), ("03", Some("02")), ("04", Some("03"))] {
        made(&journal, &entry(id, undoes, &[]));
        let found = journal.find(query()).await.unwrap();
        let by: Vec<Option<&str>> = found.entries.iter().rev().map(|it| it.undone_by.as_deref()).collect();
        let expected: &[Option<&str>] = match id {
            "01" => &[None],
            "02" => &[Some("02"), None],
            "03" => &[None, Some("03"), None],
            _ => &[Some("02"), None, Some("04"), None],
        };
        assert_eq!(by, expected, "after {id}");
    }
}

#[tokio::test]
async fn what_is_too_old_or_too_much_goes() {
    let home = tempfile::tempdir().unwrap();
    let mut old = entry("01", None, &[("a", None, Some("a"))]);
    old.made_at -= 2 * 3600 * 1000;
    let journal = Journal::new(home.path(), KEPT);
    journal.begin(old, DEADLINE).unwrap();
    journal.settle("01".to_owned(), RecordOutcome::Done);
    made(&journal, &entry("02", None, &[("a", Some("a"), Some("b"))]));
    journal.begin(entry("03", None, &[("a", Some("b"), Some("c"))]), DEADLINE).unwrap();
    journal.flush().await;
    drop(journal);
    // It is looked for once after the start.
    let journal = Journal::new(home.path(), KEPT);
    journal.flush().await;
    assert_eq!(ids(&journal.find(query()).await.unwrap()), ["02"]);
    made(&journal, &entry("04", None, &[("a", Some("b"), Some("d"))]));
    journal.flush().await;
    let tiny = Journal::new(home.path(), JournalBounds { max_bytes: 1, ..KEPT });
    tiny.flush().await;
    assert_eq!(ids(&tiny.find(query()).await.unwrap()), ["04"], "the youngest stays");
    assert_eq!(tiny.unfinished("/w".to_owned(), DEADLINE).unwrap().len(), 1, "and what is not finished");
}

#[tokio::test]
async fn an_unreadable_journal_is_put_aside() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("journal.db"), vec![b'?'; 8192]).unwrap();
    let journal = Journal::new(home.path(), KEPT);
    made(&journal, &entry("01", None, &[]));
    let found = journal.find(query()).await.unwrap();
    assert_eq!(ids(&found), ["01"]);
    assert!(found.lost.unwrap().contains("journal.db.unreadable-"));
    let aside = fs::read_dir(home.path()).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap());
    assert_eq!(aside.filter(|it| it.starts_with("journal.db.unreadable-")).count(), 1);
}

#[tokio::test]
async fn where_nothing_can_be_recorded_it_is_reported() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("file"), "").unwrap();
    let journal = Journal::new(&home.path().join("file"), KEPT);
    let error = journal.begin(entry("01", None, &[]), DEADLINE).unwrap_err();
    assert!(error.detail.contains("XDG_STATE_HOME"), "{error}");
    // Only who is not root is kept out by a mode.
    if rustix::process::geteuid().is_root() {
        return;
    }
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o500)).unwrap();
    let journal = Journal::new(home.path(), KEPT);
    let error = journal.begin(entry("01", None, &[]), DEADLINE).unwrap_err();
    assert_eq!(error.code, Code::PermissionDenied, "{error}");
}

#[tokio::test]
async fn a_removed_journal_is_noticed_before_the_next_change_is_recorded() {
    for removed in [&["journal.db", "journal.db-wal", "journal.db-shm"][..], &["journal.db"], &["journal.db-wal"]] {
        let home = tempfile::tempdir().unwrap();
        let journal = Journal::new(home.path(), KEPT);
        made(&journal, &entry("01", None, &[("a", Some("old\n"), Some("new\n"))]));
        for name in removed {
            fs::remove_file(home.path().join(name)).unwrap();
        }
        made(&journal, &entry("02", None, &[("a", Some("new\n"), Some("newer\n"))]));
        // As after a kill: nothing more is written.
        let other = Journal::new(home.path(), KEPT);
        let recorded: Vec<String> =
            other.unfinished("/w".to_owned(), DEADLINE).unwrap().into_iter().map(|it| it.id).collect();
        assert_eq!(recorded.last().map(String::as_str), Some("02"), "{removed:?}");
        let found = journal.find(query()).await.unwrap();
        assert!(ids(&found).contains(&"02") && found.lost.is_some(), "{removed:?}: {found:?}");
    }
}

#[tokio::test]
async fn a_removed_journal_is_noticed_by_a_reader() {
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::new(home.path(), KEPT);
    made(&journal, &entry("01", None, &[("a", Some("old\n"), Some("new\n"))]));
    fs::remove_file(home.path().join("journal.db")).unwrap();
    let found = journal.find(query()).await.unwrap();
    assert!(ids(&found).is_empty() && found.lost.is_some(), "{found:?}");
}

#[tokio::test]
async fn the_database_of_another_program_is_put_aside() {
    for tables in
        ["CREATE TABLE notes (text TEXT)", "CREATE TABLE schema_version (version BIGINT NOT NULL PRIMARY KEY)"]
    {
        let home = tempfile::tempdir().unwrap();
        let journal = Journal::new(home.path(), KEPT);
        made(&journal, &entry("01", None, &[("a", Some("old\n"), Some("new\n"))]));
        let foreign = home.path().join("foreign.db");
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&foreign).create_if_missing(true);
        let mut connection = sqlx::ConnectOptions::connect(&options).await.unwrap();
        for statement in
            [tables, "INSERT INTO schema_version SELECT 9"].iter().take(1 + usize::from(tables.contains("schema")))
        {
            sqlx::query(*statement).execute(&mut connection).await.unwrap();
        }
        sqlx::Connection::close(connection).await.unwrap();
        let before = fs::read(&foreign).unwrap();
        for rest in ["", "-wal", "-shm"] {
            fs::remove_file(home.path().join(format!("journal.db{rest}"))).unwrap();
        }
        fs::rename(&foreign, home.path().join("journal.db")).unwrap();
        made(&journal, &entry("02", None, &[("a", Some("new\n"), Some("newer\n"))]));
        let found = journal.find(query()).await.unwrap();
        assert!(ids(&found) == ["02"] && found.lost.is_some(), "{found:?}");
        let names = fs::read_dir(home.path()).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap());
        let aside = names
            .into_iter()
            .find(|it| it.starts_with("journal.db.unreadable-") && !it.ends_with("-wal") && !it.ends_with("-shm"))
            .unwrap();
        // SQLite may have switched it to its log, which alters two bytes and counters of the head.
        assert_eq!(fs::read(home.path().join(aside)).unwrap()[100..], before[100..], "{tables}");
    }
}

#[tokio::test]
async fn a_journal_of_another_user_is_refused() {
    // Only root can give a file away.
    if rustix::process::geteuid().is_root() {
        let home = tempfile::tempdir().unwrap();
        let journal = Journal::new(home.path(), KEPT);
        made(&journal, &entry("01", None, &[("a", Some("old\n"), Some("new\n"))]));
        journal.flush().await;
        let copy = home.path().join("copy.db");
        fs::copy(home.path().join("journal.db"), &copy).unwrap();
        std::os::unix::fs::chown(&copy, Some(65534), None).unwrap();
        fs::rename(&copy, home.path().join("journal.db")).unwrap();
        let error = journal.begin(entry("02", None, &[("a", Some("b"), Some("c"))]), DEADLINE).unwrap_err();
        assert!(error.code == Code::PermissionDenied && error.detail.contains("another user"), "{error}");
    }
}
