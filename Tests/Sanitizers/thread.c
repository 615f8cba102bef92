// The synchronisation that ThreadSanitizer does not see by itself. Linked into every program of a build for
// scripts/test-sanitize.
//
// The standard library's `Mutex` locks an uncontended lock with an atomic operation in the calling code, which the
// sanitizer sees. It waits for a contended one in the slow functions of `_MutexHandle`, where the kernel hands the lock
// over. Those are in a library that is not compiled for the sanitizer. Without this file, every access behind a mutex
// that was ever contended counts as a race. The names are the mangled names of the standard library; the handle is the
// address of the lock's only word.
//
// Swift's runtime has one-time initialisation with the same problem. Under the sanitizer it takes a lock at each check
// whether the initialisation is done, to make the order visible. Generic code makes such a check with each use: the
// tests' threads then wait for each other, for an hour instead of minutes. So this file resets the flag by which the
// runtime detects the sanitizer, and which it uses for that only. `swift_once` below reports the order of globals'
// initialisers to the sanitizer instead.
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

// MARK: One-time initialisation

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
