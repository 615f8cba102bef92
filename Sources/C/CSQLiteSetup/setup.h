/* What SQLite has to be asked for by functions that take a variable number of arguments, which Swift cannot call. */
#include <sqlite3.h>
#include <stddef.h>

/*
 * Makes a connection allocate a page of its cache when it needs one. Otherwise it allocates 20 of them with its first:
 * 88 KiB, of which a connection that is seldom used needs the fourth part.
 *
 * For the whole process, before its first connection; later it returns SQLITE_MISUSE and changes nothing.
 */
static inline int csqlitesetup_allocate_pages_by_need(void) {
    return sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, 0);
}
