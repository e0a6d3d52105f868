//! Parses the output of test programs, and Cargo's messages in between. The text format of libtest is stable; its JSON
//! format is not. Output of the tests is mixed in, so only the final part counts: the list of failures and the result
//! line.

use std::collections::BTreeMap;

use semdex_engine::verify::report::Excerpt;

/// The most failure blocks of one program, and the most panics of one block, that are kept.
const MOST_BLOCKS: usize = 2000;
const MOST_PANICS: usize = 8;
const MOST_MESSAGE_LINES: usize = 40;

/// One test program, or the doctests of a package.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub what: What,
    pub passed: usize,
    pub failed: usize,
    pub ignored: usize,
    /// It reported its result.
    pub has_result: bool,
    /// Cargo reported that it failed.
    pub has_failed: bool,
    /// How it ended, if Cargo reported that.
    pub how: Option<String>,
    pub failures: Vec<Failure>,
    /// Output that does not belong to a test.
    pub printed: Excerpt,
    /// Panics outside the output of tests.
    pub panics: Vec<Panic>,
    /// The number of finished tests.
    pub done: usize,
    /// The number of tests that it announced.
    pub announced: usize,
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
    /// The programs that Cargo runs are below it.
    target_dir: String,
    current: Program,
    state: State,
    names: Vec<String>,
    blocks: BTreeMap<String, Failure>,
    block: Option<Failure>,
    /// A panic whose message continues.
    panic: Option<OpenPanic>,
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
}

impl Reader {
    pub(crate) fn new(target_dir: String) -> Reader {
        Reader {
            target_dir,
            current: Program::default(),
            state: State::Running,
            names: Vec::new(),
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
        if self.state == State::Running {
            return self.running(line);
        }
        if self.state == State::Names {
            if let Some(name) = line.strip_prefix("    ").filter(|it| !it.is_empty()) {
                self.names.push(name.to_owned());
                return;
            }
            if line.is_empty() {
                return;
            }
            if let Some(result) = result(line) {
                return self.take_result(result);
            }
            // The line belonged to the output of a test.
            self.state = State::Blocks;
            let names = std::mem::take(&mut self.names);
            self.in_block("failures:");
            names.iter().for_each(|it| self.in_block(&format!("    {it}")));
        }
        match line {
            "failures:" => {
                self.state = State::Names;
                self.names.clear();
            }
            _ => match head_of_block(line) {
                Some(name) => {
                    self.close_block();
                    self.block = Some(Failure { name: name.to_owned(), ..Failure::default() });
                }
                None => self.in_block(line),
            },
        }
    }

    /// The last program, if there was one.
    pub(crate) fn end(&mut self) -> Option<Program> {
        self.close_panic();
        self.close_block();
        if self.state != State::Running {
            // It ended while it was reporting the failures.
            self.names.extend(self.blocks.keys().filter(|it| !self.names.contains(it)).cloned().collect::<Vec<_>>());
            self.take_result((0, self.names.len(), 0));
            (self.current.has_result, self.current.has_failed) = (false, true);
        }
        let mut program = std::mem::take(&mut self.current);
        (self.state, self.blocks) = (State::Running, BTreeMap::new());
        self.names.clear();
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
        program.starts_with(&self.target_dir).then(|| What::Executable(program.to_owned()))
    }

    fn running(&mut self, line: &str) {
        if self.panic_goes_on(line) {
            self.current.printed.line(line);
            return;
        }
        if let Some(result) = result(line) {
            return self.take_result(result);
        }
        if line == "failures:" {
            self.state = State::Blocks;
            return;
        }
        if line.starts_with("error: test failed") || line.starts_with("error: doctest failed") {
            self.current.has_failed = true;
            return;
        }
        if let Some(how) = line.trim_start().strip_prefix("process didn't exit successfully: ") {
            self.current.has_failed = true;
            self.current.how = Some(how.to_owned());
            return;
        }
        if is_result_of_test(line) {
            self.current.done += 1;
            return;
        }
        if let Some(count) = line.strip_prefix("running ").and_then(|it| it.split(' ').next()?.parse().ok()) {
            self.current.announced = count;
            return;
        }
        self.begin_panic(line);
        self.current.printed.line(line);
    }

    fn take_result(&mut self, (passed, failed, ignored): (usize, usize, usize)) {
        self.close_panic();
        self.close_block();
        self.state = State::Running;
        let program = &mut self.current;
        program.has_result = true;
        (program.passed, program.failed, program.ignored) =
            (program.passed + passed, program.failed + failed, program.ignored + ignored);
        program.done = passed + failed + ignored;
        for name in self.names.drain(..) {
            let known = self.blocks.remove(&name);
            program.failures.push(known.unwrap_or(Failure { name, ..Failure::default() }));
        }
        self.blocks.clear();
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

impl Failure {
    fn note(&mut self, line: &str) {
        if let Some(at) = line.strip_prefix("note: test did not panic as expected at ").and_then(at) {
            self.should_panic_at = Some(at);
        } else if let Some(error) = line.strip_prefix("Error: ") {
            self.error.get_or_insert_with(|| error.to_owned());
        } else if line.starts_with("error: aborting due to ") {
        } else if line.starts_with("error[") || line.starts_with("error: ") {
            self.compile_error.get_or_insert_with(|| (line.to_owned(), None));
        } else if let Some((_, place @ None)) = &mut self.compile_error
            && let Some(found) = line.trim_start().strip_prefix("--> ").and_then(at)
        {
            *place = Some(found);
        }
    }

    /// The panic that failed it: in its own thread, else the first one.
    pub(crate) fn panic(&self) -> Option<&Panic> {
        let own = |it: &&Panic| it.thread == self.name || it.thread == "main";
        self.panics.iter().rev().find(own).or(self.panics.first())
    }
}

/// `---- NAME stdout ----`
fn head_of_block(line: &str) -> Option<&str> {
    line.strip_prefix("---- ")?.strip_suffix(" stdout ----")
}

/// `test NAME ... ok`, perhaps after program output without a line break.
fn is_result_of_test(line: &str) -> bool {
    let ends = [" ... ok", " ... FAILED", " ... ignored"];
    line.contains("test ") && (ends.iter().any(|it| line.ends_with(it)) || line.contains(" ... ignored, "))
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
        let mut reader = Reader::new("/t".to_owned());
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
        let [first, second, third] = &programs[..] else { panic!() };
        assert_eq!((first.passed, first.failed, first.failures.len()), (1, 2, 2));
        let at = |line, column| Some(At { file: "src/lib.rs".to_owned(), line, column });
        let panic = first.failures[0].panic().unwrap();
        assert_eq!((&panic.at, panic.message.as_str()), (&at(13, 63), "assertion failed\n\n  left: 1"));
        assert!(first.failures[0].output.text().contains("    no::test"), "{}", first.failures[0].output.text());
        let panic = first.failures[1].panic().unwrap();
        assert_eq!((&panic.at, panic.message.as_str()), (&at(20, 1), "called unwrap"));
        assert!(second.has_failed && !second.has_result && second.how.as_ref().unwrap().contains("SIGABRT"));
        assert_eq!(second.panics[0].thread, "over");
        assert_eq!(third.what, What::Doctests("a".to_owned()));
        assert_eq!(third.failures[0].compile_error, Some(("error[E0308]: mismatched types".to_owned(), at(8, 14))));
    }

    #[test]
    fn older_panics_are_read_too() {
        let panic = panic_in("thread 'main' panicked at 'a', 'b', src/x.rs:3:4").unwrap();
        assert_eq!((panic.message.as_str(), panic.at.unwrap().line), ("a', 'b", 3));
        assert!(panic_in("thread 'main' is fine").is_none());
    }
}
