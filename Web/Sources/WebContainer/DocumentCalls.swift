internal import BridgeJSON
internal import PageBridge

/// Calls on the session of one document. They fail when the document is replaced; they never use the session of the
/// next one.
@MainActor
struct DocumentCalls {
    private let bridge: PageBridge
    private let document: Int

    /// Creates the calls of the current document.
    init(_ bridge: PageBridge) {
        self.bridge = bridge
        document = bridge.documentNumber
    }

    /// Returns the result of a call; `nil` if it failed, or the document was replaced.
    func result(of task: String, _ options: JSON) async -> JSON? {
        guard bridge.documentNumber == document else { return nil }
        return await withCheckedContinuation { continuation in
            let call = bridge.call(task, options) { continuation.resume(returning: $0) }
            if call == nil { continuation.resume(returning: nil) }
        }
    }
}
