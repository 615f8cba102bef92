import Glibc

/// A run: the settings that all rows share.
final class Bench {
    /// The number of idle connections in the row about them.
    static let idleConnections = 10_000

    let place: Place
    let cores: Cores
    let rounds: Int
    /// The duration of each measurement of the load generator.
    let seconds: Double
    /// Whether the measured programs are scheduled before all others on the machine.
    let comesFirst: Bool
    /// The attacks that are measured; empty for all.
    let attacks: [String]
    var startedDaemons = 0
    /// The number of loop turns of more than 20 ms of CPU time, of all daemons that have been stopped.
    var longTurns = 0.0

    init(
        place: Place, cores: Cores, rounds: Int, seconds: Double, comesFirst: Bool = false, attacks: [String] = []
    ) {
        self.comesFirst = comesFirst
        self.attacks = attacks
        self.place = place
        self.cores = cores
        self.rounds = rounds
        self.seconds = seconds
    }

    /// The command prefix of a program that runs at a real-time priority.
    static let realTime = ["chrt", "-f", "30"]

    /// Returns the command prefix of a program that has priority over the rest of the machine.
    ///
    /// - Parameter isLight: Whether it needs little CPU time. Only such programs run at real-time priorities, because
    ///   for a twentieth of each second the kernel suspends those that never wait. The others get nice values. These
    ///   apply across all programs of the machine only if the session has a nice value, too.
    func ahead(isLight: Bool = false) -> [String] {
        guard comesFirst else { return [] }
        if isLight { return Self.realTime }
        let session = #"echo -20 2>/dev/null >/proc/self/autogroup; exec nice -n -20 "$@""#
        return ["setsid", "sh", "-c", session, "sh"]
    }

    /// Runs each of several measurements once in each round, one after the other, so that changes on the machine affect
    /// all of them.
    ///
    /// - Returns: the results of each measurement, in the order of the rounds.
    func alternate<Value>(rounds: Int? = nil, _ measurements: [() throws -> Value]) throws -> [[Value]] {
        var results = measurements.map { _ in [Value]() }
        for _ in 0..<(rounds ?? self.rounds) {
            for (index, measure) in measurements.enumerated() { results[index].append(try measure()) }
        }
        return results
    }
}

/// Returns the median; for an even number of values the mean of the two in the middle.
func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return .nan }
    return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
}

/// Returns the median over the rounds of a combination of two figures of the same round.
func median<First, Second>(
    _ first: [First], _ second: [Second], _ combine: (First, Second) -> Double
) -> Double {
    median(zip(first, second).map(combine))
}

/// The cores to which server and generator are pinned.
struct Cores {
    /// All that this process may use.
    var allowed: [Int] = []
    var server: Int?
    var generator: Int?
    /// The core of a second generator, if there is a third core.
    var third: Int?

    /// Returns the cores for this process; none if there is only one, or no `taskset`.
    static func find() -> Cores {
        let allowed = readFile("/proc/self/status").split(separator: "\n").first { $0.hasPrefix("Cpus_allowed_list:") }
        let numbers = (allowed?.split(separator: "\t").last ?? "").split(separator: ",").flatMap { part -> [Int] in
            let ends = part.split(separator: "-").compactMap { Int($0) }
            guard let first = ends.first, let last = ends.last else { return [] }
            return Array(first...last)
        }
        guard numbers.count > 1, Place.find("taskset") != nil else { return Cores() }
        return Cores(
            allowed: numbers, server: numbers[0], generator: numbers[1], third: numbers.count > 2 ? numbers[2] : nil)
    }

    /// Measures while this process, and each that it starts without a core of its own, keeps to the generator's core:
    /// this process is a client itself, and must not use the server's. Afterwards it may use all cores again.
    func keepingOffServer<Value>(_ measure: () throws -> Value) throws -> Value {
        guard let generator else { return try measure() }
        try keepThisProcess(to: [generator])
        let result = Result { try measure() }
        try keepThisProcess(to: allowed)
        return try result.get()
    }

    private func keepThisProcess(to cores: [Int]) throws {
        let list = cores.map(String.init).joined(separator: ",")
        _ = try ChildProcess(["taskset", "--cpu-list", "--pid", list, String(getpid())]).finish()
    }

    /// A sentence for the head of the table.
    var summary: String {
        guard let server, let generator else {
            return "server and generator pinned to no core: there is only one, or taskset is missing"
        }
        return "server on core \(server), generator on core \(generator)"
    }
}
