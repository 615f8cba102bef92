import Glibc

/// A field that the native envelope knows.
enum EnvelopeField: Int, CaseIterable {
    case task, data
    case error, event
    case result, cancel, caller
    case options, timeout, session
    case progress, sequence
    case callbackID
    case idempotencyKey

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
        }
    }

    /// The field of this name. Looked up for every key of every message: the length leaves three candidates at the
    /// most, and comparing a known number of bytes costs no function call.
    @inline(__always)
    static func named(_ key: UnsafeRawBufferPointer) -> EnvelopeField? {
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
}

extension EnvelopeField {
    /// A bit for each field, for sets of them.
    @inline(__always)
    var bit: UInt16 { 1 &<< UInt16(truncatingIfNeeded: rawValue) }
}
