import BridgeJSON
import CSimdjson

/// The native dialect: an object's fields, read into a message.
///
/// | message  | told by its field                                     |
/// | -------- | ----------------------------------------------------- |
/// | call     | `task`                                                |
/// | callback | `result` or `error`, or a `callbackId` without a kind |
/// | progress | `progress` without `task`                             |
/// | cancel   | `cancel`                                              |
/// | event    | `event`                                               |
///
/// Unknown fields are ignored; a known one twice, or fields of two kinds at once, make no message.
struct NativeDialect {
    private struct Mismatch: Error {
        var reason: String

        init(_ field: EnvelopeField, _ expected: String) { reason = "the field \(field.name) must be \(expected)" }
        init(_ reason: String) { self.reason = reason }
    }

    private let line: ParsedLine
    private let fields: EnvelopeFields

    static func decode(_ line: ParsedLine, _ scratch: inout EscapeScratch) -> DecodedItem {
        var fields = EnvelopeFields()
        var twice: EnvelopeField?
        for index in line.members.indices {
            let member = line.members[index]
            let key = member.key_escaped ? scratch.unescape(line.key(member)) : line.key(member)
            guard let field = EnvelopeField(named: key) else { continue }
            if fields[field] != nil { twice = field }
            fields[field] = index
        }
        let dialect = NativeDialect(line: line, fields: fields)
        do throws(Mismatch) {
            if let twice { throw Mismatch("the field \(twice.name) stands twice") }
            return .message(try dialect.message(&scratch))
        } catch {
            // Of two ids nobody can say which one is meant.
            let id = twice == .callbackID ? nil : dialect.readableID(&scratch)
            return .problem(MessageProblem(error: BridgeError(.messageInvalid, error.reason), callbackID: id))
        }
    }

    private func message(_ scratch: inout EscapeScratch) throws(Mismatch) -> BridgeMessage {
        if fields[.task] != nil {
            try refuse([.result, .error, .cancel, .event], beside: .task)
            return .call(try call(&scratch))
        }
        if fields[.cancel] != nil {
            try refuse([.result, .error, .event, .progress], beside: .cancel)
            return .cancel(try id(.cancel, &scratch))
        }
        if fields[.event] != nil {
            try refuse([.result, .error, .progress], beside: .event)
            return .event(EventMessage(name: try string(.event, &scratch), data: value(.data) ?? Self.null))
        }
        guard fields[.callbackID] != nil else {
            throw Mismatch("a message has one of the fields task, result, error, progress, cancel and event")
        }
        if fields[.progress] != nil {
            try refuse([.result, .error], beside: .progress)
            return .progress(try progress(&scratch))
        }
        return .callback(
            CallbackMessage(
                callbackID: try id(.callbackID, &scratch), result: value(.result), error: value(.error)))
    }

    private func refuse(_ others: [EnvelopeField], beside field: EnvelopeField) throws(Mismatch) {
        for other in others where fields[other] != nil {
            throw Mismatch("the fields \(field.name) and \(other.name) do not go together")
        }
    }

    private func call(_ scratch: inout EscapeScratch) throws(Mismatch) -> CallMessage {
        var call = CallMessage(task: try string(.task, &scratch), options: value(.options) ?? Self.emptyObject)
        if fields[.callbackID] != nil { call.callbackID = try id(.callbackID, &scratch) }
        if let milliseconds = try natural(.timeout) {
            guard milliseconds > 0 else { throw Mismatch(.timeout, "an integer of milliseconds above 0") }
            call.timeout = .milliseconds(Int64(clamping: min(milliseconds, Self.longestTimeoutMilliseconds)))
        }
        if fields[.progress] != nil { call.wantsProgress = try boolean(.progress) }
        call.session = try natural(.session)
        call.caller = value(.caller)
        return call
    }

    private func progress(_ scratch: inout EscapeScratch) throws(Mismatch) -> ProgressMessage {
        ProgressMessage(
            callbackID: try id(.callbackID, &scratch), value: value(.progress) ?? Self.null,
            sequence: try natural(.sequence) ?? 0)
    }

    // MARK: Fields

    /// A year: longer than any wait that is meant, short enough for every clock.
    private static let longestTimeoutMilliseconds: UInt64 = 366 * 24 * 3600 * 1000

    // What absent fields stand for, with the padding that every text has. Unsafe in form only: made once, never written
    // again, never given back.
    private nonisolated(unsafe) static let emptyObject = literal("{}")
    private nonisolated(unsafe) static let null = literal("null")

    private static func literal(_ text: String) -> UnsafeRawBufferPointer {
        let bytes = UnsafeMutableRawBufferPointer.allocate(
            byteCount: text.utf8.count + MessageSplitter.paddingBytes, alignment: 1)
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
        bytes.copyBytes(from: text.utf8)
        return UnsafeRawBufferPointer(rebasing: bytes[..<text.utf8.count])
    }

    private func value(_ field: EnvelopeField) -> UnsafeRawBufferPointer? {
        fields[field].map { line.value(line.members[$0]) }
    }

    private func readableID(_ scratch: inout EscapeScratch) -> CallbackID? {
        fields[.callbackID] == nil ? nil : try? id(.callbackID, &scratch)
    }

    private func string(_ field: EnvelopeField, _ scratch: inout EscapeScratch) throws(Mismatch)
        -> UnsafeRawBufferPointer
    {
        guard let index = fields[field], line.members[index].type == UInt8(ascii: "\"") else {
            throw Mismatch(field, "a string")
        }
        let member = line.members[index]
        let quoted = line.value(member)
        guard quoted.count > 2 else { throw Mismatch(field, "a string that is not empty") }
        let content = quoted.slice(1, quoted.count - 2)
        return member.value_escaped ? scratch.unescape(content) : content
    }

    private func id(_ field: EnvelopeField, _ scratch: inout EscapeScratch) throws(Mismatch) -> CallbackID {
        guard let index = fields[field], let text = value(field) else { throw Mismatch(field, Self.idShape) }
        let member = line.members[index]
        guard let id = CallbackID(text, isEscaped: member.value_escaped, &scratch) else {
            throw Mismatch(field, Self.idShape)
        }
        return id
    }

    private static let idShape = "a string of 1 to \(CallbackID.maximumBytes) bytes, or an integer"

    private func boolean(_ field: EnvelopeField) throws(Mismatch) -> Bool {
        switch fields[field].map({ line.members[$0].type }) {
        case UInt8(ascii: "t"): return true
        case UInt8(ascii: "f"): return false
        default: throw Mismatch(field, "true or false")
        }
    }

    /// An integer from 0 on; what does not fit into 64 bits counts as the largest that does.
    private func natural(_ field: EnvelopeField) throws(Mismatch) -> UInt64? {
        guard let digits = value(field) else { return nil }
        var number: UInt64 = 0
        for byte in digits {
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10 else { throw Mismatch(field, "an integer of 0 or more") }
            let (scaled, overflow) = number.multipliedReportingOverflow(by: 10)
            number = overflow || scaled > .max - UInt64(digit) ? .max : scaled + UInt64(digit)
        }
        return number
    }
}
