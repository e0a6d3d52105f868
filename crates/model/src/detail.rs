//! Data that an engine keeps with an outline.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// Data that only the engine that made the outline can read.
#[derive(Debug, Clone, Default)]
pub struct Detail(Option<Arc<dyn Comparable>>);

impl Detail {
    /// Keeps a value of the engine's own type. Two outlines are equal only if these values are equal too.
    pub fn new<T: Any + Debug + PartialEq + Send + Sync>(detail: T) -> Detail {
        Detail(Some(Arc::new(detail)))
    }

    /// What was kept, if it is of this type.
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.as_ref()?.as_any().downcast_ref()
    }
}

impl PartialEq for Detail {
    fn eq(&self, other: &Detail) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => one.is_same(other.as_any()),
            (None, None) => true,
            _ => false,
        }
    }
}

impl Eq for Detail {}

trait Comparable: Debug + Send + Sync {
    fn as_any(&self) -> &dyn Any;

    fn is_same(&self, other: &dyn Any) -> bool;
}

impl<T: Any + Debug + PartialEq + Send + Sync> Comparable for T {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_same(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<T>() == Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::Detail;

    #[test]
    fn details_are_compared_by_what_they_hold() {
        assert_eq!(Detail::new(1), Detail::new(1));
        assert_ne!(Detail::new(1), Detail::new(2));
        assert_ne!(Detail::new(1), Detail::new("1"));
        assert_ne!(Detail::new(1), Detail::default());
        assert_eq!((Detail::new(1).get(), Detail::new(1).get::<u8>()), (Some(&1), None));
    }
}
