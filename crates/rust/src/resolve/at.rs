//! The definition that is declared or named at an offset of a text.

use ra_ap_hir::{FieldSource, HirFileId, Semantics};
use ra_ap_hir_expand::resolve_span;
use ra_ap_ide::{FileId, RootDatabase};
use ra_ap_ide_db::defs::{Definition, IdentClass, NameClass};
use ra_ap_syntax::ast::HasName as _;
use ra_ap_syntax::{AstNode as _, SyntaxKind, SyntaxToken, TextRange, ast};

use crate::names::instances;
use crate::names::root_imports;
use crate::syntax::positions::tokens_at;

/// The definition with its name at an offset: in the first crate of the default build that compiles it, or in the pinned
/// one.
pub(crate) fn definition_at<'db>(
    sema: &Semantics<'db, RootDatabase>,
    file: FileId,
    offset: usize,
) -> Option<Definition<'db>> {
    let elsewhere = || instances::in_later_crates(sema.db, file, |sema| defined_at(sema, file, offset));
    defined_at(sema, file, offset).or_else(elsewhere)
}

/// The same in any build: what the default build does not compile has the definition of a further build.
pub(crate) fn definition_in_any_build<'db>(
    sema: &Semantics<'db, RootDatabase>,
    file: FileId,
    offset: usize,
) -> Option<Definition<'db>> {
    let further = || instances::in_further_builds(sema.db, file, |sema| defined_at(sema, file, offset));
    definition_at(sema, file, offset).or_else(further)
}

fn defined_at<'db>(sema: &Semantics<'db, RootDatabase>, file: FileId, offset: usize) -> Option<Definition<'db>> {
    let tree = sema.parse_guess_edition(file);
    let token = name_token(&tree, offset)?;
    if let Some(field) = token.parent_ancestors().find_map(ast::TupleField::cast)
        && token.parent_ancestors().find_map(ast::Name::cast).is_none()
    {
        return sema.to_def(&field).map(Definition::Field);
    }
    let define = |token: SyntaxToken| {
        let name = ast::Name::cast(token.parent()?)?;
        NameClass::classify(sema, &name)?.defined().filter(|it| is_declared_by(sema.db, *it, &name))
    };
    if let Some(definition) = define(token.clone()) {
        return Some(definition);
    }
    sema.descend_into_macros_exact(token).into_iter().find_map(define)
}

/// rust-analyzer confuses a `mod` line that is switched off with one of the same name that is not.
fn is_declared_by<'db>(db: &'db RootDatabase, definition: Definition<'db>, name: &ast::Name) -> bool {
    let Definition::Module(module) = definition else { return true };
    let declared = module.declaration_source(db).and_then(|it| ast::HasName::name(&it.value));
    declared.is_none_or(|it| it.syntax().text_range() == name.syntax().text_range())
}

fn name_token(tree: &ast::SourceFile, offset: usize) -> Option<SyntaxToken> {
    let tokens = tokens_at(tree.syntax(), offset);
    tokens.clone().find(|it| it.kind() == SyntaxKind::IDENT).or_else(|| tokens.last())
}

/// Where the text has the name of a definition, also behind an `include!` and in the input of a macro.
pub(crate) fn name_of<'db>(
    sema: &Semantics<'db, RootDatabase>,
    definition: Definition<'db>,
) -> Option<(FileId, TextRange)> {
    macro_rules! name {
        ($($kind:ident),*) => {
            match definition {
                $(Definition::$kind(it) => sema.source(it)?.map(|it| it.name()),)*
                Definition::Field(it) => sema.source(it)?.map(|it| match it {
                    FieldSource::Named(it) => it.name(),
                    FieldSource::Pos(_) => None,
                }),
                _ => return None,
            }
        };
    }
    let name = name!(Adt, Const, EnumVariant, Function, Static, Trait, TypeAlias);
    let (file, range) = (name.file_id, name.value?.syntax().text_range());
    Some(match file {
        HirFileId::FileId(file) => (file.file_id(sema.db), range),
        HirFileId::MacroFile(call) => {
            let origin = resolve_span(sema.db, call.expansion_span_map(sema.db).span_at(range.start()));
            (origin.file_id.file_id(sema.db), origin.range)
        }
    })
}

/// The definition that a token declares or refers to.
pub(crate) fn definition_of_token<'db>(
    sema: &Semantics<'db, RootDatabase>,
    token: &SyntaxToken,
) -> Option<Definition<'db>> {
    let classify = |token: SyntaxToken| {
        let name = token.parent().and_then(ast::NameRef::cast);
        if let Some(meant) = name.and_then(|it| root_imports::meant_from_root(sema, &it)) {
            return meant.map(Definition::from);
        }
        IdentClass::classify_token(sema, &token)?.definitions_no_ops().into_iter().next()
    };
    sema.descend_into_macros_exact(token.clone()).into_iter().find_map(classify)
}
