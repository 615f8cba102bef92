/* SPDX-License-Identifier: Apache-2.0
 *
 * bridge_json.h: a line of JSON, checked whole and cut into the members of its top level.
 *
 * One pass checks the whole grammar of RFC 8259, UTF-8 and the depth of nesting included, and remembers where the
 * members of the top level stand; nothing is converted or copied. What the members mean is no business of this file.
 *
 * Own code, because this is on the way of every call, and because no library offers just this: those that parse on
 * demand skip what is not asked for, so that bad JSON would travel on, and the others build a tree. Libraries for whole
 * documents also spend more on preparing a message of 150 bytes than this does on reading it.
 */
#ifndef TRESTLE_BRIDGE_JSON_H
#define TRESTLE_BRIDGE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes that must be readable (not meaningful) behind every text that is parsed. */
#define BRIDGE_JSON_PADDING 64u

/* Names that a caller looks for among the keys of objects, each with a number. What they mean is the caller's business.
 */
typedef struct bridge_json_names bridge_json_names;

/* So many names there are at most, of so many bytes each. */
#define BRIDGE_JSON_NAMES 64u
#define BRIDGE_JSON_NAME_BYTES 16u

/* NULL where there is no memory. */
bridge_json_names *bridge_json_names_create(void);
void bridge_json_names_destroy(bridge_json_names *names);

/* Adds a name under a number below BRIDGE_JSON_NAMES. False where there is no room for it. Those that are looked for
   most are best added first. */
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
    BRIDGE_JSON_VALUE,        /* a value was expected */
    BRIDGE_JSON_KEY,          /* a key in quotes was expected */
    BRIDGE_JSON_COLON,        /* a colon was expected */
    BRIDGE_JSON_ARRAY_NEXT,   /* a comma or ] was expected */
    BRIDGE_JSON_OBJECT_NEXT,  /* a comma or } was expected */
    BRIDGE_JSON_TRAILING,     /* something follows the value */
    BRIDGE_JSON_MEMORY,       /* no memory, or a text of more than 4 GiB */
};

/* A member of the top level: of an object with its key, of an array without. Offsets count from the text's start. */
typedef struct bridge_json_member {
    uint32_t key_start;    /* behind the opening quote */
    uint32_t key_length;   /* without the quotes */
    uint32_t value_start;
    uint32_t value_length; /* of a string with its quotes */
    uint8_t type;          /* the value's first byte: { [ " t f n - 0…9 */
    bool key_escaped;      /* the key bears a backslash */
    bool value_escaped;    /* the value is a string and bears a backslash */
    uint8_t reserved;
} bridge_json_member;

typedef struct bridge_json_text {
    const bridge_json_member *members; /* valid until the parser's next text */
    uint32_t count;
    uint8_t root;                      /* the first byte of the text's value */
    uint8_t error;                     /* BRIDGE_JSON_… */
    uint32_t error_offset;             /* where the walk stopped */
    uint64_t found;                    /* the names that are keys of the top level, a bit for each number */
    uint64_t repeated;                 /* those of them that are several keys */
    const uint32_t *places;            /* by number, of those found: the index of the member, of several the last */
    bool has_escaped_keys;             /* such keys are not looked up */
} bridge_json_text;

/* Names are looked for where there are any; they outlive the parser. NULL where there is no memory. */
bridge_json_parser *bridge_json_parser_create(const bridge_json_names *names);
void bridge_json_parser_destroy(bridge_json_parser *parser);

/* Checks `length` bytes as one JSON text nested at most `maximum_depth` deep, and lists the members of its top level.
   The byte behind them must be a control character (a line end, a zero), and BRIDGE_JSON_PADDING bytes behind them must
   be readable, whatever they are. Returns whether the text is good; where it is not, `text` says why and where. */
bool bridge_json_parse(bridge_json_parser *parser, const char *bytes, size_t length, uint32_t maximum_depth,
                       bridge_json_text *text);

/* The same in steps, for texts that take long: a walk that is kept between them. */
typedef struct bridge_json_walk bridge_json_walk;

/* Begins the walk of a text as bridge_json_parse gets it, of fewer than UINT32_MAX bytes, which stays where it is until
   the walk is destroyed, and of names as bridge_json_parser_create gets them. Where the text is an array, it may be
   nested `batch_levels` deeper. NULL where there is no memory. */
bridge_json_walk *bridge_json_walk_create(const bridge_json_names *names, const char *bytes, size_t length,
                                          uint32_t maximum_depth, uint32_t batch_levels);
void bridge_json_walk_destroy(bridge_json_walk *walk);

/* Walks on over about as many bytes; plain characters of a string that reaches further are passed as well, which are
   quick. Returns whether the walk has ended: the text is known to be good, or not to be. */
bool bridge_json_walk_step(bridge_json_walk *walk, size_t bytes);

/* What bridge_json_parse returns and says of the text, once the walk has ended. The members are valid until it is
   destroyed. */
bool bridge_json_walk_result(const bridge_json_walk *walk, bridge_json_text *text);

/* How deep the text is nested, as far as it was walked. */
uint32_t bridge_json_walk_depth(const bridge_json_walk *walk);

/* How much memory the walk takes, without the text. */
size_t bridge_json_walk_held_bytes(const bridge_json_walk *walk);

#ifdef __cplusplus
}
#endif

#endif
