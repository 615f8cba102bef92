import BridgeJSON
import CBridgeJSON

/// The native dialect: reads an object's fields into a message.
///
/// | message  | recognized by its field                                     |
/// | -------- | ----------------------------------------------------- |
/// | call     | `task`                                                |
/// | callback | `result` or `error`, or a `callbackId` without a kind |
/// | progress | `progress` without `task`                             |
/// | cancel   | `cancel`                                              |
/// | event    | `event`                                               |
///
/// Unknown fields are ignored. A known field that occurs twice, or fields of two kinds together, are errors.
struct NativeDialect {
    private typealias Mismatch = DialectMismatch

    private let line: ParsedLine
    /// Not retained: the decoder owns it.
    private let memory: Unmanaged<DialectMemory>
    private let call: UnsafeMutablePointer<CallMessage>
    private let places: EnvelopePlaces

    /// - Parameter memory: The memory into which the message is read; the caller keeps it.
    @inline(__always)
    init(_ line: ParsedLine, _ memory: DialectMemory, _ scratch: inout EscapeScratch) {
        self.line = line
        self.memory = .passUnretained(memory)
        call = memory.call
        places = EnvelopePlaces(line, memory.places, &scratch)
    }

    /// The native fields of the message, one bit for each.
    @inline(__always)
    private var present: UInt64 { places.present & EnvelopeField.nativeBits }

    /// The fields among them that occur more than once.
    @inline(__always)
    private var twice: UInt64 { places.twice & EnvelopeField.nativeBits }

    /// Whether the message has fields of other dialects.
    @inline(__always)
    private var hasForeignFields: Bool { places.present & ~EnvelopeField.nativeBits != 0 }

    @inline(__always)
    func decode(_ scratch: inout EscapeScratch) -> DecodedItem {
        // Fields of other dialects are ignored in a native message, even if they occur twice.
        if hasForeignFields, let item = foreignMessage(&scratch) { return item }
        do throws(Mismatch) {
            if twice == 0, present & Self.kindBits == EnvelopeField.task.bit {
                try readCall(&scratch)
                return .call(UnsafePointer(call))
            }
            if twice != 0 { try refuseTwice() }
            let message = try otherMessage(&scratch)
            return memory._withUnsafeGuaranteedRef { $0.keep(message) }
        } catch {
            // If there are two ids, the intended one is unknown.
            let id = twice & EnvelopeField.callbackID.bit != 0 ? nil : readableID(&scratch)
            let problem = MessageProblem(error: BridgeError(.messageInvalid, error.reason), callbackID: id)
            return memory._withUnsafeGuaranteedRef { $0.keep(problem) }
        }
    }

    /// The fields that determine the kind of a message. A call requests progress; other messages report it.
    static let kinds: [EnvelopeField] = [.task, .error, .event, .result, .cancel]

    private static var kindBits: UInt64 {
        EnvelopeField.task.bit | EnvelopeField.result.bit | EnvelopeField.error.bit | EnvelopeField.cancel.bit
            | EnvelopeField.event.bit
    }

    @inline(__always)
    private func has(_ field: EnvelopeField) -> Bool { places.has(field) }

    private func refuseTwice() throws(Mismatch) {
        guard let field = EnvelopeField.allCases.first(where: { twice & $0.bit != 0 }) else { return }
        throw Mismatch("the field \(field.name) occurs twice")
    }

    /// Reads a message that is not a call.
    private func otherMessage(_ scratch: inout EscapeScratch) throws(Mismatch) -> BridgeMessage {
        if has(.task) { try refuse([.result, .error, .cancel, .event], beside: .task) }
        if has(.cancel) {
            try refuse([.result, .error, .event, .progress], beside: .cancel)
            return .cancel(try id(.cancel, &scratch))
        }
        if has(.event) {
            try refuse([.result, .error, .progress], beside: .event)
            return .event(
                EventMessage(
                    name: try string(.event, &scratch), data: value(.data) ?? DialectText.null,
                    isRetained: isRetained))
        }
        guard has(.callbackID) else {
            throw Mismatch("a message has one of the fields task, result, error, progress, cancel and event")
        }
        if has(.progress) {
            try refuse([.result, .error], beside: .progress)
            return .progress(try progress(&scratch))
        }
        return .callback(
            CallbackMessage(
                callbackID: try id(.callbackID, &scratch), result: value(.result), error: value(.error)))
    }

    /// Whether an event is retained. In other messages the field has no meaning.
    private var isRetained: Bool {
        line.members.contains { member in
            line.slice(member.key_start, member.key_length).elementsEqual("retained".utf8)
                && line.slice(member.value_start, member.value_length).elementsEqual("true".utf8)
        }
    }

    private func refuse(_ others: [EnvelopeField], beside field: EnvelopeField) throws(Mismatch) {
        for other in others where has(other) {
            throw Mismatch("the fields \(field.name) and \(other.name) cannot be combined")
        }
    }

    /// Writes the call's fields into the decoder's memory.
    @inline(__always)
    private func readCall(_ scratch: inout EscapeScratch) throws(Mismatch) {
        call.pointee.task = try string(.task, &scratch)
        call.pointee.options = value(.options) ?? DialectText.emptyObject
        call.pointee.callbackID = has(.callbackID) ? try id(.callbackID, &scratch) : nil
        call.pointee.timeoutMilliseconds = has(.timeout) ? try timeout() : 0
        call.pointee.wantsProgress = has(.progress) ? try boolean(.progress) : false
        call.pointee.sessionNumber =
            has(.session) ? min(try natural(.session) ?? 0, CallMessage.anySession - 1) : CallMessage.anySession
        call.pointee.caller = value(.caller) ?? UnsafeRawBufferPointer(start: nil, count: 0)
    }

    private func timeout() throws(Mismatch) -> UInt64 {
        guard let milliseconds = value(.timeout).flatMap(EnvelopeNumber.natural), milliseconds > 0 else {
            throw Mismatch(.timeout, "an integer of milliseconds above 0")
        }
        return min(milliseconds, EnvelopeNumber.maximumTimeoutMilliseconds)
    }

    private func progress(_ scratch: inout EscapeScratch) throws(Mismatch) -> ProgressMessage {
        ProgressMessage(
            callbackID: try id(.callbackID, &scratch), value: value(.progress) ?? DialectText.null,
            sequence: try natural(.sequence) ?? 0)
    }

    // MARK: Fields

    @inline(__always)
    private func member(_ field: EnvelopeField) -> UnsafePointer<bridge_json_member>? {
        places.member(field, of: line)
    }

    @inline(__always)
    private func value(_ field: EnvelopeField) -> UnsafeRawBufferPointer? {
        member(field).map { line.slice($0.pointee.value_start, $0.pointee.value_length) }
    }

    private func readableID(_ scratch: inout EscapeScratch) -> CallbackID? {
        has(.callbackID) ? try? id(.callbackID, &scratch) : nil
    }

    @inline(__always)
    private func string(_ field: EnvelopeField, _ scratch: inout EscapeScratch) throws(Mismatch)
        -> UnsafeRawBufferPointer
    {
        guard let member = member(field), member.pointee.type == UInt8(ascii: "\"") else {
            throw Mismatch(field, "a string")
        }
        guard member.pointee.value_length > 2 else { throw Mismatch(field, "a string that is not empty") }
        let content = line.slice(member.pointee.value_start + 1, member.pointee.value_length - 2)
        return member.pointee.value_escaped ? scratch.unescape(content) : content
    }

    @inline(__always)
    private func id(_ field: EnvelopeField, _ scratch: inout EscapeScratch) throws(Mismatch) -> CallbackID {
        guard let member = member(field) else { throw Mismatch(field, CallbackID.shape) }
        let text = line.slice(member.pointee.value_start, member.pointee.value_length)
        guard let id = CallbackID(text, isEscaped: member.pointee.value_escaped, &scratch) else {
            throw Mismatch(field, CallbackID.shape)
        }
        return id
    }

    private func boolean(_ field: EnvelopeField) throws(Mismatch) -> Bool {
        switch member(field)?.pointee.type {
        case UInt8(ascii: "t"): return true
        case UInt8(ascii: "f"): return false
        default: throw Mismatch(field, "true or false")
        }
    }

    /// Returns an integer of at least 0; nil if there is none. A number that does not fit into 64 bits becomes the
    /// largest that does.
    private func natural(_ field: EnvelopeField) throws(Mismatch) -> UInt64? {
        guard let digits = value(field) else { return nil }
        guard let number = EnvelopeNumber.natural(digits) else {
            throw Mismatch(field, "an integer of 0 or more")
        }
        return number
    }
}

// MARK: Messages of other dialects

extension NativeDialect {
    /// Returns the dialect of a message; nil if it has none or several.
    static func kind(of line: ParsedLine, _ memory: DialectMemory, _ scratch: inout EscapeScratch) -> DialectID? {
        let message = NativeDialect(line, memory, &scratch)
        if message.hasForeignFields {
            switch memory.foreign.kind(of: ForeignMessage(line, message.places, memory.foreign)) {
            case .foreign(let dialect): return dialect
            case .mixture: return nil
            case .native: break
            }
        }
        return message.present & (Self.kindBits | EnvelopeField.callbackID.bit) != 0 ? .native : nil
    }

    /// Reads the message if it is not a native one; nil if it is.
    private func foreignMessage(_ scratch: inout EscapeScratch) -> DecodedItem? {
        let memory = memory.takeUnretainedValue()
        let reader = memory.foreign
        var message = ForeignMessage(line, places, reader)
        switch reader.kind(of: message) {
        case .native: return nil
        case .foreign(let dialect): message.dialect = dialect
        case .mixture(let names):
            let reason =
                "a message is of one dialect, this one has fields of \(names.joined(separator: " and ")): "
                + message.names.joined(separator: ", ")
            return memory.keep(
                MessageProblem(error: BridgeError(.messageInvalid, reason), callbackID: readableID(&scratch)))
        }
        switch reader.read(message) {
        case .call: return .call(UnsafePointer(reader.call))
        case .message(let message): return memory.keep(message)
        case .problem(let problem): return memory.keep(problem)
        }
    }
}
