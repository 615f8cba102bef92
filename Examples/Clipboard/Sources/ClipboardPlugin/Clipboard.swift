import Synchronization
import TaskKit

/// The clipboard of one display, and the processes that offer the written texts.
final class Clipboard: Sendable {
    private let settings = Mutex(Settings())
    /// The last text written to each selection, and the process that offers it. Earlier processes have lost the
    /// selection and end.
    private let offers = Mutex<[Selection: Offer]>([:])

    private struct Offer {
        var child: Child
        var text: [UInt8]
    }

    /// The lanes for reads. They run beside each other, because the owner of a selection may answer slowly.
    private let readers = BlockingThreads(name: "clipboard read", count: 4)
    /// The lane for writes. It runs one after the other, so that the last write wins.
    private let writer = BlockingThreads(name: "clipboard write")
    /// The lanes that wait for the processes: one per selection. The processes before them are waited for briefly.
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

    /// Writes a text. When this returns, a program that pastes gets the text.
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

    /// Empties a selection. xclip cannot clear a selection of another program, but it can take it with an empty text
    /// and end.
    func clear(_ selection: Selection, for call: Call) async throws {
        let settings = settings.withLock { $0 }
        try await writer.run { [self] in
            let child = try Xclip(settings) { call.isCancelled }.offer([], as: selection)
            keep(nil, selection)
            child.kill()
            child.wait()
        }
    }

    /// Replaces the offer of a selection. The writer's thread.
    private func keep(_ offer: Offer?, _ selection: Selection) {
        offers.withLock { offers in
            // The old process has lost the selection and ends by itself, unless something is wrong with it.
            offers[selection]?.child.kill()
            offers[selection] = offer
        }
        guard let child = offer?.child else { return }
        waiters.submit { [self] in
            child.wait()
            if child.status != 0 { writer.submit { self.renew(selection, after: child) } }
        }
    }

    /// Offers a text again if its process has ended although no other program has copied anything. X ends a program
    /// with an error if it answers a program that has ended. If the new offer fails, the clipboard is empty.
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

    /// Ends the remaining processes. A written text ends with the daemon, like that of any program that offers a
    /// selection.
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
