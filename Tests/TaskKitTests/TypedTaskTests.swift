import CTaskPlugin
import TaskKit
import Testing

/// Adds numbers, and fails in every way that a task can.
private struct Sum: BridgeTask {
    static let name = "sum"
    static let summary = "Adds numbers up."

    struct Options: Codable, Sendable {
        var numbers: [Int]
        var fail: String?
    }
    struct Result: Codable, Sendable, Equatable { var sum: Int }

    struct Odd: Error, CustomStringConvertible { var description: String { "an odd error" } }

    func run(_ options: Options, _ call: Call) async throws -> Result { try Self.result(options) }

    static func result(_ options: Options) throws -> Result {
        switch options.fail {
        case "bridge":
            throw BridgeError("sum.refused", "No.", data: ["why": "odd"], isTransient: true, retryAfter: .seconds(2))
        case "mismatch": _ = try JSONCoding.decode(Int.self, from: JSON.string("a"))
        case "cancelled": throw CancellationError()
        case "odd": throw Odd()
        default: break
        }
        return Result(sum: options.numbers.reduce(0, +))
    }
}

/// The same task without an await.
private struct ImmediateSum: ImmediateTask {
    static let name = "sum.immediate"
    static let summary = "Adds numbers up at once."

    func run(_ options: Sum.Options, _ call: Call) throws -> Sum.Result { try Sum.result(options) }
}

@Suite("A typed task", .timeLimit(.minutes(20)))
struct TypedTaskTests {
    private let host = FakeHost(
        Plugin("sums", version: "1.0.0") {
            Sum()
            ImmediateSum()
        })

    @Test("answers once, with the result of run", arguments: [UInt32(0), 1])
    func answers(_ task: UInt32) async {
        let handle = await host.onLoop { $0.request(.call(task), #"{"numbers": [1, 2, 3]}"#) }
        // A task that never suspends has answered before the daemon's call returned.
        #expect(await host.onLoop { $0.answers[handle] } == [.result(["sum": 6])])
    }

    @Test("answers mismatching options with the path, the expectation and the value found", arguments: [UInt32(0), 1])
    func mismatch(_ task: UInt32) async throws {
        let answer = await host.answer(.call(task), #"{"numbers": [1, "two"]}"#)
        guard case .error(let error) = answer else {
            Issue.record("no error: \(answer)")
            return
        }
        #expect(error.code == .optionsInvalid)
        #expect(error.data?["path"] == "$.numbers[1]")
        #expect(error.data?["expected"]?.stringValue?.contains("integer") == true)
        #expect(error.data?["got"]?.stringValue?.contains("string") == true)
    }

    @Test("passes on a BridgeError unchanged", arguments: [UInt32(0), 1])
    func bridgeError(_ task: UInt32) async {
        let expected = BridgeError(
            "sum.refused", "No.", data: ["why": "odd"], isTransient: true, retryAfter: .seconds(2))
        #expect(await host.answer(.call(task), #"{"numbers": [], "fail": "bridge"}"#) == .error(expected))
    }

    @Test(
        "converts other errors to their codes",
        arguments: [
            ("mismatch", ErrorCode.optionsInvalid, "string"), ("cancelled", .callCancelled, "cancelled"),
            ("odd", .internal, "an odd error"),
        ], [UInt32(0), 1])
    func otherErrors(_ failure: (kind: String, code: ErrorCode, word: String), _ task: UInt32) async {
        let (kind, code, word) = failure
        let answer = await host.answer(.call(task), #"{"numbers": [], "fail": "\#(kind)"}"#)
        guard case .error(let error) = answer else {
            Issue.record("no error: \(answer)")
            return
        }
        #expect(error.code == code)
        #expect(error.message.contains(word))
    }

    @Test("fails with an error if the plugin does not have it")
    func unknownIndex() async {
        guard case .error(let error) = await host.answer(.call(9)) else {
            Issue.record("no error")
            return
        }
        #expect(error.code == .internal)
    }
}
