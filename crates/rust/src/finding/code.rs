//! The compiler's error codes, as in rustc 1.95, with the phase in which it reports each.

/// The phases of the compiler. After the first failing phase it reports little or nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    Syntax,
    /// Macro expansion and name resolution.
    Names,
    /// Checks of item heads: their types, and implementations against their traits.
    Items,
    /// Type inference of bodies.
    Bodies,
    /// Checks of bodies whose types are known: patterns, `unsafe`, private fields.
    Patterns,
    /// Evaluation of constants.
    Constants,
    Lints,
}

macro_rules! codes {
    ($($code:ident $phase:ident),* $(,)?) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) enum Code {
            /// Some errors of the compiler have no code.
            Uncoded,
            Syntax,
            UnusedImports,
            OverflowingLiterals,
            StaticMutRefs,
            $($code,)*
        }

        impl Code {
            /// All codes of the table.
            #[cfg(test)]
            pub(crate) const ALL: &[Code] = &[$(Code::$code),*];

            pub(crate) fn name(self) -> &'static str {
                // A missing type had a code of its own until 1.92.
                if self == Code::E0412 {
                    return Code::E0425.name();
                }
                match self {
                    Code::Uncoded => "",
                    Code::Syntax => "syntax-error",
                    Code::UnusedImports => "unused_imports",
                    Code::OverflowingLiterals => "overflowing_literals",
                    Code::StaticMutRefs => "static_mut_refs",
                    $(Code::$code => stringify!($code),)*
                }
            }

            /// Whether a type cannot be inferred, which may follow from any other error.
            pub(crate) fn is_of_unknown_type(self) -> bool {
                matches!(self, Code::E0282 | Code::E0283 | Code::E0284 | Code::E0790)
            }

            pub(crate) fn phase(self) -> Phase {
                match self {
                    Code::Uncoded => Phase::Names,
                    Code::Syntax => Phase::Syntax,
                    Code::UnusedImports | Code::OverflowingLiterals | Code::StaticMutRefs => Phase::Lints,
                    $(Code::$code => Phase::$phase,)*
                }
            }
        }
    };
}

codes! {
    E0004 Patterns, E0005 Patterns, E0015 Constants, E0023 Bodies, E0026 Bodies, E0027 Bodies, E0029 Bodies,
    E0030 Bodies, E0033 Bodies, E0034 Bodies, E0038 Items, E0040 Bodies, E0044 Names, E0045 Names, E0046 Items,
    E0049 Items, E0050 Items, E0053 Items, E0054 Bodies, E0057 Bodies, E0061 Bodies, E0062 Bodies, E0063 Bodies,
    E0067 Bodies, E0069 Bodies, E0070 Bodies, E0072 Items, E0080 Constants, E0081 Items, E0084 Items, E0091 Items,
    E0106 Names, E0107 Items, E0109 Items, E0116 Items, E0117 Items, E0118 Items, E0119 Items, E0120 Items,
    E0121 Items, E0124 Items, E0128 Names, E0130 Names, E0131 Items, E0133 Patterns, E0164 Bodies, E0170 Bodies,
    E0184 Items, E0185 Items, E0186 Items, E0191 Items, E0195 Items, E0197 Names, E0199 Items, E0200 Items,
    E0201 Items, E0204 Items, E0207 Items, E0214 Names, E0220 Names, E0223 Names, E0225 Items, E0252 Names,
    E0255 Names, E0261 Names, E0262 Names, E0268 Bodies, E0271 Bodies, E0276 Items, E0277 Bodies, E0282 Bodies,
    E0283 Bodies, E0284 Bodies, E0308 Bodies, E0310 Items, E0316 Names, E0317 Bodies, E0322 Items, E0326 Items,
    E0364 Names, E0365 Names, E0366 Items, E0368 Bodies, E0369 Bodies, E0379 Names, E0390 Items, E0392 Items,
    E0401 Names, E0403 Names, E0404 Names, E0405 Names, E0407 Names, E0408 Names, E0411 Names, E0412 Names,
    E0415 Names, E0416 Names, E0422 Names, E0423 Names, E0424 Names, E0425 Names, E0426 Names, E0428 Names,
    E0429 Names, E0432 Names, E0433 Names, E0434 Names, E0435 Names, E0436 Bodies, E0437 Names, E0438 Names,
    E0446 Items, E0449 Names, E0451 Patterns, E0452 Names, E0463 Names, E0496 Names, E0517 Items, E0527 Bodies,
    E0529 Bodies, E0530 Names, E0531 Names, E0532 Names, E0533 Bodies, E0538 Names, E0539 Names, E0552 Names,
    E0554 Names, E0559 Bodies, E0560 Bodies, E0562 Names, E0565 Names, E0566 Items, E0572 Bodies, E0573 Names,
    E0574 Names, E0577 Names, E0579 Bodies, E0580 Items, E0583 Names, E0587 Items, E0589 Names, E0592 Items, E0593 Bodies,
    E0599 Bodies, E0600 Bodies, E0601 Names, E0603 Names, E0604 Bodies, E0605 Bodies, E0606 Bodies, E0607 Bodies,
    E0608 Bodies, E0609 Bodies, E0614 Bodies, E0615 Bodies, E0616 Bodies, E0618 Bodies, E0620 Bodies, E0624 Bodies,
    E0631 Bodies, E0634 Items, E0637 Names, E0638 Bodies, E0639 Bodies, E0642 Names, E0643 Items, E0658 Bodies,
    E0659 Names, E0665 Names, E0666 Names, E0689 Bodies, E0692 Items, E0693 Names, E0695 Items,
    E0703 Names, E0710 Names, E0719 Items, E0726 Names, E0728 Bodies, E0731 Items, E0732 Items, E0733 Patterns, E0734 Names,
    E0735 Names, E0737 Items, E0740 Items, E0742 Names, E0746 Bodies, E0745 Bodies, E0747 Items, E0752 Items, E0769 Bodies, E0770 Names,
    E0774 Names, E0777 Names, E0782 Items, E0790 Bodies, E0800 Names, E0801 Items, E0805 Names,
}
