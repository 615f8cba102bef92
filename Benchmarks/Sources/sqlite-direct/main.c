// The speed of SQLite with the persistence plugin's tables: the reference for the plugin.
//
// Drives the C interface directly, in one thread: prepared statements, the schema and the settings of the plugin
// (Plugins/Persistence/Tasks/Store), records of the form and size that a load generator sends. The plugin's other work
// (socket, JSON, order, threads) is the difference to these figures.
//
//     sqlite-direct MODE --database PATH --seconds N [--rows N]
//
//     create   inserts records, `--rows` (100) to a transaction; p50 and p99 are those of a whole transaction
//     lone     inserts records, one to a transaction
//     read     reads records by their key, in random order; fills a table up to `--rows` (100,000)
//
// Prints one line of KEY=VALUE pairs. Every record is different, because SQLite does not write unchanged content.

#include <sqlite3.h>

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// As in Store/Schema.swift.
static const char schema[] =
    "CREATE TABLE IF NOT EXISTS namespace (id INTEGER PRIMARY KEY, uid INTEGER NOT NULL, origin BLOB NOT NULL,"
    " version INTEGER NOT NULL DEFAULT 0, pruned INTEGER NOT NULL DEFAULT 0, deletions INTEGER NOT NULL DEFAULT 0,"
    " UNIQUE (uid, origin)) STRICT;"
    "CREATE TABLE IF NOT EXISTS collection (id INTEGER PRIMARY KEY,"
    " namespace INTEGER NOT NULL REFERENCES namespace (id), name BLOB NOT NULL, UNIQUE (namespace, name)) STRICT;"
    "CREATE TABLE IF NOT EXISTS record (id INTEGER PRIMARY KEY,"
    " collection INTEGER NOT NULL REFERENCES collection (id), key BLOB NOT NULL, version INTEGER NOT NULL,"
    " created INTEGER NOT NULL, body TEXT NOT NULL, UNIQUE (collection, key)) STRICT;"
    "CREATE INDEX IF NOT EXISTS record_feed ON record (collection, version);"
    "INSERT OR IGNORE INTO namespace (id, uid, origin) VALUES (1, 0, CAST('local' AS BLOB));"
    "INSERT OR IGNORE INTO collection (id, namespace, name) VALUES (1, 1, CAST('bench' AS BLOB));";

// As in Store/StoreFile.swift.
static const char settings[] = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;";

static sqlite3 *database;

static void fail(const char *what) {
    fprintf(stderr, "sqlite-direct: %s: %s\n", what, database ? sqlite3_errmsg(database) : "bad usage");
    exit(1);
}

static void execute(const char *sql) {
    if (sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK) fail(sql);
}

static sqlite3_stmt *prepare(const char *sql) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) != SQLITE_OK) fail(sql);
    return statement;
}

static void finish(sqlite3_stmt *statement) {
    if (sqlite3_step(statement) != SQLITE_DONE) fail("step");
    sqlite3_reset(statement);
}

static int64_t query(const char *sql) {
    sqlite3_stmt *statement = prepare(sql);
    if (sqlite3_step(statement) != SQLITE_ROW) fail(sql);
    int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

static uint64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static uint64_t random_state = 0x9E3779B97F4A7C15;

static uint64_t next_random(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

// MARK: Durations

static uint32_t *samples;
static size_t sample_count, sample_capacity;

static void take_sample(uint64_t nanoseconds) {
    if (sample_count == sample_capacity) {
        sample_capacity = sample_capacity ? sample_capacity * 2 : 1 << 16;
        samples = realloc(samples, sample_capacity * sizeof *samples);
        if (!samples) abort();
    }
    samples[sample_count++] = nanoseconds > UINT32_MAX ? UINT32_MAX : (uint32_t)nanoseconds;
}

static int by_size(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static double percentile_us(double part) {
    return sample_count ? samples[(size_t)((double)(sample_count - 1) * part)] / 1000.0 : 0;
}

static void report(const char *mode, uint64_t operations, uint64_t nanoseconds) {
    qsort(samples, sample_count, sizeof *samples, by_size);
    printf("mode=%s operations=%" PRIu64 " ops_per_second=%.0f p50_us=%.1f p99_us=%.1f\n", mode, operations,
        (double)operations * 1e9 / (double)nanoseconds, percentile_us(0.5), percentile_us(0.99));
}

// MARK: Records

static sqlite3_stmt *insert_record, *take_version;
static int64_t next_number;

/// Writes a key of the length and order of the plugin's keys.
static int write_key(char *key, int64_t number) {
    return sprintf(key, "%08" PRIx64 "-0000-7000-8000-%012" PRIx64, (uint64_t)number, (uint64_t)number);
}

static void insert(int64_t version) {
    char key[64], body[256];
    int key_bytes = write_key(key, version);
    int body_bytes = sprintf(body, "{\"number\":%" PRId64 ",\"name\":\"record %" PRId64 "\",\"text\":\"%016" PRIx64
        "%016" PRIx64 "%016" PRIx64 "\"}", version, version, next_random(), next_random(), next_random());
    sqlite3_bind_int64(insert_record, 1, 1);
    sqlite3_bind_blob(insert_record, 2, key, key_bytes, SQLITE_STATIC);
    sqlite3_bind_int64(insert_record, 3, version);
    sqlite3_bind_int64(insert_record, 4, version);
    sqlite3_bind_text(insert_record, 5, body, body_bytes, SQLITE_STATIC);
    finish(insert_record);
}

static void insert_rows(int64_t rows) {
    static sqlite3_stmt *begin, *commit;
    if (!begin) {
        begin = prepare("BEGIN IMMEDIATE");
        commit = prepare("COMMIT");
        insert_record = prepare("INSERT INTO record (collection, key, version, created, body) VALUES (?, ?, ?, ?, ?)");
        take_version = prepare("UPDATE namespace SET version = ? WHERE id = 1");
        next_number = query("SELECT version FROM namespace WHERE id = 1");
    }
    finish(begin);
    for (int64_t row = 0; row < rows; row++) insert(++next_number);
    sqlite3_bind_int64(take_version, 1, next_number);
    finish(take_version);
    finish(commit);
}

static void run_create(const char *mode, int64_t rows, uint64_t duration) {
    insert_rows(rows);
    uint64_t operations = 0, start = now_ns(), last = start;
    while (last - start < duration) {
        insert_rows(rows);
        operations += (uint64_t)rows;
        uint64_t now = now_ns();
        take_sample(now - last);
        last = now;
    }
    report(mode, operations, last - start);
}

static void run_read(int64_t rows, uint64_t duration) {
    while (query("SELECT count(*) FROM record") < rows) insert_rows(1000);
    sqlite3_stmt *read = prepare("SELECT version, body FROM record WHERE collection = ? AND key = ?");
    // Versions are the numbers that the keys were made from.
    int64_t first = query("SELECT min(version) FROM record"), last_number = query("SELECT max(version) FROM record");
    uint64_t operations = 0, bytes = 0, start = now_ns(), last = start;
    while (last - start < duration) {
        char key[64];
        int key_bytes = write_key(key, first + (int64_t)(next_random() % (uint64_t)(last_number - first + 1)));
        sqlite3_bind_int64(read, 1, 1);
        sqlite3_bind_blob(read, 2, key, key_bytes, SQLITE_STATIC);
        if (sqlite3_step(read) != SQLITE_ROW) fail("read");
        bytes += (uint64_t)sqlite3_column_int64(read, 0) & 1;
        bytes += *(const unsigned char *)sqlite3_column_text(read, 1) + (uint64_t)sqlite3_column_bytes(read, 1);
        sqlite3_reset(read);
        operations++;
        uint64_t now = now_ns();
        take_sample(now - last);
        last = now;
    }
    if (bytes == 0) fail("nothing was read");
    report("read", operations, last - start);
}

int main(int count, char **arguments) {
    const char *mode = count > 1 ? arguments[1] : "", *path = NULL;
    double seconds = 3;
    int64_t rows = 0;
    for (int index = 2; index + 1 < count; index += 2) {
        if (!strcmp(arguments[index], "--database")) path = arguments[index + 1];
        else if (!strcmp(arguments[index], "--seconds")) seconds = atof(arguments[index + 1]);
        else if (!strcmp(arguments[index], "--rows")) rows = atoll(arguments[index + 1]);
        else path = NULL;
    }
    if (!path || rows < 0 || seconds <= 0) {
        fputs("usage: sqlite-direct create|lone|read --database PATH --seconds N [--rows N]\n", stderr);
        return 2;
    }
    if (sqlite3_open(path, &database) != SQLITE_OK) fail(path);
    sqlite3_busy_timeout(database, 5000);
    execute(settings);
    execute(schema);
    if (query("PRAGMA synchronous") != 2 || query("PRAGMA foreign_keys") != 1) fail("settings");
    uint64_t duration = (uint64_t)(seconds * 1e9);
    if (!strcmp(mode, "create")) run_create(mode, rows ? rows : 100, duration);
    else if (!strcmp(mode, "lone")) run_create(mode, 1, duration);
    else if (!strcmp(mode, "read")) run_read(rows ? rows : 100000, duration);
    else fail("no such mode");
    return 0;
}
