/* Crashes a plugin's process whenever it runs: crasher SOCKET TASK PLUGIN. It calls the task, whose callback reports
 * that the process has ended. If the daemon has given the plugin up, it loads it again. Prints "crashed" after the
 * first crash, and continues until it is killed. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Sends a line and waits for the answering line. */
static int ask(int descriptor, const char *line, char *answer, size_t size) {
    if (write(descriptor, line, strlen(line)) < 0) return 0;
    size_t count = 0;
    while (count < size - 1 && read(descriptor, answer + count, 1) == 1) {
        if (answer[count] == '\n') {
            answer[count] = 0;
            return 1;
        }
        count++;
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, argv[1], sizeof address.sun_path - 1);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0) return 1;
    char crash[256], reload[256], answer[4096];
    snprintf(crash, sizeof crash, "{\"task\":\"%s\",\"callbackId\":1}\n", argv[2]);
    snprintf(reload, sizeof reload,
             "{\"task\":\"bridge.plugin.reload\",\"options\":{\"name\":\"%s\"},\"callbackId\":2}\n", argv[3]);
    int isFirst = 1;
    while (ask(descriptor, crash, answer, sizeof answer)) {
        if (strstr(answer, "plugin.unavailable") && !ask(descriptor, reload, answer, sizeof answer)) break;
        if (isFirst && strstr(answer, "plugin.crashed")) {
            puts("crashed");
            fflush(stdout);
            isFirst = 0;
        }
    }
    return 1;
}
