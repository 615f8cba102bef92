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

    /// The field of this name. Looked up for every key of every message: the length leaves three candidates at the most.
    @inline(__always)
    init?(named key: UnsafeRawBufferPointer) {
        switch key.count {
        case 4: self.init(key, .task, .data, .task)
        case 5: self.init(key, .error, .event, .error)
        case 6: self.init(key, .result, .cancel, .caller)
        case 7: self.init(key, .options, .timeout, .session)
        case 8: self.init(key, .progress, .sequence, .progress)
        case 10: self.init(key, .callbackID, .callbackID, .callbackID)
        case 14: self.init(key, .idempotencyKey, .idempotencyKey, .idempotencyKey)
        default: return nil
        }
    }

    @inline(__always)
    private init?(_ key: UnsafeRawBufferPointer, _ first: Self, _ second: Self, _ third: Self) {
        if first.isNamed(key) {
            self = first
        } else if second.isNamed(key) {
            self = second
        } else if third.isNamed(key) {
            self = third
        } else {
            return nil
        }
    }

    @inline(__always)
    private func isNamed(_ key: UnsafeRawBufferPointer) -> Bool {
        // The caller has compared the lengths; a key of four bytes or more has an address.
        memcmp(key.baseAddress.unsafelyUnwrapped, name.utf8Start, key.count) == 0
    }
}

/// Which member of a line holds which field.
struct EnvelopeFields {
    private var indexes = InlineArray<14, Int32>(repeating: -1)

    /// The place of the field among the line's members.
    @inline(__always)
    subscript(field: EnvelopeField) -> Int? {
        get {
            let index = indexes[field.rawValue]
            return index < 0 ? nil : Int(index)
        }
        set { indexes[field.rawValue] = newValue.map { Int32($0) } ?? -1 }
    }
}
