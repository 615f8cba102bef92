// The options of the sanitizers in a build for scripts/test-sanitize. They are linked into every program, because the
// daemon gives its processes an environment of their own, and so do the tests for the daemon.
//
// REPORTS is the path of the reports, one file for each process: the tests read a daemon's standard error. SUPPRESSIONS
// is the folder of this file, SYMBOLIZER the program that resolves addresses to names.

/// 66 is an exit status that no program of this project has: tests that check the status fail as well. Signals and core
/// files are not handled by the sanitizer: some tests end processes by a signal deliberately, and read how they ended.
#define COMMON                                                                                                         \
    "log_path=" REPORTS ":external_symbolizer_path=" SYMBOLIZER ":exitcode=66:disable_coredump=0"                     \
    ":handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigill=0:handle_sigfpe=0"

const char *__tsan_default_options(void);
const char *__tsan_default_options(void) {
    return COMMON ":suppressions=" SUPPRESSIONS "/thread.suppressions:history_size=4:second_deadlock_stack=1";
}

// valgrind checks for leaks: here, objects referenced by Swift's globals would be reported as lost.
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return COMMON ":suppressions=" SUPPRESSIONS "/address.suppressions:detect_leaks=0:detect_odr_violation=1";
}
