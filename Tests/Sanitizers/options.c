// The options of the sanitizers in a build for scripts/test-sanitize: linked into every program, because
// the daemon gives its processes an environment of their own, and the tests give the daemon one.
//
// REPORTS is where reports are written, one file for each process: a daemon's standard error is read by the tests.
// SUPPRESSIONS is the folder of this file, SYMBOLIZER the program that finds names for addresses.

/// 66 is an exit status that no program of ours has: tests that look at the status fail as well. Who dies by a signal,
/// and leaves a core file, does so in tests of just that, which read how it ended.
#define COMMON                                                                                                         \
    "log_path=" REPORTS ":external_symbolizer_path=" SYMBOLIZER ":exitcode=66:disable_coredump=0"                     \
    ":handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigill=0:handle_sigfpe=0"

const char *__tsan_default_options(void);
const char *__tsan_default_options(void) {
    return COMMON ":suppressions=" SUPPRESSIONS "/thread.suppressions:history_size=4:second_deadlock_stack=1";
}

// Leaks are looked for with valgrind: what Swift's globals hold would pass for lost.
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return COMMON ":suppressions=" SUPPRESSIONS "/address.suppressions:detect_leaks=0:detect_odr_violation=1";
}
