import Glibc

/// The machine and the time of the measurement.
struct Machine {
    private let lines: [String]

    init(cores: Cores, place: Place) {
        lines = [
            Self.date() + ", " + Self.processor() + ", \(sysconf(Int32(_SC_NPROCESSORS_ONLN))) cores, " + Self.kernel(),
            Self.swift() + "; load average at the start: \(Self.loadAverage()); " + cores.summary,
            "databases on " + Place.fileSystem(of: place.data) + "; " + Self.sleep(),
        ]
    }

    /// The lines before the table.
    var text: String { lines.map { "- \($0)\n" }.joined() }

    /// The time that the host of a virtual machine has taken from its processors so far, in ticks of a hundredth of a
    /// second.
    static var stolenTicks: Int {
        let all = readFile("/proc/stat").split(separator: "\n").first?.split(separator: " ") ?? []
        return all.count > 8 ? Int(all[8]) ?? 0 : 0
    }

    private static func sleep() -> String {
        let sleepers = rows.filter(\.mayProcessorsSleep).map(\.name).joined(separator: ", ")
        return WakefulProcessors() == nil
            ? "idle processors may sleep: only root can keep them awake"
            : "idle processors are kept awake, but not in \(sleepers)"
    }

    private static func date() -> String {
        var now = time(nil)
        var parts = tm()
        localtime_r(&now, &parts)
        let (month, day) = (parts.tm_mon + 101, parts.tm_mday + 100)
        return "\(parts.tm_year + 1900)-\(String(month).dropFirst())-\(String(day).dropFirst())"
    }

    private static func processor() -> String {
        let line = readFile("/proc/cpuinfo").split(separator: "\n").first { $0.hasPrefix("model name") }
        return line?.split(separator: ":", maxSplits: 1).last.map { String($0.drop { $0 == " " }) }
            ?? "a processor without a name"
    }

    private static func kernel() -> String {
        readFile("/proc/sys/kernel/ostype").filter { $0 != "\n" } + " "
            + readFile("/proc/sys/kernel/osrelease").filter { $0 != "\n" }
    }

    private static func swift() -> String {
        let text = (try? ChildProcess(["sh", "-c", "swift --version 2>/dev/null"]).finish()) ?? ""
        let words = text.split(whereSeparator: { $0 == " " || $0 == "\n" })
        guard let index = words.firstIndex(of: "version"), index + 1 < words.count else { return "Swift ?" }
        return "Swift \(words[index + 1])"
    }

    private static func loadAverage() -> String {
        readFile("/proc/loadavg").split(separator: " ").prefix(3).joined(separator: " ")
    }
}
