/* libuv, and the few system calls beside it that Swift cannot import (macros, GNU extensions). */
#ifndef TRESTLE_CLIBUV_SHIM_H
#define TRESTLE_CLIBUV_SHIM_H
#include <uv.h>
#endif
