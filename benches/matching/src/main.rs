//! Tens of thousands of real edits, perturbed as models perturb them, each judged by the bytes that came of it.
//!
//!     matching-bench [--seed N] [--edits N] [--show CLASS] [--repository PATH]
//!
//! Ends with the exit code 1 where a claim does not hold.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use matching_bench::corpus::{self, Hunk};
use matching_bench::model::{Span, Strategy};
use matching_bench::perturb::{self, Layout};
use matching_bench::random::Random;
use matching_bench::text::matching::{self, Outcome, Search};
use matching_bench::text::score;

const AUTOFIX: u8 = 95;

/// One edit as it would be sent.
struct Edit {
    class: String,
    text: String,
    search: String,
    replacement: String,
    near_line: Option<usize>,
    /// The text that has drifted to the search text.
    meant: Option<Span>,
    expected: Expected,
}

enum Expected {
    /// This text, byte for byte; or a refusal, which counts as one.
    Text(String),
    /// This text, or a refusal, which is as right: something else is nearly as near.
    TextOrRefusal(String),
    /// Nothing, since nobody can know what is meant.
    Refusal,
    /// This part replaced by whatever, or a refusal.
    Place(Span),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Right,
    /// It was refused, where it should have landed.
    Missed,
    /// It landed where the search text is nearer to what stands there than to what it was made of.
    Nearer,
    WrongPlace,
    Corrupt,
}

#[derive(Default)]
struct Row {
    edits: usize,
    landed: usize,
    refused_rightly: usize,
    missed: usize,
    nearer: usize,
    wrong_place: usize,
    corrupt: usize,
    slowest: Duration,
}

fn main() -> ExitCode {
    let options = Options::read();
    let mut random = Random::new(options.seed);
    // None are read where none are wanted: for the times alone.
    let hunks = if options.edits > 0 { corpus::hunks(&options.repository, &mut random) } else { Vec::new() };
    eprintln!("{} hunks of real histories; seed {}", hunks.len(), options.seed);
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    let mut shown = 0;
    let mut count = 0;
    while count < options.edits && !hunks.is_empty() {
        let before = count;
        for hunk in &hunks {
            for edit in edits(hunk, &mut random) {
                count += 1;
                let row = rows.entry(edit.class.clone()).or_default();
                let started = Instant::now();
                let (verdict, landed) = judge(&edit);
                row.slowest = row.slowest.max(started.elapsed());
                row.count(verdict, landed);
                let wanted = options.show.as_deref().is_some_and(|it| edit.class.starts_with(it));
                if verdict == Verdict::WrongPlace
                    || verdict == Verdict::Corrupt
                    || (wanted && verdict != Verdict::Right)
                {
                    shown += 1;
                    if shown <= options.most_shown {
                        show(hunk, &edit, verdict);
                    }
                }
            }
            if count >= options.edits {
                break;
            }
        }
        if count == before {
            break;
        }
    }
    let quick = timings(&mut random);
    match report(&rows) {
        ExitCode::SUCCESS if quick => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

/// How long a search takes where nothing is exact: the 99th of a hundred in a file of 10,000 lines, and what grows more
/// than its file does.
fn timings(random: &mut Random) -> bool {
    let line = |random: &mut Random| {
        let word = |random: &mut Random| {
            format!("{}_{}", random.pick(&["load", "store", "count", "parse"]), random.below(400))
        };
        format!("    let {} = {}({}, {})?;\n", word(random), word(random), word(random), random.below(1000))
    };
    let lines: Vec<String> = (0..10_000).map(|_| line(random)).collect();
    let text = lines.concat();
    let search = |text: &str, context: &str| {
        let search = Search {
            text,
            context,
            replacement: "x",
            autofix: AUTOFIX,
            near_line: None,
            within: None,
            whole_lines: false,
        };
        let started = Instant::now();
        let found = matching::find(&search);
        (started.elapsed(), matches!(found, Ok(Outcome::Found(_))))
    };
    let mut times = Vec::new();
    let mut found = 0;
    for _ in 0..200 {
        let at = random.below(lines.len() - 8);
        let block = lines[at..at + random.between(3, 8)].concat();
        let Some(typo) = perturb::drift(&block, 1, random) else { continue };
        let (time, landed) = search(&text, &typo);
        times.push(time);
        found += usize::from(landed);
    }
    times.sort();
    let of = |part: usize| times[(times.len() * part / 100).min(times.len() - 1)].as_secs_f64() * 1e3;
    println!(
        "a typo in a file of 10,000 lines: p50 {:.1} ms, p99 {:.1} ms, {found} of {} applied",
        of(50),
        of(99),
        times.len()
    );
    let mut quick = of(99) <= 5.0;
    let inputs: [(&str, fn(usize) -> String, &str); 6] = [
        (
            "one line again and again",
            |n| "    foo(bar, baz);\n".repeat(n),
            "    foo(bar, bat);\n    foo(bar, baz);\n    fooo(bar, baz);\n",
        ),
        ("blank lines", |n| "   \n".repeat(n), "a b c\n\n\nd e f"),
        ("one long line", |n| "foo(bar, baz); ".repeat(n), "foo(bar, baz); foo(bar, bat); foo(bra, baz);"),
        ("brackets", |n| "}\n}\n)\n".repeat(n), "}\n}\n)\n]\n}"),
        ("quotes", |n| "\"'`/*\n".repeat(n), "\"a'`b/*\n\"'` /* c"),
        ("one letter", |n| "aaaaaaaaaaaaaaa\n".repeat(n), "aaaaaaaaaaaaaaaa aaaab aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
    ];
    for (name, make, context) in inputs {
        let best = |n: usize| (0..3).map(|_| search(&make(n), context).0).min().unwrap_or_default().as_secs_f64() * 1e3;
        let (small, large) = (best(10_000), best(80_000));
        println!("{name}: {small:.1} ms for 10,000, {large:.1} ms for 80,000");
        // Eight times the text may take some more than eight times as long.
        quick &= large <= 20.0 * small.max(1.0);
    }
    quick
}

struct Options {
    seed: u64,
    edits: usize,
    show: Option<String>,
    most_shown: usize,
    repository: PathBuf,
}

impl Options {
    fn read() -> Options {
        let repository = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut options = Options { seed: 1, edits: 30_000, show: None, most_shown: 12, repository };
        let mut arguments = std::env::args().skip(1);
        while let (Some(name), Some(value)) = (arguments.next(), arguments.next()) {
            match name.as_str() {
                "--seed" => options.seed = value.parse().unwrap_or(1),
                "--edits" => options.edits = value.parse().unwrap_or(30_000),
                "--show" => options.show = Some(value),
                "--most-shown" => options.most_shown = value.parse().unwrap_or(12),
                "--repository" => options.repository = value.into(),
                _ => {
                    eprintln!("unknown option {name}");
                    std::process::exit(2);
                }
            }
        }
        options
    }
}

/// The block that a person would send for a hunk: its lines and a few around them, as many as make it unique.
struct Block {
    search: String,
    replacement: String,
    /// In the text before.
    span: Span,
    /// In the text after all changes, if the lines around it stand there too.
    after: Option<Span>,
}

fn block(hunk: &Hunk, random: &mut Random) -> Option<Block> {
    let old: Vec<&str> = hunk.before.split_inclusive('\n').collect();
    let new: Vec<&str> = hunk.after.split_inclusive('\n').collect();
    let (mut above, mut below) = (random.between(0, 3), random.between(0, 3));
    for _ in 0..6 {
        let first = hunk.start.saturating_sub(above);
        let end = (hunk.end + below).min(old.len());
        let search = old[first..end].concat();
        if search.split_whitespace().count() >= 2 && search.len() > 8 && hunk.before.matches(&search).count() == 1 {
            let start = old[..first].concat().len();
            let replacement = [
                old[first..hunk.start].concat(),
                new[hunk.new_start..hunk.new_end].concat(),
                old[hunk.end..end].concat(),
            ];
            let replacement = replacement.concat();
            if replacement == search {
                return None;
            }
            let map = matching_bench::text::diff::OffsetMap::new(&hunk.before, &hunk.after);
            let core = search.trim();
            let from = start + search.len() - search.trim_start().len();
            let after = map.span(Span::new(from, from + core.len())).or_else(|| {
                // From what still stands before it to what still stands after it.
                let before = (0..from).rev().take(400).find_map(|at| map.offset(at));
                let next = (from + core.len()..hunk.before.len()).take(400).find_map(|at| map.offset(at));
                Some(Span::new(before?, next?))
            });
            return Some(Block { span: Span::new(start, start + search.len()), search, replacement, after });
        }
        (above, below) = (above + 2, below + 2);
    }
    None
}

/// Where a copy may stand: at the start of a line, not in the block, and not in a literal of many lines.
fn cuts(text: &str, block: Span, random: &mut Random) -> Vec<usize> {
    let starts = text.match_indices('\n').map(|(at, _)| at + 1);
    let text = &text.replace("\\\\", "  ").replace("\\\"", "  ").replace("'\"'", "   ");
    let in_code = |at: usize| {
        let before = &text[..at];
        before.matches('`').count() % 2 == 0
            && before.matches("\"\"\"").count() % 2 == 0
            && before.matches("r#").count() == before.matches("\"#").count()
            && before.matches('"').count() % 2 == 0
    };
    let balanced = |text: &str| text.matches('"').count() % 2 == 0 && text.matches('`').count() % 2 == 0;
    if !balanced(&text[block.start..block.end]) || !in_code(block.start) {
        return Vec::new();
    }
    let mut starts: Vec<usize> = starts.filter(|&at| at <= block.start || at >= block.end).collect();
    random.shuffle(&mut starts);
    starts.truncate(8);
    starts.retain(|&at| in_code(at));
    starts
}

fn mostly_in(hit: Span, region: Span) -> bool {
    let common = hit.end.min(region.end).saturating_sub(hit.start.max(region.start));
    common * 10 >= (hit.end - hit.start) * 9
}

fn spliced(text: &str, span: Span, new: &str) -> String {
    [&text[..span.start], new, &text[span.end..]].concat()
}

/// Another layout, unless with it the search text stands word for word somewhere else.
fn with_layout(
    layout: Layout,
    [search, replacement]: [&str; 2],
    text: &str,
    own: Span,
    random: &mut Random,
) -> Option<(String, String)> {
    let made = layout.apply(search, replacement, random)?;
    let begins_line = |at: usize| made.0.starts_with('\n') || at == 0 || text[..at].ends_with('\n');
    let is_other = |at: usize| if own.contains(at) { begins_line(at) && at != own.start } else { true };
    let mut others = text.match_indices(&made.0).filter(|(at, _)| is_other(*at));
    others.next().is_none().then_some(made)
}

/// A few classes of edits of one hunk.
fn edits(hunk: &Hunk, random: &mut Random) -> Vec<Edit> {
    let Some(block) = block(hunk, random) else { return Vec::new() };
    let text = hunk.before.to_string();
    let truth = spliced(&text, block.span, &block.replacement);
    // A final newline stays, whoever leaves it out.
    if text.ends_with('\n') != truth.ends_with('\n') {
        return Vec::new();
    }
    let edit = |class: &str, text: &str, search: &str, replacement: &str, expected: Expected| Edit {
        class: class.to_owned(),
        text: text.to_owned(),
        search: search.to_owned(),
        replacement: replacement.to_owned(),
        near_line: None,
        meant: None,
        expected,
    };
    let drifted_edit = |class: &str, text: &str, search: &str, replacement: &str, truth: &str, meant: Span| Edit {
        meant: Some(meant),
        ..edit(class, text, search, replacement, Expected::Text(truth.to_owned()))
    };
    let same = || Expected::Text(truth.clone());
    let mut made = Vec::new();
    let (mut search, mut replacement) = (block.search.clone(), block.replacement.clone());
    // Many clients leave the last line's end away, of both.
    if random.chance(2)
        && search.ends_with('\n')
        && replacement.ends_with('\n')
        && !replacement.trim_end_matches('\n').is_empty()
    {
        search.pop();
        replacement.pop();
    }
    match random.below(10) {
        0 => made.push(edit("exact", &text, &search, &replacement, same())),
        1..=3 => {
            let layout = *random.pick(&Layout::ALL);
            if let Some((s, r)) = with_layout(layout, [&search, &replacement], &text, block.span, random) {
                // Several places may be the same but for layout: then nobody knows which is meant.
                let squeezed = |text: &str| text.split_whitespace().collect::<String>();
                if squeezed(&text).matches(&squeezed(&s)).count() > 1 {
                    made.push(edit("ambiguous but for layout", &text, &s, &r, Expected::TextOrRefusal(truth.clone())));
                } else {
                    made.push(edit(&format!("layout {layout:?}"), &text, &s, &r, same()));
                }
            }
        }
        4 | 5 => {
            let tokens = random.between(1, 3);
            if let Some(drifted) = perturb::drift(&search, tokens, random) {
                let within = score::score(&drifted, &block.search) >= f64::from(AUTOFIX);
                let class = if within { format!("drift of {tokens}") } else { format!("drift of {tokens}, too much") };
                made.push(drifted_edit(&class, &text, &drifted, &replacement, &truth, block.span));
                // With another layout on top.
                let layout =
                    *random.pick(&[Layout::Dedented, Layout::OtherUnit, Layout::TrailingBlanks, Layout::FirstLineLost]);
                if within
                    && let Some((s, r)) = with_layout(layout, [&drifted, &replacement], &text, block.span, random)
                    && score::score(&s, &block.search) >= f64::from(AUTOFIX)
                {
                    made.push(drifted_edit("drift and layout", &text, &s, &r, &truth, block.span));
                }
            }
        }
        6 => {
            if hunk.after.matches(&block.search).count() == 0 {
                if let Some(place) = block.after {
                    made.push(edit("stale", &hunk.after, &search, &replacement, Expected::Place(place)));
                }
            }
        }
        7 => {
            if let Some(copy) = perturb::near_copy(&block.search, random) {
                // Somewhere else at the start of a line.
                let cuts = cuts(&text, block.span, random);
                if let Some(&at) = (!cuts.is_empty()).then(|| random.pick(&cuts)) {
                    let copied = spliced(&text, Span::new(at, at), &copy);
                    let shift = if at <= block.span.start { copy.len() } else { 0 };
                    let span = Span::new(block.span.start + shift, block.span.end + shift);
                    let truth = spliced(&copied, span, &block.replacement);
                    if copied.matches(&block.search).count() == 1 && copied[span.start..span.end] == block.search {
                        made.push(edit(
                            "near-duplicate, exact",
                            &copied,
                            &search,
                            &replacement,
                            Expected::Text(truth.clone()),
                        ));
                        if let Some(drifted) = perturb::drift(&search, 1, random)
                            && score::score(&drifted, &block.search) >= f64::from(AUTOFIX)
                        {
                            let class = "near-duplicate, drift";
                            made.push(drifted_edit(class, &copied, &drifted, &replacement, &truth, span));
                        }
                    }
                }
            }
        }
        8 => {
            let cuts = cuts(&text, block.span, random);
            if block.search.ends_with('\n')
                && let Some(&at) = (!cuts.is_empty()).then(|| random.pick(&cuts))
            {
                let copied = spliced(&text, Span::new(at, at), &block.search);
                made.push(edit("ambiguous", &copied, &search, &replacement, Expected::Refusal));
                if let Some((s, r)) = Layout::Dedented.apply(&search, &replacement, random)
                    && copied.matches(&format!("\n{s}")).count() == 0
                {
                    made.push(edit("ambiguous, dedented", &copied, &s, &r, Expected::Refusal));
                }
                let shift = if at <= block.span.start { block.search.len() } else { 0 };
                let span = Span::new(block.span.start + shift, block.span.end + shift);
                let line = copied[..span.start].matches('\n').count() + 1;
                let truth = spliced(&copied, span, &block.replacement);
                let near = edit("ambiguous, near_line", &copied, &search, &replacement, Expected::Text(truth));
                made.push(Edit { near_line: Some(line), ..near });
            }
        }
        _ => {
            let windows = text.replace('\n', "\r\n");
            let truth = truth.replace('\n', "\r\n");
            let (s, r) = match random.below(3) {
                0 => (search.clone(), replacement.clone()),
                1 => (search.replace('\n', "\r\n"), replacement.replace('\n', "\r\n")),
                _ => with_layout(Layout::Dedented, [&search, &replacement], &text, block.span, random)
                    .unwrap_or((search.clone(), replacement.clone())),
            };
            made.push(edit("CRLF", &windows, &s, &r, Expected::Text(truth.clone())));
            let bom = "\u{feff}".to_owned();
            made.push(edit("CRLF and BOM", &(bom.clone() + &windows), &s, &r, Expected::Text(bom + &truth)));
            // Words of other scripts in place of the ones that are there, everywhere.
            let foreign = |it: &str| it.replace('e', "é").replace("st", "ß").replace("in", "语𝒳");
            if let Some(drifted) = perturb::drift(&search, 1, random)
                && score::score(&foreign(&drifted), &foreign(&block.search)) >= f64::from(AUTOFIX)
                && foreign(&text).matches(&foreign(&block.search)).count() == 1
            {
                let truth = spliced_unicode(&text, block.span, &block.replacement, foreign);
                let start = foreign(&text[..block.span.start]).len();
                let meant = Span::new(start, start + foreign(&block.search).len());
                let (text, drifted, replacement) = (foreign(&text), foreign(&drifted), foreign(&replacement));
                made.push(drifted_edit("Unicode, drift", &text, &drifted, &replacement, &truth, meant));
            }
            if foreign(&text).matches(&foreign(&block.search)).count() == 1 {
                let truth = spliced_unicode(&text, block.span, &block.replacement, foreign);
                let squeezed = |text: &str| text.split_whitespace().collect::<String>();
                let unique = squeezed(&text).matches(&squeezed(&search)).count() == 1;
                let dedented = with_layout(Layout::Dedented, [&search, &replacement], &text, block.span, random);
                let dedented = dedented.filter(|_| unique);
                let (s, r) = dedented.unwrap_or((search, replacement));
                made.push(edit("Unicode", &foreign(&text), &foreign(&s), &foreign(&r), Expected::Text(truth)));
            }
        }
    }
    made
}

fn spliced_unicode(text: &str, span: Span, new: &str, foreign: impl Fn(&str) -> String) -> String {
    [foreign(&text[..span.start]), foreign(new), foreign(&text[span.end..])].concat()
}

fn search(edit: &Edit) -> Search<'_> {
    Search {
        text: &edit.text,
        context: &edit.search,
        replacement: &edit.replacement,
        autofix: AUTOFIX,
        near_line: edit.near_line,
        within: None,
        whole_lines: false,
    }
}

/// What came of it, and whether it landed.
fn judge(edit: &Edit) -> (Verdict, bool) {
    let search = search(edit);
    let Ok(Outcome::Found(hit)) = matching::find(&search) else {
        return (if matches!(edit.expected, Expected::Text(_)) { Verdict::Missed } else { Verdict::Right }, false);
    };
    let replaced = matching::apply(&edit.text, &hit, &edit.search, &edit.replacement);
    let verdict = match &edit.expected {
        Expected::Text(expected) | Expected::TextOrRefusal(expected) if *expected == replaced.text => Verdict::Right,
        Expected::Text(expected) | Expected::TextOrRefusal(expected) => {
            // Right where the true change is, but not as it should be; or somewhere else.
            let same = expected.bytes().zip(edit.text.bytes()).take_while(|(a, b)| a == b).count();
            let near = hit.span.start <= same && same <= hit.span.end + 1;
            match edit.meant {
                // What was meant is further from the search text than what was found: the words have become another's.
                Some(meant) if !near && score::score(&edit.search, &edit.text[meant.start..meant.end]) < hit.score => {
                    return (Verdict::Nearer, true);
                }
                _ if near => Verdict::Corrupt,
                _ => Verdict::WrongPlace,
            }
        }
        // What is there word for word was meant, wherever it came to stand.
        Expected::Refusal if edit.class == "stale" && hit.strategy != Strategy::Fuzzy => Verdict::Right,
        Expected::Refusal => Verdict::WrongPlace,
        Expected::Place(span) => {
            if mostly_in(hit.span, *span) || hit.strategy != Strategy::Fuzzy {
                Verdict::Right
            } else {
                Verdict::WrongPlace
            }
        }
    };
    (verdict, true)
}

impl Row {
    fn count(&mut self, verdict: Verdict, landed: bool) {
        self.edits += 1;
        match (verdict, landed) {
            (Verdict::Right, true) => self.landed += 1,
            (Verdict::Right, false) => self.refused_rightly += 1,
            (Verdict::Missed, _) => self.missed += 1,
            (Verdict::Nearer, _) => self.nearer += 1,
            (Verdict::WrongPlace, _) => self.wrong_place += 1,
            (Verdict::Corrupt, _) => self.corrupt += 1,
        }
    }

    fn rate(&self) -> f64 {
        100.0 * self.landed as f64 / self.edits.max(1) as f64
    }
}

fn report(rows: &BTreeMap<String, Row>) -> ExitCode {
    println!(
        "| {:<28} | {:>6} | {:>7} | {:>15} | {:>6} | {:>6} | {:>11} | {:>7} | {:>7} |",
        "class", "edits", "applied", "rightly refused", "missed", "nearer", "wrong place", "corrupt", "applied"
    );
    println!("|{0:-<30}|{0:->8}|{0:->9}|{0:->17}|{0:->8}|{0:->8}|{0:->13}|{0:->9}|{0:->9}|", "");
    let mut total = Row::default();
    let mut layout = Row::default();
    let mut drift = Row::default();
    for (class, row) in rows {
        print(class, row);
        total.add(row);
        if class.starts_with("layout") {
            layout.add(row);
        }
        if class.starts_with("drift") && !class.ends_with("too much") {
            drift.add(row);
        }
    }
    print("all", &total);
    print("layout noise", &layout);
    print("drift within the threshold", &drift);
    println!("slowest edit: {:.1} ms", total.slowest.as_secs_f64() * 1e3);
    let holds = total.wrong_place == 0 && total.corrupt == 0 && layout.rate() >= 99.5 && drift.rate() >= 97.0;
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

impl Row {
    fn add(&mut self, other: &Row) {
        self.edits += other.edits;
        self.landed += other.landed;
        self.refused_rightly += other.refused_rightly;
        self.missed += other.missed;
        self.nearer += other.nearer;
        self.wrong_place += other.wrong_place;
        self.corrupt += other.corrupt;
        self.slowest = self.slowest.max(other.slowest);
    }
}

fn print(class: &str, row: &Row) {
    println!(
        "| {class:<28} | {:>6} | {:>7} | {:>15} | {:>6} | {:>6} | {:>11} | {:>7} | {:>5.2} % |",
        row.edits,
        row.landed,
        row.refused_rightly,
        row.missed,
        row.nearer,
        row.wrong_place,
        row.corrupt,
        row.rate()
    );
}

fn show(hunk: &Hunk, edit: &Edit, verdict: Verdict) {
    println!("=== {verdict:?} {} {}", edit.class, hunk.name);
    let search = search(edit);
    println!("--- search\n{}\n--- replacement\n{}", edit.search, edit.replacement);
    if let Expected::Place(place) = &edit.expected {
        println!("--- stood at\n{}", &edit.text[place.start..place.end]);
    }
    match matching::find(&search) {
        Ok(Outcome::Found(hit)) => {
            let replaced = matching::apply(&edit.text, &hit, &edit.search, &edit.replacement);
            println!("--- {hit:?} at\n{}", &edit.text[hit.span.start..hit.span.end]);
            if let Expected::Text(expected) | Expected::TextOrRefusal(expected) = &edit.expected {
                println!("{}", matching_bench::text::diff::between("expected", expected, "got", &replaced.text));
            }
        }
        Ok(Outcome::Ambiguous(hits)) => println!("--- ambiguous: {hits:?}"),
        Ok(Outcome::Missed { reason, nearest }) => println!("--- missed: {reason} {nearest:?}"),
        Err(error) => println!("--- {error}"),
    }
}
