import BridgeJSON
import Glibc
import TestSupport
import Testing

extension StoreCommandTests {
    /// A library that makes system calls of the daemon fail, according to the environment variable FAULT.
    private static let faults = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <fcntl.h>
        #include <signal.h>
        #include <stdarg.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/types.h>
        #include <unistd.h>
        static int is_fault(const char *name) { const char *f = getenv("FAULT"); return f && !strcmp(f, name); }
        static void die_if(const char *name) { if (is_fault(name)) kill(getpid(), SIGKILL); }
        static int fails_to_open;
        int link(const char *from, const char *to) {
            int (*real)(const char *, const char *) = dlsym(RTLD_NEXT, "link");
            die_if("kill before link");
            int status = real(from, to);
            die_if("kill after link");
            return status;
        }
        int rename(const char *from, const char *to) {
            int (*real)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
            fails_to_open = 0;
            if (!strstr(from, ".transfer-")) return real(from, to);
            die_if("kill before rename");
            if (is_fault("rename")) { errno = EIO; return -1; }
            int status = real(from, to);
            die_if("kill after rename");
            fails_to_open = is_fault("open");
            return status;
        }
        static int fault_of_open(const char *path) {
            size_t length = strlen(path);
            if (!fails_to_open || length < 4 || strcmp(path + length - 4, "-wal")) return 0;
            errno = EIO;
            return 1;
        }
        int open(const char *path, int flags, ...) {
            int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
            va_list list; va_start(list, flags); mode_t mode = va_arg(list, mode_t); va_end(list);
            return fault_of_open(path) ? -1 : real(path, flags, mode);
        }
        int open64(const char *path, int flags, ...) {
            int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, "open64");
            va_list list; va_start(list, flags); mode_t mode = va_arg(list, mode_t); va_end(list);
            return fault_of_open(path) ? -1 : real(path, flags, mode);
        }
        ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
            ssize_t (*real)(int, const void *, size_t, off_t) = dlsym(RTLD_NEXT, "pwrite");
            char link[64], path[4096] = "";
            snprintf(link, sizeof link, "/proc/self/fd/%d", file);
            if (is_fault("full") && readlink(link, path, sizeof path - 1) > 0 && strstr(path, ".transfer-")) {
                errno = ENOSPC;
                return -1;
            }
            return real(file, bytes, count, offset);
        }
        """

    /// Runs `body` with a daemon that has the fault, and whose store differs from the backup.
    private func withFault(
        _ fault: String, _ body: (DaemonProcess, _ backup: String) throws -> Void
    ) throws -> DaemonHome {
        let home = try DaemonHome()
        let library = home.folder.file("faults.so")
        try compile(Self.faults, in: home.folder, to: library)
        let backup = home.folder.file("backup")
        try withDaemon(in: home) { daemon in
            let client = try daemon.connect()
            try create("old", client)
            #expect(try home.trestle("store", "backup", backup).end == .exited(0))
            _ = try client.result("persistence.delete", ["table": "t", "key": "old"])
            try create("present", client)
        }
        let environment = home.environment
        home.environment += ["LD_PRELOAD=\(library)", "FAULT=\(fault)"]
        try withDaemon(in: home) { try body($0, backup) }
        home.environment = environment
        return home
    }

    @Test(
        "A kill of the daemon at any moment of a restore leaves the old store or the restored one, complete",
        arguments: [
            ("kill before link", "present"), ("kill after link", "present"), ("kill before rename", "present"),
            ("kill after rename", "old"),
        ])
    func killed(_ fault: String, _ key: String) throws {
        let home = try withFault(fault) { daemon, backup in
            let run = try daemon.home.trestle("store", "restore", backup)
            #expect(run.end != .exited(0))
            #expect(try daemon.wait() == .killed(by: SIGKILL))
        }
        try withDaemon(in: home) { daemon in
            let client = try daemon.connect()
            #expect(try keys(client) == [key])
            try create("new", client)
            #expect(try copies(home) == (key == "old" ? ["records.sqlite.before-restore-1"] : []))
        }
    }

    @Test(
        "A disk error during a restore is reported with a status and an error, and leaves the old store",
        arguments: [("rename", Int32(1)), ("open", 1), ("full", 75)])
    func failed(_ fault: String, _ status: Int32) throws {
        let home = try withFault(fault) { daemon, backup in
            let client = try daemon.connect()
            let run = try daemon.home.trestle("store", "restore", backup)
            #expect(run.end == .exited(status), "\(run.errors)")
            #expect(run.errors.contains(fault == "full" ? "the disk is full" : "storage.failed"), "\(run.errors)")
            #expect(try keys(client) == ["present"])
            try create("new", client)
            try client.result("bridge.ping") { _ in (try? copies(daemon.home)) == [] }
        }
        #expect(try withDaemon(in: home) { try keys($0.connect()) } == ["new", "present"])
    }
}
