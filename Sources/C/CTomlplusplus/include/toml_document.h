/* SPDX-License-Identifier: Apache-2.0
 *
 * toml_document.h: a C interface to toml++, limited to what TOMLDocument needs.
 *
 * One function reads a whole document and reports its values to a visitor. The caller has nothing to free: memory that
 * toml++ allocates is freed when `toml_read` returns. It throws no C++ exception.
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

/* A position in the document, counted from 1; columns count characters. 0, 0 if unknown. */
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
    bool has_key;         /* Whether it is in a table; false for the root and for an array's items. */
    bool boolean;         /* BOOLEAN */
    int64_t integer;      /* INTEGER */
    double real;          /* FLOAT */
    toml_text text;       /* STRING, DATE */
    toml_text key;        /* If `has_key`. */
    toml_place key_place; /* If `has_key`. */
    toml_place place;
} toml_node;

typedef struct toml_visitor {
    void *context;
    /* Receives one value. After an array or a table come its items, then `leave`. A table's keys are in document order.
       Returns false to end the walk. */
    bool (*enter)(void *context, const toml_node *node);
    /* Receives the end of the array or table that was entered last. */
    void (*leave)(void *context);
    /* The document is not TOML, or memory ran out. Called at most once, as the last call. */
    void (*fail)(void *context, toml_place place, toml_text reason);
} toml_visitor;

/* Reads `text` and reports it to the visitor, beginning with the root table. Recurses as deep as the document is
   nested; the caller limits this depth. */
void toml_read(toml_text text, const toml_visitor *visitor);

#ifdef __cplusplus
}
#endif
#endif
