// The attacked user: victim SOCKET UID MICROSECONDS LINE. Connects as that user (0: the user that runs this program).
// Once in each interval it sends the line and waits for the answering line. Each time it writes to its standard output
// the send time and the wait: two numbers of 64 bits, in nanoseconds of CLOCK_MONOTONIC. Ends with its reader.
import Glibc

func fail(_ what: String) -> Never {
    perror("victim: " + what)
    exit(1)
}

func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

func connect(to path: String) -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
    // The C interface takes an address of any family as a pointer to the common type.
    let status = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
    }
    if status != 0 { fail("connect") }
    return descriptor
}

func call(_ line: [UInt8], _ descriptor: Int32, _ buffer: inout [UInt8]) {
    if send(descriptor, line, line.count, Int32(MSG_NOSIGNAL)) != line.count { fail("send") }
    var count = 0
    repeat {
        count = recv(descriptor, &buffer, buffer.count, 0)
        if count <= 0 { exit(0) }
    } while buffer[count - 1] != UInt8(ascii: "\n")
}

guard CommandLine.arguments.count == 5, let uid = UInt32(CommandLine.arguments[2]),
    let interval = UInt64(CommandLine.arguments[3])
else {
    print("usage: victim SOCKET UID MICROSECONDS LINE")
    exit(64)
}
if uid != 0, setgroups(0, nil) != 0 || setgid(uid) != 0 || setuid(uid) != 0 { fail("setuid") }
let descriptor = connect(to: CommandLine.arguments[1])
let line = Array(CommandLine.arguments[4].utf8) + [UInt8(ascii: "\n")]
var buffer = [UInt8](repeating: 0, count: 65_536)
var due = now()
while true {
    let start = now()
    call(line, descriptor, &buffer)
    var sample = (start, now() - start)
    if write(STDOUT_FILENO, &sample, 16) != 16 { exit(0) }
    due = max(due + interval * 1000, start)
    var time = timespec(tv_sec: Int(due / 1_000_000_000), tv_nsec: Int(due % 1_000_000_000))
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil)
}
