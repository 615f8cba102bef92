/* libsodium: password hashing, hashing, base 64 and random bytes. */
#include <sodium.h>
