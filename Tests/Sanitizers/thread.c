// What ThreadSanitizer does not see by itself: linked into every program of a build for scripts/test-sanitize.
//
// The standard library's `Mutex` takes its free lock with an atomic operation of the caller's, which is seen, and waits
// for one that is taken in `_MutexHandle`'s slow functions, where the kernel hands it over: those are in a library that
// is not compiled for the sanitizer. Without this, everything behind a mutex that was ever waited for counts as a race.
// The names are the standard library's own, mangled; the handle is the address of the lock's one word.
//
// Swift's runtime does something once in the same way. Under the sanitizer it takes a lock whenever it asks whether
// that was done, so that there is always an order to be seen, and asks with each use of some generic code: the tests'
// threads then wait for each other, an hour instead of minutes. Here its question
// for a sanitizer, which it asks for that alone, gets "none"; the sanitizer gets the order of globals' initializers.
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

void __tsan_acquire(void *address);
void __tsan_release(void *address);

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *handle

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

SWIFT void trestle_lock(uint32_t thread, SELF) __asm__(LOCK);
SWIFT void trestle_lock(uint32_t thread, SELF) {
    SWIFT void (*next)(uint32_t, SELF) = (SWIFT void (*)(uint32_t, SELF))dlsym(RTLD_NEXT, LOCK);
    next(thread, handle);
    __tsan_acquire(handle);
}

SWIFT bool trestle_try_lock(SELF) __asm__(TRY_LOCK);
SWIFT bool trestle_try_lock(SELF) {
    SWIFT bool (*next)(SELF) = (SWIFT bool (*)(SELF))dlsym(RTLD_NEXT, TRY_LOCK);
    bool isLocked = next(handle);
    if (isLocked) { __tsan_acquire(handle); }
    return isLocked;
}

SWIFT void trestle_unlock(SELF) __asm__(UNLOCK);
SWIFT void trestle_unlock(SELF) {
    SWIFT void (*next)(SELF) = (SWIFT void (*)(SELF))dlsym(RTLD_NEXT, UNLOCK);
    __tsan_release(handle);
    next(handle);
}

// MARK: What is done once

struct once {
    void (*function)(void *);
    void *context;
    void *predicate;
};

static void run_once(void *context) {
    struct once *once = context;
    once->function(once->context);
    __tsan_release(once->predicate);
}

void swift_once(void *predicate, void (*function)(void *), void *context);
void swift_once(void *predicate, void (*function)(void *), void *context) {
    void (*next)(void *, void (*)(void *), void *) =
        (void (*)(void *, void (*)(void *), void *))dlsym(RTLD_NEXT, "swift_once");
    struct once once = {function, context, predicate};
    next(predicate, run_once, &once);
    __tsan_acquire(predicate);
}

__attribute__((constructor)) static void hide_sanitizer(void) {
    bool *is_enabled = dlsym(RTLD_DEFAULT, "_swift_tsan_enabled");
    if (is_enabled) { *is_enabled = false; }
}
