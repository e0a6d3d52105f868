//! The `cfg` conditions in a file, with the lines that each decides about: of attributes, and in the input of macros that
//! choose between blocks. A condition of a module holds in all files of the module.

use std::collections::BTreeMap;

use ra_ap_cfg::CfgExpr;
use ra_ap_syntax::algo::non_trivia_sibling;
use ra_ap_syntax::ast::HasName as _;
use ra_ap_syntax::{
    AstNode as _, AstToken as _, Direction, Edition, SourceFile, SyntaxElement, SyntaxKind, SyntaxNode, SyntaxToken, T,
    ast,
};
use semdex_engine::files::Files;

use crate::LANGUAGE;
use crate::syntax::attributes::{attributes_of, cfg_condition};
use crate::syntax::is_read_by_tools;

/// The conditions in a file.
#[derive(Default)]
pub(super) struct Conditions {
    /// Each together with those around it in the file, and the number of lines that it decides about.
    pub(super) all: Vec<(CfgExpr, usize)>,
    /// Those of modules in files of their own.
    pub(super) modules: Vec<ModuleCondition>,
}

pub(super) struct ModuleCondition {
    files: ModuleFiles,
    /// The module's own file has it (`#![cfg(…)]`), not its declaration.
    is_inner: bool,
    condition: CfgExpr,
}

/// Where the files of a module are: the path of its file without the extension.
struct ModuleFiles(String);

impl ModuleFiles {
    /// Of a module that a file declares.
    fn of(file: &str, module: &str) -> ModuleFiles {
        let ModuleFiles(directory) = ModuleFiles::in_file(file);
        ModuleFiles(format!("{directory}/{module}").trim_start_matches('/').to_owned())
    }

    /// Of the module whose text a file has.
    fn in_file(file: &str) -> ModuleFiles {
        let (directory, name) = file.rsplit_once('/').unwrap_or(("", file));
        let own = match name.trim_end_matches(".rs") {
            "mod" | "lib" | "main" => directory.to_owned(),
            own => format!("{directory}/{own}"),
        };
        ModuleFiles(own.trim_start_matches('/').to_owned())
    }

    fn contains(&self, path: &str) -> bool {
        path.strip_prefix(&*self.0).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
    }
}

/// The conditions under which a file is compiled, by the modules that it is a part of. A module is compiled if one of its
/// declarations is.
pub(super) fn of_modules_around(file: &str, modules: &[ModuleCondition]) -> Vec<CfgExpr> {
    let mut around: BTreeMap<(&str, bool), Vec<CfgExpr>> = BTreeMap::new();
    for it in modules.iter().filter(|it| it.files.contains(file)) {
        around.entry((&it.files.0, it.is_inner)).or_default().push(it.condition.clone());
    }
    around.into_values().map(|it| CfgExpr::Any(it.into())).collect()
}

pub(super) fn conditions(files: &Files, file: &str, tree: &SyntaxNode) -> Conditions {
    let mut found = Conditions::default();
    let lines = |it: &SyntaxNode| it.text().to_string().lines().count();
    let inner: Vec<CfgExpr> = attributes_of(tree).filter_map(|it| cfg_condition(&it)).collect();
    if !inner.is_empty() {
        let files = ModuleFiles::in_file(file);
        found.modules.push(ModuleCondition { files, is_inner: true, condition: CfgExpr::All(inner.into()) });
    }
    for attribute in tree.descendants().filter_map(ast::Attr::cast) {
        let Some(owner) = attribute.syntax().parent().filter(|it| !is_compile_error(it)) else { continue };
        let (condition, lines) = match attribute.meta() {
            Some(ast::Meta::CfgMeta(_)) => {
                let Some(condition) = cfg_condition(&attribute) else { continue };
                let module = ast::Module::cast(owner.clone()).filter(|it| it.item_list().is_none());
                let mut below = if owner == *tree { lines_below(files, &ModuleFiles::in_file(file)) } else { 0 };
                if let Some(name) = module.and_then(|it| it.name()) {
                    let module = ModuleFiles::of(file, name.text());
                    below = lines_below(files, &module);
                    let own: Vec<CfgExpr> = attributes_of(&owner).filter_map(|it| cfg_condition(&it)).collect();
                    let condition = with_those_around(attribute.syntax(), CfgExpr::All(own.into()));
                    found.modules.push(ModuleCondition { files: module, is_inner: false, condition });
                }
                (condition, lines(&owner) + below)
            }
            Some(ast::Meta::CfgAttrMeta(it)) => {
                let Some(predicate) = it.cfg_predicate() else { continue };
                let below: usize = it.metas().filter_map(|it| path_in(&it)).map(|it| lines_at(files, file, &it)).sum();
                // Other attributes of the compiler name nothing, and add no code.
                if below == 0 && it.metas().all(|it| is_read_by_tools(&it.syntax().text().to_string())) {
                    continue;
                }
                (CfgExpr::parse_from_ast(predicate), 1 + below)
            }
            _ => continue,
        };
        found.all.push((with_those_around(attribute.syntax(), condition), lines));
    }
    // `cfg_if!` and its like have attributes in their input, `cfg_select!` has conditions.
    for tokens in tree.descendants().filter(|it| it.kind() == SyntaxKind::TOKEN_TREE) {
        for (condition, block) in branches(&tokens).into_iter().chain(arms(&tokens)) {
            let condition = with_those_around(&block, condition);
            let mut below = 0;
            for name in declared_modules(&block) {
                let module = ModuleFiles::of(file, &name);
                below += lines_below(files, &module);
                found.modules.push(ModuleCondition { files: module, is_inner: false, condition: condition.clone() });
            }
            found.all.push((condition, lines(&block) + below));
        }
        let is_branch = before(&tokens)
            .and_then(|it| non_trivia_sibling(it, Direction::Prev))
            .is_some_and(|it| it.kind() == T![if]);
        let Some(condition) = attribute_in_tokens(&tokens).filter(|_| !is_branch) else { continue };
        let block = tokens.siblings(Direction::Next).nth(1);
        found.all.push((with_those_around(&tokens, condition), block.map_or(1, |it| lines(&it))));
    }
    found
}

/// The condition of `#[cfg(…)]` in the input of a macro, of which this is the part in brackets.
fn attribute_in_tokens(tokens: &SyntaxNode) -> Option<CfgExpr> {
    let text = tokens.text().to_string();
    let is_attribute = before(tokens).is_some_and(|it| it.kind() == T![#]);
    if !is_attribute || !text.starts_with("[cfg") {
        return None;
    }
    condition_of(&format!("#{text}"))
}

/// The condition of an attribute as text.
fn condition_of(attribute: &str) -> Option<CfgExpr> {
    let parsed = SourceFile::parse(&format!("{attribute} fn f() {{}}"), Edition::CURRENT).tree();
    parsed.syntax().descendants().filter_map(ast::Attr::cast).find_map(|it| cfg_condition(&it))
}

/// The blocks of `cfg_select! { condition => { … } _ => { … } }`, each with the condition under which it is compiled.
fn arms(tokens: &SyntaxNode) -> Vec<(CfgExpr, SyntaxNode)> {
    let call = tokens.parent().and_then(ast::MacroCall::cast).and_then(|it| it.path()?.segment()?.name_ref());
    if call.is_none_or(|it| it.text() != "cfg_select") {
        return Vec::new();
    }
    let inner = without_trivia(tokens);
    let is_arrow = |it: &[SyntaxElement]| match it {
        [one, ..] if one.kind() == T![=>] => Some(1),
        [one, two, ..] if one.kind() == T![=] && two.kind() == T![>] => Some(2),
        _ => None,
    };
    let is_comma = |it: &SyntaxElement| it.kind() == T![,];
    let (mut found, mut earlier) = (Vec::new(), Vec::new());
    let mut rest = inner.get(1..).unwrap_or_default();
    while let Some((at, length)) = (0..rest.len()).find_map(|at| Some((at, is_arrow(&rest[at..])?))) {
        let written: String = rest[..at].iter().map(ToString::to_string).collect();
        let own = if written == "_" { None } else { condition_of(&format!("#[cfg({written})]")) };
        rest = &rest[at + length..];
        // A block needs no comma after it, anything else does.
        let length = match rest.first().and_then(|it| it.as_node()) {
            Some(block) => {
                found.push((with_earlier(&earlier, own.as_ref()), block.clone()));
                1 + usize::from(rest.get(1).is_some_and(is_comma))
            }
            None => rest.iter().position(is_comma).map_or(rest.len(), |it| it + 1),
        };
        earlier.extend(own);
        rest = &rest[length..];
    }
    found
}

/// Where an own condition holds and none of the earlier ones.
fn with_earlier(earlier: &[CfgExpr], own: Option<&CfgExpr>) -> CfgExpr {
    let not_earlier = earlier.iter().map(|it| CfgExpr::Not(Box::new(it.clone())));
    let all: Vec<CfgExpr> = not_earlier.chain(own.cloned()).collect();
    CfgExpr::All(all.into())
}

/// The blocks of each `if #[cfg(…)] { … } else if #[cfg(…)] { … } else { … }` in the input of a macro, each with the
/// condition under which it is compiled.
fn branches(tokens: &SyntaxNode) -> Vec<(CfgExpr, SyntaxNode)> {
    let inner = without_trivia(tokens);
    let mut found = Vec::new();
    let mut rest = inner.as_slice();
    while let Some(at) = rest.iter().position(|it| it.kind() == T![if]) {
        rest = &rest[at + 1..];
        let mut earlier = Vec::new();
        while let Some((own, block, behind)) = branch(rest) {
            found.push((with_earlier(&earlier, Some(&own)), block.clone()));
            earlier.push(own);
            rest = behind;
            match rest {
                [otherwise, next, ..] if otherwise.kind() == T![else] && next.kind() == T![if] => rest = &rest[2..],
                [otherwise, SyntaxElement::Node(block), ..] if otherwise.kind() == T![else] && is_block(block) => {
                    found.push((with_earlier(&earlier, None), block.clone()));
                    break;
                }
                _ => break,
            }
        }
    }
    found
}

/// `#[cfg(…)] { … }` at the beginning: the condition, the block, and what is behind it.
fn branch(rest: &[SyntaxElement]) -> Option<(CfgExpr, &SyntaxNode, &[SyntaxElement])> {
    let [mark, SyntaxElement::Node(attribute), SyntaxElement::Node(block), behind @ ..] = rest else { return None };
    let own = attribute_in_tokens(attribute).filter(|_| mark.kind() == T![#] && is_block(block))?;
    Some((own, block, behind))
}

fn is_block(tokens: &SyntaxNode) -> bool {
    tokens.first_token().is_some_and(|it| it.kind() == T!['{'])
}

fn without_trivia(tokens: &SyntaxNode) -> Vec<SyntaxElement> {
    tokens.children_with_tokens().filter(|it| !it.kind().is_trivia()).collect()
}

/// The modules in files of their own that a block in the input of a macro declares.
fn declared_modules(block: &SyntaxNode) -> Vec<String> {
    let tokens = block.descendants_with_tokens().filter_map(|it| it.into_token());
    let tokens: Vec<SyntaxToken> = tokens.filter(|it| !it.kind().is_trivia()).collect();
    let declared = |it: &[SyntaxToken]| match it {
        [keyword, name, end] if keyword.kind() == T![mod] && end.kind() == T![;] => Some(name.text().to_owned()),
        _ => None,
    };
    tokens.windows(3).filter_map(declared).collect()
}

/// Whether this is `compile_error!`: no build has it.
fn is_compile_error(node: &SyntaxNode) -> bool {
    let call = match node.kind() {
        SyntaxKind::EXPR_STMT | SyntaxKind::MACRO_EXPR => node.descendants().find_map(ast::MacroCall::cast),
        _ => ast::MacroCall::cast(node.clone()),
    };
    let name = call.and_then(|it| it.path()?.segment()?.name_ref());
    name.is_some_and(|it| it.text() == "compile_error")
}

fn before(node: &SyntaxNode) -> Option<SyntaxElement> {
    non_trivia_sibling(node.clone().into(), Direction::Prev)
}

fn with_those_around(node: &SyntaxNode, condition: CfgExpr) -> CfgExpr {
    let around = node.ancestors().skip(2).flat_map(|it| attributes_of(&it).collect::<Vec<_>>());
    let mut all: Vec<CfgExpr> = around.filter_map(|it| cfg_condition(&it)).collect();
    if all.is_empty() {
        return condition;
    }
    all.push(condition);
    CfgExpr::All(all.into())
}

/// The file in `path = "…"`.
fn path_in(meta: &ast::Meta) -> Option<String> {
    let ast::Meta::KeyValueMeta(meta) = meta else { return None };
    meta.path()?.as_single_name_ref().filter(|it| it.text() == "path")?;
    let Some(ast::Expr::Literal(literal)) = meta.expr() else { return None };
    Some(ast::AnyString::cast(literal.token())?.value().ok()?.into_owned())
}

/// The number of lines in a file, by its path from a file next to it.
fn lines_at(files: &Files, file: &str, path: &str) -> usize {
    let directory = file.rsplit_once('/').map_or("", |it| it.0);
    let path = format!("{directory}/{path}");
    files.get(path.trim_start_matches('/')).map_or(0, |it| it.text.lines().count())
}

/// The number of lines in the files of a module.
fn lines_below(files: &Files, module: &ModuleFiles) -> usize {
    files.of(LANGUAGE).filter(|it| module.contains(&it.path)).map(|it| it.text.lines().count()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_of_macros_have_conditions() {
        let found = |text: &str| -> Vec<String> {
            let tree = SourceFile::parse(text, Edition::CURRENT).tree();
            let tokens = tree.syntax().descendants().find(|it| it.kind() == SyntaxKind::TOKEN_TREE).unwrap();
            let all = branches(&tokens).into_iter().chain(arms(&tokens));
            all.map(|(condition, block)| format!("{condition} {:?}", declared_modules(&block))).collect()
        };
        assert_eq!(
            found("cfg_if! { if #[cfg(unix)] { mod a; } else if #[cfg(b)] { mod b; mod c; } else { mod d; } }"),
            [r#"all(unix) ["a"]"#, r#"all(not(unix), b) ["b", "c"]"#, r#"all(not(unix), not(b)) ["d"]"#]
        );
        assert_eq!(
            found("cfg_select! { all(unix, b) => { mod a; } c => 1, _ => { mod d; } }"),
            [r#"all(all(unix, b)) ["a"]"#, r#"all(not(all(unix, b)), not(c)) ["d"]"#]
        );
        assert_eq!(found("other! { unix => { mod a; } }"), [""; 0]);
        assert_eq!(found("other! { if x { mod a; } else { mod b; } }"), [""; 0]);
    }
}
