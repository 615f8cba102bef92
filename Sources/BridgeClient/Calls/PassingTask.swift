import BridgeJSON

/// A task of the daemon beside whose results descriptors come. Each has to be taken, whoever made the call: they come in
/// the order of their results.
enum PassingTask: String {
    case attach = "bridge.stream.attach"
    case new = "bridge.stream.new"

    /// Nil: no descriptor comes with the result of this call.
    init?(_ request: CallRequest) { self.init(rawValue: request.task) }

    /// Whether one comes with this result.
    func passesDescriptor(with result: UnsafeRawBufferPointer) -> Bool {
        switch self {
        case .attach: true
        case .new: (try? JSON(parsing: result)).map { MadeStream.isAttached($0) } ?? false
        }
    }
}
