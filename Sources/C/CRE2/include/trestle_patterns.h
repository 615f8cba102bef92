/* SPDX-License-Identifier: Apache-2.0
 *
 * trestle_patterns.h: a C interface to RE2, as narrow as the check of JSON Schemas needs it.
 *
 * It is a library of its own, libTrestlePatterns.so, which BridgeJSON loads when the first pattern is compiled: a
 * process without patterns has neither it nor RE2 in memory. BridgeJSON finds the functions by name; a change of a
 * signature here is a change of Sources/BridgeJSON/Schemas/Patterns/PatternEngine.swift.
 *
 * A pattern is named by its text. Compiled patterns are kept in one cache for the whole process, the most recently used
 * ones up to a fixed amount of memory; one that has left the cache is compiled again when it is next used. Refused ones
 * are not kept. Both functions may be called on any thread. No C++ exception leaves them.
 */
#ifndef TRESTLE_PATTERNS_H
#define TRESTLE_PATTERNS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Compiles a pattern in RE2's syntax. Returns the number of instructions of its program; -1 where it is refused, with
 * the reason, cut to `reason_size` bytes and terminated, in `reason`. */
int32_t trestle_pattern_compile(const char *pattern, size_t size, char *reason, size_t reason_size);

/* Whether a text (UTF-8) contains a match: 1, 0, or -1 where there is not enough memory. Where `at_once` is not 0, -2
 * instead of waiting: the pattern would have to be compiled, or another thread matches it. */
int32_t trestle_pattern_match(
    const char *pattern, size_t size, const char *text, size_t text_size, int32_t at_once);

#ifdef __cplusplus
}
#endif

#endif
