#ifndef TRESTLE_CEXTENDEDATTRIBUTES_H
#define TRESTLE_CEXTENDEDATTRIBUTES_H

/* Extended attributes of files, which Swift's module of the C library leaves out. */
#include <sys/xattr.h>

#endif
