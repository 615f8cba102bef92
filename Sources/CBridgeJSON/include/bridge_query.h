/* SPDX-License-Identifier: Apache-2.0
 *
 * bridge_query.h: a URL's query as an object of JSON whose values are strings, sixteen bytes at a time.
 *
 * Own code, because a URL is all that such a call consists of. What stands for more than itself (% and its digits, what
 * JSON escapes) is the caller's to write: that is rare, and takes its time.
 */
#ifndef TRESTLE_BRIDGE_QUERY_H
#define TRESTLE_BRIDGE_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes that must be readable behind the query, and writable behind the object. */
#define BRIDGE_QUERY_PADDING 16u

/* A query on its way into an object. Begin with `next`, `end` and `object`; the rest is 0. */
typedef struct bridge_query {
    const char *next;       /* What is read next. */
    const char *end;        /* Behind the query. */
    char *object;           /* What is written next. */
    char *string;           /* Where the content of the string at hand began; NULL: between pairs. */
    uint64_t names;         /* A bit for each name, by its length, its first and its last byte. */
    bool is_value;          /* The string at hand is a value. */
    bool may_have_twins;    /* Two names had the same bit. */
} bridge_query;

/*
 * Reads on, pair by pair, and writes. Returns true at the query's end, where the object has been closed; false at a byte of
 * a string that does not stand for itself: the caller writes what it stands for, sets `next` behind it, and goes on.
 */
bool bridge_query_run(bridge_query *query);

#ifdef __cplusplus
}
#endif

#endif
