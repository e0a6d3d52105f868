//! `#[repr(…)]`: hints that are malformed or unknown, that exclude each other, or that do not fit the type.

use ra_ap_syntax::ast::{HasAttrs as _, HasName as _};
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use super::report::Add;
use crate::finding::code::Code;
use crate::syntax::attributes::arguments;

const INTEGERS: [&str; 12] = ["i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize"];
const OTHERS: [&str; 6] = ["C", "Rust", "align", "packed", "simd", "transparent"];
/// The compiler's limit, in bytes.
const MOST_ALIGNED: u128 = 1 << 29;

/// A hint as written: its name, and the rest without white space.
struct Hint {
    name: String,
    rest: String,
    /// The attribute that has it.
    at: SyntaxNode,
}

pub(super) fn malformed_representation(item: &ast::Adt, add: &mut Add<'_>) {
    let mut hints: Vec<Hint> = Vec::new();
    for attribute in item.attrs().filter(|it| it.simple_name().is_some_and(|it| it == "repr")) {
        let Some(meta) = attribute.meta() else { continue };
        let Some((_, list)) = meta.as_simple_call() else {
            add(attribute.syntax(), Code::E0539, "malformed `repr` attribute input");
            continue;
        };
        hints.extend(arguments(&list).into_iter().filter_map(|it| {
            let (name, rest) = it.split_first()?;
            Some(Hint { name: name.clone(), rest: rest.concat(), at: meta.syntax().clone() })
        }));
    }
    let mut is_sound = true;
    for hint in &hints {
        if let Some((code, message)) = unfit_hint(item, hint) {
            add(&hint.at, code, &message);
            is_sound = false;
        }
    }
    let Some(first) = hints.first().filter(|_| is_sound) else {
        return mixed_discriminants(item, &hints, add);
    };
    if let ast::Adt::Enum(it) = item
        && it.variant_list().is_some_and(|it| it.variants().next().is_none())
    {
        add(&first.at, Code::E0084, "unsupported representation for zero-variant enum");
    }
    let has = |name: &str| hints.iter().any(|it| it.name == name);
    let head = item.name().map_or_else(|| item.syntax().clone(), |it| it.syntax().clone());
    if has("transparent") && hints.len() > 1 {
        return add(&first.at, Code::E0692, "transparent types cannot have other repr hints");
    }
    let integers = hints.iter().filter(|it| INTEGERS.contains(&&*it.name)).count();
    let is_plain = matches!(item, ast::Adt::Enum(it) if has_units_only(it));
    let is_mixed_with = |others: bool| has("Rust") && others;
    if integers > 1 || integers == 1 && has("C") && is_plain || is_mixed_with(has("C") || integers > 0) {
        add(&first.at, Code::E0566, "conflicting representation hints");
    }
    if has("packed") && has("align") {
        add(&head, Code::E0587, "type has conflicting packed and align representation hints");
    }
    let mut packs = hints.iter().filter(|it| it.name == "packed").map(|it| &it.rest);
    if packs.next().is_some_and(|first| packs.any(|it| it != first)) {
        add(&head, Code::E0634, "type has conflicting packed representation hints");
    }
    if let ast::Adt::Enum(it) = item {
        let variants = it.variant_list().into_iter().flat_map(|it| it.variants()).count();
        if has("transparent") && variants != 1 {
            let message = format!("transparent enum needs exactly one variant, but has {variants}");
            add(&head, Code::E0731, &message);
        }
    }
    mixed_discriminants(item, &hints, add);
}

fn unfit_hint(item: &ast::Adt, hint: &Hint) -> Option<(Code, String)> {
    let name = hint.name.as_str();
    let is_enum = matches!(item, ast::Adt::Enum(_));
    if name.starts_with('"') {
        return Some((Code::E0565, "meta item in `repr` must be an identifier".to_owned()));
    }
    if !INTEGERS.contains(&name) && !OTHERS.contains(&name) {
        return Some((Code::E0552, format!("unrecognized representation hint `{name}`")));
    }
    if name == "packed" && is_enum {
        return Some((Code::E0517, "attribute should be applied to a struct or union".to_owned()));
    }
    if INTEGERS.contains(&name) && !is_enum {
        return Some((Code::E0517, "attribute should be applied to an enum".to_owned()));
    }
    if matches!(name, "align" | "packed") {
        if hint.rest.starts_with('=') {
            return Some((Code::E0693, format!("incorrect `repr({name})` attribute format")));
        }
        let written = hint.rest.strip_prefix('(').and_then(|it| it.strip_suffix(')'));
        let value = written.and_then(|it| it.replace('_', "").parse::<u128>().ok());
        if value.is_some_and(|it| !it.is_power_of_two() || it > MOST_ALIGNED) {
            return Some((
                Code::E0589,
                format!("invalid `repr({name})` attribute: not a power of two that is allowed"),
            ));
        }
    }
    None
}

fn has_units_only(of: &ast::Enum) -> bool {
    of.variant_list().into_iter().flat_map(|it| it.variants()).all(|it| it.field_list().is_none())
}

/// Discriminants that are written although some variants have fields, and no integer is said to hold them.
fn mixed_discriminants(item: &ast::Adt, hints: &[Hint], add: &mut Add<'_>) {
    let ast::Adt::Enum(of) = item else { return };
    let has_integer = hints.iter().any(|it| INTEGERS.contains(&&*it.name));
    let mut variants = of.variant_list().into_iter().flat_map(|it| it.variants());
    let is_written = variants.any(|it| it.const_arg().is_some());
    if is_written && !has_units_only(of) && !has_integer {
        let head = of.name().map_or_else(|| of.syntax().clone(), |it| it.syntax().clone());
        let message =
            "`#[repr(inttype)]` must be specified for enums with explicit discriminants and non-unit variants";
        add(&head, Code::E0732, message);
    }
}
