internal import BridgeJSON
internal import PageBridge

/// Calls on the session of one document. They fail when it has gone: none is one of the document after it.
@MainActor
struct DocumentCalls {
    private let bridge: PageBridge
    private let document: Int

    /// Those of the document that is shown now.
    init(_ bridge: PageBridge) {
        self.bridge = bridge
        document = bridge.documentNumber
    }

    /// The result of a call; nil where it failed, or the document has gone.
    func result(of task: String, _ options: JSON) async -> JSON? {
        guard bridge.documentNumber == document else { return nil }
        return await withCheckedContinuation { continuation in
            let call = bridge.call(task, options) { continuation.resume(returning: $0) }
            if call == nil { continuation.resume(returning: nil) }
        }
    }
}
