import BridgeJSON
import Logging

// Errors whose message the plugin did not choose: unexpected errors of a library or of the system.
extension PluginInstance {
    /// The maximum length of such an error's message.
    private static let maximumBytes = 8 << 10

    /// Returns the error as its caller sees it. The log contains its message, under the id in the error. A trusted
    /// caller also receives the message, and so does the daemon for its own requests to the plugin.
    func shown(_ error: BridgeError, of call: Call) -> BridgeError {
        var shown = error
        shown.isUnforeseen = false
        shown.message = error.message.cut(toBytes: Self.maximumBytes)
        guard call.origin != .daemon else { return shown }
        let id = Self.makeID()
        var metadata = call.logMetadata
        metadata["error"] = .string(id)
        // The errors of a private task may contain secrets.
        let message = call.task?.description.isPrivate == true ? "its message is private" : shown.message
        writeUnforeseen(message, metadata)
        shown.data = ["error": .string(id)]
        if call.session?.isTrusted != true {
            shown.message = "the task failed with an unexpected error; see error=\(id) in the daemon's log"
        }
        return shown
    }

    /// Writes the error into the log. Writing blocks the loop: of many errors some are left out and counted.
    private func writeUnforeseen(_ words: String, _ metadata: Logger.Metadata) {
        let verdict = unforeseenLines.take(at: calls.clock.now)
        if verdict == .leaveOut { return }
        if case .writeAfter(let lost) = verdict {
            calls.log.warning("\(lost) unexpected errors of \(providerName) were not logged")
        }
        calls.log.error("unexpected error in \(providerName): \(words)", metadata: metadata)
    }

    /// Returns an id that is unique in a log and has no other meaning.
    private static func makeID() -> String {
        let digits = String(UInt64.random(in: 0..<1 << 48), radix: 16)
        return String(repeating: "0", count: 12 - digits.utf8.count) + digits
    }
}
