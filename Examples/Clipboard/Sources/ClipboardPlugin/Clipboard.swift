import Synchronization
import TaskKit

/// The clipboard of one display, and the processes that offer what was written to it.
final class Clipboard: Sendable {
    private let settings = Mutex(Settings())
    /// What was written last to each selection, and the process that offers it. The older ones have lost it, and end.
    private let offers = Mutex<[Selection: Offer]>([:])

    private struct Offer {
        var child: Child
        var text: [UInt8]
    }

    /// Reads wait for programs that may be slow to answer, so they wait beside each other.
    private let readers = BlockingThreads(name: "clipboard read", count: 4)
    /// Writes one after the other, so that the last one stays.
    private let writer = BlockingThreads(name: "clipboard write")
    /// Waits for the processes: one per selection, and for a moment those before them.
    private let waiters = BlockingThreads(name: "clipboard wait", count: Selection.allCases.count)

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

    /// When this returns, a program that pastes gets the text.
    func write(_ text: String, to selection: Selection, for call: Call) async throws {
        let settings = settings.withLock { $0 }
        let bytes = Array(text.utf8)
        guard bytes.count <= settings.textBytes else { throw Failure.tooLarge(settings.textBytes) }
        try await writer.run { [self] in
            keep(
                Offer(child: try Xclip(settings) { call.isCancelled }.offer(bytes, as: selection), text: bytes),
                selection)
        }
    }

    /// xclip cannot give a selection up for others. But it can take it, with nothing in it, and end.
    func clear(_ selection: Selection, for call: Call) async throws {
        let settings = settings.withLock { $0 }
        try await writer.run { [self] in
            let child = try Xclip(settings) { call.isCancelled }.offer([], as: selection)
            keep(nil, selection)
            child.kill()
            child.wait()
        }
    }

    /// On the writer's thread.
    private func keep(_ offer: Offer?, _ selection: Selection) {
        offers.withLock { offers in
            // It has lost the selection and ends by itself, unless something is wrong with it.
            offers[selection]?.child.kill()
            offers[selection] = offer
        }
        guard let child = offer?.child else { return }
        waiters.submit { [self] in
            child.wait()
            if child.status != 0 { writer.submit { self.renew(selection, after: child) } }
        }
    }

    /// Offers a text again whose process has ended, although no one had copied anything else: X ends a program with an
    /// error where it answers one that is gone. Where that fails the clipboard is empty, as it is when such a program
    /// ends.
    private func renew(_ selection: Selection, after child: Child) {
        let offer = offers.withLock { $0[selection] }
        guard let offer, offer.child === child else { return }
        let settings = settings.withLock { $0 }
        do {
            let xclip = try Xclip(settings) { false }
            guard try xclip.isFree(selection) else { return keep(nil, selection) }
            keep(Offer(child: try xclip.offer(offer.text, as: selection), text: offer.text), selection)
        } catch {
            keep(nil, selection)
        }
    }

    /// Ends what is left. A text that was written goes with the daemon, as it does with any program that was copied
    /// from.
    func finish() async {
        try? await writer.run { [self] in
            let last = offers.withLock { offers in
                defer { offers = [:] }
                return offers.values.map(\.child)
            }
            for child in last { child.kill() }
            for child in last { child.wait() }
        }
    }
}
