// A message with placeholders that are filled each time it is sent.
//
//     %I  the call's number, unique in the run     %V  another number each time, twelve digits
//     %P  the payload                              %*  in a reply: any bytes up to the next part
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
    // The maximum length of a filled message.
    size_t longest;
};

// The replacement of %P.
struct payload {
    const char *bytes;
    size_t length;
};

// Returns the content of a file, or that many letters x if `path` is NULL; ends the program if the file does not exist.
struct payload payload_read(const char *path, size_t letters);

// Parses a template; ends the program if it is invalid.
struct template template_read(const char *source, struct payload payload);

// Writes a message to `to`, which has room for `longest` bytes. Returns its length.
size_t template_fill(const struct template *template, uint64_t number, uint64_t value, char *to);

// Finds the number of a message; false if it has none. Only text precedes it in the template.
bool template_number(const struct template *template, const char *bytes, size_t length, uint64_t *number);

// Whether `bytes` are the message of this number and value, to the last byte.
bool template_match(const struct template *template, uint64_t number, uint64_t value, const char *bytes, size_t length);

#endif
