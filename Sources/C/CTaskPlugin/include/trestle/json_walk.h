/* SPDX-License-Identifier: Apache-2.0
 *
 * trestle/json_walk.h: the walk through a JSON text, for trestle_json.h; not part of the interface. Each function takes
 * the next byte and the end. It returns the byte after what it has read, or NULL if the text is not as expected.
 */
#ifndef TRESTLE_JSON_WALK_H
#define TRESTLE_JSON_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A text that is nested more deeply is treated as invalid. */
#define TRESTLE_JSON_DEPTH 128u

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

/* Reads four hexadecimal digits. */
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

/* Writes a character as UTF-8; returns its number of bytes. */
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

/* Reads an escape after its backslash. Half of a surrogate pair is invalid. */
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

/* Reads one character of a string, after its opening quote: writes at most 4 bytes to `out`, 0 at the end of the
   string. */
static inline const char *trestle_json__next(const char *at, const char *end, char out[4], size_t *count) {
    if (at == end) return NULL;
    const unsigned char c = (unsigned char)*at;
    *count = 0;
    if (c == '"') return at + 1;
    if (c == '\\') return trestle_json__escape(at + 1, end, out, count);
    if (c < 0x20) return NULL;
    const size_t size =
        c < 0x80 ? 1 : c >= 0xC2 && c <= 0xDF ? 2 : c >= 0xE0 && c <= 0xEF ? 3 : c >= 0xF0 && c <= 0xF4 ? 4 : 0;
    if (size == 0 || (size_t)(end - at) < size) return NULL;
    for (size_t i = 1; i < size; i++)
        if (((unsigned char)at[i] & 0xC0) != 0x80) return NULL;
    if (size > 2) {
        /* Neither an overlong form, nor a surrogate, nor a value above U+10FFFF. */
        const unsigned char second = (unsigned char)at[1];
        if ((c == 0xE0 && second < 0xA0) || (c == 0xED && second > 0x9F) || (c == 0xF0 && second < 0x90) ||
            (c == 0xF4 && second > 0x8F))
            return NULL;
    }
    for (size_t i = 0; i < size; i++) out[i] = at[i];
    *count = size;
    return at + size;
}

/* Reads a string, from its opening quote. */
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

/* Reads a value that is neither an array nor an object. */
static inline const char *trestle_json__scalar(const char *at, const char *end) {
    switch (at < end ? *at : 0) {
    case '"': return trestle_json__string(at, end);
    case 't': return trestle_json__word(at, end, "true");
    case 'f': return trestle_json__word(at, end, "false");
    case 'n': return trestle_json__word(at, end, "null");
    default: return trestle_json__number(at, end);
    }
}

/* Reads a member's name, and the colon. */
static inline const char *trestle_json__name(const char *at, const char *end) {
    at = trestle_json__string(at, end);
    if (!at) return NULL;
    at = trestle_json__space(at, end);
    return at < end && *at == ':' ? trestle_json__space(at + 1, end) : NULL;
}

/* Reads any value, from its first byte. */
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

/* Whether a valid name, from its opening quote, equals `name`. */
static inline bool trestle_json__is(const char *at, const char *end, const char *name) {
    char out[4];
    size_t count, left = strlen(name);
    for (at++; (at = trestle_json__next(at, end, out, &count)) != NULL && count > 0; name += count, left -= count)
        if (left < count || memcmp(out, name, count) != 0) return false;
    return at && left == 0;
}

#ifdef __cplusplus
}
#endif

#endif
