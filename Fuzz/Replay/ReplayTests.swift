import Foundation
import Synchronization
import Testing

/// A file with an input.
struct KeptInput: Sendable {
    var target: FuzzTarget
    var file: URL

    /// Returns the inputs in a folder, in the order of their names.
    static func all(in folder: String, of target: FuzzTarget) throws -> [KeptInput] {
        let place = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "\(folder)/\(target.rawValue)")
        guard FileManager.default.fileExists(atPath: place.path) else { return [] }
        return try FileManager.default.contentsOfDirectory(at: place, includingPropertiesForKeys: nil)
            .sorted { $0.path < $1.path }
            .map { KeptInput(target: target, file: $0) }
    }
}

@Suite("Inputs that fuzzing has kept")
struct ReplayTests {
    @Test("The target's assertions hold for each of them", arguments: FuzzTarget.allCases)
    func holds(target: FuzzTarget) throws {
        let inputs = try KeptInput.all(in: "Corpus", of: target) + KeptInput.all(in: "Finds", of: target)
        #expect(!inputs.isEmpty, "nothing is kept for \(target)")
        for input in inputs {
            let bytes = Array(try Data(contentsOf: input.file))
            do throws(Violation) { try target.run(bytes) } catch {
                Issue.record("\(input.file.path): \(error)")
            }
        }
    }

    @Test("Each input that failed once is explained in a sentence", arguments: FuzzTarget.allCases)
    func explained(target: FuzzTarget) throws {
        let list = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Finds/README.md")
        let text = try String(contentsOf: list, encoding: .utf8)
        for find in try KeptInput.all(in: "Finds", of: target) {
            #expect(text.contains("`\(target.rawValue)/\(find.file.lastPathComponent)`"))
        }
    }
}

/// A target without findings may check nothing: each of these tests proves that a target detects a violation.
@Suite("The fuzz targets")
struct FuzzTargetTests {
    @Test("The account detects a second callback, a callback without a call, and a missing callback")
    func law() throws {
        var account = CallbackAccount()
        #expect(throws: Violation.self) { try account.take(Array(#"{"callbackId":"a","result":1}"#.utf8)) }
        #expect(throws: Violation.self) { try account.take(Array(#"{"callbackId":"a","res"#.utf8)) }
        let owing = Self.account(owing: "b")
        #expect(throws: Violation.self) { try owing.checkSettled() }
        var paid = owing
        try paid.take(Array(#"{"callbackId":"b","progress":1,"sequence":0}"#.utf8))
        try paid.take(Array(#"{"callbackId":"b","result":1}"#.utf8))
        try paid.checkSettled()
        #expect(throws: Violation.self) {
            try paid.take(Array(#"{"callbackId":"b","progress":1,"sequence":1}"#.utf8))
        }
        #expect(throws: Violation.self) { try paid.take(Array(#"{"callbackId":"b","result":1}"#.utf8)) }
    }

    @Test("An answer in another dialect's form does not count")
    func forms() throws {
        var owing = Self.account(owing: "b")
        #expect(throws: Violation.self) { try owing.take(Array(#"{"responseId":"b","responseData":1}"#.utf8)) }
    }

    @Test("A thread can run as another user than the other threads", .enabled(if: ThreadUser.isSettable))
    func users() {
        let begin = DispatchSemaphore(value: 0)
        let end = DispatchSemaphore(value: 0)
        let seen = Mutex<uid_t?>(nil)
        let other = Thread {
            begin.wait()
            seen.withLock { $0 = geteuid() }
            end.signal()
        }
        other.start()
        let own = ThreadUser.run(as: CostClient.uid) {
            begin.signal()
            end.wait()
            return geteuid()
        }
        #expect(own == CostClient.uid)
        #expect(seen.withLock { $0 } == 0)
        #expect(geteuid() == 0)
    }

    /// Returns the account of a client that has made one call.
    private static func account(owing id: String) -> CallbackAccount {
        var account = CallbackAccount()
        account.owe(string: id)
        return account
    }
}
