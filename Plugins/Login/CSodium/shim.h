/* libsodium: password hashing, hashing and random bytes for the login plugin. */
#include <sodium.h>
