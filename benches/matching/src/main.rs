//! Tens of thousands of real edits, perturbed as models perturb them, each judged by the resulting bytes.
//!
//! matching-bench [--seed N] [--seeds N] [--edits N] [--others N] [--git-every N] [--show CLASS] [--repository PATH] [--signs DIRECTORY]
//!
//! The exit code is 1 if a claim does not hold.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use matching_bench::corpus::{self, Hunk, Pair};
use matching_bench::edits::{AUTOFIX, Edit, Expected, block, edits, spliced};
use matching_bench::others;
use matching_bench::perturb;
use matching_bench::random::Random;
use matching_bench::signs::{self, Side, Verdict as OfSigns};
use semdex_model::{Span, Strategy};
use semdex_text::matching::{self, Outcome, Search};
use semdex_text::merge::merge;
use semdex_text::score;
use semdex_text::words::words;

/// A name, a text of a given size, and a search text that does not match it.
type Input = (&'static str, fn(usize) -> String, &'static str);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Right,
    /// It was refused, but should match.
    Missed,
    /// It matched a place that is nearer to the search text than the intended place is.
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
    times: Vec<Duration>,
}

fn main() -> ExitCode {
    let options = Options::read();
    // No edits are read if only times are measured.
    let is_read = options.edits + options.others > 0;
    let pairs = if is_read { corpus::pairs(&options.repository) } else { Vec::new() };
    let seeds = options.seed..options.seed + options.seeds;
    let results: Vec<bool> = seeds.map(|seed| holds(&options, seed, &pairs)).collect();
    let is_right = results.into_iter().all(|it| it);
    if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Whether the claims hold for the edits of one seed.
fn holds(options: &Options, seed: u64, pairs: &[Pair]) -> bool {
    let mut random = Random::new(seed);
    let hunks = corpus::hunks(pairs, &mut random);
    println!("{} hunks of real histories; seed {seed}", hunks.len());
    let large = corpus::large_files(&hunks, &mut random);
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    let mut shown = 0;
    let mut count = 0;
    while count < options.edits && !hunks.is_empty() {
        let before = count;
        for hunk in &hunks {
            for edit in edits(hunk, &large, &mut random) {
                count += 1;
                let row = rows.entry(edit.class.clone()).or_default();
                let (verdict, landed, time) = judge(&edit);
                row.times.push(time);
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
    let kept = others(options, &hunks, &mut random);
    let kept = options.signs.iter().fold(kept, |kept, below| wrong_signs(below, &mut random) && kept);
    report(&rows) && quick && kept
}

#[derive(Default)]
struct Merges {
    all: usize,
    merged: usize,
    lost: usize,
    corrupt: usize,
    /// Those that `git merge-file` merges, and how many of them are merged here.
    by_git: usize,
    both: usize,
    /// How many of them have git's result, byte for byte.
    equal: usize,
}

/// Changes of somebody else: with the text that the author read as the base, and with the search text alone.
fn others(options: &Options, hunks: &[Hunk], random: &mut Random) -> bool {
    let mut rows: BTreeMap<String, Merges> = BTreeMap::new();
    let mut count = 0;
    let mut shown = 0;
    // Why those are refused that git merges.
    let mut refused: BTreeMap<String, usize> = BTreeMap::new();
    while count < options.others && !hunks.is_empty() {
        for hunk in hunks {
            let Some(block) = block(hunk, random) else { continue };
            let ours = spliced(&hunk.before, block.span, &block.replacement);
            let Some(both) = others::both(&hunk.before, &ours, &block, random) else { continue };
            count += 1;
            let by_git = (count % options.git_every == 0).then(|| merge_file(&both)).flatten();
            let known = merge(&both.base, &both.ours, &both.theirs);
            let known = known.map(|it| it.text).map_err(|it| it.reason.to_owned());
            let search = Search {
                text: &both.theirs,
                context: &block.search,
                replacement: &block.replacement,
                autofix: AUTOFIX,
                near_line: None,
                within: None,
                whole_lines: false,
            };
            let unknown = match matching::find(&search) {
                Ok(Outcome::Found(hit)) => {
                    let made = matching::apply(&both.theirs, &hit, search.context, search.replacement);
                    made.map(|it| it.text).map_err(|it| it.reason.to_owned())
                }
                Ok(Outcome::Ambiguous(_)) => Err("several places".to_owned()),
                Ok(Outcome::NotFound { reason, .. }) => Err(without_place(&reason)),
                Err(error) => Err(error.to_string()),
            };
            for (base, made) in [("base known", known), ("base unknown", unknown)] {
                let row = rows.entry(format!("{base}, {:?}", both.kind)).or_default();
                row.all += 1;
                row.by_git += usize::from(by_git.is_some());
                let made = match made {
                    Ok(made) => made,
                    Err(reason) => {
                        if by_git.is_some() {
                            *refused.entry(format!("{base}: {reason}")).or_default() += 1;
                            let wanted =
                                options.show.as_deref().is_some_and(|it| format!("{base}: {reason}").contains(it));
                            if wanted && shown < options.most_shown {
                                shown += 1;
                                println!("=== refused, {base} {:?}: {reason} {}", both.kind, hunk.name);
                                println!("{}", semdex_text::diff::between("base", &both.base, "ours", &both.ours));
                                println!("{}", semdex_text::diff::between("base", &both.base, "theirs", &both.theirs));
                                println!("--- search\n{}--- replacement\n{}", block.search, block.replacement);
                            }
                        }
                        continue;
                    }
                };
                row.merged += 1;
                row.both += usize::from(by_git.is_some());
                row.equal += usize::from(by_git.as_ref() == Some(&made));
                let (lost, corrupt) = (both.is_lost(&made), both.is_corrupt(&made));
                row.lost += usize::from(lost);
                row.corrupt += usize::from(corrupt);
                if (lost || corrupt) && shown < options.most_shown {
                    shown += 1;
                    println!("=== {base} {:?} lost={lost} corrupt={corrupt} {}", both.kind, hunk.name);
                    println!("{}", semdex_text::diff::between("base", &both.base, "ours", &both.ours));
                    println!("{}", semdex_text::diff::between("base", &both.base, "theirs", &both.theirs));
                    println!("{}", semdex_text::diff::between("theirs", &both.theirs, "merged", &made));
                }
            }
            if count >= options.others {
                break;
            }
        }
    }
    println!("| changes of others | edits | merged | lost | corrupt | git merges | of them merged | equal to git's |");
    println!("|---|---|---|---|---|---|---|---|");
    let mut total: BTreeMap<bool, Merges> = BTreeMap::new();
    for (name, row) in &rows {
        let sum = total.entry(name.starts_with("base known")).or_default();
        sum.all += row.all;
        sum.lost += row.lost;
        sum.corrupt += row.corrupt;
        sum.by_git += row.by_git;
        sum.both += row.both;
        println!(
            "| {name} | {} | {} | {} | {} | {} | {} | {} |",
            row.all, row.merged, row.lost, row.corrupt, row.by_git, row.both, row.equal
        );
    }
    for (known, row) in &total {
        let share = 100.0 * row.both as f64 / row.by_git.max(1) as f64;
        let base = if *known { "known" } else { "unknown" };
        println!(
            "base {base}: {} lost, {} corrupt of {}; {share:.1} % of what git merges",
            row.lost, row.corrupt, row.all
        );
    }
    for (reason, count) in &refused {
        println!("refused, merged by git: {count} times {reason}");
    }
    total.values().all(|it| it.lost == 0 && it.corrupt == 0)
}

/// The reason of a refusal, without what depends on the file.
fn without_place(reason: &str) -> String {
    let reason = reason.split_once(" % alike, and ").map_or(reason, |it| it.1);
    let reason = reason.split_once(": ").map_or(reason, |it| it.0);
    let is_quoted = |at: usize| at % 2 == 1;
    reason.split('`').enumerate().map(|(at, it)| if is_quoted(at) { "…" } else { it }).collect()
}

/// Edits of a tree of files, with the same wrong signs in both texts: 300 of each kind, as far as the tree has them.
fn wrong_signs(below: &Path, random: &mut Random) -> bool {
    const EDITS: usize = 300;
    const TRIES: usize = 30_000;
    let files = signs::files(below);
    let mut is_right = !files.is_empty();
    let sides = [Side::Author, Side::File];
    for (kind, side) in signs::KINDS.into_iter().flat_map(|kind| sides.map(|side| (kind, side))) {
        let mut counts = [0; 3];
        for _ in 0..TRIES {
            if files.is_empty() || counts.iter().sum::<usize>() == EDITS {
                break;
            }
            let text: &String = random.pick(&files);
            let Some(verdict) = signs::judge(text, kind, side, random) else { continue };
            counts[verdict as usize] += 1;
        }
        let [kept, refused, wrong] = counts;
        println!("{}: {} ({side:?}): {kept} kept, {refused} refused, {wrong} wrong", below.display(), kind.0);
        is_right &= counts[OfSigns::Wrong as usize] == 0;
    }
    is_right
}

/// The merge of `git merge-file`, if it has no conflict.
fn merge_file(both: &others::Both) -> Option<String> {
    let directory = std::env::temp_dir().join(format!("matching-bench-{}", std::process::id()));
    std::fs::create_dir_all(&directory).ok()?;
    let write = |name: &str, text: &str| std::fs::write(directory.join(name), text);
    write("ours", &both.ours).and(write("base", &both.base)).and(write("theirs", &both.theirs)).ok()?;
    let mut git = std::process::Command::new("git");
    let run = git.current_dir(&directory).args(["merge-file", "-p", "ours", "base", "theirs"]).output();
    let run = run.ok().filter(|it| it.status.success());
    drop(std::fs::remove_dir_all(&directory));
    String::from_utf8(run?.stdout).ok()
}

/// The time of a search without an exact match: the 99th percentile in a file of 10,000 lines, and its growth with the
/// file.
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
        let started = on_the_processor();
        let found = matching::find(&search);
        (on_the_processor() - started, matches!(found, Ok(Outcome::Found(_))))
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
    let inputs: [Input; 6] = [
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
        // Eight times the text may take somewhat more than eight times as long.
        quick &= large <= 20.0 * small.max(1.0);
    }
    quick
}

/// The processor time of this thread, which other programs do not lengthen.
fn on_the_processor() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.cast_unsigned(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

struct Options {
    seed: u64,
    /// This seed and the following ones, each with so many edits.
    seeds: u64,
    edits: usize,
    others: usize,
    /// Every so many edits are merged by git as well: it is a process for each.
    git_every: usize,
    show: Option<String>,
    most_shown: usize,
    repository: PathBuf,
    signs: Vec<PathBuf>,
}

impl Options {
    fn read() -> Options {
        let repository = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut options = Options {
            seed: 1,
            seeds: 1,
            edits: 60_000,
            others: 100_000,
            git_every: 20,
            show: None,
            most_shown: 12,
            repository,
            signs: Vec::new(),
        };
        let mut arguments = std::env::args().skip(1);
        while let (Some(name), Some(value)) = (arguments.next(), arguments.next()) {
            match name.as_str() {
                "--seed" => options.seed = value.parse().unwrap_or(1),
                "--seeds" => options.seeds = value.parse().unwrap_or(1),
                "--edits" => options.edits = value.parse().unwrap_or(60_000),
                "--others" => options.others = value.parse().unwrap_or(100_000),
                "--git-every" => options.git_every = value.parse().unwrap_or(20),
                "--show" => options.show = Some(value),
                "--most-shown" => options.most_shown = value.parse().unwrap_or(12),
                "--signs" => options.signs.push(value.into()),
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

fn mostly_in(hit: Span, region: Span) -> bool {
    let common = hit.end.min(region.end).saturating_sub(hit.start.max(region.start));
    common * 10 >= (hit.end - hit.start) * 9
}

fn search(edit: &Edit) -> Search<'_> {
    Search {
        text: &edit.text,
        context: &edit.search,
        replacement: &edit.replacement,
        autofix: edit.autofix,
        near_line: edit.near_line,
        within: None,
        whole_lines: false,
    }
}

/// The result, and whether the edit matched.
fn judge(edit: &Edit) -> (Verdict, bool, Duration) {
    let search = search(edit);
    let started = on_the_processor();
    let made = match matching::find(&search) {
        Ok(Outcome::Found(hit)) => {
            matching::apply(&edit.text, &hit, &edit.search, &edit.replacement).ok().map(|it| (hit, it))
        }
        _ => None,
    };
    let time = on_the_processor() - started;
    let Some((hit, replaced)) = made else {
        return (
            if matches!(edit.expected, Expected::Text(_)) { Verdict::Missed } else { Verdict::Right },
            false,
            time,
        );
    };
    let verdict = match &edit.expected {
        Expected::Text(expected) | Expected::TextOrRefusal(expected) if *expected == replaced.text => Verdict::Right,
        Expected::Text(expected) | Expected::TextOrRefusal(expected) => {
            // At the right place, but with another result; or at another place.
            let same = expected.bytes().zip(edit.text.bytes()).take_while(|(a, b)| a == b).count();
            let near = hit.span.start <= same && same <= hit.span.end + 1;
            match edit.meant {
                // The intended text is further from the search text than the found one: the words drifted to another
                // place's.
                Some(meant) if !near && score::score(&edit.search, &edit.text[meant.start..meant.end]) < hit.score => {
                    return (Verdict::Nearer, true, time);
                }
                _ if near => Verdict::Corrupt,
                _ => Verdict::WrongPlace,
            }
        }
        // A literal occurrence was intended, wherever it is; so were its words, if they occurred nowhere else before.
        Expected::Place { span, may_move } => {
            let spoken = |text| words(text).map(|it| it.1).collect::<Vec<_>>();
            let place = &edit.text[hit.span.start..hit.span.end];
            let moved = hit.strategy != Strategy::Fuzzy || (*may_move && spoken(place) == spoken(&edit.search));
            if mostly_in(hit.span, *span) || moved { Verdict::Right } else { Verdict::WrongPlace }
        }
        Expected::Refusal => Verdict::WrongPlace,
    };
    (verdict, true, time)
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

    /// In milliseconds.
    fn percentile(&self, part: usize) -> f64 {
        let mut times = self.times.clone();
        times.sort_unstable();
        times
            .get((times.len() * part / 100).min(times.len().saturating_sub(1)))
            .map_or(0.0, |it| it.as_secs_f64() * 1e3)
    }

    fn rate(&self) -> f64 {
        100.0 * self.landed as f64 / self.edits.max(1) as f64
    }
}

fn report(rows: &BTreeMap<String, Row>) -> bool {
    println!(
        "| {:<41} | {:>6} | {:>7} | {:>15} | {:>6} | {:>6} | {:>11} | {:>7} | {:>8} | {:>7} | {:>7} |",
        "class",
        "edits",
        "applied",
        "rightly refused",
        "missed",
        "nearer",
        "wrong place",
        "corrupt",
        "applied",
        "p99",
        "slowest"
    );
    println!("|{0:-<43}|{0:->8}|{0:->9}|{0:->17}|{0:->8}|{0:->8}|{0:->13}|{0:->9}|{0:->10}|{0:->9}|{0:->9}|", "");
    let mut total = Row::default();
    let mut layout = Row::default();
    let mut drift = Row::default();
    let mut several = Row::default();
    let mut large = Row::default();
    for (class, row) in rows {
        print(class, row);
        total.add(row);
        if class.starts_with("layout") {
            layout.add(row);
        }
        if class.starts_with("drift") && !class.ends_with("too much") {
            drift.add(row);
        }
        if ["typo", "punctuation", "drift and", "drift of", "lowered"].iter().any(|it| class.starts_with(it))
            && !class.ends_with("too much")
            && class != "drift of 1"
        {
            several.add(row);
        }
        if class.starts_with("10,000 lines, several") {
            large.add(row);
        }
    }
    print("all", &total);
    print("layout noise", &layout);
    print("drift within the threshold", &drift);
    print("several kinds of errors", &several);
    print("several typos, 10,000 lines", &large);
    total.wrong_place == 0
        && total.corrupt == 0
        && layout.rate() >= 99.5
        && drift.rate() >= 97.0
        && several.rate() >= 95.0
        && large.rate() >= 90.0
        && large.percentile(99) <= 5.0
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
        self.times.extend(&other.times);
    }
}

fn print(class: &str, row: &Row) {
    println!(
        "| {class:<41} | {:>6} | {:>7} | {:>15} | {:>6} | {:>6} | {:>11} | {:>7} | {:>6.2} % | {:>4.1} ms | {:>4.1} ms |",
        row.edits,
        row.landed,
        row.refused_rightly,
        row.missed,
        row.nearer,
        row.wrong_place,
        row.corrupt,
        row.rate(),
        row.percentile(99),
        row.percentile(100)
    );
}

fn show(hunk: &Hunk, edit: &Edit, verdict: Verdict) {
    println!("=== {verdict:?} {} {}", edit.class, hunk.name);
    let search = search(edit);
    println!("--- search\n{}\n--- replacement\n{}", edit.search, edit.replacement);
    if let Expected::Place { span: place, .. } = &edit.expected {
        println!("--- stood at\n{}", &edit.text[place.start..place.end]);
    }
    match matching::find(&search) {
        Ok(Outcome::Found(hit)) => {
            println!("--- {hit:?} at\n{}", &edit.text[hit.span.start..hit.span.end]);
            let replaced = match matching::apply(&edit.text, &hit, &edit.search, &edit.replacement) {
                Ok(replaced) => replaced,
                Err(conflict) => return println!("--- {conflict:?}"),
            };
            if let Expected::Text(expected) | Expected::TextOrRefusal(expected) = &edit.expected {
                println!("{}", semdex_text::diff::between("expected", expected, "got", &replaced.text));
            }
        }
        Ok(Outcome::Ambiguous(hits)) => println!("--- ambiguous: {hits:?}"),
        Ok(Outcome::NotFound { reason, nearest }) => println!("--- missed: {reason} {nearest:?}"),
        Err(error) => println!("--- {error}"),
    }
}
