#include "template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { number_digits = 20, value_digits = 12 };

static void add(struct template *template, struct part part) {
    if (template->count == sizeof template->parts / sizeof *template->parts) {
        fprintf(stderr, "load: a template has too many parts\n");
        exit(64);
    }
    template->parts[template->count++] = part;
    switch (part.kind) {
    case part_text: template->longest += part.length; break;
    case part_number: template->longest += number_digits; break;
    case part_value: template->longest += value_digits; break;
    case part_any: break;
    }
}

// Adds the text collected so far as a part.
static void end_text(struct template *template, char **start, char **end) {
    if (*end > *start) add(template, (struct part){part_text, *start, (size_t)(*end - *start)});
    *start = *end;
}

struct payload payload_read(const char *path, size_t letters) {
    FILE *file = path == NULL ? NULL : fopen(path, "r");
    if (path != NULL && (file == NULL || fseek(file, 0, SEEK_END) != 0)) {
        perror(path);
        exit(1);
    }
    size_t length = file == NULL ? letters : (size_t)ftell(file);
    char *bytes = malloc(length + 1);
    if (bytes == NULL) abort();
    memset(bytes, 'x', length);
    if (file != NULL) {
        rewind(file);
        length = fread(bytes, 1, length, file);
        fclose(file);
    }
    return (struct payload){bytes, length};
}

struct template template_read(const char *source, struct payload payload) {
    struct template template = {.count = 0};
    // Never freed: the parts point into it.
    char *start = malloc(strlen(source) + payload.length + 1), *end = start;
    if (start == NULL) abort();
    for (const char *next = source; *next != 0; next++) {
        if (*next == '\\' && (next[1] == 'r' || next[1] == 'n')) {
            *end++ = *++next == 'r' ? '\r' : '\n';
        } else if (*next != '%') {
            *end++ = *next;
        } else if (next[1] == 'P') {
            memcpy(end, payload.bytes, payload.length);
            end += payload.length;
            next++;
        } else if (next[1] == '%') {
            *end++ = *++next;
        } else {
            end_text(&template, &start, &end);
            switch (*++next) {
            case 'I': add(&template, (struct part){.kind = part_number}); break;
            case 'V': add(&template, (struct part){.kind = part_value}); break;
            case '*': add(&template, (struct part){.kind = part_any}); break;
            default: fprintf(stderr, "load: no such place in a template: %%%c\n", *next); exit(64);
            }
        }
    }
    end_text(&template, &start, &end);
    return template;
}

static size_t write_number(uint64_t number, size_t digits, char *to) {
    char text[number_digits];
    size_t first = number_digits;
    do {
        text[--first] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    while (number_digits - first < digits) text[--first] = '0';
    memcpy(to, text + first, number_digits - first);
    return number_digits - first;
}

static size_t write_part(const struct part *part, uint64_t number, uint64_t value, char *to) {
    switch (part->kind) {
    case part_text: memcpy(to, part->text, part->length); return part->length;
    case part_number: return write_number(number, 1, to);
    case part_value: return write_number(value, value_digits, to);
    case part_any: return 0;
    }
    return 0;
}

size_t template_fill(const struct template *template, uint64_t number, uint64_t value, char *to) {
    size_t length = 0;
    for (int i = 0; i < template->count; i++) length += write_part(&template->parts[i], number, value, to + length);
    return length;
}

bool template_number(const struct template *template, const char *bytes, size_t length, uint64_t *number) {
    size_t offset = 0;
    for (int i = 0; i < template->count; i++) {
        const struct part *part = &template->parts[i];
        if (part->kind == part_number) {
            size_t first = offset;
            for (*number = 0; offset < length && bytes[offset] >= '0' && bytes[offset] <= '9'; offset++)
                *number = *number * 10 + (uint64_t)(bytes[offset] - '0');
            return offset > first;
        }
        // Only text of a known length may precede the number: replies name their call at their beginning.
        if (part->kind != part_text) return false;
        offset += part->length;
    }
    return false;
}

bool template_match(const struct template *template, uint64_t number, uint64_t value, const char *bytes,
                    size_t length) {
    size_t offset = 0;
    bool skips = false;
    for (int i = 0; i < template->count; i++) {
        const struct part *part = &template->parts[i];
        if (part->kind == part_any) {
            skips = true;
            continue;
        }
        char digits[number_digits];
        const char *expected = part->text;
        size_t size = part->length;
        if (part->kind != part_text) {
            size = write_part(part, number, value, digits);
            expected = digits;
        }
        if (skips) {
            const char *found = memmem(bytes + offset, length - offset, expected, size);
            if (found == NULL) return false;
            offset = (size_t)(found - bytes);
            skips = false;
        }
        if (length - offset < size || memcmp(bytes + offset, expected, size) != 0) return false;
        offset += size;
    }
    return skips || offset == length;
}
