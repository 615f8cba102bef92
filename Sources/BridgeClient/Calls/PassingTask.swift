import BridgeJSON

/// A task of the daemon whose results may come with descriptors. Descriptors come in the order of their results, so each
/// is taken, also where the program made the call itself.
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
