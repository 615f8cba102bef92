/* Base 64 as RFC 4648, section 4 has it: the bytes of streams in messages. The way in for Swift is Base64Coding of
   BridgeJSON, which sees to lengths. Any thread. */
#ifndef TRESTLE_BASE64_H
#define TRESTLE_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the text of bytes, with its padding: (count + 2) / 3 * 4 bytes. */
void trestle_base64_encode(const uint8_t *bytes, size_t count, uint8_t *text);

/* Writes the bytes of so many digits, padding not among them: digits * 3 / 4 bytes. False where one is no digit, where
   the last one has bits that stand for no byte, or where it is alone; what was written then means nothing. */
bool trestle_base64_decode(const uint8_t *text, size_t digits, uint8_t *bytes);

#ifdef __cplusplus
}
#endif

#endif
