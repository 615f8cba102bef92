/* SPDX-License-Identifier: Apache-2.0
 *
 * bridge_json.h: checks a line of JSON completely and splits it into the members of its top level.
 *
 * One pass checks the whole grammar of RFC 8259, including UTF-8 and the depth of nesting, and records the positions of
 * the top-level members. Nothing is converted or copied. This file does not interpret the members.
 *
 * This is own code because every call passes through it and no library does just this. Libraries that parse on demand
 * skip values that are not requested, so that invalid JSON would be forwarded; others build a tree. Libraries for whole
 * documents also take longer to prepare a message of 150 bytes than this code takes to read it.
 */
#ifndef TRESTLE_BRIDGE_JSON_H
#define TRESTLE_BRIDGE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The number of bytes after every parsed text that must be readable (their content does not matter). */
#define BRIDGE_JSON_PADDING 64u

/* Names that a caller looks for among the keys of objects, each with a number. The caller defines their meaning.
 */
typedef struct bridge_json_names bridge_json_names;

/* The maximum number of names, and the maximum number of bytes of each. */
#define BRIDGE_JSON_NAMES 64u
#define BRIDGE_JSON_NAME_BYTES 16u

/* Returns NULL if there is no memory. */
bridge_json_names *bridge_json_names_create(void);
void bridge_json_names_destroy(bridge_json_names *names);

/* Adds a name with a number below BRIDGE_JSON_NAMES. Returns false if it exceeds one of the limits. Add the most
   frequent names first. */
bool bridge_json_names_add(bridge_json_names *names, const char *name, size_t length, uint8_t number);

/* Working memory, reused from text to text. One thread at a time. */
typedef struct bridge_json_parser bridge_json_parser;

enum {
    BRIDGE_JSON_OK = 0,
    BRIDGE_JSON_EMPTY,
    BRIDGE_JSON_UTF8,         /* invalid UTF-8 */
    BRIDGE_JSON_CONTROL,      /* a control character in a string */
    BRIDGE_JSON_UNCLOSED,     /* a string does not end */
    BRIDGE_JSON_ESCAPE,       /* an unknown escape, or a lone surrogate */
    BRIDGE_JSON_NUMBER,       /* not a number of JSON's grammar */
    BRIDGE_JSON_LITERAL,      /* neither true, false nor null */
    BRIDGE_JSON_DEPTH,        /* nested too deeply */
    BRIDGE_JSON_VALUE,        /* expected a value */
    BRIDGE_JSON_KEY,          /* expected a key in quotes */
    BRIDGE_JSON_COLON,        /* expected a colon */
    BRIDGE_JSON_ARRAY_NEXT,   /* expected a comma or ] */
    BRIDGE_JSON_OBJECT_NEXT,  /* expected a comma or } */
    BRIDGE_JSON_TRAILING,     /* something follows the value */
    BRIDGE_JSON_MEMORY,       /* no memory, or a text of 4 GiB or more */
};

/* A member of the top level. In an object it has a key, in an array it has none. Offsets count from the text's
   start. */
typedef struct bridge_json_member {
    uint32_t key_start;    /* after the opening quote */
    uint32_t key_length;   /* without the quotes */
    uint32_t value_start;
    uint32_t value_length; /* including the quotes of a string */
    uint8_t type;          /* the value's first byte: { [ " t f n - 0…9 */
    bool key_escaped;      /* the key contains a backslash */
    bool value_escaped;    /* the value is a string and contains a backslash */
    uint8_t reserved;
} bridge_json_member;

typedef struct bridge_json_text {
    const bridge_json_member *members; /* valid until the parser's next text */
    uint32_t count;
    uint8_t root;                      /* the first byte of the text's value */
    uint8_t error;                     /* BRIDGE_JSON_… */
    uint32_t error_offset;             /* the position where the walk stopped */
    uint64_t found;                    /* the names that are keys of the top level, one bit for each number */
    uint64_t repeated;                 /* those of them that several keys have */
    const uint32_t *places;            /* by number, for the names found: the index of the last member */
    bool has_escaped_keys;             /* whether a key has escapes; such keys are not looked up */
} bridge_json_text;

/* `names` may be NULL; they must outlive the parser. Returns NULL if there is no memory. */
bridge_json_parser *bridge_json_parser_create(const bridge_json_names *names);
void bridge_json_parser_destroy(bridge_json_parser *parser);

/* Checks `length` bytes as one JSON text nested at most `maximum_depth` deep, and lists the members of its top level.
   The byte after them must be a control character (a line end, a zero). BRIDGE_JSON_PADDING bytes after them must be
   readable, with any content. Returns whether the text is valid; if not, `text` has the error and its position. */
bool bridge_json_parse(bridge_json_parser *parser, const char *bytes, size_t length, uint32_t maximum_depth,
                       bridge_json_text *text);

/* The same in steps, for long texts: a walk that is kept between the steps. */
typedef struct bridge_json_walk bridge_json_walk;

/* Begins the walk of a text as for bridge_json_parse, of fewer than UINT32_MAX bytes. The text must stay in place until
   the walk is destroyed. `names` are as for bridge_json_parser_create. An array may be nested `batch_levels` deeper.
   Returns NULL if there is no memory. */
bridge_json_walk *bridge_json_walk_create(const bridge_json_names *names, const char *bytes, size_t length,
                                          uint32_t maximum_depth, uint32_t batch_levels);
void bridge_json_walk_destroy(bridge_json_walk *walk);

/* Continues the walk over about `bytes` bytes. The plain characters of a member's name and value that extend further
   are also passed, because this is fast. Returns whether the walk has ended: the text is then known to be valid or
   invalid. */
bool bridge_json_walk_step(bridge_json_walk *walk, size_t bytes);

/* Returns the result of bridge_json_parse once the walk has ended. The members are valid until the walk is
   destroyed. */
bool bridge_json_walk_result(const bridge_json_walk *walk, bridge_json_text *text);

/* Returns the greatest depth of nesting in the part that was walked. */
uint32_t bridge_json_walk_depth(const bridge_json_walk *walk);

/* Returns the number of bytes of memory that the walk uses, without the text. */
size_t bridge_json_walk_held_bytes(const bridge_json_walk *walk);

#ifdef __cplusplus
}
#endif

#endif
