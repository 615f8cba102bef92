// libFixture.so: a Swift plugin for tests of the output of plugins, in the daemon's process and in their own.
import Glibc
import TaskKit

/// The entry point. The daemon calls it once.
@c public func trestle_plugin_entry() -> PluginTable {
    Plugin(
        "fixture", version: "1.0.0",
        tasks: {
            SendWhileBlocking()
            SendFromLane()
            SendFromTask()
            Fail()
            WhoCalls()
            HoldThread()
            WaitForPipe()
            Tick()
            Retain()
            Forget()
            Ring()
            Turn()
            TurnOnThread()
            ReadFile()
            Copy()
            TurnTwice()
            ReadLater()
            Drop()
            Marks()
            TakeSteps()
        }
    )
    .event(Ticked.self)
    .export()
}

/// The output of a call of one of the first three tasks, all sent from another thread than the loop thread.
struct Sent: Codable, Sendable {
    /// The call's number, which the event and the result contain.
    var number: Int

    func send(by call: Call) {
        for value in 0..<10 { call.reportProgress(value) }
        call.publish("fixture.sent", self)
    }
}

struct SendWhileBlocking: BridgeTask {
    static let name = "fixture.blocking"
    static let summary = "Sends progress and an event from one of the daemon's threads, and answers."
    typealias Progress = Int

    func run(_ options: Sent, _ call: Call) async throws -> Sent {
        try await call.blocking { options.send(by: call) }
        return options
    }
}

struct SendFromLane: BridgeTask {
    static let name = "fixture.lane"
    static let summary = "Sends progress and an event from a lane, and answers."
    typealias Progress = Int
    private let lane = BlockingThreads(name: "fixture", count: 2)

    func run(_ options: Sent, _ call: Call) async throws -> Sent {
        try await lane.run { options.send(by: call) }
        return options
    }
}

struct SendFromTask: BridgeTask {
    static let name = "fixture.task"
    static let summary = "Sends progress and an event from a detached Swift task, and answers."
    typealias Progress = Int

    func run(_ options: Sent, _ call: Call) async throws -> Sent {
        await Task.detached { options.send(by: call) }.value
        return options
    }
}

struct Fail: BridgeTask {
    static let name = "fixture.fail"
    static let summary = "Throws an error that it did not foresee, or one that it chose."
    struct Options: Codable, Sendable {
        var chosen: Bool
    }
    struct Unforeseen: Error, CustomStringConvertible {
        let description = "/var/lib/secret/records.sqlite: Permission denied"
    }

    func run(_ options: Options, _ call: Call) async throws -> Sent {
        if options.chosen { throw BridgeError("fixture.chosen", "The author chose this sentence.") }
        throw Unforeseen()
    }
}

struct WhoCalls: BridgeTask {
    static let name = "fixture.caller"
    static let summary = "Answers with what the daemon says of the caller."
    struct Options: Codable, Sendable {}
    struct Who: Codable, Sendable {
        var trusted: Bool
        var origin: String
        var uid: UInt32
    }

    func run(_ options: Options, _ call: Call) async throws -> Who {
        Who(trusted: call.caller.isTrusted, origin: call.caller.origin, uid: call.caller.uid)
    }
}

struct HoldThread: BridgeTask {
    static let name = "fixture.hold"
    static let summary = "Waits, and then holds the thread until somebody unlocks a file."
    struct Options: Codable, Sendable {
        var path: String
    }

    func run(_ options: Options, _ call: Call) async throws -> Bool {
        try await call.blocking {}
        let file = open(options.path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        return flock(file, LOCK_SH) == 0
    }
}

struct WaitForPipe: BridgeTask {
    static let name = "fixture.pipe"
    static let summary = "Waits until two that wait for a pipe can read it, and answers with what is in it."
    struct Options: Codable, Sendable {
        var path: String
    }
    typealias Progress = String

    func run(_ options: Options, _ call: Call) async throws -> String {
        let pipe = open(options.path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard pipe >= 0 else { throw BridgeError("fixture.no_pipe", "There is no such pipe.") }
        defer { close(pipe) }
        try await call.writable(pipe)
        call.reportProgress("waiting")
        async let other: Void = call.plugin.readable(pipe)
        try await call.readable(pipe)
        try await other
        var bytes = [UInt8](repeating: 0, count: 64)
        return String(decoding: bytes[..<max(0, read(pipe, &bytes, bytes.count))], as: UTF8.self)
    }
}

struct Ticked: BridgeEvent {
    static let name = "fixture.ticked"
    static let summary = "A timer has fired."
    var tick: Int
}

struct Tick: BridgeTask {
    static let name = "fixture.tick"
    static let summary = "Publishes three ticks of a timer, and waits for one that fires once."
    struct Options: Codable, Sendable {}

    func run(_ options: Options, _ call: Call) async throws -> Int {
        let (ticks, tick) = AsyncStream.makeStream(of: Void.self)
        let timer = call.plugin.timer(every: .milliseconds(1)) { tick.yield() }
        var count = 0
        for await _ in ticks {
            count += 1
            call.publish(Ticked(tick: count))
            if count == 3 { break }
        }
        timer.cancel()
        await withCheckedContinuation { continuation in
            call.plugin.timer(after: .milliseconds(1)) { continuation.resume() }
        }
        return count
    }
}

struct Retain: BridgeTask {
    static let name = "fixture.retain"
    static let summary = "Publishes retained events fixture.kept.NUMBER, the same number of them as their data."
    struct Options: Codable, Sendable { var numbers: [Int] }

    func run(_ options: Options, _ call: Call) async throws -> Empty {
        for number in options.numbers { call.publish("fixture.kept.\(number)", options.numbers.count, retain: true) }
        return Empty()
    }
}

struct Forget: BridgeTask {
    static let name = "fixture.forget"
    static let summary = "Has the retained event fixture.kept.1 forgotten."

    func run(_ options: Empty, _ call: Call) async throws -> Empty {
        call.forget("fixture.kept.1")
        return Empty()
    }
}

struct Ring: BridgeTask {
    static let name = "fixture.ring"
    static let summary = "Calls the task bell.ring of a client, and does not wait for its end."

    func run(_ options: Empty, _ call: Call) async throws -> Empty {
        call.plugin.notify("bell.ring", ["times": 2])
        return Empty()
    }
}

struct Marks: BridgeTask {
    static let name = "fixture.marks"
    static let summary = "Answers with what stands between calls and this task."
    static let settings = TaskSettings(optionPermissions: ["to": .reach])
    struct Options: Codable, Sendable {
        var to: String?
    }

    func run(_ options: Options, _ call: Call) async throws -> UInt32 { call.plugin.marks(ofTask: Self.name).rawValue }
}

struct TakeSteps: BridgeTask {
    static let name = "fixture.steps"
    static let summary = "Suspends as often as it is asked to, each time behind the other jobs of the loop."
    struct Options: Codable, Sendable {
        var count: Int
    }

    func run(_ options: Options, _ call: Call) async throws -> Int {
        for _ in 0..<options.count { await Task.yield() }
        return options.count
    }
}
