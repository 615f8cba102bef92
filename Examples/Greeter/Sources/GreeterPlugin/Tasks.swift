import Glibc
import TaskKit

struct Sign: BridgeTask {
    static let name = "greet.sign"
    static let summary = "Signs the guest book."
    static let settings = TaskSettings(permission: "greet.write", timeout: .seconds(5), concurrency: 1)
    struct Options: Codable, Sendable { var name: String }
    struct Result: Codable, Sendable { var place: Int }

    let book: GuestBook
    let manners: Manners

    func run(_ options: Options, _ call: Call) async throws -> Result {
        guard manners.allows(call.caller.session) else {
            throw BridgeError("greet.signed_already", "this session has signed the guest book")
        }
        try await book.sign(options.name)
        call.publish(Signed(name: options.name))
        return Result(place: await book.names().count)
    }
}

struct Roll: BridgeTask {
    static let name = "greet.roll"
    static let summary = "Reads the guest book out, a name a second."
    struct Options: Codable, Sendable { var from: Int? }
    struct Result: Codable, Sendable { var names: Int }
    struct Progress: Codable, Sendable { var name: String }

    let book: GuestBook

    func run(_ options: Options, _ call: Call) async throws -> Result {
        let names = await book.names().dropFirst(options.from ?? 0)
        for name in names {
            call.reportProgress(Progress(name: name))
            try await Task.sleep(for: .seconds(1))
        }
        return Result(names: names.count)
    }
}

struct Page: BridgeTask {
    static let name = "greet.page"
    static let summary = "Finds a greeting by trying very hard."
    struct Options: Codable, Sendable { var seed: UInt64 }
    struct Result: Codable, Sendable { var number: UInt64 }

    func run(_ options: Options, _ call: Call) async throws -> Result {
        let number = try await call.blocking {
            var number = options.seed
            for _ in 0..<1_000_000 {
                if call.isCancelled { throw CancellationError() }
                number = number &* 6_364_136_223_846_793_005 &+ 1
            }
            return number
        }
        return Result(number: number)
    }
}

struct Introduce: BridgeTask {
    static let name = "greet.introduce"
    static let summary = "Greets somebody in a dialog."
    struct Options: Codable, Sendable { var who: String }
    struct Result: Codable, Sendable { var button: String }
    struct Answer: Codable, Sendable { var button: String }

    func run(_ options: Options, _ call: Call) async throws -> Result {
        let alert: JSON = ["content": .string("Hello, \(options.who)"), "buttons": ["Hello", "Go away"]]
        let answer: Answer = try await call.call("Alert", alert, timeout: .seconds(60))
        call.publish(Introduced(button: answer.button), to: [call.caller.session], direct: true)
        call.log.info("\(options.who) chose \(answer.button).")
        return Result(button: answer.button)
    }
}

struct Mirror: RawTask {
    static let name = "greet.mirror"
    static let summary = "Returns what it was sent, as it was sent."

    func run(_ options: RawSpan, _ call: Call, _ reply: consuming Reply) {
        reply.succeed(options)
    }
}

struct Introduced: BridgeEvent {
    static let name = "greet.introduced"
    static let summary = "The one who was greeted has chosen a button."
    var button: String
}

struct Signed: BridgeEvent {
    static let name = "greet.signed"
    static let summary = "Somebody signed the guest book."
    var name: String
}

struct Bell: BridgeTask {
    static let name = "greet.bell"
    static let summary = "Waits until somebody rings: writes to a named pipe."
    struct Options: Codable, Sendable { var pipe: String }
    struct Result: Codable, Sendable { var bytes: Int }

    func run(_ options: Options, _ call: Call) async throws -> Result {
        let pipe = open(options.pipe, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard pipe >= 0 else { throw BridgeError("greet.no_pipe", "no pipe can be opened") }
        defer { close(pipe) }
        try await call.readable(pipe)
        var ring = [UInt8](repeating: 0, count: 64)
        return Result(bytes: read(pipe, &ring, ring.count))
    }
}
