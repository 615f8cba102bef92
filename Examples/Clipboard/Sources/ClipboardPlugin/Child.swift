// A child process, and the sockets that are connected to its standard streams.
import Glibc
import Synchronization
import TaskKit

/// A process that leads a process group of its own. The code that creates one must wait for it. Any thread.
final class Child: Sendable {
    let pid: pid_t
    /// The exit status; `nil` until it is known. A process that was waited for no longer exists, and its number may
    /// belong to another process. So signals are sent under the same lock.
    private let end = Mutex<Int32?>(nil)

    /// Starts a program. A stream that is `nil` is connected to `/dev/null`; all other descriptors of this process are
    /// closed in the child. The program that keeps a selection runs for days: it must not keep connections open or
    /// block a terminal.
    init(
        _ tool: String, _ arguments: [String], environment: [String], input: Int32? = nil, output: Int32? = nil,
        errors: Int32? = nil
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        Self.connect(input, STDIN_FILENO, &actions)
        Self.connect(output, STDOUT_FILENO, &actions)
        Self.connect(errors, STDERR_FILENO, &actions)
        for number in Self.openDescriptors() where number > STDERR_FILENO {
            posix_spawn_file_actions_addclose(&actions, number)
        }

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        posix_spawnattr_setflags(&attributes, Int16(flags))
        // The daemon ignores SIGPIPE, and blocks signals on some threads; both would be inherited.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigaddset(&signals, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &signals)

        var pid = pid_t()
        let code = withCStrings([tool] + arguments) { arguments in
            withCStrings(environment) { posix_spawnp(&pid, tool, &actions, &attributes, arguments, $0) }
        }
        guard code == 0 else { throw Failure.noTool(tool, String(cString: strerror(code))) }
        self.pid = pid
    }

    private static func connect(_ stream: Int32?, _ number: Int32, _ actions: inout posix_spawn_file_actions_t) {
        if let stream {
            posix_spawn_file_actions_adddup2(&actions, stream, number)
        } else {
            posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
        }
    }

    /// Lists the open descriptors of this process. Those of the daemon are close-on-exec; other plugins may have opened
    /// some that are not.
    private static func openDescriptors() -> [Int32] {
        guard let folder = opendir("/proc/self/fd") else { return [] }
        defer { closedir(folder) }
        var found: [Int32] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if let number = Int32(name) { found.append(number) }
        }
        return found
    }

    /// Kills the process and its whole group. Does not wait.
    func kill() {
        end.withLock { end in
            if end == nil { _ = Glibc.kill(-pid, SIGKILL) }
        }
    }

    /// The exit status, or 128 and the signal's number; `nil` while the process runs.
    var status: Int32? {
        end.withLock { end in
            if end == nil { reap(&end, WNOHANG) }
            return end
        }
    }

    /// Waits for the end of the process.
    func wait() {
        // Without the lock, so that `kill` can take it meanwhile.
        var information = siginfo_t()
        while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        _ = status
    }

    private func reap(_ end: inout Int32?, _ options: Int32) {
        var information = siginfo_t()
        let isOver = waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT | options) == 0
        guard isOver, information.si_signo != 0 else { return }
        // As long as the process was not waited for, the group's number is its own: no process of the group remains.
        _ = Glibc.kill(-pid, SIGKILL)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        end = status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }
}

/// A descriptor that is closed with the value's lifetime.
struct Descriptor: ~Copyable {
    let number: Int32

    deinit { close(number) }

    /// Creates two connected sockets; `ours` never blocks. Sockets, because a write to a pipe without a reader sends a
    /// signal.
    static func pair() throws -> Pair {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw BridgeError(.busy, "The daemon has no descriptors left: \(String(cString: strerror(errno))).")
        }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        return Pair(ours: Descriptor(number: ends[0]), theirs: Descriptor(number: ends[1]))
    }

    struct Pair: ~Copyable {
        let ours: Descriptor
        let theirs: Descriptor
    }
}

/// Calls `body` with the texts as a null-terminated array of C strings.
private func withCStrings<R>(
    _ texts: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> R
) -> R {
    var pointers = texts.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    return pointers.withUnsafeMutableBufferPointer { buffer in
        guard let start = buffer.baseAddress else { preconditionFailure("the array holds at least its end") }
        return body(start)
    }
}
