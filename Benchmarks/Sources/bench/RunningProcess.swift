import Glibc

/// A process that is observed from outside.
struct RunningProcess {
    let pid: pid_t

    /// The CPU time that it has used so far; 0 if it does not exist.
    var cpuSeconds: Double {
        var clock = clockid_t()
        var time = timespec()
        guard clock_getcpuclockid(pid, &clock) == 0, clock_gettime(clock, &time) == 0 else { return 0 }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Returns a value of `/proc/PID/status` in KiB, such as `RssAnon`; 0 if there is none.
    func memoryKiB(_ name: String) -> Double {
        let line = readFile("/proc/\(pid)/status").split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Double($0) } ?? 0
    }
}

extension Server {
    /// Returns the process that the daemon has started for a library of plugins.
    func process(of library: String) throws -> RunningProcess {
        let list = try ChildProcess(["ps", "--ppid", String(pid), "-o", "pid=,args="]).finish()
        let line = list.split(separator: "\n").first { $0.hasSuffix("/" + library) }
        guard let line, let pid = line.split(separator: " ").first.flatMap({ pid_t($0) }) else {
            throw Failure("the daemon has no process for \(library)")
        }
        return RunningProcess(pid: pid)
    }
}
