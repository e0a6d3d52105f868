//! Locks that recover from poisoning. They guard content that may be empty, such as caches and indexes. Content that a
//! panic under the lock may have left half changed is emptied and computed again.

use std::sync::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Locks a mutex. The content is empty if a panic poisoned the lock.
pub fn lock<T: Default>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| {
        let mut content = poisoned.into_inner();
        *content = T::default();
        mutex.clear_poison();
        content
    })
}

/// Locks for writing. The content is empty if a panic poisoned the lock.
pub fn write<T: Default>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(|poisoned| {
        let mut content = poisoned.into_inner();
        *content = T::default();
        lock.clear_poison();
        content
    })
}

/// Locks for reading. The content is empty if a panic poisoned the lock.
pub fn read<T: Default>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    loop {
        match lock.read() {
            Ok(content) => return content,
            Err(poisoned) => {
                drop(poisoned);
                drop(write(lock));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn what_a_panic_left_is_thrown_away() {
        let mutex = Mutex::new(vec![1]);
        let shared = RwLock::new(vec![1]);
        let half = catch_unwind(AssertUnwindSafe(|| {
            let (mut one, mut other) = (mutex.lock().unwrap(), shared.write().unwrap());
            one.push(2);
            other.push(2);
            panic!("half done");
        }));
        assert!(half.is_err());
        assert!(lock(&mutex).is_empty() && read(&shared).is_empty());
        lock(&mutex).push(3);
        write(&shared).push(3);
        assert_eq!((lock(&mutex).len(), read(&shared).len()), (1, 1));
    }
}
