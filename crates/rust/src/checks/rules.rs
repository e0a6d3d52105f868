//! The table of the rules of one state: each rule with the codes that it finds, and the bodies or nodes that it is
//! applied to. `impact/rules.rs` has the rules that compare two states.

use ra_ap_hir::DefWithBody;
use ra_ap_syntax::SyntaxNode;

use super::{
    alternatives, ambiguous_globs, ambiguous_numbers, assignments, async_recursion, bound_twice, const_contexts,
    constructors, editions, exhaustive, expansions, format_strings, gates, literals, macro_paths,
    malformed_expressions, misused_paths, native, object_types, opaque, operators, outer_items, patterns, projections,
    sized, std_macros, structural, try_operator, unknown_results, unmet_projections, written,
};
use crate::finding::code::Code::*;
use crate::finding::code::{Code, Phase};
use crate::finding::{RawDiagnostic, RuleId};
use crate::view::Context;

impl RuleId {
    /// Whether it is applied to bodies, in the state before as well as after.
    pub(crate) fn is_of_bodies(self) -> bool {
        RULES.iter().any(|it| it.id == self && matches!(it.check, Check::Body(_) | Check::Node { .. }))
    }
}

/// A rule of the compiler.
pub(crate) struct Rule {
    pub(crate) id: RuleId,
    /// A short description of what it finds.
    #[cfg_attr(not(test), expect(dead_code, reason = "a test generates documentation from it"))]
    pub(crate) about: &'static str,
    pub(crate) codes: &'static [Code],
    when: When,
    check: Check,
}

/// When a rule is applied.
enum When {
    Always,
    /// To bodies in which an expression may have a different type than before, or its type different traits.
    TypesDiffer,
}

/// What a rule is applied to: a body, or a node of a body.
#[derive(Clone, Copy)]
enum Check {
    Body(fn(&Context<'_>, DefWithBody, &mut Vec<RawDiagnostic>)),
    Node {
        /// In expansions too; else only for what stands in a file or in the input of a macro.
        in_expansions: bool,
        check: fn(&Context<'_>, &SyntaxNode, &mut Vec<RawDiagnostic>),
    },
    /// Applied separately, to the outline of a text.
    Apart,
}

/// Rules with the same kind of check are applied in this order: of two errors on a line the first one is kept.
pub(crate) const RULES: &[Rule] = &[
    Rule { id: RuleId::Syntax, about: "syntax errors", codes: &[Syntax], when: When::Always, check: Check::Apart },
    Rule {
        id: RuleId::RustAnalyzer,
        about: "names, members, arguments, types, patterns and fields in bodies",
        codes: &[
            Uncoded, E0004, E0005, E0023, E0026, E0027, E0029, E0033, E0034, E0040, E0054, E0057, E0061, E0062, E0063,
            E0067, E0069, E0106, E0107, E0109, E0133, E0268, E0277, E0282, E0283, E0790, E0308, E0317, E0401, E0423,
            E0424, E0425, E0426, E0434, E0435, E0436, E0432, E0433, E0451, E0527, E0529, E0532, E0559, E0560, E0572,
            E0593, E0599, E0603, E0604, E0605, E0606, E0607, E0608, E0609, E0614, E0615, E0616, E0618, E0620, E0624,
            E0631, E0638, E0639, E0728, E0769,
        ],
        when: When::Always,
        check: Check::Body(native::native_errors),
    },
    Rule {
        id: RuleId::Operators,
        about: "operators and repeated values of types without the required traits",
        codes: &[E0277, E0308, E0368, E0369, E0600],
        when: When::TypesDiffer,
        check: Check::Node { in_expansions: true, check: operators::operators },
    },
    Rule {
        id: RuleId::Closures,
        about: "closures with another number of parameters than the call takes",
        codes: &[E0593],
        when: When::TypesDiffer,
        check: Check::Node { in_expansions: true, check: projections::unfit_closures },
    },
    Rule {
        id: RuleId::UnmetProjections,
        about: "calls that do not meet a bound on an associated type",
        codes: &[E0271],
        when: When::Always,
        check: Check::Body(unmet_projections::unmet_projections),
    },
    Rule {
        id: RuleId::Results,
        about: "results that do not meet the bounds of `impl Trait`",
        codes: &[E0271, E0277],
        when: When::TypesDiffer,
        check: Check::Node { in_expansions: false, check: projections::unfit_result },
    },
    Rule {
        id: RuleId::Constructors,
        about: "constructors and patterns of structs that have named or private fields",
        codes: &[E0164, E0423, E0532, E0533, E0603],
        when: When::TypesDiffer,
        check: Check::Node { in_expansions: true, check: constructors::hidden_constructors },
    },
    Rule {
        id: RuleId::Variants,
        about: "matches with a missing variant",
        codes: &[E0004],
        when: When::Always,
        check: Check::Node { in_expansions: false, check: patterns::missed_variants },
    },
    Rule {
        id: RuleId::Variants,
        about: "matches on numbers, texts and slices that leave values out, and patterns where all values must fit",
        codes: &[E0004, E0005],
        when: When::Always,
        check: Check::Node { in_expansions: false, check: exhaustive::values_left_out },
    },
    Rule {
        id: RuleId::ConstantPatterns,
        about: "constants in patterns whose type does not derive `PartialEq`",
        codes: &[Uncoded],
        when: When::Always,
        check: Check::Node { in_expansions: true, check: structural::constants_in_patterns },
    },
    Rule {
        id: RuleId::OpaqueTypes,
        about: "patterns and conditions against the result of an `async fn` or another `impl Trait`",
        codes: &[E0308],
        when: When::Always,
        check: Check::Node { in_expansions: false, check: opaque::patterns_of_opaque },
    },
    Rule {
        id: RuleId::StructUpdates,
        about: "private fields that a literal takes from another value",
        codes: &[E0451],
        when: When::Always,
        check: Check::Node { in_expansions: false, check: constructors::unseen_in_updates },
    },
    Rule {
        id: RuleId::BoundTwice,
        about: "names that a pattern binds twice",
        codes: &[E0416],
        when: When::Always,
        check: Check::Node { in_expansions: false, check: bound_twice::bound_twice },
    },
    Rule {
        id: RuleId::Alternatives,
        about: "names that a pattern does not bind in each alternative, or binds instead of a variant that they do not reach",
        codes: &[E0170, E0408],
        when: When::Always,
        check: Check::Node { in_expansions: true, check: alternatives::names_in_patterns },
    },
    Rule {
        id: RuleId::OuterItems,
        about: "generic parameters and `Self` of an outer item in an inner one",
        codes: &[E0401],
        when: When::Always,
        check: Check::Node { in_expansions: false, check: outer_items::outer_parameters },
    },
    Rule {
        id: RuleId::ObjectTypes,
        about: "types `dyn Trait` without an associated type of the trait",
        codes: &[E0191],
        when: When::Always,
        check: Check::Node { in_expansions: false, check: object_types::missing_types },
    },
    Rule {
        id: RuleId::TryOperator,
        about: "`?` in functions that cannot return what it returns",
        codes: &[E0277],
        when: When::Always,
        check: Check::Node { in_expansions: false, check: try_operator::try_operator },
    },
    Rule {
        id: RuleId::MacroPaths,
        about: "paths in the output of macros that lead nowhere",
        codes: &[Uncoded, E0405, E0412, E0422, E0425, E0433, E0531, E0599, E0603],
        when: When::Always,
        check: Check::Node { in_expansions: true, check: macro_paths::unresolved_in_output },
    },
    Rule {
        id: RuleId::MisusedPaths,
        about: "paths to an item of another kind than the place takes",
        codes: &[
            E0038, E0109, E0214, E0223, E0225, E0404, E0411, E0435, E0530, E0562, E0573, E0574, E0577, E0742, E0782,
        ],
        when: When::Always,
        check: Check::Node { in_expansions: false, check: misused_paths::misused_paths },
    },
    Rule {
        id: RuleId::MalformedExpressions,
        about: "expressions, patterns and types that the compiler refuses by their form",
        codes: &[E0030, E0579, E0695, E0719, E0782],
        when: When::Always,
        check: Check::Node { in_expansions: false, check: malformed_expressions::malformed_node },
    },
    Rule {
        id: RuleId::MalformedExpressions,
        about: "addresses of temporaries",
        codes: &[E0745],
        when: When::Always,
        check: Check::Node { in_expansions: true, check: malformed_expressions::address_of_temporary },
    },
    Rule {
        id: RuleId::AmbiguousGlobs,
        about: "names that two globs bring in with different meanings",
        codes: &[E0659],
        when: When::Always,
        check: Check::Node { in_expansions: true, check: ambiguous_globs::ambiguous_path },
    },
    Rule {
        id: RuleId::FormatStrings,
        about: "format strings that do not fit their arguments",
        codes: &[Uncoded, E0308],
        when: When::Always,
        check: Check::Node { in_expansions: true, check: format_strings::format_strings },
    },
    Rule {
        id: RuleId::StdMacros,
        about: "calls of built-in macros with arguments that they do not take",
        codes: &[Uncoded, E0539, E0609],
        when: When::Always,
        check: Check::Node { in_expansions: true, check: std_macros::refused_calls },
    },
    Rule {
        id: RuleId::UnknownResults,
        about: "results of calls whose type nothing determines",
        codes: &[E0282, E0283, E0284],
        when: When::Always,
        check: Check::Body(unknown_results::unknown_results),
    },
    Rule {
        id: RuleId::ConstContexts,
        about: "calls in constants and constant functions of what is not `const`",
        codes: &[Uncoded, E0015, E0658],
        when: When::Always,
        check: Check::Node { in_expansions: true, check: const_contexts::calls_in_constants },
    },
    Rule {
        id: RuleId::Gates,
        about: "syntax that needs an unstable feature",
        codes: &[E0658],
        when: When::Always,
        check: Check::Node { in_expansions: false, check: gates::gated_syntax },
    },
    Rule {
        id: RuleId::LetChains,
        about: "let chains before the edition 2024",
        codes: &[Uncoded],
        when: When::Always,
        check: Check::Node { in_expansions: false, check: gates::let_chains },
    },
    Rule {
        id: RuleId::UnstableItems,
        about: "unstable items of the standard library",
        codes: &[E0658],
        when: When::Always,
        check: Check::Node { in_expansions: true, check: gates::unstable_items },
    },
    Rule {
        id: RuleId::Sized,
        about: "parameters, results and variables whose size is not known",
        codes: &[E0277],
        when: When::Always,
        check: Check::Body(sized::unsized_signature),
    },
    Rule {
        id: RuleId::Sized,
        about: "variables whose size is not known",
        codes: &[E0277],
        when: When::Always,
        check: Check::Node { in_expansions: true, check: sized::unsized_variables },
    },
    Rule {
        id: RuleId::Assignments,
        about: "assignments to what is not a place",
        codes: &[E0070],
        when: When::Always,
        check: Check::Node { in_expansions: true, check: assignments::no_place },
    },
    Rule {
        id: RuleId::AmbiguousNumbers,
        about: "methods of numbers whose type is not known yet",
        codes: &[E0689],
        when: When::Always,
        check: Check::Node { in_expansions: false, check: ambiguous_numbers::methods_of_numbers },
    },
    Rule {
        id: RuleId::AsyncRecursion,
        about: "`async fn` that waits for itself without a box",
        codes: &[E0733],
        when: When::Always,
        check: Check::Body(async_recursion::unboxed_recursion),
    },
    Rule {
        id: RuleId::Literals,
        about: "integer literals that their type cannot hold",
        codes: &[OverflowingLiterals],
        when: When::Always,
        check: Check::Node { in_expansions: false, check: literals::overflowing },
    },
    Rule {
        id: RuleId::Editions,
        about: "what the edition 2024 refuses in bodies",
        codes: &[Uncoded, StaticMutRefs],
        when: When::Always,
        check: Check::Node { in_expansions: false, check: editions::refused_since_2024 },
    },
    Rule {
        id: RuleId::Overflow,
        about: "constants that cannot be evaluated",
        codes: &[E0080],
        when: When::Always,
        check: Check::Body(native::overflows),
    },
];

/// Applies the rules for nodes to each node of a body, and of the macro expansions in it.
pub(crate) fn check_nodes(cx: &Context<'_>, body: &SyntaxNode, types_differ: bool, out: &mut Vec<RawDiagnostic>) {
    let is_asked = |it: &&Rule| types_differ || !matches!(it.when, When::TypesDiffer);
    let rules: Vec<_> = RULES
        .iter()
        .filter(is_asked)
        .filter_map(|it| match it.check {
            Check::Node { in_expansions, check } => Some((it.id, in_expansions, check)),
            _ => None,
        })
        .collect();
    expansions::in_body(&cx.sema, body, &mut |node, is_expanded| {
        for (id, in_expansions, check) in &rules {
            let from = out.len();
            check(cx, node, out);
            if out.len() > from && is_expanded && !in_expansions && !written::is_input(cx, node) {
                out.truncate(from);
            }
            out[from..].iter_mut().for_each(|it| it.rule = *id);
        }
    });
}

/// The rules for whole bodies. Rules for constants are applied even if there are other errors.
pub(crate) fn check_body(cx: &Context<'_>, body: DefWithBody, of_constants: bool, out: &mut Vec<RawDiagnostic>) {
    for rule in RULES {
        let Check::Body(check) = rule.check else { continue };
        if rule.codes.iter().all(|it| it.phase() == Phase::Constants) == of_constants {
            let from = out.len();
            check(cx, body, out);
            out[from..].iter_mut().for_each(|it| it.rule = rule.id);
        }
    }
}
