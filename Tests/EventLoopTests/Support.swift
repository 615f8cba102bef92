import EventLoop
import Foundation
import Testing

/// A directory for one test, removed with its contents when the test ends.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        path = "/tmp/trestle-\(UUID().uuidString.prefix(13))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }
}

/// Records the reports of a stream in order, and can wait for them.
@LoopActor
final class Recorder: UnixStreamDelegate {
    enum Report: Equatable {
        case bytes([UInt8])
        case endOfInput
        case hangUp
        case writable
        case failed(Int32)
    }

    private(set) var reports: [Report] = []
    var received: [UInt8] = []
    /// Called after each report is recorded.
    var onReport: (@LoopActor (Report) -> Void)?
    private var waiting: [(condition: @LoopActor (Recorder) -> Bool, continuation: CheckedContinuation<Void, Never>)] =
        []

    func read(bytes: UnsafeRawBufferPointer) {
        received += bytes
        note(.bytes(Array(bytes)))
    }
    func endOfInput() { note(.endOfInput) }
    func hangUp() { note(.hangUp) }
    func writable() { note(.writable) }
    func failed(_ error: SystemError) { note(.failed(error.code)) }

    /// Waits until the condition holds. It is evaluated after every report.
    func wait(until condition: @escaping @LoopActor (Recorder) -> Bool) async {
        if condition(self) { return }
        await withCheckedContinuation { waiting.append((condition, $0)) }
    }

    /// The reports other than bytes.
    var ends: [Report] { reports.filter { if case .bytes = $0 { false } else { true } } }

    private func note(_ report: Report) {
        reports.append(report)
        onReport?(report)
        let ready = waiting.filter { $0.condition(self) }
        waiting.removeAll { entry in entry.condition(self) }
        for entry in ready { entry.continuation.resume() }
    }
}

/// Two connected streams, each with a recorder.
@LoopActor
struct StreamPair {
    let ours: UnixStream
    let theirs: UnixStream
    let our = Recorder()
    let their = Recorder()

    init() throws {
        (ours, theirs) = try UnixSocket.pair { first, second in
            (try UnixStream(adopting: first), try UnixStream(adopting: second))
        }
        ours.delegate = our
        theirs.delegate = their
    }

    func close() {
        ours.close()
        theirs.close()
    }
}

extension UnixStream {
    @discardableResult
    func write(_ bytes: [UInt8]) -> Int {
        bytes.withUnsafeBytes { write($0) }
    }

    @discardableResult
    func write(_ text: String) -> Int {
        write(Array(text.utf8))
    }
}

/// Waits for turns of the loop. After two turns, events from before the call have been reported.
@LoopActor
func turns(_ count: Int = 2) async {
    for _ in 0..<count {
        await withCheckedContinuation { continuation in
            let timer = LoopTimer {}
            let hook = Box<TurnEndHook>()
            hook.value = EventLoop.atTurnEnd {
                hook.value?.remove()
                hook.value = nil
                timer.close()
                continuation.resume()
            }
        }
    }
}

/// A value to be set later.
@LoopActor
final class Box<Value> {
    var value: Value?
    init() {}
}

/// Returns the supplementary groups of this process.
func ownGroups() -> [UInt32] {
    let count = getgroups(0, nil)
    var groups = [UInt32](repeating: 0, count: Int(max(0, count)))
    return getgroups(count, &groups) == count ? groups : []
}
