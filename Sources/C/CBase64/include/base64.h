/* Base 64 as in RFC 4648, section 4: the bytes of streams in messages. Swift code uses Base64Coding of BridgeJSON,
   which manages the lengths. Any thread. */
#ifndef TRESTLE_BASE64_H
#define TRESTLE_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the text of the bytes, with padding: (count + 2) / 3 * 4 bytes. */
void trestle_base64_encode(const uint8_t *bytes, size_t count, uint8_t *text);

/* Writes the bytes of `digits` digits without padding: digits * 3 / 4 bytes. Returns false if a character is not a
   digit, if the last digit has bits that belong to no byte, or if it is a single digit after the last group of four.
   The output is then undefined. */
bool trestle_base64_decode(const uint8_t *text, size_t digits, uint8_t *bytes);

#ifdef __cplusplus
}
#endif

#endif
