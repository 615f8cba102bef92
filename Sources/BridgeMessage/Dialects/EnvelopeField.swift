/// A field of a message's envelope, in any dialect. The native fields come first.
enum EnvelopeField: Int, CaseIterable {
    case task, data
    case error, event
    case result, cancel, caller
    case options, timeout, session
    case progress, sequence
    case callbackID
    case idempotencyKey
    // WebViewJavascriptBridge
    case handlerName, responseID, responseData
    // JSON-RPC
    case jsonrpc, method, params, id
    // URL, and function call
    case url, funName, value, callback, callbackFunction
    // Capacitor
    case pluginID, methodName, save, success, type, service, action, actionArgs

    /// The field's name on the wire.
    var name: StaticString {
        switch self {
        case .task: "task"
        case .data: "data"
        case .error: "error"
        case .event: "event"
        case .result: "result"
        case .cancel: "cancel"
        case .caller: "caller"
        case .options: "options"
        case .timeout: "timeout"
        case .session: "session"
        case .progress: "progress"
        case .sequence: "sequence"
        case .callbackID: "callbackId"
        case .idempotencyKey: "idempotencyKey"
        case .handlerName: "handlerName"
        case .responseID: "responseId"
        case .responseData: "responseData"
        case .jsonrpc: "jsonrpc"
        case .method: "method"
        case .params: "params"
        case .id: "id"
        case .url: "url"
        case .funName: "funName"
        case .value: "value"
        case .callback: "callback"
        case .callbackFunction: "callbackFunction"
        case .pluginID: "pluginId"
        case .methodName: "methodName"
        case .save: "save"
        case .success: "success"
        case .type: "type"
        case .service: "service"
        case .action: "action"
        case .actionArgs: "actionArgs"
        }
    }

    /// Creates the field of a name that had escapes. All other names are looked up in ``names`` while the line is
    /// checked.
    init?(_ name: UnsafeRawBufferPointer) {
        guard let field = Self.allCases.first(where: { UnsafeRawBufferPointer($0.name).elementsEqual(name) }) else {
            return nil
        }
        self = field
    }

    /// The names, for the check of lines.
    static let names = MemberNames(allCases.map(\.name))

    /// A bit for each field, for sets of them.
    @inline(__always)
    var bit: UInt64 { 1 &<< UInt64(truncatingIfNeeded: rawValue) }

    /// The bits of the native fields.
    @inline(__always)
    static var nativeBits: UInt64 { Self.handlerName.bit &- 1 }
}

extension UnsafeRawBufferPointer {
    /// Creates a pointer to the bytes of a literal.
    init(_ text: StaticString) { self.init(start: text.utf8Start, count: text.utf8CodeUnitCount) }
}
