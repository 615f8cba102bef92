/* A plugin process whose tasks flood the daemon: flood.publish, flood.events, flood.array, flood.metrics, flood.log,
 * flood.progress and flood.answers. Each call makes it write one flood, followed by the answer. flood.error answers with
 * an error of 1 MB. A call of flood.decision is answered by its interceptor, with a decision of 100,000 members. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DAEMON = 3, ARRAY_ITEMS = 15000, SMALL_LINES = 15000, EVENTS = 100, ERROR_VALUES = 500000, MEMBERS = 100000 };

static char *flood;
static size_t flood_bytes;
static size_t flood_room;

static void append(const char *text, size_t count) {
    if (flood_bytes + count > flood_room) {
        flood_room = (flood_bytes + count) * 2;
        flood = realloc(flood, flood_room);
        if (flood == NULL) exit(1);
    }
    memcpy(flood + flood_bytes, text, count);
    flood_bytes += count;
}

static void add(const char *text) { append(text, strlen(text)); }

/* Adds an array of one-way calls, in one line. */
static void add_array(const char *item) {
    add("[");
    for (int index = 0; index < ARRAY_ITEMS; index++) {
        if (index > 0) add(",");
        add(item);
    }
    add("]\n");
}

static void add_metrics(void) {
    char metric[96];
    add("{\"task\":\"plugin.metrics\",\"options\":{\"metrics\":[");
    for (int index = 0; index < ARRAY_ITEMS; index++) {
        snprintf(metric, sizeof metric, "%s{\"name\":\"m%d\",\"kind\":\"gauge\",\"help\":\"\",\"value\":%d}",
                 index > 0 ? "," : "", index, index);
        add(metric);
    }
    add("]}}\n");
}

static void add_lines(int count, const char *line) {
    for (int index = 0; index < count; index++) add(line);
}

static void add_error(const char *id) {
    char line[128];
    snprintf(line, sizeof line, "{\"callbackId\":%s,\"error\":{\"code\":\"flood\",\"message\":\"m\",\"data\":[0",
             id);
    add(line);
    /* Created once, because the daemon's time is measured. */
    static char values[2 * ERROR_VALUES];
    if (values[0] == 0) {
        for (size_t index = 0; index < sizeof values; index += 2) memcpy(values + index, ",0", 2);
    }
    append(values, sizeof values);
    add("]}}\n");
}

static void add_decision(const char *id) {
    char text[128];
    snprintf(text, sizeof text, "{\"callbackId\":%s,\"result\":{", id);
    add(text);
    for (int index = 0; index < MEMBERS; index++) add(index > 0 ? ",\"a\":0" : "\"a\":0");
    add("}}\n");
}

static void make_flood(const char *task, const char *id) {
    char line[128];
    if (strcmp(task, "flood.publish") == 0) {
        add_array("{\"task\":\"plugin.publish\",\"options\":{\"event\":\"flood.x\"}}");
    } else if (strcmp(task, "flood.events") == 0) {
        add_lines(EVENTS, "{\"task\":\"plugin.publish\",\"options\":{\"event\":\"flood.x\"}}\n");
    } else if (strcmp(task, "flood.array") == 0) {
        add_array("{\"task\":\"bridge.publish\",\"options\":{\"event\":\"x\"}}");
    } else if (strcmp(task, "flood.metrics") == 0) {
        add_metrics();
    } else if (strcmp(task, "flood.log") == 0) {
        add_lines(SMALL_LINES, "{\"task\":\"plugin.log\",\"options\":{\"level\":\"debug\",\"message\":\"m\"}}\n");
    } else if (strcmp(task, "flood.progress") == 0) {
        snprintf(line, sizeof line, "{\"callbackId\":%s,\"progress\":1}\n", id);
        add_lines(SMALL_LINES, line);
    } else if (strcmp(task, "flood.answers") == 0) {
        add_lines(SMALL_LINES, "{\"callbackId\":999999999,\"result\":1}\n");
    }
}

static void answer(const char *id) {
    char line[128];
    snprintf(line, sizeof line, "{\"callbackId\":%s,\"result\":{}}\n", id);
    add(line);
}

static void write_flood(void) {
    for (size_t start = 0; start < flood_bytes;) {
        ssize_t count = write(DAEMON, flood + start, flood_bytes - start);
        if (count <= 0) exit(0);
        start += (size_t)count;
    }
    flood_bytes = 0;
}

/* Copies the member's text, as the daemon writes it: without white space. Returns whether it exists. */
static int member(const char *line, const char *name, char *text, size_t room) {
    const char *start = strstr(line, name);
    if (start == NULL) return 0;
    start += strlen(name);
    size_t count = strcspn(start, ",}\"");
    if (count == 0 || count >= room) return 0;
    memcpy(text, start, count);
    text[count] = 0;
    return 1;
}

int main(void) {
    FILE *daemon = fdopen(dup(DAEMON), "r");
    char *line = NULL;
    size_t room = 0;
    while (daemon != NULL && getline(&line, &room, daemon) > 0) {
        char task[128], id[64];
        if (!member(line, "\"task\":\"", task, sizeof task) || !member(line, "\"callbackId\":", id, sizeof id)) continue;
        if (strcmp(task, "flood.error") == 0) {
            add_error(id);
        } else if (strcmp(task, "plugin.intercept") == 0) {
            add_decision(id);
        } else {
            make_flood(task, id);
            answer(id);
        }
        write_flood();
    }
    return 0;
}
