/* SQLite's settings that require functions with a variable number of arguments, which Swift cannot call. */
#include <sqlite3.h>
#include <stddef.h>

/*
 * Makes a connection allocate a page of its cache when it needs one. By default it allocates 20 pages with the first
 * one: 88 KiB, of which a rarely used connection needs a quarter.
 *
 * Applies to the whole process. Call it before the first connection; later it returns SQLITE_MISUSE and changes
 * nothing.
 */
static inline int csqlitesetup_allocate_pages_on_demand(void) {
    return sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, 0);
}
