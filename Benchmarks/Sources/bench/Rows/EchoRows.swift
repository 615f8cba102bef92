// The way of a call itself: Echo beside the floor, and beside Redis.

/// A server, and the call that it is measured with.
struct Subject {
    var name: String
    var server: Server
    var call: CallTemplate
}

extension Bench {
    /// Floor, daemon and Redis, in this order.
    func startEchoSubjects() throws -> [Subject] {
        var subjects = [
            Subject(name: "floor", server: try startFloor(), call: Calls.floor),
            Subject(name: "trestle", server: try startDaemon(), call: Calls.echo),
        ]
        if let redis = try startRedis() {
            subjects.append(Subject(name: "redis GET", server: redis, call: Calls.redisGet))
            subjects.append(Subject(name: "redis PING", server: redis, call: Calls.redisPing))
        }
        return subjects
    }
}

func measureEcho(_ bench: Bench) throws -> [Line] {
    let subjects = try bench.startEchoSubjects()
    defer { for subject in subjects { subject.server.stop() } }
    var lines: [Line] = []
    for (shape, limit) in [(Shape(50, 1), 1.2), (Shape(1, 64), 1.8), (Shape(50, 16), 1.8)] {
        let rounds = try bench.alternate(
            subjects.map { subject in { try bench.load(subject.call, shape, on: subject.server) } })
        for (subject, figures) in zip(subjects, rounds) {
            let ratio = median(figures, rounds[0]) { $0.serverCPU / $1.serverCPU }
            let finding = Finding(
                what: "CPU per call of Echo, \(shape.name)", value: ratio, unit: " × floor",
                bound: subject.name == "trestle" ? .atMost(limit) : nil)
            lines.append(
                Line(
                    row: "echo \(shape.name)", server: subject.name, figures: Figures(figures),
                    finding: subject.name == "floor" ? nil : finding))
        }
    }
    return lines
}

func measureLatency(_ bench: Bench) throws -> [Line] {
    let subjects = try bench.startEchoSubjects()
    defer { for subject in subjects { subject.server.stop() } }
    let rounds = try bench.alternate(
        rounds: max(5, bench.rounds),
        subjects.map { subject in { try bench.load(subject.call, Shape(1, 1), on: subject.server) } })
    return zip(subjects, rounds).map { subject, figures in
        let difference = median(figures, rounds[0]) { $0.p50 - $1.p50 }
        let finding = Finding(
            what: "median latency of Echo, 1×1", value: difference, unit: " µs above floor",
            bound: subject.name == "trestle" ? .atMost(3) : nil)
        return Line(
            row: "latency 1×1", server: subject.name, figures: Figures(figures),
            finding: subject.name == "floor" ? nil : finding)
    }
}
