//! Parses the output of test programs, and Cargo's messages in between. The text format of libtest is stable; its JSON
//! format is not. Output of the tests is mixed in, and may look like libtest's own lines. So a result line counts only
//! if it accounts for all announced tests and no further test follows. The last one counts.

use std::collections::{BTreeMap, BTreeSet};

use semdex_engine::verify::report::Excerpt;

/// The most failure blocks of one program, and the most panics of one block, that are kept.
const MOST_BLOCKS: usize = 2000;
const MOST_PANICS: usize = 8;
const MOST_MESSAGE_LINES: usize = 40;
/// The most names of tests of one program that are kept.
const MOST_NAMES: usize = 100_000;

/// One test program, or the doctests of a package.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub what: What,
    pub passed: usize,
    pub failed: usize,
    pub ignored: usize,
    /// Its last line accounts for all announced tests, and each of them was named.
    pub is_whole: bool,
    /// Cargo reported that it failed.
    pub has_failed: bool,
    /// How it ended, if Cargo reported that.
    pub how: Option<String>,
    pub failures: Vec<Failure>,
    /// Output that does not belong to a test.
    pub printed: Excerpt,
    /// Panics outside the output of tests.
    pub panics: Vec<Panic>,
    /// The number of tests that it announced, if it did.
    pub announced: Option<usize>,
    /// The tests that it named, with their results.
    pub tests: BTreeMap<String, Option<Outcome>>,
}

/// The result of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    Failed,
    Ignored,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum What {
    /// Before the first program.
    #[default]
    Nothing,
    /// By the path of the program.
    Executable(String),
    /// For the library of this name.
    Doctests(String),
}

#[derive(Debug, Default)]
pub(crate) struct Failure {
    pub name: String,
    pub output: Excerpt,
    pub panics: Vec<Panic>,
    /// The position in the message that it should have panicked.
    pub should_panic_at: Option<At>,
    /// For a doctest that did not compile.
    pub compile_error: Option<(String, Option<At>)>,
    /// The error that a test returned.
    pub error: Option<String>,
}

/// A position as the program reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct At {
    pub file: String,
    pub line: usize,
    pub column: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Panic {
    pub thread: String,
    /// `None` if the stack overflowed.
    pub at: Option<At>,
    pub message: String,
}

/// Parses the output of `cargo test`, line by line.
pub(crate) struct Reader {
    /// The programs that Cargo runs.
    programs: BTreeSet<String>,
    current: Program,
    state: State,
    /// The list of failures that may be the final one.
    names: Vec<String>,
    /// The lines of that list, which may also be the output of a test.
    held: Vec<String>,
    /// The end that counts if nothing contradicts it.
    end: Option<End>,
    blocks: BTreeMap<String, Failure>,
    block: Option<Failure>,
    /// A panic whose message continues.
    panic: Option<OpenPanic>,
}

struct End {
    counts: (usize, usize, usize),
    names: Vec<String>,
}

struct OpenPanic {
    panic: Panic,
    lines: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Running,
    /// The output of the failed tests, each in its block.
    Blocks,
    /// The list of the failed tests.
    Names,
    /// After a result line. `in_blocks`: a list of failures came before it.
    Ended {
        in_blocks: bool,
    },
}

impl Reader {
    /// `programs`: the paths of the test programs.
    pub(crate) fn new(programs: BTreeSet<String>) -> Reader {
        Reader {
            programs,
            current: Program::default(),
            state: State::Running,
            names: Vec::new(),
            held: Vec::new(),
            end: None,
            blocks: BTreeMap::new(),
            block: None,
            panic: None,
        }
    }

    pub(crate) fn current(&self) -> &Program {
        &self.current
    }

    /// Takes a line; returns the program that ended before it.
    pub(crate) fn line(&mut self, line: &str) -> Option<Program> {
        let Some(what) = self.begun(line) else {
            self.within(line);
            return None;
        };
        let ended = self.end();
        self.current = Program { what, ..Program::default() };
        ended
    }

    fn within(&mut self, line: &str) {
        match self.state {
            State::Running => self.running(line),
            State::Blocks => self.blocks(line),
            State::Names => self.names(line),
            State::Ended { in_blocks } => self.ended(line, in_blocks),
        }
    }

    /// The last program, if there was one.
    pub(crate) fn end(&mut self) -> Option<Program> {
        self.close_panic();
        self.close_block();
        let end = self.end.take();
        let is_whole = end.is_some() && self.current.are_all_named();
        let names = match end {
            Some(End { counts, names }) => {
                self.add(counts);
                names
            }
            None => {
                // It ended before its result, or while it was reporting the failures.
                let of = |outcome| self.current.tests.values().filter(|it| **it == Some(outcome)).count();
                let (passed, ignored) = (of(Outcome::Passed), of(Outcome::Ignored));
                let failed = |it: (&String, &Option<Outcome>)| (*it.1 == Some(Outcome::Failed)).then(|| it.0.clone());
                let mut names: BTreeSet<String> = self.current.tests.iter().filter_map(failed).collect();
                names.extend(self.blocks.keys().cloned());
                self.add((passed, names.len(), ignored));
                names.into_iter().collect()
            }
        };
        self.take_failures(names);
        let mut program = std::mem::take(&mut self.current);
        program.is_whole = is_whole;
        self.state = State::Running;
        (self.names, self.held) = (Vec::new(), Vec::new());
        program.failures.sort_by(|a, b| a.name.cmp(&b.name));
        (program.what != What::Nothing).then_some(program)
    }

    /// The program that Cargo says it runs now.
    fn begun(&self, line: &str) -> Option<What> {
        if let Some(at) = line.rfind("   Doc-tests ") {
            let name = line.get(at + "   Doc-tests ".len()..)?;
            return (!name.is_empty() && !name.contains(' ')).then(|| What::Doctests(name.to_owned()));
        }
        let at = line.rfind("     Running ")?;
        let (_, program) = line.get(at..)?.strip_suffix(')')?.rsplit_once(" (")?;
        self.programs.contains(program).then(|| What::Executable(program.to_owned()))
    }

    fn running(&mut self, line: &str) {
        if let Some(counts) = result(line).filter(|it| self.current.accounts_for_all(*it)) {
            self.close_panic();
            return self.may_end(counts, Vec::new(), false);
        }
        if line == "failures:" {
            self.close_panic();
            self.state = State::Blocks;
            return;
        }
        if self.note_tests(line) || self.note_cargo(line) {
            return;
        }
        if let Some(count) = announced(line).filter(|_| self.current.announced.is_none()) {
            self.current.announced = Some(count);
            return;
        }
        if !self.panic_goes_on(line) {
            self.begin_panic(line);
        }
        self.current.printed.line(line);
    }

    /// Within the output of failed tests, unless a test printed its heading.
    fn blocks(&mut self, line: &str) {
        if line == "failures:" {
            self.state = State::Names;
            self.names.clear();
            self.held = vec![line.to_owned()];
            return;
        }
        if self.block.is_none() {
            let is_result = |it: &(usize, usize, usize)| it.1 == 0 && self.current.accounts_for_all(*it);
            if let Some(counts) = result(line).filter(is_result) {
                return self.may_end(counts, Vec::new(), false);
            }
            if self.note_tests(line) || self.note_cargo(line) {
                return;
            }
        }
        match head_of_block(line).filter(|it| self.may_begin(it)) {
            Some(name) => {
                self.close_block();
                self.block = Some(Failure { name: name.to_owned(), ..Failure::default() });
            }
            None => self.in_block(line),
        }
    }

    /// Whether the output of a test with this name can begin here.
    fn may_begin(&self, name: &str) -> bool {
        let is_open = self.block.as_ref().is_some_and(|it| it.name == name);
        let may_fail = match self.current.tests.get(name) {
            Some(outcome) => outcome.is_none_or(|it| it == Outcome::Failed),
            None => !self.current.are_all_named(),
        };
        may_fail && !is_open && !self.blocks.contains_key(name)
    }

    fn names(&mut self, line: &str) {
        if let Some(counts) = result(line)
            && counts.1 == self.names.len()
            && self.current.accounts_for_all(counts)
        {
            self.held.push(line.to_owned());
            let names = std::mem::take(&mut self.names);
            return self.may_end(counts, names, true);
        }
        let name = line.strip_prefix("    ").filter(|it| !it.is_empty());
        if (name.is_some() || line.is_empty()) && self.held.len() < MOST_NAMES {
            self.held.push(line.to_owned());
            self.names.extend(name.map(str::to_owned));
            return;
        }
        self.release();
        self.blocks(line);
    }

    /// A list of failures, or an end, was the output of a test.
    fn release(&mut self) {
        self.state = State::Blocks;
        for line in std::mem::take(&mut self.held) {
            self.in_block(&line);
        }
    }

    fn may_end(&mut self, counts: (usize, usize, usize), names: Vec<String>, in_blocks: bool) {
        self.end = Some(End { counts, names });
        self.state = State::Ended { in_blocks };
    }

    fn ended(&mut self, line: &str, in_blocks: bool) {
        if line.is_empty() || self.note_cargo(line) {
            return;
        }
        if matches!(self.current.what, What::Doctests(_))
            && let Some(count) = announced(line)
        {
            // Doctests that cannot be merged have a result of their own.
            self.close_block();
            if let Some(End { counts, names }) = self.end.take() {
                self.add(counts);
                self.take_failures(names);
            }
            self.current.announced = Some(self.current.announced.unwrap_or(0) + count);
            (self.state, self.held) = (State::Running, Vec::new());
            return;
        }
        if in_blocks {
            self.release();
        } else {
            self.state = State::Running;
        }
        self.within(line);
    }

    /// Notes the tests that a line names: their beginning, and their result if it is on the same line.
    fn note_tests(&mut self, line: &str) -> bool {
        let mut is_any = false;
        for (name, outcome) in tests(line) {
            is_any = true;
            // What looked like the end was the output of a test.
            (self.end, self.current.has_failed, self.current.how) = (None, false, None);
            if self.current.tests.len() < MOST_NAMES {
                let known = self.current.tests.entry(name.to_owned()).or_default();
                *known = known.or(outcome);
            }
        }
        if is_any {
            self.close_panic();
        }
        is_any
    }

    /// Notes what Cargo reports after a program.
    fn note_cargo(&mut self, line: &str) -> bool {
        if line.starts_with("error: test failed") || line.starts_with("error: doctest failed") {
            self.current.has_failed = true;
            return true;
        }
        if let Some(how) = line.trim_start().strip_prefix("process didn't exit successfully: ") {
            self.current.has_failed = true;
            self.current.how = Some(how.to_owned());
            return true;
        }
        let is_list = line.starts_with("error: ") && line.ends_with(" failed:");
        is_list || line == "Caused by:" || line.starts_with("    `-") || line.starts_with("all doctests ran in ")
    }

    fn add(&mut self, (passed, failed, ignored): (usize, usize, usize)) {
        let program = &mut self.current;
        (program.passed, program.failed, program.ignored) =
            (program.passed + passed, program.failed + failed, program.ignored + ignored);
    }

    fn take_failures(&mut self, names: Vec<String>) {
        for name in names {
            let panics = match self.blocks.get(&name) {
                Some(block) if !block.panics.iter().any(|it| it.thread == name) => self.panics_of(&name),
                _ => Vec::new(),
            };
            let mut failure = self.blocks.remove(&name).unwrap_or(Failure { name, ..Failure::default() });
            failure.panics.extend(panics);
            self.current.failures.push(failure);
        }
        self.blocks.clear();
    }

    /// The panics of a test in the blocks of others: a test can print what looks like the head of a block.
    fn panics_of(&self, name: &str) -> Vec<Panic> {
        let all = self.blocks.values().flat_map(|it| &it.panics);
        all.filter(|it| it.thread == name).cloned().collect()
    }

    fn in_block(&mut self, line: &str) {
        if !self.panic_goes_on(line) {
            self.begin_panic(line);
        }
        let Some(block) = &mut self.block else { return };
        block.note(line);
        block.output.line(line);
    }

    fn close_block(&mut self) {
        self.close_panic();
        if let Some(block) = self.block.take()
            && self.blocks.len() < MOST_BLOCKS
        {
            self.blocks.insert(block.name.clone(), block);
        }
    }

    fn begin_panic(&mut self, line: &str) {
        if let Some(panic) = panic_in(line) {
            self.close_panic();
            let lines = if panic.message.is_empty() { 0 } else { MOST_MESSAGE_LINES };
            self.panic = Some(OpenPanic { panic, lines });
        }
    }

    /// Whether a line continues the message of the last panic.
    fn panic_goes_on(&mut self, line: &str) -> bool {
        let Some(open) = &mut self.panic else { return false };
        let is_end = line == "stack backtrace:"
            || line.starts_with("note: run with `RUST_BACKTRACE")
            || open.lines >= MOST_MESSAGE_LINES
            || panic_in(line).is_some();
        if is_end {
            self.close_panic();
            return false;
        }
        open.lines += 1;
        open.panic.message.push_str(line);
        open.panic.message.push('\n');
        true
    }

    fn close_panic(&mut self) {
        let Some(OpenPanic { mut panic, .. }) = self.panic.take() else { return };
        panic.message.truncate(panic.message.trim_end().len());
        let panics = match &mut self.block {
            Some(block) => &mut block.panics,
            None => &mut self.current.panics,
        };
        if panics.len() == MOST_PANICS {
            panics.pop();
        }
        panics.push(panic);
    }
}

impl Program {
    /// The number of tests with a result.
    pub(crate) fn done(&self) -> usize {
        self.tests.values().flatten().count()
    }

    /// Whether a result line is about all tests that were announced and not yet counted.
    fn accounts_for_all(&self, (passed, failed, ignored): (usize, usize, usize)) -> bool {
        let counted = self.passed + self.failed + self.ignored;
        self.announced == Some(counted + passed + failed + ignored)
    }

    /// Whether each announced test was named. Output of tests can come between a name and its result, but not within
    /// a name.
    fn are_all_named(&self) -> bool {
        let announced = self.announced.unwrap_or(0).min(MOST_NAMES);
        matches!(self.what, What::Doctests(_)) || self.tests.len() >= announced
    }
}

impl Failure {
    fn note(&mut self, line: &str) {
        if let Some(at) = line.strip_prefix("note: test did not panic as expected at ").and_then(at) {
            self.should_panic_at = Some(at);
        } else if let Some(error) = line.strip_prefix("Error: ") {
            // The harness reports it after all output of the test.
            self.error = Some(error.to_owned());
        } else if !self.name.contains(" (line ") || line.starts_with("error: aborting due to ") {
        } else if line.starts_with("error[") || line.starts_with("error: ") {
            self.compile_error.get_or_insert_with(|| (line.to_owned(), None));
        } else if let Some((_, place @ None)) = &mut self.compile_error
            && let Some(found) = line.trim_start().strip_prefix("--> ").and_then(at)
        {
            *place = Some(found);
        }
    }

    /// The panic that failed it: in its own thread, else in the main thread, else the first one.
    pub(crate) fn panic(&self) -> Option<&Panic> {
        let last_of = |name: &str| self.panics.iter().rev().find(|it| it.thread == name);
        last_of(&self.name).or_else(|| last_of("main")).or(self.panics.first())
    }
}

/// `---- NAME stdout ----`
fn head_of_block(line: &str) -> Option<&str> {
    line.strip_prefix("---- ")?.strip_suffix(" stdout ----")
}

/// The tests that a line names, `test NAME ... ok`: perhaps after output without a line break, and perhaps without a
/// result.
fn tests(line: &str) -> Vec<(&str, Option<Outcome>)> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once(" ... ") {
        rest = after;
        let name = before.strip_prefix("test ").or_else(|| Some(before.rsplit_once("test ")?.1));
        let Some(name) = name.filter(|it| !it.is_empty()) else { continue };
        let modes = [" - should panic", " - compile fail", " - compile"];
        let name = modes.iter().find_map(|it| name.strip_suffix(it)).unwrap_or(name);
        let outcome = match after {
            _ if after.starts_with("ok") => Some(Outcome::Passed),
            _ if after.starts_with("FAILED") => Some(Outcome::Failed),
            _ if after.starts_with("ignored") => Some(Outcome::Ignored),
            _ => None,
        };
        found.push((name, outcome));
    }
    if let Some(before) = rest.strip_suffix(" ...") {
        // The line break is part of what the test printed.
        found.extend(before.strip_prefix("test ").map(|it| (it, None)));
    }
    found
}

/// `running 3 tests`
fn announced(line: &str) -> Option<usize> {
    let count = line.strip_suffix(" tests").or_else(|| line.strip_suffix(" test"))?.rsplit_once("running ")?.1;
    count.parse().ok()
}

/// The numbers of passed, failed and ignored tests.
fn result(line: &str) -> Option<(usize, usize, usize)> {
    let rest = line.split_once("test result: ")?.1;
    let number = |word: &str| {
        let before = rest.split_once(word)?.0;
        before.rsplit(' ').next()?.parse().ok()
    };
    Some((number(" passed;")?, number(" failed;")?, number(" ignored;")?))
}

/// `thread 'NAME' (ID) panicked at FILE:LINE:COLUMN:`, in older versions `panicked at 'MESSAGE', FILE:LINE:COLUMN`.
fn panic_in(line: &str) -> Option<Panic> {
    let (thread, rest) = line.get(line.find("thread '")? + "thread '".len()..)?.split_once('\'')?;
    if rest.ends_with("has overflowed its stack") {
        let message = "the stack overflowed".to_owned();
        return Some(Panic { thread: thread.to_owned(), at: None, message });
    }
    let said = rest.split_once("panicked at ")?.1;
    let (message, place) = match said.strip_prefix('\'').and_then(|it| it.rsplit_once("', ")) {
        Some((message, place)) => (message, place),
        None => ("", said.strip_suffix(':')?),
    };
    Some(Panic { thread: thread.to_owned(), at: Some(at(place)?), message: message.to_owned() })
}

/// `FILE:LINE:COLUMN`
fn at(text: &str) -> Option<At> {
    let mut parts = text.trim().rsplitn(3, ':');
    let (column, line, file) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?);
    Some(At { file: file.to_owned(), line, column })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Program> {
        let programs = ["/t/debug/deps/a-1", "/t/debug/deps/crash-2"].map(str::to_owned);
        let mut reader = Reader::new(programs.into());
        let mut programs: Vec<Program> = text.lines().filter_map(|it| reader.line(it)).collect();
        programs.extend(reader.end());
        programs
    }

    #[test]
    fn failures_have_their_place_and_message() {
        let text = "    Finished `test` profile in 0.03s
     Running unittests src/lib.rs (/t/debug/deps/a-1)

running 3 tests
test tests::fine ... ok
test tests::fails ... FAILED
test tests::thread ... FAILED

failures:

---- tests::fails stdout ----
hello
failures:
    no::test

thread 'tests::fails' (7) panicked at src/lib.rs:13:63:
assertion failed

  left: 1
stack backtrace:
   0: x

---- tests::thread stdout ----

thread '<unnamed>' panicked at src/lib.rs:18:49:
in thread
note: run with `RUST_BACKTRACE=1`

thread 'tests::thread' panicked at src/lib.rs:20:1:
called unwrap


failures:
    tests::fails
    tests::thread

test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.12s

error: test failed, to rerun pass `--lib`
     Running tests/crash.rs (/t/debug/deps/crash-2)

running 2 tests
raw
thread 'over' (9) has overflowed its stack
fatal runtime error: stack overflow
error: test failed, to rerun pass `--test crash`

Caused by:
  process didn't exit successfully: `/t/debug/deps/crash-2` (signal: 6, SIGABRT: process abort signal)
leak   Doc-tests a

running 1 test
test src/lib.rs - two (line 7) ... FAILED

failures:

---- src/lib.rs - two (line 7) stdout ----
error[E0308]: mismatched types
 --> src/lib.rs:8:14
  |

error: aborting due to 1 previous error
Couldn't compile the test.

failures:
    src/lib.rs - two (line 7)

test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.25s
";
        let programs = read(text);
        assert_eq!(programs.len(), 3);
        assert!(programs[0].is_whole && programs[2].is_whole);
        let [first, second, third] = &programs[..] else { panic!() };
        assert_eq!((first.passed, first.failed, first.failures.len()), (1, 2, 2));
        let at = |line, column| Some(At { file: "src/lib.rs".to_owned(), line, column });
        let panic = first.failures[0].panic().unwrap();
        assert_eq!((&panic.at, panic.message.as_str()), (&at(13, 63), "assertion failed\n\n  left: 1"));
        assert!(first.failures[0].output.text().contains("    no::test"), "{}", first.failures[0].output.text());
        let panic = first.failures[1].panic().unwrap();
        assert_eq!((&panic.at, panic.message.as_str()), (&at(20, 1), "called unwrap"));
        assert!(second.has_failed && !second.is_whole && second.how.as_ref().unwrap().contains("SIGABRT"));
        assert_eq!(second.panics[0].thread, "over");
        assert_eq!(third.what, What::Doctests("a".to_owned()));
        assert_eq!(third.failures[0].compile_error, Some(("error[E0308]: mismatched types".to_owned(), at(8, 14))));
    }

    fn one(text: &str) -> Program {
        read(&format!("     Running tests/a.rs (/t/debug/deps/a-1)\n{text}")).pop().unwrap()
    }

    #[test]
    fn a_program_that_ends_early_is_not_whole() {
        for end in ["", "test b ... ", "test b ... printed\n", "failures:\n\n---- a stdout ----\n"] {
            let program = one(&format!("running 3 tests\ntest a ... ok\n{end}"));
            assert!(!program.is_whole && program.passed == 1, "{end}: {program:?}");
        }
        // The result of another program that a test runs, with the same number of tests.
        let result = "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s";
        let program = one(&format!("running 2 tests\nrunning 2 tests\n\n{result}\n\ntest a ... ok\n"));
        assert!(!program.is_whole, "{program:?}");
        let program = one(&format!("running 2 tests\n{result}\n"));
        assert!(!program.is_whole, "{program:?}");
        let program = one(&format!("running 2 tests\ntest a ... ok\ntest b ... raw\nok\n\n{result}\nleaked\n"));
        assert!(program.is_whole && program.passed == 2, "{program:?}");
        let program = one(&format!("running 2 tests\nfailures:\nrawtest a ... oktest b ... ok\n\n{result}\n"));
        assert!(program.is_whole && !program.has_failed && program.passed == 2, "{program:?}");
        let program =
            one(&format!("error: test failed, to rerun\nrunning 2 tests\ntest a ... ok\ntest b ... ok\n{result}\n"));
        assert!(program.is_whole && !program.has_failed, "{program:?}");
    }

    #[test]
    fn output_like_libtests_hides_no_place() {
        let program = one("
running 2 tests
test a ... FAILED
test b ... ok

failures:

---- a stdout ----
running 1 test
test inner ... FAILED

failures:

---- inner stdout ----

thread 'inner' (3) panicked at src/inner.rs:1:1:
inner

failures:
    inner

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

---- b stdout ----
thread 'main' (3) panicked at src/main.rs:1:1:
no

thread 'a' (4) panicked at tests/a.rs:7:5:
the message
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace


failures:
    a

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

error: test failed, to rerun pass `--test a`
error: 1 target failed:
    `--test a`
");
        assert!(program.is_whole && program.has_failed && program.failures.len() == 1, "{program:?}");
        let panic = program.failures[0].panic().unwrap();
        assert_eq!((panic.at.as_ref().unwrap().line, panic.message.as_str()), (7, "the message"));
        let output = program.failures[0].output.text();
        assert!(!output.contains("1 target") && output.contains("test inner"), "{output}");
    }

    #[test]
    fn doctests_may_have_several_results() {
        let result = |count| {
            format!(
                "test result: ok. {count} passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0s\n"
            )
        };
        let text = format!("   Doc-tests a\n\nrunning 2 tests\n{}\nrunning 1 test\n{}\n", result(2), result(1));
        let program = read(&text).pop().unwrap();
        assert!(program.is_whole && program.passed == 3, "{program:?}");
        let program = read("   Doc-tests a\n\nrunning 2 tests\n").pop().unwrap();
        assert!(!program.is_whole, "{program:?}");
    }

    #[test]
    fn older_panics_are_read_too() {
        let panic = panic_in("thread 'main' panicked at 'a', 'b', src/x.rs:3:4").unwrap();
        assert_eq!((panic.message.as_str(), panic.at.unwrap().line), ("a', 'b", 3));
        assert!(panic_in("thread 'main' is fine").is_none());
    }
}
