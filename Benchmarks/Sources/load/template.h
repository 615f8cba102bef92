// A message with places that are filled again each time it is sent.
//
//     %I  the call's number, unique in the run     %V  another number each time, twelve digits
//     %P  the payload                              %*  in a reply: any bytes up to what follows
//     \r  \n  a carriage return, a line feed       %%  a per cent sign
#ifndef LOAD_TEMPLATE_H
#define LOAD_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct part {
    enum { part_text, part_number, part_value, part_any } kind;
    const char *text;
    size_t length;
};

struct template {
    struct part parts[32];
    int count;
    // The most bytes that a filled message takes.
    size_t longest;
};

// What %P stands for.
struct payload {
    const char *bytes;
    size_t length;
};

// What a file holds, or where `path` is NULL as many letters x; ends the program where there is no such file.
struct payload payload_read(const char *path, size_t letters);

// Reads a template; ends the program where it is none.
struct template template_read(const char *source, struct payload payload);

// Writes a message to `to`, which has room for `longest` bytes. Returns its length.
size_t template_fill(const struct template *template, uint64_t number, uint64_t value, char *to);

// The number that a message bears; false where it bears none. Only text stands before it in the template.
bool template_number(const struct template *template, const char *bytes, size_t length, uint64_t *number);

// Whether `bytes` are the message of this number and value, to the last byte.
bool template_match(const struct template *template, uint64_t number, uint64_t value, const char *bytes, size_t length);

#endif
