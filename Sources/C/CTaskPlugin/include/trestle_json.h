/* SPDX-License-Identifier: Apache-2.0
 *
 * trestle_json.h: members of flat JSON objects, such as a task's options, for plugins in C and C++.
 *
 *   char who[100];
 *   int64_t times = 1;
 *   if (!trestle_json_string(request->options, "who", who, sizeof who, NULL)) ...
 *   if (trestle_json_has(request->options, "times") &&
 *       !trestle_json_int(request->options, "times", &times)) ...
 *
 * Every function takes any bytes, valid JSON or not, and reads none behind their end. Nothing is allocated. A function
 * that returns false has written nothing to a number or a bool; what a buffer holds then means nothing. Of a member that
 * stands twice the last one counts. Each call walks the whole text: take what is nested, or has many members, to a
 * library. The functions need no library of their own, and may be called from any thread.
 */
#ifndef TRESTLE_JSON_H
#define TRESTLE_JSON_H

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trestle_plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A text that is nested deeper is taken for invalid. */
#define TRESTLE_JSON_DEPTH 128u

/* What a value is. */
typedef enum trestle_json_kind {
    TRESTLE_JSON_ABSENT = 0, /* There is no such member, or the text is no object. */
    TRESTLE_JSON_NULL = 1,
    TRESTLE_JSON_BOOL = 2,
    TRESTLE_JSON_NUMBER = 3,
    TRESTLE_JSON_STRING = 4,
    TRESTLE_JSON_ARRAY = 5,
    TRESTLE_JSON_OBJECT = 6,
} trestle_json_kind;

/* ---- Inside: the walk. Each takes the next byte and the end, and returns the byte behind what it has read; NULL: it is
   not what it should be. ---- */

static inline const char *trestle_json__space(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')) at++;
    return at;
}

static inline int trestle_json__hex(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Four hexadecimal digits. */
static inline const char *trestle_json__unit(const char *at, const char *end, uint32_t *unit) {
    *unit = 0;
    if (end - at < 4) return NULL;
    for (int i = 0; i < 4; i++, at++) {
        const int digit = trestle_json__hex(*at);
        if (digit < 0) return NULL;
        *unit = *unit << 4 | (uint32_t)digit;
    }
    return at;
}

/* A character as UTF-8; returns how many bytes it has. */
static inline size_t trestle_json__utf8(uint32_t c, char out[4]) {
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xC0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xE0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3F));
        out[2] = (char)(0x80 | (c & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3F));
    out[2] = (char)(0x80 | (c >> 6 & 0x3F));
    out[3] = (char)(0x80 | (c & 0x3F));
    return 4;
}

/* What stands behind a backslash. Half of a surrogate pair is no character. */
static inline const char *trestle_json__escape(const char *at, const char *end, char out[4], size_t *count) {
    uint32_t c, low;
    if (at == end) return NULL;
    *count = 1;
    switch (*at++) {
    case '"': out[0] = '"'; return at;
    case '\\': out[0] = '\\'; return at;
    case '/': out[0] = '/'; return at;
    case 'b': out[0] = '\b'; return at;
    case 'f': out[0] = '\f'; return at;
    case 'n': out[0] = '\n'; return at;
    case 'r': out[0] = '\r'; return at;
    case 't': out[0] = '\t'; return at;
    case 'u': break;
    default: return NULL;
    }
    at = trestle_json__unit(at, end, &c);
    if (!at || (c >= 0xDC00 && c <= 0xDFFF)) return NULL;
    if (c >= 0xD800 && c <= 0xDBFF) {
        if (end - at < 2 || at[0] != '\\' || at[1] != 'u') return NULL;
        at = trestle_json__unit(at + 2, end, &low);
        if (!at || low < 0xDC00 || low > 0xDFFF) return NULL;
        c = 0x10000 + ((c - 0xD800) << 10 | (low - 0xDC00));
    }
    *count = trestle_json__utf8(c, out);
    return at;
}

/* One character of a string, behind its opening quote: at most 4 bytes to `out`, 0 where the string ends. */
static inline const char *trestle_json__next(const char *at, const char *end, char out[4], size_t *count) {
    if (at == end) return NULL;
    const unsigned char c = (unsigned char)*at;
    *count = 0;
    if (c == '"') return at + 1;
    if (c == '\\') return trestle_json__escape(at + 1, end, out, count);
    if (c < 0x20) return NULL;
    size_t size = c < 0x80 ? 1 : c >= 0xC2 && c <= 0xDF ? 2 : c >= 0xE0 && c <= 0xEF ? 3 : c >= 0xF0 && c <= 0xF4 ? 4 : 0;
    if (size == 0 || (size_t)(end - at) < size) return NULL;
    for (size_t i = 1; i < size; i++)
        if (((unsigned char)at[i] & 0xC0) != 0x80) return NULL;
    if (size > 2) {
        /* Neither a longer form than needed, nor a surrogate, nor behind the last character. */
        const unsigned char second = (unsigned char)at[1];
        if ((c == 0xE0 && second < 0xA0) || (c == 0xED && second > 0x9F) || (c == 0xF0 && second < 0x90) ||
            (c == 0xF4 && second > 0x8F))
            return NULL;
    }
    for (size_t i = 0; i < size; i++) out[i] = at[i];
    *count = size;
    return at + size;
}

/* A string, from its opening quote. */
static inline const char *trestle_json__string(const char *at, const char *end) {
    char out[4];
    size_t count;
    if (at == end || *at != '"') return NULL;
    at++;
    do at = trestle_json__next(at, end, out, &count);
    while (at && count > 0);
    return at;
}

static inline const char *trestle_json__digits(const char *at, const char *end) {
    const char *const start = at;
    while (at < end && *at >= '0' && *at <= '9') at++;
    return at > start ? at : NULL;
}

static inline const char *trestle_json__number(const char *at, const char *end) {
    if (at < end && *at == '-') at++;
    if (at < end && *at == '0')
        at++;
    else if (!(at = trestle_json__digits(at, end)))
        return NULL;
    if (at < end && *at == '.' && !(at = trestle_json__digits(at + 1, end))) return NULL;
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < end && (*at == '+' || *at == '-')) at++;
        at = trestle_json__digits(at, end);
    }
    return at;
}

static inline const char *trestle_json__word(const char *at, const char *end, const char *word) {
    const size_t size = strlen(word);
    return (size_t)(end - at) >= size && memcmp(at, word, size) == 0 ? at + size : NULL;
}

/* A value that is neither an array nor an object. */
static inline const char *trestle_json__scalar(const char *at, const char *end) {
    switch (at < end ? *at : 0) {
    case '"': return trestle_json__string(at, end);
    case 't': return trestle_json__word(at, end, "true");
    case 'f': return trestle_json__word(at, end, "false");
    case 'n': return trestle_json__word(at, end, "null");
    default: return trestle_json__number(at, end);
    }
}

/* A member's name, and the colon. */
static inline const char *trestle_json__name(const char *at, const char *end) {
    at = trestle_json__string(at, end);
    if (!at) return NULL;
    at = trestle_json__space(at, end);
    return at < end && *at == ':' ? trestle_json__space(at + 1, end) : NULL;
}

/* Any value, from its first byte. */
static inline const char *trestle_json__value(const char *at, const char *end) {
    char closing[TRESTLE_JSON_DEPTH];
    unsigned depth = 0;
    for (;;) {
        bool isOpen = at < end && (*at == '{' || *at == '[');
        if (isOpen) {
            if (depth == TRESTLE_JSON_DEPTH) return NULL;
            closing[depth++] = *at == '{' ? '}' : ']';
            at = trestle_json__space(at + 1, end);
            if (at < end && *at == closing[depth - 1]) {
                isOpen = false;
                at++;
                depth--;
            }
        } else {
            at = trestle_json__scalar(at, end);
            if (!at) return NULL;
        }
        while (!isOpen) {
            if (depth == 0) return at;
            at = trestle_json__space(at, end);
            if (at == end) return NULL;
            if (*at == ',') {
                at = trestle_json__space(at + 1, end);
                isOpen = true;
            } else if (*at == closing[depth - 1]) {
                at++;
                depth--;
            } else {
                return NULL;
            }
        }
        if (closing[depth - 1] == '}' && !(at = trestle_json__name(at, end))) return NULL;
    }
}

/* Whether a name, from its opening quote and valid, is this one. */
static inline bool trestle_json__is(const char *at, const char *end, const char *name) {
    char out[4];
    size_t count, left = strlen(name);
    for (at++; (at = trestle_json__next(at, end, out, &count)) != NULL && count > 0; name += count, left -= count)
        if (left < count || memcmp(out, name, count) != 0) return false;
    return at && left == 0;
}

/* ---- What a plugin uses ---- */

/* Whether this is one value of JSON, with nothing but white space around it. */
static inline bool trestle_json_valid(trestle_bytes text) {
    if (!text.data) return false;
    const char *const end = text.data + text.size;
    const char *at = trestle_json__value(trestle_json__space(text.data, end), end);
    return at && trestle_json__space(at, end) == end;
}

/* The text of a member's value, without white space around it; of no bytes where there is none, or where the text is no
   valid object. `name` is UTF-8. */
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

/* What a member is. */
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

/* Whether there is a member, be it null. */
static inline bool trestle_json_has(trestle_bytes object, const char *name) {
    return trestle_json_member(object, name).size > 0;
}

/* Writes a member that is a string to `buffer`, escapes decoded, with a zero byte behind it. False: it is no string, or
   it has not got room, of which it needs at most as many bytes as its text has. `length`: its bytes without the zero;
   NULL: the plugin takes a string that ends at the first zero byte, and one with a zero byte in it is refused. */
static inline bool trestle_json_string(trestle_bytes object, const char *name, char *buffer, size_t size, size_t *length) {
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

/* A member that is a whole number in the range, in whatever form: 100, 100.0 and 1e2 are the same. */
static inline bool trestle_json_int(trestle_bytes object, const char *name, int64_t *number) {
    const trestle_bytes value = trestle_json_member(object, name);
    if (value.size == 0 || (value.data[0] != '-' && (value.data[0] < '0' || value.data[0] > '9'))) return false;
    const char *at = value.data, *const end = value.data + value.size;
    const bool isNegative = *at == '-';
    uint64_t digits = 0;
    /* The number is digits * 10^(zeros + exponent): zeros at the end are counted, and not multiplied in. */
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

/* A member that is a number, as near as a double comes. False also where it is greater than a double can be. */
static inline bool trestle_json_double(trestle_bytes object, const char *name, double *number) {
    const trestle_bytes value = trestle_json_member(object, name);
    if (value.size == 0 || (value.data[0] != '-' && (value.data[0] < '0' || value.data[0] > '9'))) return false;
    /* What stands behind a number in an object ends it for strtod, too. */
    char *end;
    double read = strtod(value.data, &end);
    if (end != value.data + value.size) {
        /* The program has a locale with another decimal point. */
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

/* A member that is true or false. */
static inline bool trestle_json_bool(trestle_bytes object, const char *name, bool *truth) {
    const trestle_bytes value = trestle_json_member(object, name);
    if (value.size == 0 || (value.data[0] != 't' && value.data[0] != 'f')) return false;
    *truth = value.data[0] == 't';
    return true;
}

/* Writes text as a JSON string to `buffer`, with its quotes and a zero byte behind them: for results. Returns its bytes
   without the zero; 0: there was no room, of which it needs at most 6 times the text's bytes and 3. The text is to be
   UTF-8. */
static inline size_t trestle_json_quote(trestle_bytes text, char *buffer, size_t size) {
    static const char hex[] = "0123456789abcdef";
    size_t used = 0;
    if (size < 3) return 0;
    buffer[used++] = '"';
    for (size_t i = 0; i < text.size; i++) {
        const unsigned char c = (unsigned char)text.data[i];
        /* Room for the longest form, the quote and the zero. */
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
