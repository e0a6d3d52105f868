//! The declarations that a change alters, found by comparing the edited files before and after it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::grammar::Code;
use super::queries::ServerQueries;
use super::symbol_paths;
use semdex_engine::files::{File, Files};
use semdex_engine::{Result, blocking};
use semdex_model::{ChangeKind, Changed, FileEdit, OutlineItem, Span, SymbolKind};
use semdex_text::words::words;

/// The most characters of a declaration's signature that are reported.
const MOST_OF_A_HEAD: usize = 400;

/// A declaration that a change alters.
pub(crate) struct ChangedDeclaration {
    pub file: Arc<File>,
    pub item: OutlineItem,
    pub changed: Changed,
    /// Its text before and after. Empty if it does not exist there.
    pub texts: [String; 2],
    /// Its name after a rename. Existing uses of that name then refer to it.
    pub new_name: Option<String>,
}

/// Compares the declarations of the edited files before and after the change.
pub(crate) async fn changed_declarations(
    queries: &ServerQueries,
    after: &Arc<Files>,
    edits: &[FileEdit],
) -> Result<Vec<ChangedDeclaration>> {
    let mut all = Vec::new();
    for edit in edits {
        let (before, now) = (queries.files.get(&edit.file).cloned(), after.get(&edit.file).cloned());
        let (old, old_code) = declarations(queries, before.clone()).await?;
        let (new, new_code) = declarations(queries, now.clone()).await?;
        let text = |file: &Option<Arc<File>>, it: &OutlineItem| {
            file.as_ref().and_then(|file| file.text.get(it.span.start..it.span.end)).unwrap_or_default().to_owned()
        };
        let mut gone: Vec<&OutlineItem> = Vec::new();
        let mut paired: BTreeSet<usize> = BTreeSet::new();
        for item in &old {
            let same = new
                .iter()
                .enumerate()
                .find(|(at, it)| !paired.contains(at) && symbol_paths::chain(it) == symbol_paths::chain(item));
            let Some((at, other)) = same else {
                gone.push(item);
                continue;
            };
            paired.insert(at);
            let texts = [text(&before, item), text(&now, other)];
            let mut signatures = [item.signature.clone(), other.signature.clone()];
            let kind = if item.signature != other.signature || item.kind != other.kind {
                ChangeKind::Signature
            } else if texts[0] == texts[1]
                || significant_text(old_code.as_ref(), item) == significant_text(new_code.as_ref(), other)
            {
                continue;
            } else if let Some((kind, heads)) =
                head_change([head(old_code.as_ref(), item), head(new_code.as_ref(), other)])
            {
                signatures = heads;
                kind
            } else {
                // A declaration that contains a change is not changed itself.
                let encloses = item.children.iter().any(|it| it.span != item.span) && item.body.is_some();
                if encloses && !matches!(item.kind, SymbolKind::Function | SymbolKind::Method) {
                    continue;
                }
                ChangeKind::Body
            };
            let [was, is] = signatures.map(Some);
            all.extend(before.clone().map(|file| ChangedDeclaration { texts, ..entry(file, item, kind, was, is) }));
        }
        let fresh: Vec<&OutlineItem> =
            new.iter().enumerate().filter(|(at, _)| !paired.contains(at)).map(|it| it.1).collect();
        let mut renamed: BTreeSet<usize> = BTreeSet::new();
        for item in gone {
            let alike = fresh.iter().find(|it| {
                !renamed.contains(&it.name_span.start)
                    && it.kind == item.kind
                    && it.container == item.container
                    && it.signature.replace(&it.name, &item.name) == item.signature
            });
            let was = Some(item.signature.clone());
            let (kind, is) = match alike {
                Some(alike) => {
                    renamed.insert(alike.name_span.start);
                    (ChangeKind::Renamed, Some(alike.signature.clone()))
                }
                None => (ChangeKind::Removed, None),
            };
            let new_name = alike.map(|it| it.name.clone());
            all.extend(before.clone().map(|file| ChangedDeclaration { new_name, ..entry(file, item, kind, was, is) }));
        }
        for item in fresh.into_iter().filter(|it| !renamed.contains(&it.name_span.start)) {
            all.extend(
                now.clone().map(|file| entry(file, item, ChangeKind::Added, None, Some(item.signature.clone()))),
            );
        }
    }
    Ok(all)
}

/// A file and its parsed code.
type Coded = (Arc<File>, Code);

/// The declarations of a file, and its parsed code.
async fn declarations(queries: &ServerQueries, file: Option<Arc<File>>) -> Result<(Vec<OutlineItem>, Option<Coded>)> {
    let Some(file) = file else { return Ok((Vec::new(), None)) };
    let grammar = queries.grammar_of(&file.path);
    blocking(move || {
        let mut items: Vec<OutlineItem> = Vec::new();
        file.outline().walk(&mut |it| items.push(it.clone()));
        let code = Code::new(grammar, &file.text);
        Ok((items, Some((file, code))))
    })
    .await
}

/// The start of a declaration, including parts that do not belong to its signature, such as `export` and decorators.
#[derive(Default)]
struct Head {
    before_name: String,
    /// As it is reported.
    whole: String,
}

fn head(code: Option<&Coded>, item: &OutlineItem) -> Head {
    let Some((file, code)) = code else { return Head::default() };
    let until = |end| code.without_comments(&file.text, Span::new(item.span.start, end));
    let whole = until(item.body.map_or(item.span.end, |body| body.start));
    let whole = whole.trim_end_matches([' ', '{', ':', ';']).chars().take(MOST_OF_A_HEAD).collect();
    Head { before_name: until(item.name_span.start), whole }
}

/// The declaration's text without comments and layout.
fn significant_text(code: Option<&Coded>, item: &OutlineItem) -> Option<String> {
    code.map(|(file, code)| code.significant_text(&file.text, item.span))
}

/// The kind of change if the two heads differ before the name.
fn head_change([was, is]: [Head; 2]) -> Option<(ChangeKind, [String; 2])> {
    let words = |it: &Head| {
        let words = it.before_name.split(' ').filter(|it| !matches!(*it, "export" | "default"));
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    let kind = if words(&was) == words(&is) { ChangeKind::Visibility } else { ChangeKind::Signature };
    (was.before_name != is.before_name).then_some((kind, [was.whole, is.whole]))
}

fn entry(
    file: Arc<File>,
    item: &OutlineItem,
    kind: ChangeKind,
    before: Option<String>,
    after: Option<String>,
) -> ChangedDeclaration {
    let changed = Changed { symbol: symbol_paths::path(&file.path, item), kind, before, after };
    ChangedDeclaration { file, item: item.clone(), changed, texts: Default::default(), new_name: None }
}

/// Whether the change of a declaration is invisible outside of it, except for the fields that it assigns.
pub(crate) fn is_sealed(altered: &ChangedDeclaration) -> bool {
    let item = &altered.item;
    altered.changed.kind == ChangeKind::Body && is_callable(item) && declares_result(&altered.file, item)
}

pub(crate) fn is_callable(item: &OutlineItem) -> bool {
    matches!(item.kind, SymbolKind::Function | SymbolKind::Method)
}

/// Whether the signature of a function contains its result type, so that its body cannot change the type.
pub(crate) fn declares_result(file: &File, item: &OutlineItem) -> bool {
    let head = item.signature.as_str();
    let tail = head.rsplit_once(')').map_or("", |it| it.1);
    match file.language.map(|it| it.name) {
        Some("python") => head.contains("->"),
        Some("typescript") => tail.trim_start().starts_with(':'),
        Some("c" | "java") => true,
        Some("cpp" | "csharp") => !words(head).any(|it| matches!(it.1, "auto" | "constexpr" | "template")),
        _ => false,
    }
}
