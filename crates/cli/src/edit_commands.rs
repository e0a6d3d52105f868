//! The commands that change files: edit, write and rename.

use std::io::{self, IsTerminal, Read};
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::client::Call;
use super::request_options::RequestOptions;
use super::target::Target;
use semdex_contract::{Name, media_type};
use semdex_text::patches::{self, Form};

#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("part").args(["search", "search_from", "at"])))]
pub struct EditText {
    /// File with the text. With --symbol, it narrows a short path.
    pub(super) file: Option<PathBuf>,
    /// Text to replace.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    search: Option<String>,
    /// Read the text to replace from a file; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    search_from: Option<PathBuf>,
    /// Symbol to edit with --at, or the symbol that contains the text.
    #[arg(long, requires = "part")]
    symbol: Option<String>,
    /// The package that defines the symbol.
    #[arg(long, requires = "symbol")]
    package: Option<String>,
    /// Apply a fix of a diagnostic, by the id that `semdex diagnostics --fixes` prints.
    #[arg(long, value_name = "ID", conflicts_with_all = ["file", "search", "search_from", "symbol", "replace",
        "replace_from", "near_line", "patches", "autofix"])]
    fix: Option<String>,
    /// Part of the symbol to edit.
    #[arg(long, requires = "symbol")]
    at: Option<At>,
    /// New text.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with = "replace_from")]
    replace: Option<String>,
    /// Read the new text from a file; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    replace_from: Option<PathBuf>,
    /// Least accepted similarity, 0 to 100; 0 accepts only exact matches and differences in white space.
    #[arg(long, value_parser = clap::value_parser!(u8).range(..=100))]
    autofix: Option<u8>,
    /// Of several matching places, use the one nearest to this line.
    #[arg(long)]
    near_line: Option<usize>,
    /// BLAKE3 hash of the file when it was read, or its first 12 digits: refuse the edit if the file has another.
    #[arg(long)]
    expected_hash: Option<String>,
    /// Whether an edit of a file that changed since it was read is refused, or merged with the changes of others.
    #[arg(long)]
    on_conflict: Option<OnConflict>,
    /// Delete the file.
    #[arg(long, requires = "file", conflicts_with_all = ["part", "symbol", "replace", "replace_from", "near_line",
        "autofix"])]
    delete: bool,
    /// Move the file to this name.
    #[arg(long, value_name = "FILE", requires = "file", conflicts_with_all = ["part", "symbol", "replace",
        "replace_from", "near_line", "autofix", "delete"])]
    move_to: Option<PathBuf>,
    #[command(flatten)]
    patches: Patches,
    #[command(flatten)]
    doubts: Doubts,
    #[command(flatten)]
    tidy: Tidy,
    #[command(flatten)]
    change: Change,
    #[command(flatten)]
    pub(super) common: RequestOptions,
}

/// Edits of several files in one text. Without any other edit it is standard input, in any of the forms.
#[derive(Debug, Args)]
#[group(id = "patches", multiple = false, conflicts_with_all = ["file", "search", "search_from", "symbol", "replace",
    "replace_from", "near_line", "expected_hash"])]
struct Patches {
    /// Read SEARCH/REPLACE blocks from a file, each below the name of its file; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    blocks: Option<PathBuf>,
    /// Read a unified diff from a file; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    diff: Option<PathBuf>,
    /// Read a patch that begins with `*** Begin Patch` from a file; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    apply_patch: Option<PathBuf>,
}

impl Patches {
    /// The form and the text of the patch.
    fn read(self) -> io::Result<Option<(Form, String)>> {
        let forms = [(Form::Blocks, self.blocks), (Form::Diff, self.diff), (Form::ApplyPatch, self.apply_patch)];
        for (form, from) in forms {
            if let Some(patch) = text(None, from)? {
                return Ok(Some((form, patch)));
            }
        }
        Ok(None)
    }
}

#[derive(Debug, Args)]
pub struct WriteText {
    /// The file to write; missing directories are made.
    pub(super) file: PathBuf,
    /// The text; default without --from: standard input.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with = "from")]
    content: Option<String>,
    /// Read the text from a file; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Whether the text is added at the end of the file, replaces its content, or makes a new file. Default: append.
    #[arg(long)]
    mode: Option<Mode>,
    /// BLAKE3 hash of the file when it was read, or its first 12 digits: refuse to write if the file has another.
    #[arg(long)]
    expected_hash: Option<String>,
    /// Whether a text for a file that changed since it was read is refused, or merged with the changes of others.
    #[arg(long)]
    on_conflict: Option<OnConflict>,
    /// Also add the `mod` line that a new Rust file needs.
    #[arg(long)]
    declare: bool,
    #[command(flatten)]
    doubts: Doubts,
    #[command(flatten)]
    tidy: Tidy,
    #[command(flatten)]
    change: Change,
    #[command(flatten)]
    pub(super) common: RequestOptions,
}

#[derive(Debug, Args)]
pub struct RenameSymbol {
    /// Path of the symbol; a unique short form is enough.
    symbol: String,
    /// The new name, without a path.
    new_name: String,
    /// The file from which a short name is seen.
    #[arg(long)]
    pub(super) file: Option<PathBuf>,
    /// The package that defines the symbol.
    #[arg(long)]
    package: Option<String>,
    /// Whether places that may name the symbol prevent the rename, or stay as they are and are listed.
    #[arg(long)]
    possible: Option<PossiblePlaces>,
    #[command(flatten)]
    change: Change,
    #[command(flatten)]
    pub(super) common: RequestOptions,
}

#[derive(Debug, Args)]
struct Change {
    /// Report the result without changing anything.
    #[arg(long)]
    dry_run: bool,
    /// Whether a change that breaks something is reported or refused.
    #[arg(long)]
    on_break: Option<OnBreak>,
    #[command(flatten)]
    once: Once,
}

#[derive(Debug, Args)]
pub struct Once {
    /// Change something only once, however often the command runs with this key within a day.
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
}

impl Once {
    pub(super) fn over(self, call: Call) -> Call {
        Call { idempotency_key: self.idempotency_key, ..call }
    }
}

#[derive(Debug, Args)]
struct Doubts {
    /// Whether a text is refused or written that has a line such as `// ... existing code ...` in place of code.
    #[arg(long)]
    elisions: Option<Elisions>,
    /// Make an edit again whose text is already at its place.
    #[arg(long)]
    repeat: bool,
}

#[derive(Debug, Args)]
struct Tidy {
    /// Format the changed files with rustfmt or gofmt.
    #[arg(long)]
    format: bool,
    /// Remove their unused imports, and add missing imports that are unambiguous.
    #[arg(long)]
    fix_imports: bool,
}

macro_rules! words {
    ($($vis:vis $name:ident { $($word:ident),* })*) => { $(
        #[derive(Debug, Clone, Copy, ValueEnum)]
        $vis enum $name { $($word),* }

        impl $name {
            /// The file, as the server names it.
            pub(super) fn word(self) -> String {
                self.to_possible_value().map(|it| it.get_name().to_owned()).unwrap_or_default()
            }
        }
    )* };
}

pub(super) use words;

words! {
    At { Body, Whole, Before, After, Delete }
    Mode { Append, Overwrite, Create }
    OnBreak { Report, Reject }
    PossiblePlaces { Refuse, Leave }
    pub OnConflict { Refuse, Merge }
    Elisions { Refuse, Keep }
}

impl Change {
    fn over(self, call: Call) -> Call {
        let call = call.with("dry_run", self.dry_run.then_some(true));
        self.once.over(call.with("on_break", self.on_break.map(OnBreak::word)))
    }
}

impl Doubts {
    fn over(self, call: Call) -> Call {
        call.with("elisions", self.elisions.map(Elisions::word)).with("repeat", self.repeat.then_some(true))
    }
}

impl Tidy {
    fn over(self, call: Call) -> Call {
        call.with("format", self.format.then_some(true)).with("fix_imports", self.fix_imports.then_some(true))
    }
}

impl EditText {
    pub(super) fn call(self, target: &Target) -> io::Result<(Call, RequestOptions)> {
        let is_alone = self.file.is_none() && self.symbol.is_none() && self.fix.is_none();
        let patch = match self.patches.read()? {
            None if is_alone && self.search.is_none() && self.search_from.is_none() && !io::stdin().is_terminal() => {
                let piped = text(None, Some(PathBuf::from("-")))?.filter(|it| !it.trim().is_empty());
                piped.map(|patch| (patches::form(&patch), patch))
            }
            patch => patch,
        };
        if let Some((form, patch)) = patch {
            let call = Call::of(Name::Edit).sending(media_type(form), patch);
            let call = call.with("autofix", self.autofix).with("on_conflict", self.on_conflict.map(OnConflict::word));
            let call = self.doubts.over(self.tidy.over(call));
            return Ok((self.change.over(call), self.common));
        }
        let call = Call::of(Name::Edit)
            .with("file", target.maybe(self.file.as_ref())?)
            .with("search_context", text(self.search, self.search_from)?)
            .with("symbol", self.symbol)
            .with("package", self.package)
            .with("at", self.at.map(At::word))
            .with("fix", self.fix)
            .with("replacement", text(self.replace, self.replace_from)?)
            .with("delete", self.delete.then_some(true))
            .with("move_to", target.maybe(self.move_to.as_ref())?)
            .with("autofix", self.autofix)
            .with("near_line", self.near_line)
            .with("expected_hash", self.expected_hash)
            .with("on_conflict", self.on_conflict.map(OnConflict::word));
        Ok((self.change.over(self.doubts.over(self.tidy.over(call))), self.common))
    }
}

impl RenameSymbol {
    pub(super) fn call(self, target: &Target) -> io::Result<(Call, RequestOptions)> {
        let call = Call::of(Name::Rename)
            .with("symbol", Some(self.symbol))
            .with("new_name", Some(self.new_name))
            .with("file", target.maybe(self.file.as_ref())?)
            .with("package", self.package)
            .with("possible", self.possible.map(PossiblePlaces::word));
        Ok((self.change.over(call), self.common))
    }
}

impl WriteText {
    pub(super) fn call(self, target: &Target) -> io::Result<(Call, RequestOptions)> {
        let from = self.from.or_else(|| Some(PathBuf::from("-")));
        let call = Call::of(Name::Write)
            .with("name", Some(target.name(&self.file)?))
            .with("content", text(self.content, from)?)
            .with("mode", self.mode.map(Mode::word))
            .with("declare", self.declare.then_some(true))
            .with("expected_hash", self.expected_hash)
            .with("on_conflict", self.on_conflict.map(OnConflict::word));
        Ok((self.change.over(self.doubts.over(self.tidy.over(call))), self.common))
    }
}

/// A text from the command line or from a file.
pub(super) fn text(said: Option<String>, from: Option<PathBuf>) -> io::Result<Option<String>> {
    match (said, from) {
        (Some(said), _) => Ok(Some(said)),
        (None, Some(file)) if file.as_os_str() == "-" => {
            let mut text = String::new();
            io::stdin().lock().read_to_string(&mut text)?;
            Ok(Some(text))
        }
        (None, Some(file)) => std::fs::read_to_string(&file)
            .map(Some)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", file.display()))),
        (None, None) => Ok(None),
    }
}
