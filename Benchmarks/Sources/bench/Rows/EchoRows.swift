// The cost of a call itself: Echo beside the floor, and beside Redis.

private let redisGet = "redis GET"

/// A server with its name in the table, and the call that measures it.
struct Subject {
    var name: String
    var load: Load

    init(name: String, server: Server, call: CallTemplate) {
        self.name = name
        load = Load(call: call, server: server)
    }
}

extension Bench {
    /// Starts floor, daemon and Redis, in this order.
    func startEchoSubjects() throws -> [Subject] {
        var subjects = [
            Subject(name: "floor", server: try startFloor(), call: Calls.floor),
            Subject(name: "trestle", server: try startDaemon(), call: Calls.echo),
        ]
        if let redis = try startRedis() {
            subjects.append(Subject(name: redisGet, server: redis, call: Calls.redisGet))
            subjects.append(Subject(name: "redis PING", server: redis, call: Calls.redisPing))
        }
        return subjects
    }
}

func measureEcho(_ bench: Bench) throws -> [Line] {
    let subjects = try bench.startEchoSubjects()
    defer { for subject in subjects { subject.load.server.stop() } }
    var lines: [Line] = []
    for shape in [Shape(50, 1), Shape(1, 64), Shape(50, 16)] {
        let rounds = try bench.alternateLoads(subjects.map(\.load), shape, rounds: max(7, bench.rounds))
        let redis = subjects.firstIndex { $0.name == redisGet }.map { rounds[$0] }
        for (subject, figures) in zip(subjects, rounds) {
            lines.append(
                Line(
                    row: "echo \(shape.name)", server: subject.name, figures: Figures(figures),
                    finding: subject.name == "floor"
                        ? nil : cpuFinding(subject, shape, figures, floor: rounds[0], redis: redis)))
        }
    }
    return lines
}

/// Returns the CPU time per call relative to the floor; for the daemon relative to Redis GET, if there is one.
private func cpuFinding(
    _ subject: Subject, _ shape: Shape, _ figures: [LoadFigures], floor: [LoadFigures], redis: [LoadFigures]?
) -> Finding {
    let what = "CPU per call of Echo, \(shape.name)"
    let times = median(figures, floor) { $0.serverCPU / $1.serverCPU }
    guard subject.name == "trestle", let redis else { return Finding(what: what, value: times, unit: " × floor") }
    let ratio = median(figures, redis) { $0.serverCPU / $1.serverCPU }
    return Finding(
        what: what, value: ratio, unit: " × redis GET", note: ", \(text(times, digits: 2)) × floor",
        bound: .atMost(1.05), aim: 0.95)
}

func measureLatency(_ bench: Bench) throws -> [Line] {
    let subjects = try bench.startEchoSubjects()
    defer { for subject in subjects { subject.load.server.stop() } }
    let rounds = try bench.alternateLoads(subjects.map(\.load), Shape(1, 1), rounds: max(5, bench.rounds))
    return zip(subjects, rounds).map { subject, figures in
        let difference = median(figures, rounds[0]) { $0.p50 - $1.p50 }
        let finding = Finding(
            what: "median latency of Echo, 1×1", value: difference, unit: " µs above floor",
            bound: subject.name == "trestle" ? .atMost(6) : nil,
            aim: subject.name == "trestle" ? 3 : nil)
        return Line(
            row: "latency 1×1", server: subject.name, figures: Figures(figures),
            finding: subject.name == "floor" ? nil : finding)
    }
}
