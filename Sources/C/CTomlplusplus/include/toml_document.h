/* SPDX-License-Identifier: Apache-2.0
 *
 * toml_document.h: a C interface to toml++, as narrow as TOMLDocument needs it.
 *
 * One function reads a whole document and calls a visitor with what it finds. Nothing is handed out that the caller
 * would have to free: what toml++ allocates is gone when `toml_read` returns. No C++ exception leaves it.
 */
#ifndef TOML_DOCUMENT_H
#define TOML_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Borrowed UTF-8, not terminated; valid until the function that received it returns. */
typedef struct toml_text {
    const char *data;
    size_t size;
} toml_text;

/* Where something stands, counted from 1; columns count characters. 0, 0: not known. */
typedef struct toml_place {
    uint32_t line;
    uint32_t column;
} toml_place;

typedef enum toml_kind {
    TOML_KIND_STRING = 0,
    TOML_KIND_INTEGER = 1,
    TOML_KIND_FLOAT = 2,
    TOML_KIND_BOOLEAN = 3,
    TOML_KIND_DATE = 4, /* A date, a time, or both, as text. */
    TOML_KIND_ARRAY = 5,
    TOML_KIND_TABLE = 6
} toml_kind;

typedef struct toml_node {
    toml_kind kind;
    bool has_key;         /* In a table; false for the root and for an array's items. */
    bool boolean;         /* BOOLEAN */
    int64_t integer;      /* INTEGER */
    double real;          /* FLOAT */
    toml_text text;       /* STRING, DATE */
    toml_text key;        /* Where `has_key`. */
    toml_place key_place; /* Where `has_key`. */
    toml_place place;
} toml_node;

typedef struct toml_visitor {
    void *context;
    /* One value; an array or a table is followed by its items, then by `leave`. A table's keys come in the order in
       which the document has them. False ends the walk. */
    bool (*enter)(void *context, const toml_node *node);
    /* The end of the array or table entered last. */
    void (*leave)(void *context);
    /* The document is not TOML, or memory ran out. Called at most once, and then last. */
    void (*fail)(void *context, toml_place place, toml_text reason);
} toml_visitor;

/* Reads `text` and shows it to the visitor, its root table first. Recurses as deep as the document is nested: its
   caller bounds that. */
void toml_read(toml_text text, const toml_visitor *visitor);

#ifdef __cplusplus
}
#endif
#endif
