// Figures that do not depend on the state of the machine: allocations and instructions.
import Glibc

/// Runs the real daemon with counting allocation functions. The difference of two runs of different lengths is due to
/// the calls alone, without start, connections and warm-up.
func measureAllocations(_ bench: Bench) throws -> [Line] {
    let report = bench.place.sockets + "/malloc-count"
    let settings = DaemonSettings(environment: [
        "LD_PRELOAD": bench.place.program("libmalloc-count.so"), "MALLOC_COUNT_FILE": report,
    ])
    let daemon = try bench.startDaemon(settings)
    defer { daemon.stop() }
    func allocations(calls: Int) throws -> (count: Int, figures: LoadFigures) {
        let before = try allocationCount(of: daemon, report)
        let figures = try bench.load(Calls.echo, Shape(50, 16), on: daemon, LoadSettings(calls: calls))
        return (try allocationCount(of: daemon, report) - before, figures)
    }
    _ = try allocations(calls: 100_000)
    let million = try allocations(calls: 1_000_000)
    let two = try allocations(calls: 2_000_000)
    return [
        Line(
            row: "1,000,000 Echo calls, malloc counted", server: "trestle", figures: Figures([two.figures]),
            finding: Finding(
                // Timers and statistics of the daemon may allocate now and then; a call must not.
                what: "heap allocations of a million Echo calls", value: Double(two.count - million.count),
                unit: " allocations", digits: 0, bound: .atMost(1000)))
    ]
}

private func allocationCount(of daemon: Server, _ report: String) throws -> Int {
    unlink(report)
    daemon.signal(SIGUSR2)
    for _ in 0..<1000 {
        let text = readFile(report)
        if text.hasSuffix("\n"), let count = Int(text.dropLast()) { return count }
        usleep(5000)
    }
    throw Failure("the daemon with counted allocations reports no count")
}

private let operations = ["decode", "route", "encode", "call"]

func measureMicro(_ bench: Bench) throws -> [Line] {
    try operations.map { operation in
        let runs = try (0..<bench.rounds).map { _ in
            let process = try ChildProcess([bench.place.program("micro"), operation], core: bench.cores.server)
            return keyedNumbers(try process.finish())
        }
        let nanoseconds = median(runs.compactMap { $0["ns"] })
        return Line(
            row: "\(operation), 1,000,000 times", server: "none",
            finding: Finding(
                what: "heap allocations of a million times \(operation)",
                value: median(runs.compactMap { $0["allocations"] }),
                unit: " allocations", digits: 0, note: ", \(text(nanoseconds, digits: 0)) ns each", bound: .atMost(0)))
    }
}

func measureInstructions(_ bench: Bench) throws -> [Line] {
    guard Place.find("valgrind") != nil, Place.find("strip") != nil else {
        printStatus("instructions: left out, valgrind (or strip) is not installed")
        return []
    }
    // Some versions of valgrind fail on Swift's debug information.
    let program = bench.place.data + "/micro"
    _ = try ChildProcess(["strip", "-g", "-o", program, bench.place.program("micro")]).finish()
    return try operations.map { operation in
        let (short, long) = (10_000.0, 30_000.0)
        let counts = try [short, long].map { try bench.instructions(program, operation, $0) }
        return Line(
            row: "\(operation), instructions", server: "none",
            finding: Finding(
                what: "instructions of \(operation)", value: (counts[1] - counts[0]) / (long - short),
                unit: " instructions each",
                digits: 0))
    }
}

extension Bench {
    /// Returns the number of instructions of a run of `micro`.
    fileprivate func instructions(_ program: String, _ operation: String, _ count: Double) throws -> Double {
        let log = place.sockets + "/callgrind.log"
        unlink(log)
        _ = try ChildProcess([
            "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--log-file=" + log, program, "--count",
            String(Int(count)), operation,
        ]).finish()
        let text = readFile(log)
        let line = text.split(separator: "\n").last { $0.contains("Collected") }
        guard let number = line?.split(separator: " ").last.flatMap({ Double($0) }) else {
            throw Failure("valgrind reports no count of instructions: \(text)")
        }
        return number
    }
}
