/* SPDX-License-Identifier: Apache-2.0
 *
 * trestle_json.h: reads members of flat JSON objects, such as a task's options, for plugins in C and C++.
 *
 *   char who[100];
 *   int64_t times = 1;
 *   if (!trestle_json_string(request->options, "who", who, sizeof who, NULL)) ...
 *   if (trestle_json_has(request->options, "times") &&
 *       !trestle_json_int(request->options, "times", &times)) ...
 *
 * Every function accepts any bytes, valid JSON or not, and reads no byte after their end. Nothing is allocated. A
 * function that returns false has not changed a number or a bool; the content of a buffer is then undefined. If several
 * members have the same name, the last one counts. Each call walks through the text: use a library for nested objects
 * and for objects with many members. The functions need no library of their own, and may be called on any thread.
 */
#ifndef TRESTLE_JSON_H
#define TRESTLE_JSON_H

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trestle/json_walk.h"
#include "trestle_plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The kinds of a value. */
typedef enum trestle_json_kind {
    TRESTLE_JSON_ABSENT = 0, /* There is no such member, or the text is not an object. */
    TRESTLE_JSON_NULL = 1,
    TRESTLE_JSON_BOOL = 2,
    TRESTLE_JSON_NUMBER = 3,
    TRESTLE_JSON_STRING = 4,
    TRESTLE_JSON_ARRAY = 5,
    TRESTLE_JSON_OBJECT = 6,
} trestle_json_kind;

/* Whether the text is one JSON value, with nothing but white space around it. */
static inline bool trestle_json_valid(trestle_bytes text) {
    if (!text.data) return false;
    const char *const end = text.data + text.size;
    const char *at = trestle_json__value(trestle_json__space(text.data, end), end);
    return at && trestle_json__space(at, end) == end;
}

/* Returns the text of a member's value, without white space around it. It is empty if there is no such member, or the
   text is not a valid object. `name` is UTF-8. */
static inline trestle_bytes trestle_json_member(trestle_bytes object, const char *name) {
    const trestle_bytes none = {NULL, 0};
    trestle_bytes found = none;
    if (!trestle_json_valid(object)) return none;
    const char *const end = object.data + object.size;
    const char *at = trestle_json__space(object.data, end);
    if (*at != '{') return none;
    at = trestle_json__space(at + 1, end);
    while (at < end && *at == '"') {
        const bool isWanted = trestle_json__is(at, end, name);
        const char *const value = trestle_json__name(at, end);
        const char *const rest = value ? trestle_json__value(value, end) : NULL;
        if (!rest) return none;
        if (isWanted) {
            found.data = value;
            found.size = (size_t)(rest - value);
        }
        at = trestle_json__space(rest, end);
        if (at < end && *at == ',') at = trestle_json__space(at + 1, end);
    }
    return found;
}

/* Returns the kind of a member. */
static inline trestle_json_kind trestle_json_kind_of(trestle_bytes object, const char *name) {
    const trestle_bytes value = trestle_json_member(object, name);
    switch (value.size ? value.data[0] : 0) {
    case 0: return TRESTLE_JSON_ABSENT;
    case 'n': return TRESTLE_JSON_NULL;
    case 't':
    case 'f': return TRESTLE_JSON_BOOL;
    case '"': return TRESTLE_JSON_STRING;
    case '[': return TRESTLE_JSON_ARRAY;
    case '{': return TRESTLE_JSON_OBJECT;
    default: return TRESTLE_JSON_NUMBER;
    }
}

/* Whether there is such a member; its value may be null. */
static inline bool trestle_json_has(trestle_bytes object, const char *name) {
    return trestle_json_member(object, name).size > 0;
}

/* Writes a string member to `buffer`, with decoded escapes and a terminating zero. Returns false if it is not a string
   or does not fit; a buffer as long as the text of the value is always sufficient. `length` gets the number of bytes
   without the zero. If `length` is NULL, a string that contains a zero byte is refused, because it would appear cut. */
static inline bool trestle_json_string(
    trestle_bytes object, const char *name, char *buffer, size_t size, size_t *length) {
    const trestle_bytes value = trestle_json_member(object, name);
    char out[4];
    size_t count, used = 0;
    if (value.size == 0 || value.data[0] != '"') return false;
    const char *const end = value.data + value.size;
    const char *at = value.data + 1;
    while ((at = trestle_json__next(at, end, out, &count)) != NULL && count > 0) {
        if (size == 0 || count > size - 1 - used || (!length && out[0] == 0)) return false;
        memcpy(buffer + used, out, count);
        used += count;
    }
    if (!at || size == 0) return false;
    buffer[used] = 0;
    if (length) *length = used;
    return true;
}

/* Reads a member that is a whole number in the range, in any notation: 100, 100.0 and 1e2 are the same. */
static inline bool trestle_json_int(trestle_bytes object, const char *name, int64_t *number) {
    const trestle_bytes value = trestle_json_member(object, name);
    if (value.size == 0 || (value.data[0] != '-' && (value.data[0] < '0' || value.data[0] > '9'))) return false;
    const char *at = value.data, *const end = value.data + value.size;
    const bool isNegative = *at == '-';
    uint64_t digits = 0;
    /* The number is digits * 10^(zeros + exponent): trailing zeros are counted, not multiplied in. */
    int64_t zeros = 0, exponent = 0, written = 0;
    bool isBehindPoint = false;
    if (isNegative) at++;
    for (; at < end && *at != 'e' && *at != 'E'; at++) {
        if (*at == '.') {
            isBehindPoint = true;
            continue;
        }
        if (isBehindPoint) exponent--;
        if (*at == '0') {
            zeros++;
            continue;
        }
        for (; digits > 0 && zeros > 0; zeros--)
            if (__builtin_mul_overflow(digits, UINT64_C(10), &digits)) return false;
        zeros = 0;
        if (__builtin_mul_overflow(digits, UINT64_C(10), &digits) ||
            __builtin_add_overflow(digits, (uint64_t)(*at - '0'), &digits))
            return false;
    }
    if (at < end) {
        const bool isSmaller = *++at == '-';
        if (*at == '-' || *at == '+') at++;
        for (; at < end; at++)
            if (written < INT64_C(1000000000000)) written = written * 10 + (*at - '0');
        exponent += isSmaller ? -written : written;
    }
    exponent += zeros;
    if (digits == 0) {
        *number = 0;
        return true;
    }
    if (exponent < 0) return false;
    for (; exponent > 0; exponent--)
        if (__builtin_mul_overflow(digits, UINT64_C(10), &digits)) return false;
    if (digits > (uint64_t)INT64_MAX + isNegative) return false;
    *number = isNegative ? (int64_t)(0 - digits) : (int64_t)digits;
    return true;
}

/* Reads a member that is a number, as the nearest double. Returns false also if it is too large for a double. */
static inline bool trestle_json_double(trestle_bytes object, const char *name, double *number) {
    const trestle_bytes value = trestle_json_member(object, name);
    if (value.size == 0 || (value.data[0] != '-' && (value.data[0] < '0' || value.data[0] > '9'))) return false;
    /* In an object, the byte after a number also ends it for strtod. */
    char *end;
    double read = strtod(value.data, &end);
    if (end != value.data + value.size) {
        /* The locale of the program has another decimal point. */
        char copy[512];
        const char *const point = localeconv()->decimal_point;
        if (value.size >= sizeof copy || strlen(point) != 1) return false;
        memcpy(copy, value.data, value.size);
        copy[value.size] = 0;
        char *const dot = strchr(copy, '.');
        if (dot) *dot = point[0];
        read = strtod(copy, &end);
        if (end != copy + value.size) return false;
    }
    if (!isfinite(read)) return false;
    *number = read;
    return true;
}

/* Reads a member that is true or false. */
static inline bool trestle_json_bool(trestle_bytes object, const char *name, bool *truth) {
    const trestle_bytes value = trestle_json_member(object, name);
    if (value.size == 0 || (value.data[0] != 't' && value.data[0] != 'f')) return false;
    *truth = value.data[0] == 't';
    return true;
}

/* Writes text as a JSON string to `buffer`, with its quotes and a terminating zero: for results. Returns the number of
   bytes without the zero; 0 if the buffer is too small. 6 times the text's bytes plus 3 are always sufficient. The text
   must be UTF-8. */
static inline size_t trestle_json_quote(trestle_bytes text, char *buffer, size_t size) {
    static const char hex[] = "0123456789abcdef";
    size_t used = 0;
    if (size < 3) return 0;
    buffer[used++] = '"';
    for (size_t i = 0; i < text.size; i++) {
        const unsigned char c = (unsigned char)text.data[i];
        /* Space for the longest form, the quote and the zero. */
        if (size - used < 8 && size - used < (c == '"' || c == '\\' ? 4u : c < 0x20 ? 8u : 3u)) return 0;
        if (c == '"' || c == '\\') buffer[used++] = '\\';
        if (c >= 0x20) {
            buffer[used++] = (char)c;
            continue;
        }
        memcpy(buffer + used, "\\u00", 4);
        buffer[used + 4] = hex[c >> 4];
        buffer[used + 5] = hex[c & 15];
        used += 6;
    }
    buffer[used++] = '"';
    buffer[used] = 0;
    return used;
}

#ifdef __cplusplus
}
#endif

#endif
