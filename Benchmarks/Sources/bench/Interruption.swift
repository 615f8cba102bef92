import Glibc

/// Ends the started programs when this program receives SIGINT or SIGTERM.
enum Interruption {
    private static let maximum = 16
    // Unsafe in form only: the main thread writes one word at a time, and a signal handler on that thread reads.
    nonisolated(unsafe) private static let pids = {
        let pids = UnsafeMutablePointer<pid_t>.allocate(capacity: maximum)
        pids.initialize(repeating: 0, count: maximum)
        return pids
    }()

    /// Whether this program received a signal to end. The started programs end then. Code that waits for them
    /// continues, starts no more programs, and exits in order.
    // Unsafe in form only, as above.
    nonisolated(unsafe) private(set) static var hasCome = false

    static func prepare() {
        _ = pids
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number) { number in
                if Interruption.hasCome { _exit(128 + number) }
                Interruption.hasCome = true
                for index in 0..<Interruption.maximum where Interruption.pids[index] > 0 {
                    kill(Interruption.pids[index], SIGTERM)
                }
            }
        }
    }

    static func add(_ pid: pid_t) { replace(0, by: pid) }
    static func remove(_ pid: pid_t) { replace(pid, by: 0) }

    private static func replace(_ old: pid_t, by new: pid_t) {
        for index in 0..<maximum where pids[index] == old {
            pids[index] = new
            return
        }
    }
}
