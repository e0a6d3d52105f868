//! Elisions: `...`, `// existing code` and similar lines, with which a model leaves out what it does not want to
//! repeat. In a search text they match nothing. In a new text they would take the place of code: [`added_elision`]
//! compares the old text of a file with the new one.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use similar::{DiffOp, group_diff_ops};

use crate::diff;
use semdex_model::{Code, Error, Help, LostLine, Result};

/// An elision that a change adds where it removes more lines than it adds, or as many if it has dots: its line in the
/// new text, from 1, and the refusal.
///
/// The elision itself does not count as an added line. "Where" is, from narrow to wide: the changed lines around it,
/// these with the changes next to them, and all changes of the file.
pub fn added_elision(file: &str, old: &str, new: &str) -> Option<(usize, Error)> {
    let (before, after) = (lines(old), lines(new));
    let equal = |(a, b): &(&&str, &&str)| a == b;
    let start = before.iter().zip(&after).take_while(equal).count();
    let most = before.len().min(after.len()) - start;
    let end = before.iter().rev().zip(after.iter().rev()).take(most).take_while(equal).count();
    let (removed, written) = (&before[start..before.len() - end], &after[start..after.len() - end]);
    let mut suspects = suspects(after[..start].last().copied(), written.iter().copied());
    // Almost no change has one, and only then are the lines compared.
    if suspects.is_empty() {
        return None;
    }
    drop_known(&mut suspects, removed.iter().copied());
    let owned = |lines: &[&str]| lines.iter().map(|it| (*it).to_owned()).collect::<Vec<String>>();
    let changes = diff::of_lines(&owned(removed), &owned(written));
    let groups = [0, 1, written.len()].into_iter().flat_map(|gap| group_diff_ops(changes.clone(), gap));
    for group in groups {
        let changed = || group.iter().filter(|it| !matches!(it, DiffOp::Equal { .. }));
        let added: Vec<usize> = changed().flat_map(DiffOp::new_range).collect();
        let within = suspects.iter().filter(|it| added.contains(&(it.number - 1)));
        let Some(suspect) = within.max_by_key(|it| it.has_dots()) else { continue };
        let is_counted =
            |at: &&usize| !written[**at].trim().is_empty() && suspects.iter().all(|it| it.number - 1 != **at);
        let stays: Vec<&str> = added.iter().filter(is_counted).map(|&at| written[at].trim()).collect();
        let gone: Vec<usize> =
            changed().flat_map(DiffOp::old_range).filter(|&at| !removed[at].trim().is_empty()).collect();
        if gone.len() >= (stays.len() + usize::from(!suspect.has_dots())).max(1) {
            let lost = gone.into_iter().filter(|&at| !stays.contains(&removed[at].trim()));
            let lost = lost.map(|at| LostLine { line: start + at + 1, text: removed[at].to_owned() }).collect();
            let help = Help { file: Some(file.to_owned()), lost, ..Help::default() };
            let suspect = Suspect { number: start + suspect.number, ..*suspect };
            return Some((suspect.number, suspect.as_added(file, help.lost.len()).with_help(help)));
        }
    }
    None
}

/// The lines of a text. A carriage return ends a line if the text has no other line ends.
fn lines(text: &str) -> Vec<&str> {
    let sign = if text.contains('\n') { '\n' } else { '\r' };
    text.split_terminator(sign).map(|it| it.trim_end_matches('\r')).collect()
}

/// Refuses a search text with an elision that no place is equal to: an elision may be left out of a similar place, or be
/// the only line that makes it similar.
pub(super) fn refuse_in_similar(context: &str) -> Result<()> {
    suspects(None, context.lines()).first().map_or(Ok(()), |it| Err(it.in_search()))
}

/// Leaves out those that a text has as well, as often as it has them.
fn drop_known<'a>(suspects: &mut Vec<Suspect>, lines: impl Iterator<Item = &'a str>) {
    let mut known: FxHashMap<&str, usize> = FxHashMap::default();
    lines.for_each(|line| *known.entry(line.trim()).or_default() += 1);
    suspects.retain(|it| match known.get_mut(it.line) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    });
}

/// A line that is an elision: its number in the text, from 1.
struct Suspect<'a> {
    number: usize,
    line: &'a str,
    marker: Marker,
}

/// The elisions of some lines, the first of which follows a line.
fn suspects<'a>(mut before: Option<&'a str>, lines: impl Iterator<Item = &'a str>) -> Vec<Suspect<'a>> {
    let suspect = |(at, line): (usize, &'a str)| {
        let line = line.trim();
        let after = if line.is_empty() { None } else { before.replace(line) };
        let marker = marker(line).filter(|_| !(line == "..." && after.is_some_and(is_python_header)))?;
        Some(Suspect { number: at + 1, line, marker })
    };
    lines.enumerate().filter_map(suspect).collect()
}

/// Whether Python's `...` may be the body after this line: the last line of a function's or class's head, or of its
/// docstring.
fn is_python_header(line: &str) -> bool {
    let line = line.trim();
    let head = ["def ", "async def ", "class ", ")"].iter().any(|it| line.starts_with(it)) && line.ends_with(':');
    head || line.ends_with("\"\"\"") || line.ends_with("'''")
}

impl Suspect<'_> {
    /// An elision with dots is one even if nothing else is lost.
    fn has_dots(&self) -> bool {
        self.line.contains("..") || self.line.contains(['…', '⋮']) || self.marker == Marker::Collapsed
    }

    fn in_search(&self) -> Error {
        let Suspect { number, line, .. } = self;
        let detail = match self.marker {
            Marker::Elision => format!(
                "line {number} of `search_context` is an elision (`{line}`), and no place is equal to the search \
                 text. Elisions are not filled in: write the lines out in full, or send several smaller edits"
            ),
            Marker::Collapsed => format!(
                "line {number} of `search_context` is a collapsed body of a skeleton (`{line}`), not the file's text: \
                 read the symbol in full, or edit it as `{{symbol, at: body}}`"
            ),
        };
        Error::new(Code::InvalidRequest, detail)
    }

    fn as_added(&self, file: &str, lost: usize) -> Error {
        let Suspect { number, line, marker } = self;
        let what = match marker {
            Marker::Elision => "announces omitted code",
            Marker::Collapsed => "is a collapsed body of a skeleton",
        };
        let lost = if lost == 1 { "1 line".to_owned() } else { format!("{lost} lines") };
        let detail = format!(
            "nothing was written: line {number} of the new `{file}` (`{line}`) {what}, and the change would remove {lost} \
             of the file there (`lost`). Elisions are not filled in: write the lines out in full, or send several \
             smaller edits of the places that change. `elisions: \"keep\"` writes the line as it is"
        );
        Error::new(Code::Elided, detail)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marker {
    Elision,
    /// `{ /* 12 lines */ }`, as a skeleton prints it.
    Collapsed,
}

fn marker(line: &str) -> Option<Marker> {
    /// Longer lines are code or prose.
    const LONGEST: usize = 400;
    let line = line.trim();
    if line.len() > LONGEST {
        return None;
    }
    if block_comments(line).any(is_collapsed) {
        return Some(Marker::Collapsed);
    }
    let elided = match comment(line) {
        Some(said) => announces(said, Stands::Alone),
        None => {
            let beside = [" //", " #"].iter().filter_map(|open| Some(line.rsplit_once(open)?.1));
            // Between braces: `fn f() { ... }`, `{ // existing code }`.
            let braced = line.split_once('{').and_then(|it| it.1.trim_end_matches([';', ',']).strip_suffix('}'));
            let is_elided = |inner: &str| match comment(inner.trim()) {
                Some(said) => announces(said, Stands::Alone),
                None => inner.chars().all(|it| is_decoration(it) || is_dot(it)) && announces(inner, Stands::Bare),
            };
            announces(line, Stands::Bare)
                || beside.chain(block_comments(line)).any(|it| announces(it, Stands::Beside))
                || braced.is_some_and(is_elided)
        }
    };
    elided.then_some(Marker::Elision)
}

/// Brackets and lines around the text of an elision.
fn is_decoration(character: char) -> bool {
    character.is_whitespace() || "()[]{}<>-=*~#/_:`'\"".contains(character)
}

fn is_dot(character: char) -> bool {
    matches!(character, '.' | '…' | '⋮')
}

/// The text of a line that is only a comment.
fn comment(line: &str) -> Option<&str> {
    const CLOSED: &str = "/* */ <!-- --> {/* */} (* *) {{!-- --}} {{! }} {# #} <%-- --%> <%# %> @* *@ #| |# {- -}";
    const OPEN: &str = "// # -- ; % *";
    /// Words that begin a comment.
    const WORDS: [&str; 3] = ["REM ", "dnl ", "! "];
    let marks: Vec<&str> = CLOSED.split(' ').collect();
    let closed = marks.chunks(2).find_map(|it| line.strip_prefix(it[0])?.strip_suffix(it[1]));
    // Several of these signs are a heading.
    let open =
        || OPEN.split(' ').chain(WORDS).find_map(|open| line.strip_prefix(open)).filter(|_| !line.starts_with("##"));
    let said = closed.or_else(open)?;
    Some(said.trim_start_matches(['/', '!', '#', '-', ';', '%', '*']))
}

fn block_comments(line: &str) -> impl Iterator<Item = &str> {
    let between =
        move |open, close| line.split(open).skip(1).filter_map(move |rest: &str| Some(rest.split_once(close)?.0));
    between("/*", "*/").chain(between("<!--", "-->"))
}

/// `12 lines`, `14 tests, 320 lines`.
fn is_collapsed(said: &str) -> bool {
    said.trim().split(", ").all(|part| {
        let (number, what) = part.split_once(' ').unwrap_or((part, ""));
        number.parse::<usize>().is_ok() && matches!(what, "line" | "lines" | "test" | "tests")
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stands {
    /// A comment on a line of its own.
    Alone,
    /// A comment on a line with code, which may be about this code.
    Beside,
    /// No comment.
    Bare,
}

/// Whether a text replaces omitted code. A comment that only mentions existing code, and prose with dots at its end,
/// does not.
fn announces(said: &str, stands: Stands) -> bool {
    let said = said.trim();
    // `--snip--`, `<snip>`.
    let snip = said.trim_matches(|it: char| is_decoration(it) || it == '8' || it == '.');
    if (snip.len() < said.len() || stands == Stands::Alone) && ["snip", "snipped"].contains(&&*snip.to_lowercase()) {
        return true;
    }
    let bracketed = said.starts_with(['(', '[', '<', '{']) && said.ends_with([')', ']', '>', '}']);
    let core = said.trim_matches(is_decoration);
    let starts = core.starts_with("..") || core.starts_with(['…', '⋮']);
    let ends = core.ends_with("..") || core.ends_with(['…', '⋮']);
    let detached = starts && core.trim_start_matches(is_dot).starts_with(char::is_whitespace)
        || ends && core.trim_end_matches(is_dot).ends_with(char::is_whitespace);
    let words = core.trim_matches(|it| is_dot(it) || is_decoration(it));
    if words.is_empty() {
        let is_literal = said.starts_with(['"', '\'', '`']);
        return starts
            && (stands != Stands::Bare || !is_literal && (core == "…" || core == "⋮" || core.starts_with("...")));
    }
    let omission = Omission::of(words);
    let Omission { count, signs, strong, alone, nouns, others, begins } = omission;
    match stands {
        // `// ...and so on` continues a sentence; `// ... rest` is an elision.
        Stands::Alone if starts => ends || detached || begins,
        Stands::Alone => {
            ends && begins && count <= (if detached { 5 } else { 2 }) || omission.is_said(ends || bracketed)
        }
        Stands::Beside => {
            starts && (ends || begins || detached && signs > 0)
                || nouns > 0 && strong && omission.is_said(ends || bracketed)
        }
        Stands::Bare => {
            let is_prose = words.chars().all(|it| it.is_alphanumeric() || it.is_whitespace() || "'’-,".contains(it));
            let by_words = begins || omission.is_said(bracketed);
            let dotted = starts && (detached || ends && by_words) && (ends || by_words)
                || ends && (detached || bracketed) && by_words;
            // `The rest of the file remains unchanged.`
            let is_sentence =
                || (signs > 2 || signs > 1 && alone) && nouns > 0 && others == 0 && omission.is_said(false);
            is_prose && (dotted || bracketed && strong && count > 1 && omission.is_said(true) || is_sentence())
        }
    }
}

/// How much the words of a comment sound like an omission.
#[derive(Default)]
struct Omission {
    count: usize,
    /// Words that say what happens to the code that is left out.
    signs: usize,
    /// One of the signs says so with the name of what is left out.
    strong: bool,
    /// One of them says so by itself.
    alone: bool,
    /// Words that name the code that is left out.
    nouns: usize,
    /// Other words.
    others: usize,
    /// The first word, after an article, is a sign.
    begins: bool,
}

/// An omission without any other word.
const ALONE: &str = "\
    unchanged untouched unmodified omitted elided snipped truncated abbreviated etc unverändert \
    unveränderte unveränderter unverändertes ausgelassen weggelassen gekürzt usw inchangé inchangée \
    inchangés inchangées omis omise omises inalterado inalterada inalterados inalteradas omitido omitida \
    omitidos omitidas invariato invariata invariati invariate omesso ongewijzigd weggelaten oförändrat \
    uændret uendret neschimbat változatlan değişmedi 省略 略 不变 不變 不改 未变 未修改 没有变化 没有改动 変更なし 생략";
/// An omission together with the name of what is left out.
const STRONG: &str = "\
    existing rest remaining remainder brevity continues restliche restlichen restlicher restliches übrige \
    übrigen übriger bestehende bestehenden bestehender bestehendes vorhandene vorhandenen vorhandener \
    vorhandenes reste restant existant existante existants existantes resto restante existente existentes \
    esistente esistenti rimanente bestaande resterende resten reszta pozostały pozostałe istniejący \
    istniejące zbytek existující остальной остальная остальное остальные существующий существующие \
    прежний решта kalan mevcut sisa restul lại باقي बाकी 其余 其餘 剩余 剩餘 现有 現有 原有 已有 既存 残り 나머지 기존";
/// An omission if there are two of them.
const WEAK: &str = "\
    other others same previous original more here before else stays remains remain keep kept leave alone \
    identical andere anderen weitere gleich bleibt bleiben autre autres identique igual otros otras \
    outros outras altri altre permanece permanecen queda rimane rimangono hetzelfde blijft другие 其他 其它 \
    之前 原来 保持 维持 相同 一样 此处 后续 後續 その他 以下 同じ 前 中 そのまま 이하 동일 그대로 유지";
/// What is left out. Words for data, such as entries, are those of ordinary comments.
const NOUNS: &str = "\
    code file function method class classes implementation body bodies module logic field import handler \
    test case content section definition item everything property properties markup html css jsx style \
    rule config configuration query route variant arm hook component constructor template page document step column \
    declaration statement script form prop datei klasse methode methoden funktion funktionen fichier \
    méthode fonction contenu contenido código archivo método función funciones arquivo função funções \
    codice metodo metodi funzione funzioni bestand kod kodu koden код кода коду метод методы функция \
    функции файл файла kode codului mã الكود कोड 代码 代碼 程式碼 方法 函数 函數 逻辑 邏輯 部分 文件 内容 コード メソッド 関数 処理 ファイル \
    스타일 样式 코드 메서드 함수 부분 파일 로직";
const BETWEEN: &str = "\
    the this of is are as for goes go your all left and in above below todo be any my our to it stay with \
    no from on continue insert add paste line details needed enum match der die das von hier le la les du \
    de des est el los las del o os do da il dei van av geri phần còn của 的 与 和 以 の は も と 는 은 가 이 를 와 과";
/// The same as `unchanged`.
const PHRASES: &str = "\
    as is|as before|no change|no changes|no other changes|no modifications|not shown|\
    trimmed for brevity|skipped for brevity|shortened for brevity|for brevity|\
    wie zuvor|wie vorher|wie bisher|wie gehabt|comme avant|sans changement|sans modification|\
    sin cambios|sin modificaciones|igual que antes|sem alterações|sem mudanças|nessuna modifica|senza modifiche|\
    come prima|bez zmian|beze změn|beze změny|без изменений|без змін|không thay đổi|giữ nguyên|tidak berubah|\
    변경 없음|بدون تغيير";
/// The same as `etc`.
const SO_ON: &str = "and so on|and so forth|et cetera|und so weiter";

/// What a word says about omitted code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Alone,
    Strong,
    Weak,
    Noun,
    Between,
}

fn meaning(word: &str) -> Option<Meaning> {
    static MEANINGS: LazyLock<FxHashMap<&str, Meaning>> = LazyLock::new(|| {
        use Meaning::{Alone, Between, Noun, Strong, Weak};
        let lists = [(ALONE, Alone), (STRONG, Strong), (WEAK, Weak), (NOUNS, Noun), (BETWEEN, Between)];
        lists.into_iter().flat_map(|(list, meaning)| list.split(' ').map(move |word| (word, meaning))).collect()
    });
    MEANINGS.get(word).copied()
}

/// A word in the parts that the lists have, if its script puts no blanks between words.
fn parts(mut word: &str) -> Vec<&str> {
    const IDEOGRAPHS: char = '\u{2e80}';
    let mut parts = Vec::new();
    while word.contains(|it: char| it >= IDEOGRAPHS) {
        let known = [ALONE, STRONG, WEAK, NOUNS, BETWEEN].into_iter().flat_map(|list| list.split(' '));
        let longest = known.filter(|it| word.starts_with(it)).map(str::len).max();
        let length = longest.or_else(|| word.chars().next().map(char::len_utf8)).unwrap_or(word.len());
        parts.push(&word[..length]);
        word = &word[length..];
    }
    if !word.is_empty() {
        parts.push(word);
    }
    parts
}

impl Omission {
    fn of(words: &str) -> Omission {
        let lower = words.to_lowercase();
        let words = lower.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
        let mut text = format!(" {} ", words.collect::<Vec<_>>().join(" "));
        for (phrases, word) in [(PHRASES, " unchanged "), (SO_ON, " etc ")] {
            for phrase in phrases.split('|').filter(|it| lower.contains(it)) {
                text = text.replace(&format!(" {phrase} "), word);
            }
        }
        // `lines 10 to 50 unchanged`.
        let names_lines = text.contains(" line");
        let mut it = Omission::default();
        for word in text.split_whitespace().flat_map(parts) {
            it.count += 1;
            let is_plural = |it: &Meaning| matches!(it, Meaning::Noun | Meaning::Between);
            let singular = || word.strip_suffix('s').and_then(meaning).filter(is_plural);
            match meaning(word).or_else(singular) {
                Some(sign @ (Meaning::Alone | Meaning::Strong | Meaning::Weak)) => {
                    // `// ...and so on` continues a sentence.
                    it.begins |= it.signs + it.nouns + it.others == 0 && word != "etc";
                    it.signs += 1;
                    it.strong |= sign != Meaning::Weak;
                    it.alone |= sign == Meaning::Alone;
                }
                Some(Meaning::Noun) => it.nouns += 1,
                Some(Meaning::Between) => {}
                None if names_lines && word.starts_with(|it: char| it.is_ascii_digit()) => {}
                None => it.others += 1,
            }
        }
        it
    }

    /// `existing code`, `other methods unchanged`: says that something is left out, and says nothing else. `marked`:
    /// dots or brackets say so too.
    fn is_said(&self, marked: bool) -> bool {
        /// More words are a sentence about something.
        const MOST: usize = 10;
        let signs = self.signs + usize::from(marked && self.strong);
        let names_code = self.nouns > 0 || self.alone;
        let says = signs > 1 || signs == 1 && self.strong && (self.nouns > 0 || self.alone && self.others == 0);
        says && self.count <= MOST && self.others < signs && (self.others == 0 || names_code)
    }
}

#[cfg(test)]
mod tests;
