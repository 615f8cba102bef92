// libFixture.so: a plugin in Swift for tests of what plugins send, in the daemon's process and in their own.
import TaskKit

/// Called once by the daemon.
@c public func trestle_plugin_entry() -> UnsafePointer<trestle_plugin> {
    Plugin(
        "fixture", version: "1.0.0",
        tasks: {
            SendWhileBlocking()
            SendFromLane()
            SendFromTask()
            Fail()
        }
    ).export()
}

/// What a call of one of the first three tasks sends, all of it from another thread than the loop's.
struct Sent: Codable, Sendable {
    /// The call's number, which the event and the result bear.
    var number: Int

    func send(by call: Call) {
        for value in 0..<10 { call.progress(value) }
        call.emit("fixture.sent", self)
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
    private let lane = BlockingLane(name: "fixture", threads: 2)

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
