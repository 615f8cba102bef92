/* SPDX-License-Identifier: Apache-2.0
 *
 * bridge_query.h: the plain runs of a URL's query, copied sixteen bytes at a time.
 *
 * Own code, because a URL is all that such a call consists of. What a query means is no business of this file.
 */
#ifndef TRESTLE_BRIDGE_QUERY_H
#define TRESTLE_BRIDGE_QUERY_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes that must be readable behind the text, and writable behind as many as are copied. */
#define BRIDGE_QUERY_PADDING 16u

/*
 * Copies what stands for itself in a string of JSON, up to the first byte that does not: & and %, in a name also =, what
 * JSON escapes (" \ and control characters), or the text's end. Each + becomes a space.
 *
 * Returns how many bytes that was.
 */
size_t bridge_query_copy(const char *text, size_t length, bool is_name, char *copy);

#ifdef __cplusplus
}
#endif

#endif
