import Glibc

/// A field of a message's envelope, in any dialect. The native ones stand first.
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

    /// The native field of this name. Looked up for every key of every message: the length leaves at most three
    /// candidates, and comparing a known number of bytes costs no function call.
    @inline(__always)
    static func native(_ key: UnsafeRawBufferPointer) -> EnvelopeField? {
        guard let name = key.baseAddress else { return nil }
        switch key.count {
        case 4: return memcmp(name, "task", 4) == 0 ? .task : memcmp(name, "data", 4) == 0 ? .data : nil
        case 5: return memcmp(name, "error", 5) == 0 ? .error : memcmp(name, "event", 5) == 0 ? .event : nil
        case 6:
            if memcmp(name, "result", 6) == 0 { return .result }
            return memcmp(name, "cancel", 6) == 0 ? .cancel : memcmp(name, "caller", 6) == 0 ? .caller : nil
        case 7:
            if memcmp(name, "options", 7) == 0 { return .options }
            return memcmp(name, "timeout", 7) == 0 ? .timeout : memcmp(name, "session", 7) == 0 ? .session : nil
        case 8: return memcmp(name, "progress", 8) == 0 ? .progress : memcmp(name, "sequence", 8) == 0 ? .sequence : nil
        case 10: return memcmp(name, "callbackId", 10) == 0 ? .callbackID : nil
        case 14: return memcmp(name, "idempotencyKey", 14) == 0 ? .idempotencyKey : nil
        default: return nil
        }
    }

    /// The field of this name that only other dialects know. Looked up for each key that the native dialect does not
    /// know, of which a message may have many.
    static func foreign(_ key: UnsafeRawBufferPointer) -> EnvelopeField? {
        guard let name = key.baseAddress else { return nil }
        switch key.count {
        case 2: return memcmp(name, "id", 2) == 0 ? .id : nil
        case 3: return memcmp(name, "url", 3) == 0 ? .url : nil
        case 4: return memcmp(name, "save", 4) == 0 ? .save : memcmp(name, "type", 4) == 0 ? .type : nil
        case 5: return memcmp(name, "value", 5) == 0 ? .value : nil
        case 6:
            if memcmp(name, "method", 6) == 0 { return .method }
            return memcmp(name, "params", 6) == 0 ? .params : memcmp(name, "action", 6) == 0 ? .action : nil
        case 7:
            if memcmp(name, "jsonrpc", 7) == 0 { return .jsonrpc }
            if memcmp(name, "funName", 7) == 0 { return .funName }
            return memcmp(name, "success", 7) == 0 ? .success : memcmp(name, "service", 7) == 0 ? .service : nil
        case 8:
            return memcmp(name, "pluginId", 8) == 0 ? .pluginID : memcmp(name, "callback", 8) == 0 ? .callback : nil
        case 10:
            if memcmp(name, "methodName", 10) == 0 { return .methodName }
            return memcmp(name, "responseId", 10) == 0
                ? .responseID : memcmp(name, "actionArgs", 10) == 0 ? .actionArgs : nil
        case 11: return memcmp(name, "handlerName", 11) == 0 ? .handlerName : nil
        case 12: return memcmp(name, "responseData", 12) == 0 ? .responseData : nil
        case 16: return memcmp(name, "callbackFunction", 16) == 0 ? .callbackFunction : nil
        default: return nil
        }
    }
}

extension UnsafeRawBufferPointer {
    /// The bytes of a literal.
    init(_ text: StaticString) { self.init(start: text.utf8Start, count: text.utf8CodeUnitCount) }
}
