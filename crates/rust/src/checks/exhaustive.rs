//! Patterns with numbers, texts, ranges and slices that leave values out (E0004, E0005): rust-analyzer does not check a
//! match that has one.
//!
//! The patterns are the rows of a matrix, which is taken apart column by column. What is not certain counts as taken: a
//! constant by its name, a pattern that a macro makes, and a variant that may have no value.

use ra_ap_hir::{Adt, EnumVariant, HasAttrs as _, HasCrate as _, ModuleDef, PathResolution, Type, Variant};
use ra_ap_syntax::ast::RangeItem as _;
use ra_ap_syntax::{AstNode as _, SyntaxKind, SyntaxNode, ast};

use super::report;
use crate::finding::RawDiagnostic;
use crate::finding::code::Code;
use crate::view::Context;

/// The most rows that are looked at for one match, those of smaller matrices included.
const MOST_ROWS: usize = 50_000;
/// These are no characters.
const SURROGATES: (i128, i128) = (0xD800, 0xDFFF);

/// For a match, a `for` loop, a `let` or a closure.
pub(crate) fn values_left_out(cx: &Context<'_>, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    match node.kind() {
        SyntaxKind::MATCH_EXPR => out.extend(ast::MatchExpr::cast(node.clone()).and_then(|it| left_out_of(cx, &it))),
        SyntaxKind::FOR_EXPR => {
            let pattern = ast::ForExpr::cast(node.clone()).and_then(|it| it.pat());
            out.extend(pattern.and_then(|it| refutable(cx, &it, "`for` loop binding")));
        }
        SyntaxKind::LET_STMT => {
            // rust-analyzer judges what has no slices.
            let statement = ast::LetStmt::cast(node.clone()).filter(|it| it.let_else().is_none());
            let pattern = statement.and_then(|it| it.pat());
            let of_slices = |it: &ast::Pat| it.syntax().descendants().any(|it| ast::SlicePat::can_cast(it.kind()));
            out.extend(pattern.filter(of_slices).and_then(|it| refutable(cx, &it, "local binding")));
        }
        SyntaxKind::CLOSURE_EXPR => {
            let list = ast::ClosureExpr::cast(node.clone()).and_then(|it| it.param_list());
            let patterns = list.into_iter().flat_map(|it| it.params()).filter_map(|it| it.pat());
            out.extend(patterns.filter_map(|it| refutable(cx, &it, "closure argument")));
        }
        _ => {}
    }
}

fn left_out_of(cx: &Context<'_>, of: &ast::MatchExpr) -> Option<RawDiagnostic> {
    let arms: Vec<ast::MatchArm> = of.match_arm_list()?.arms().collect();
    let is_unchecked = |it: &ast::MatchArm| it.pat().is_some_and(|it| has_values(it.syntax()));
    if !arms.iter().any(is_unchecked) {
        return None;
    }
    let scrutinee = of.expr()?;
    let ty = cx.sema.type_of_expr(&scrutinee)?.original;
    let mut rows = Vec::new();
    for arm in arms.iter().filter(|it| it.guard().is_none()) {
        rows.push(vec![shape(cx, &arm.pat()?)?]);
    }
    let is_left_out = Search { cx, ty: &ty, rows: 0 }.is_left_out(rows)?;
    let message = "non-exhaustive patterns: not all values are covered".to_owned();
    is_left_out.then(|| report::raw_diagnostic(cx, scrutinee.syntax(), Code::E0004, message))
}

fn has_values(pattern: &SyntaxNode) -> bool {
    pattern.descendants().any(|it| match it.kind() {
        SyntaxKind::RANGE_PAT | SyntaxKind::SLICE_PAT => true,
        SyntaxKind::LITERAL_PAT => {
            let literal = ast::LiteralPat::cast(it).and_then(|it| it.literal());
            literal.is_some_and(|it| !matches!(it.kind(), ast::LiteralKind::Bool(_)))
        }
        _ => false,
    })
}

fn refutable(cx: &Context<'_>, pattern: &ast::Pat, place: &str) -> Option<RawDiagnostic> {
    let message = format!("refutable pattern in {place}");
    is_refutable(cx, pattern).then(|| report::raw_diagnostic(cx, pattern.syntax(), Code::E0005, message))
}

/// Whether a pattern certainly does not take all values.
pub(crate) fn is_refutable(cx: &Context<'_>, pattern: &ast::Pat) -> bool {
    let row = || Some((cx.sema.type_of_pat(pattern)?.original, vec![shape(cx, pattern)?]));
    row().and_then(|(ty, row)| Search { cx, ty: &ty, rows: 0 }.is_left_out(vec![row])) == Some(true)
}

/// Which values a pattern takes. References are left out.
#[derive(Clone)]
enum Shape {
    Any,
    /// A value that is made in one of several ways, and its parts.
    Made(Maker, Vec<Shape>),
    /// A number or character from the first to the last, among those of its type.
    Range([i128; 2], [i128; 2]),
    /// One of more values than patterns can name: a text.
    One,
    /// A slice, with the elements at both ends. An open one may have more between them.
    Slice {
        before: Vec<Shape>,
        after: Vec<Shape>,
        is_open: bool,
    },
    Or(Vec<Shape>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Maker {
    Variant(EnumVariant),
    Bool(bool),
    /// A struct or a tuple.
    Whole,
}

/// `None` if it is not known which values the pattern takes.
fn shape(cx: &Context<'_>, pattern: &ast::Pat) -> Option<Shape> {
    match pattern {
        ast::Pat::WildcardPat(_) => Some(Shape::Any),
        ast::Pat::ParenPat(it) => shape(cx, &it.pat()?),
        ast::Pat::RefPat(it) => shape(cx, &it.pat()?),
        ast::Pat::OrPat(it) => Some(Shape::Or(it.pats().map(|it| shape(cx, &it)).collect::<Option<_>>()?)),
        ast::Pat::IdentPat(it) => match (it.pat(), cx.sema.resolve_bind_pat_to_const(it)) {
            (Some(it), _) => shape(cx, &it),
            (None, None) => Some(Shape::Any),
            (None, Some(it)) => named(cx, pattern, it, Vec::new()),
        },
        ast::Pat::PathPat(it) => named(cx, pattern, definition(cx, &it.path()?)?, Vec::new()),
        ast::Pat::LiteralPat(it) => match it.literal()?.kind() {
            ast::LiteralKind::Bool(it) => Some(Shape::Made(Maker::Bool(it), Vec::new())),
            ast::LiteralKind::String(_) | ast::LiteralKind::FloatNumber(_) => Some(Shape::One),
            _ => {
                let (value, all) = (number(it)?, values_of(cx, pattern)?);
                Some(Shape::Range([value; 2], all))
            }
        },
        ast::Pat::RangePat(it) => range(cx, it),
        ast::Pat::TuplePat(it) => {
            let count = cx.sema.type_of_pat(pattern)?.original.strip_references().tuple_fields(cx.db).len();
            Some(Shape::Made(Maker::Whole, in_order(cx, it.fields().collect(), count)?))
        }
        ast::Pat::TupleStructPat(it) => {
            let definition = definition(cx, &it.path()?)?;
            let count = variant(definition)?.fields(cx.db).len();
            named(cx, pattern, definition, in_order(cx, it.fields().collect(), count)?)
        }
        ast::Pat::RecordPat(it) => {
            let definition = definition(cx, &it.path()?)?;
            let fields = variant(definition)?.fields(cx.db);
            let mut parts = vec![Shape::Any; fields.len()];
            for part in it.record_pat_field_list()?.fields() {
                let name = part.field_name()?.text().to_string();
                let index = fields.iter().position(|it| it.name(cx.db).as_str() == name.trim_start_matches("r#"))?;
                parts[index] = shape(cx, &part.pat()?)?;
            }
            named(cx, pattern, definition, parts)
        }
        ast::Pat::SlicePat(it) => {
            let parts = it.components();
            let ty = cx.sema.type_of_pat(pattern)?.original.strip_references();
            if let Some((_, count)) = ty.as_array(cx.db) {
                let between = count.checked_sub(parts.prefix.len() + parts.suffix.len())?;
                let mut all = shapes(cx, &parts.prefix)?;
                all.extend(std::iter::repeat_n(Shape::Any, between));
                all.extend(shapes(cx, &parts.suffix)?);
                return Some(Shape::Made(Maker::Whole, all));
            }
            let (before, after) = (shapes(cx, &parts.prefix)?, shapes(cx, &parts.suffix)?);
            ty.is_slice().then_some(Shape::Slice { before, after, is_open: parts.slice.is_some() })
        }
        _ => None,
    }
}

fn shapes(cx: &Context<'_>, patterns: &[ast::Pat]) -> Option<Vec<Shape>> {
    patterns.iter().map(|it| shape(cx, it)).collect()
}

/// The parts of a tuple, of which `..` leaves some out.
fn in_order(cx: &Context<'_>, patterns: Vec<ast::Pat>, count: usize) -> Option<Vec<Shape>> {
    let rest = patterns.iter().position(|it| matches!(it, ast::Pat::RestPat(_)));
    let (before, after) = match rest {
        Some(at) => (&patterns[..at], &patterns[at + 1..]),
        None => (&patterns[..], &patterns[..0]),
    };
    let between = count.checked_sub(before.len() + after.len()).filter(|it| *it == 0 || rest.is_some())?;
    let mut all = shapes(cx, before)?;
    all.extend(std::iter::repeat_n(Shape::Any, between));
    all.extend(shapes(cx, after)?);
    Some(all)
}

fn definition(cx: &Context<'_>, path: &ast::Path) -> Option<ModuleDef> {
    match cx.sema.resolve_path(path)? {
        PathResolution::Def(it) => Some(it),
        PathResolution::SelfType(it) => it.self_ty(cx.db).as_adt().map(ModuleDef::Adt),
        _ => None,
    }
}

fn variant(of: ModuleDef) -> Option<Variant> {
    match of {
        ModuleDef::EnumVariant(it) => Some(Variant::EnumVariant(it)),
        ModuleDef::Adt(Adt::Struct(it)) => Some(Variant::Struct(it)),
        _ => None,
    }
}

fn named(cx: &Context<'_>, pattern: &ast::Pat, of: ModuleDef, parts: Vec<Shape>) -> Option<Shape> {
    match of {
        ModuleDef::EnumVariant(it) => Some(Shape::Made(Maker::Variant(it), parts)),
        ModuleDef::Adt(Adt::Struct(_)) => Some(Shape::Made(Maker::Whole, parts)),
        ModuleDef::Const(_) => {
            let ty = cx.sema.type_of_pat(pattern)?.original.strip_references();
            (ty.is_str() || ty.is_float()).then_some(Shape::One)
        }
        _ => None,
    }
}

fn range(cx: &Context<'_>, of: &ast::RangePat) -> Option<Shape> {
    let pattern = ast::Pat::from(of.clone());
    let ty = cx.sema.type_of_pat(&pattern)?.original.strip_references();
    if ty.is_float() {
        return Some(Shape::One);
    }
    let bound = |it: ast::Pat| match it {
        ast::Pat::LiteralPat(it) => number(&it),
        _ => None,
    };
    let all = values_of(cx, &pattern)?;
    let first = of.start().map_or(Some(all[0]), bound)?;
    let last = match of.end() {
        None => all[1],
        Some(it) if of.op_kind()? == ast::RangeOp::Exclusive => bound(it)? - 1,
        Some(it) => bound(it)?,
    };
    Some(Shape::Range([first, last], all))
}

/// The value of a number, a character or a byte.
pub(super) fn number(of: &ast::LiteralPat) -> Option<i128> {
    let value = match of.literal()?.kind() {
        ast::LiteralKind::IntNumber(it) => i128::try_from(it.value().ok()?).ok()?,
        ast::LiteralKind::Char(it) => i128::from(u32::from(it.value().ok()?)),
        ast::LiteralKind::Byte(it) => i128::from(it.value().ok()?),
        _ => return None,
    };
    Some(if of.minus_token().is_some() { -value } else { value })
}

/// The first and the last value of the type of a pattern. Those of `usize` and `isize` have no end for the compiler.
fn values_of(cx: &Context<'_>, pattern: &ast::Pat) -> Option<[i128; 2]> {
    let ty = cx.sema.type_of_pat(pattern)?.original.strip_references().as_builtin()?;
    let name = ty.name();
    let bits: u32 = match name.as_str() {
        "char" => return Some([0, 0x10_FFFF]),
        "usize" => return Some([0, i128::from(u64::MAX) + 1]),
        "isize" => return Some([i128::from(i64::MIN) - 1, i128::from(i64::MAX) + 1]),
        "i128" => return Some([i128::MIN, i128::MAX]),
        it => it.trim_start_matches(['i', 'u']).parse().ok().filter(|it| *it <= 64)?,
    };
    let is_signed = name.as_str().starts_with('i');
    let half = 1_i128 << (bits - 1);
    Some(if is_signed { [-half, half - 1] } else { [0, half * 2 - 1] })
}

struct Search<'s, 'db> {
    cx: &'s Context<'db>,
    /// Of what is matched.
    ty: &'s Type<'db>,
    rows: usize,
}

impl Search<'_, '_> {
    /// Whether a value is in none of the rows. `None` if that takes too long, or if a column has patterns for different
    /// types.
    fn is_left_out(&mut self, rows: Vec<Vec<Shape>>) -> Option<bool> {
        self.rows += rows.len() + 1;
        if self.rows > MOST_ROWS {
            return None;
        }
        let rows: Vec<Vec<Shape>> = rows.into_iter().flat_map(alternatives).collect();
        let Some(first) = rows.first() else { return Some(true) };
        if first.is_empty() {
            return Some(false);
        }
        match rows.iter().map(|it| &it[0]).find(|it| !matches!(it, Shape::Any)) {
            None | Some(Shape::One) => self.is_left_out_of(&rows, 0, |it| match it {
                Shape::Any => Some(Some(Vec::new())),
                Shape::One => Some(None),
                _ => None,
            }),
            Some(Shape::Made(Maker::Variant(it), _)) => self.of_variants(&rows, *it),
            Some(Shape::Made(Maker::Bool(_), _)) => {
                Some(self.of_maker(&rows, Maker::Bool(true), 0)? || self.of_maker(&rows, Maker::Bool(false), 0)?)
            }
            Some(Shape::Made(Maker::Whole, parts)) => self.of_maker(&rows, Maker::Whole, parts.len()),
            Some(Shape::Range(_, all)) => self.of_numbers(&rows, *all),
            Some(Shape::Slice { .. }) => self.of_slices(&rows),
            Some(Shape::Any | Shape::Or(_)) => None,
        }
    }

    /// With the rows whose first pattern may take a certain value, and the patterns for its parts. The inner `None` is a
    /// pattern that does not take it.
    fn is_left_out_of(
        &mut self,
        rows: &[Vec<Shape>],
        count: usize,
        parts: impl Fn(&Shape) -> Option<Option<Vec<Shape>>>,
    ) -> Option<bool> {
        let mut narrowed = Vec::new();
        for row in rows {
            let Some(mut parts) = parts(&row[0])? else { continue };
            if parts.len() != count {
                return None;
            }
            parts.extend_from_slice(&row[1..]);
            narrowed.push(parts);
        }
        // Without rows nothing tells how many columns are left.
        if narrowed.is_empty() { Some(true) } else { self.is_left_out(narrowed) }
    }

    fn of_maker(&mut self, rows: &[Vec<Shape>], maker: Maker, count: usize) -> Option<bool> {
        self.is_left_out_of(rows, count, |it| match it {
            Shape::Any => Some(Some(vec![Shape::Any; count])),
            Shape::Made(it, parts) => Some((*it == maker).then(|| parts.clone())),
            _ => None,
        })
    }

    fn of_variants(&mut self, rows: &[Vec<Shape>], one: EnumVariant) -> Option<bool> {
        let db = self.cx.db;
        let of = one.parent_enum(db);
        for variant in of.variants(db) {
            let is_named = rows.iter().any(|it| matches!(&it[0], Shape::Made(it, _) if *it == Maker::Variant(variant)));
            if !is_named && self.may_be_empty(variant) {
                continue;
            }
            if self.of_maker(rows, Maker::Variant(variant), variant.fields(db).len())? {
                return Some(true);
            }
        }
        Some(false)
    }

    /// Whether no value of a variant may exist.
    fn may_be_empty(&self, of: EnumVariant) -> bool {
        let db = self.cx.db;
        let is_open = !of.krate(db).origin(db).is_local() && of.parent_enum(db).attrs(db).is_non_exhaustive();
        let types = of.fields(db).into_iter().map(|it| it.ty(db));
        let mut is_empty = is_open;
        for ty in types {
            ty.walk(db, |it| {
                is_empty |= it.as_type_param(db).is_some() && has_empty_part(self.cx, self.ty);
                is_empty |= is_without_values(self.cx, &it);
            });
        }
        is_empty
    }

    fn of_numbers(&mut self, rows: &[Vec<Shape>], all: [i128; 2]) -> Option<bool> {
        // Within each part the same patterns take all values.
        let mut starts = vec![all[0]];
        for row in rows {
            if let Shape::Range([first, last], _) = &row[0] {
                starts.push(*first);
                starts.extend(last.checked_add(1));
            }
        }
        starts.retain(|it| (all[0]..=all[1]).contains(it));
        starts.sort_unstable();
        starts.dedup();
        for start in starts {
            if all[1] == 0x10_FFFF && (SURROGATES.0..=SURROGATES.1).contains(&start) {
                continue;
            }
            let is_left_out = self.is_left_out_of(rows, 0, |it| match it {
                Shape::Any => Some(Some(Vec::new())),
                Shape::Range([first, last], _) => Some((*first..=*last).contains(&start).then(Vec::new)),
                _ => None,
            });
            if is_left_out? {
                return Some(true);
            }
        }
        Some(false)
    }

    fn of_slices(&mut self, rows: &[Vec<Shape>]) -> Option<bool> {
        let least = |it: &Vec<Shape>| match &it[0] {
            Shape::Slice { before, after, .. } => before.len() + after.len(),
            _ => 0,
        };
        // All longer ones are like the longest.
        let longest = rows.iter().map(least).max()? + 1;
        for count in 0..=longest {
            let is_left_out = self.is_left_out_of(rows, count, |it| match it {
                Shape::Any => Some(Some(vec![Shape::Any; count])),
                Shape::Slice { before, after, is_open } => {
                    let Some(between) = count.checked_sub(before.len() + after.len()) else { return Some(None) };
                    if between > 0 && !is_open {
                        return Some(None);
                    }
                    let between = std::iter::repeat_n(&Shape::Any, between);
                    Some(Some(before.iter().chain(between).chain(after).cloned().collect()))
                }
                _ => None,
            });
            if is_left_out? {
                return Some(true);
            }
        }
        Some(false)
    }
}

/// A row for each alternative of its first pattern.
fn alternatives(row: Vec<Shape>) -> Vec<Vec<Shape>> {
    let Some(Shape::Or(patterns)) = row.first() else { return vec![row] };
    let with = |it: &Shape| std::iter::once(it.clone()).chain(row[1..].iter().cloned()).collect();
    patterns.iter().map(with).flat_map(alternatives).collect()
}

/// Whether a type, or an argument of it, has no values or is not known.
fn has_empty_part(cx: &Context<'_>, ty: &Type<'_>) -> bool {
    let mut is_empty = ty.contains_unknown();
    ty.walk(cx.db, |it| is_empty |= it.as_type_param(cx.db).is_some() || is_without_values(cx, &it));
    is_empty
}

fn is_without_values(cx: &Context<'_>, ty: &Type<'_>) -> bool {
    ty.is_never() || matches!(ty.as_adt(), Some(Adt::Enum(it)) if it.variants(cx.db).is_empty())
}
