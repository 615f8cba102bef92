/* SPDX-License-Identifier: Apache-2.0
 *
 * trestle_patterns.h: a C interface to RE2, limited to what the check of JSON Schemas needs.
 *
 * It is a separate library, libTrestlePatterns.so. BridgeJSON loads it when it compiles the first pattern, so a process
 * without patterns has neither it nor RE2 in memory. BridgeJSON finds the functions by name: a change of a signature
 * here requires a change of Sources/BridgeJSON/Schemas/Patterns/PatternEngine.swift.
 *
 * A pattern is identified by its text. One cache for the whole process keeps the most recently used compiled patterns,
 * up to a fixed amount of memory. A pattern that has left the cache is compiled again at its next use. Refused patterns
 * are not stored. Both functions may be called on any thread. They throw no C++ exception.
 */
#ifndef TRESTLE_PATTERNS_H
#define TRESTLE_PATTERNS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Compiles a pattern in RE2's syntax. Returns the number of instructions of its program, or -1 if it is refused.
 * `reason` then contains the reason, cut to `reason_size` bytes and terminated. */
int32_t trestle_pattern_compile(const char *pattern, size_t size, char *reason, size_t reason_size);

/* Returns whether a text (UTF-8) contains a match: 1 or 0, or -1 if there is not enough memory. If `at_once` is not 0,
 * it returns -2 instead of waiting: the pattern would have to be compiled, or another thread matches it. */
int32_t trestle_pattern_match(
    const char *pattern, size_t size, const char *text, size_t text_size, int32_t at_once);

#ifdef __cplusplus
}
#endif

#endif
