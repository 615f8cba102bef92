import BridgeJSON

/// A task of the daemon whose results may arrive with descriptors. Descriptors arrive in the order of their results, so
/// each must be taken, also if the program made the call itself.
enum PassingTask: String {
    case attach = "bridge.stream.attach"
    case new = "bridge.stream.new"

    /// `nil` if no descriptor arrives with the result of this call.
    init?(_ request: CallRequest) { self.init(rawValue: request.task) }

    /// Whether a descriptor arrives with this result.
    func passesDescriptor(with result: UnsafeRawBufferPointer) -> Bool {
        switch self {
        case .attach: true
        case .new: (try? JSON(parsing: result)).map { MadeStream.isAttached($0) } ?? false
        }
    }
}
