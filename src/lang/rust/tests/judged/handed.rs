//! Names that come by globs, and by imports of imports.

pub mod prelude {
    pub use crate::base::{helper, Kind, Measure, Pair, Short, Thing, LIMIT, NAMES};
}

pub use prelude::*;

pub mod globs {
    pub use crate::base::Kind::*;
    pub use crate::base::deep::*;
}

pub fn own(it: &Thing) -> u8 {
    it.measure() + helper() + LIMIT
}

pub mod one {
    use super::globs::*;
    use super::*;

    pub struct Holder {
        pub thing: Thing,
        pub many: Short,
    }

    pub fn make(by: u8) -> Thing {
        Thing { size: by }
    }

    pub fn read(it: &Kind) -> u8 {
        match it {
            Round => helper(),
            Flat(by) => *by,
            Odd { by } => *by,
        }
    }

    impl Measure for Holder {
        type Unit = Pair;
        fn measure(&self) -> u8 {
            LIMIT
        }
    }

    mod tests {
        use super::*;

        #[test]
        fn it_measures() {
            let it = Thing::default();
            assert_eq!(it.measure(), helper());
            assert_eq!(NAMES.len(), usize::from(LIMIT));
            let Pair(one, _) = Pair(1, 2);
            let _ = (one, Flat(1), deepest());
        }
    }
}

pub mod two {
    use crate::handed::globs::*;
    use crate::handed::prelude::*;

    pub fn total<T: Measure>(it: &T, by: &[Thing]) -> u8
    where
        T::Unit: Into<u8>,
    {
        it.measure() + by.len() as u8 + T::MOST
    }

    pub fn inner(_: Inner) -> Kind {
        Odd { by: deepest() }
    }
}

pub mod three {
    pub use crate::handed::Thing;
    pub(crate) use super::helper;

    pub fn one_more(it: Thing) -> Thing {
        let _ = helper();
        it
    }
}

pub mod four {
    use super::three::Thing;

    pub fn within() -> u8 {
        use crate::handed::{helper, LIMIT};
        let by = Thing { size: helper() };
        by.size + LIMIT
    }

    pub fn qualified() -> u8 {
        crate::handed::helper() + super::LIMIT + super::prelude::helper()
    }

    pub fn in_macros(it: &Thing) -> String {
        format!("{}", crate::twice!(it.size + super::helper()))
    }
}

pub mod five {
    use crate::base::*;

    pub fn of_base(it: Kind) -> u8 {
        match it {
            Kind::Round => helper(),
            Kind::Flat(by) | Kind::Odd { by } => by,
        }
    }

    pub fn paired() -> (Pair, Thing) {
        (Pair(1, LIMIT), Thing::default())
    }
}
