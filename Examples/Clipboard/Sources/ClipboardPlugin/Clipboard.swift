import Synchronization
import TaskKit

/// The clipboard of one display, and the processes that offer what was written to it.
final class Clipboard: Sendable {
    private let settings = Mutex(Settings())
    /// The newest process that offers, for each selection. The older ones have lost it, and end.
    private let offering = Mutex<[Selection: Child]>([:])

    /// Reads wait for programs that may be slow to answer, so they wait beside each other.
    private let readers = BlockingLane(name: "clipboard read", threads: 4)
    /// Writes one after the other, so that the last one stays.
    private let writer = BlockingLane(name: "clipboard write")
    /// Waits for the processes: one per selection, and for a moment those before them.
    private let waiters = BlockingLane(name: "clipboard wait", threads: Selection.allCases.count)

    func take(_ section: Section) {
        settings.withLock { $0 = Settings(section) }
    }

    func read(_ selection: Selection, for call: Call) async throws -> String {
        let settings = settings.withLock { $0 }
        return try await readers.run {
            let xclip = try Xclip(settings) { call.isCancelled }
            guard let bytes = try xclip.text(of: selection) else {
                guard let targets = try xclip.targets(of: selection) else { throw Failure.empty(selection) }
                throw Failure.notText(selection, targets: targets)
            }
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw Failure.notText(selection, targets: ["UTF8_STRING"])
            }
            return text
        }
    }

    /// When this returns, whoever pastes gets the text.
    func write(_ text: String, to selection: Selection, for call: Call) async throws {
        let settings = settings.withLock { $0 }
        let bytes = Array(text.utf8)
        guard bytes.count <= settings.textBytes else { throw Failure.tooLarge(settings.textBytes) }
        try await writer.run { [self] in
            keep(try Xclip(settings) { call.isCancelled }.offer(bytes, as: selection), selection)
        }
    }

    /// xclip cannot give a selection up for others. But it can take it, with nothing in it, and end.
    func clear(_ selection: Selection, for call: Call) async throws {
        let settings = settings.withLock { $0 }
        try await writer.run { [self] in
            let child = try Xclip(settings) { call.isCancelled }.offer([], as: selection)
            keep(child, selection)
            child.kill()
            child.wait()
        }
    }

    private func keep(_ child: Child, _ selection: Selection) {
        waiters.submit { child.wait() }
        offering.withLock { offering in
            // It has lost the selection and ends by itself, unless something is wrong with it.
            offering[selection]?.kill()
            offering[selection] = child
        }
    }

    /// Ends what is left. A text that was written goes with the daemon, as it does with any program that was copied from.
    func finish() async {
        try? await writer.run { [self] in
            let last = offering.withLock { offering in
                defer { offering = [:] }
                return offering.values.map { $0 }
            }
            for child in last { child.kill() }
            for child in last { child.wait() }
        }
    }
}
