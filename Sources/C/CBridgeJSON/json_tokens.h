// The tokens that both walks over a text read in one go: white space, escapes, characters, literals. Only for
// bridge_json.c and bridge_json_walk.c.
//
// The byte after the text is a control character. Every step stops there, because no token contains one; so no step
// tests at each byte whether the text has ended. Only white space is skipped with a test for the end.
#ifndef TRESTLE_JSON_TOKENS_H
#define TRESTLE_JSON_TOKENS_H

#include "bridge_json.h"

#include "json_names.h"
#include "string_marks.h"

#include <stdlib.h>
#include <string.h>

// The maximum depth of a text, whatever the caller requests: the walk keeps one bit for each level.
enum { deepest = 1024 };

struct bridge_json_parser {
    bridge_json_member *members;
    uint32_t capacity;
    // The names to look for among the keys of the top level, and their positions; see bridge_json_text.
    const bridge_json_names *names;
    uint32_t places[BRIDGE_JSON_NAMES];
    // The error of the current text, and its position; see `fail`.
    uint8_t error;
    const uint8_t *error_place;
};

// Records an error and its position. Returns NULL in place of the next position.
__attribute__((noinline, cold)) static const uint8_t *fail(bridge_json_parser *parser, uint8_t error,
                                                           const uint8_t *place) {
    parser->error = error;
    parser->error_place = place;
    return NULL;
}

always_inline bool is_space(uint8_t c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
// '[' and '{' differ in one bit; with this bit set, no other character is '{'.
always_inline bool is_bracket(uint8_t c) { return (c | 0x20) == '{'; }
always_inline bool is_digit(uint8_t c) { return (uint8_t)(c - '0') < 10; }

// Returns the first byte from `p` on that is not white space, or the end of the text.
always_inline const uint8_t *skip_space(const uint8_t *p, const uint8_t *end) {
    if (likely(*p > ' ')) return p;
    while (p < end && is_space(*p)) p++;
    return p;
}

// Whether the two bytes at `p` are these: one comparison. The second one may be past the text.
always_inline bool is_pair(const uint8_t *p, const char *pair) { return memcmp(p, pair, 2) == 0; }

// MARK: Parts of strings

// Returns the value of four hexadecimal digits, or -1.
static int32_t hex4(const uint8_t *p) {
    int32_t value = 0;
    for (int i = 0; i < 4; i++) {
        uint8_t c = p[i], digit;
        if (is_digit(c)) digit = (uint8_t)(c - '0');
        else if (c >= 'a' && c <= 'f') digit = (uint8_t)(c - 'a' + 10);
        else if (c >= 'A' && c <= 'F') digit = (uint8_t)(c - 'A' + 10);
        else return -1;
        value = value << 4 | digit;
    }
    return value;
}

// Returns the position after the escape at `p`, including the second half of a surrogate pair.
__attribute__((noinline)) static const uint8_t *escape(bridge_json_parser *parser, const uint8_t *p,
                                                       const uint8_t *end) {
    if (end - p < 2) return fail(parser, BRIDGE_JSON_UNCLOSED, end);
    switch (p[1]) {
    case '"': case '\\': case '/': case 'b': case 'f': case 'n': case 'r': case 't': return p + 2;
    case 'u': break;
    default: return fail(parser, BRIDGE_JSON_ESCAPE, p);
    }
    int32_t unit = end - p < 6 ? -1 : hex4(p + 2);
    if (unit < 0 || (unit >= 0xDC00 && unit <= 0xDFFF)) return fail(parser, BRIDGE_JSON_ESCAPE, p);
    if (unit < 0xD800 || unit > 0xDBFF) return p + 6;
    int32_t low = end - p < 12 || p[6] != '\\' || p[7] != 'u' ? -1 : hex4(p + 8);
    if (low < 0xDC00 || low > 0xDFFF) return fail(parser, BRIDGE_JSON_ESCAPE, p);
    return p + 12;
}

always_inline bool continues(uint8_t c) { return (c & 0xC0) == 0x80; }

// Returns the position after the multi-byte character at `p`. Table 3-7 of the Unicode standard, version 15: no
// overlong forms, no surrogates, nothing above U+10FFFF.
__attribute__((noinline)) static const uint8_t *character(bridge_json_parser *parser, const uint8_t *p,
                                                          const uint8_t *end) {
    ptrdiff_t left = end - p;
    uint8_t first = p[0];
    if (first >= 0xC2 && first <= 0xDF && left >= 2 && continues(p[1])) return p + 2;
    if ((first & 0xF0) == 0xE0 && left >= 3 && continues(p[1]) && continues(p[2])) {
        if (!(first == 0xE0 && p[1] < 0xA0) && !(first == 0xED && p[1] > 0x9F)) return p + 3;
    }
    if (first >= 0xF0 && first <= 0xF4 && left >= 4 && continues(p[1]) && continues(p[2]) && continues(p[3])) {
        if (!(first == 0xF0 && p[1] < 0x90) && !(first == 0xF4 && p[1] > 0x8F)) return p + 4;
    }
    return fail(parser, BRIDGE_JSON_UTF8, p);
}

// MARK: Scalars

// Whether the byte at `p` may follow a number or a literal.
always_inline bool ends_scalar(const uint8_t *p, const uint8_t *end) {
    return *p == ',' || *p == '}' || *p == ']' || *p <= ' ' || p >= end || *p == ':';
}

// The comparison may read past the text. It does not match there, because the byte after the text is not a letter.
always_inline const uint8_t *literal(bridge_json_parser *parser, const uint8_t *p, const uint8_t *end, const char *word,
                                     size_t size) {
    return memcmp(p, word, size) == 0 && ends_scalar(p + size, end) ? p + size : fail(parser, BRIDGE_JSON_LITERAL, p);
}

// MARK: Members

// Makes room for another member of the top level.
static bool grow(bridge_json_parser *parser) {
    uint32_t capacity = parser->capacity == 0 ? 16 : parser->capacity * 2;
    bridge_json_member *grown = realloc(parser->members, capacity * sizeof *grown);
    if (grown == NULL) return false;
    parser->members = grown;
    parser->capacity = capacity;
    return true;
}

#endif
