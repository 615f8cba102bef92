import BridgeJSON
import CBridgeJSON

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
    private typealias Mismatch = DialectMismatch

    private let line: ParsedLine
    /// Not retained: the decoder keeps it.
    private let memory: Unmanaged<DialectMemory>
    private let call: UnsafeMutablePointer<CallMessage>
    private let places: UnsafeMutablePointer<UInt32>
    /// The fields that there are, a bit for each.
    private var present: UInt16 = 0
    // What there is of other dialects.
    /// Fields that the native one does not know, a bit for each, and those of them that stand there twice.
    private var foreignPresent: UInt32 = 0
    private var foreignTwice: UInt32 = 0
    /// A bit for each dialect of which there is a mark, or a hint.
    private var marked: UInt16 = 0
    private var hinted: UInt16 = 0

    /// - Parameter memory: what the message is read into; kept by the caller.
    @inline(__always)
    init(_ line: ParsedLine, _ memory: DialectMemory) {
        self.line = line
        self.memory = .passUnretained(memory)
        call = memory.call
        places = memory.places
    }

    @inline(__always)
    mutating func decode(_ scratch: inout EscapeScratch) -> DecodedItem {
        var twice: UInt16 = 0
        for index in 0..<line.members.count {
            // There is an address: there are members.
            let member = line.members.baseAddress.unsafelyUnwrapped + index
            let key = line.slice(member.pointee.key_start, member.pointee.key_length)
            let name = member.pointee.key_escaped ? scratch.unescape(key) : key
            guard let field = EnvelopeField.named(name) else {
                noteForeign(name, index)
                continue
            }
            twice |= present & field.bit
            present |= field.bit
            places[field.rawValue] = UInt32(truncatingIfNeeded: index)
        }
        if marked | hinted != 0, let item = foreignMessage(twice, &scratch) { return item }
        do throws(Mismatch) {
            if twice == 0, present & Self.kinds == EnvelopeField.task.bit {
                try readCall(&scratch)
                return .call(UnsafePointer(call))
            }
            if twice != 0 { try refuse(twice: twice) }
            let message = try otherMessage(&scratch)
            return memory._withUnsafeGuaranteedRef { $0.keep(message) }
        } catch {
            // Of two ids nobody can say which one is meant.
            let id = twice & EnvelopeField.callbackID.bit != 0 ? nil : readableID(&scratch)
            let problem = MessageProblem(error: BridgeError(.messageInvalid, error.reason), callbackID: id)
            return memory._withUnsafeGuaranteedRef { $0.keep(problem) }
        }
    }

    /// The fields that say what a message is. Progress is asked for in a call, and reported without one.
    private static var kinds: UInt16 {
        EnvelopeField.task.bit | EnvelopeField.result.bit | EnvelopeField.error.bit | EnvelopeField.cancel.bit
            | EnvelopeField.event.bit
    }

    @inline(__always)
    private func has(_ field: EnvelopeField) -> Bool { present & field.bit != 0 }

    private func refuse(twice: UInt16) throws(Mismatch) {
        guard let field = EnvelopeField.allCases.first(where: { twice & $0.bit != 0 }) else { return }
        throw Mismatch("the field \(field.name) stands twice")
    }

    /// A message that is no call.
    private func otherMessage(_ scratch: inout EscapeScratch) throws(Mismatch) -> BridgeMessage {
        if has(.task) { try refuse([.result, .error, .cancel, .event], beside: .task) }
        if has(.cancel) {
            try refuse([.result, .error, .event, .progress], beside: .cancel)
            return .cancel(try id(.cancel, &scratch))
        }
        if has(.event) {
            try refuse([.result, .error, .progress], beside: .event)
            return .event(EventMessage(name: try string(.event, &scratch), data: value(.data) ?? DialectText.null))
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

    private func refuse(_ others: [EnvelopeField], beside field: EnvelopeField) throws(Mismatch) {
        for other in others where has(other) {
            throw Mismatch("the fields \(field.name) and \(other.name) do not go together")
        }
    }

    /// Writes the call's fields where the decoder keeps them.
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
        return min(milliseconds, EnvelopeNumber.longestTimeoutMilliseconds)
    }

    private func progress(_ scratch: inout EscapeScratch) throws(Mismatch) -> ProgressMessage {
        ProgressMessage(
            callbackID: try id(.callbackID, &scratch), value: value(.progress) ?? DialectText.null,
            sequence: try natural(.sequence) ?? 0)
    }

    // MARK: Fields

    @inline(__always)
    private func member(_ field: EnvelopeField) -> UnsafePointer<bridge_json_member>? {
        guard has(field), let members = line.members.baseAddress else { return nil }
        return members + Int(places[field.rawValue])
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

    /// An integer from 0 on; what does not fit into 64 bits counts as the largest that does.
    private func natural(_ field: EnvelopeField) throws(Mismatch) -> UInt64? {
        guard let digits = value(field) else { return nil }
        guard let number = EnvelopeNumber.natural(digits) else {
            throw Mismatch(field, "an integer of 0 or more")
        }
        return number
    }
}

/// Numbers of envelopes.
enum EnvelopeNumber {
    /// A year: longer than any wait that is meant, short enough for every clock.
    static let longestTimeoutMilliseconds: UInt64 = 366 * 24 * 3600 * 1000

    /// An integer from 0 on; what does not fit into 64 bits counts as the largest that does. Nil: it is none.
    static func natural(_ digits: UnsafeRawBufferPointer) -> UInt64? {
        var number: UInt64 = 0
        for byte in digits {
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            let (scaled, overflow) = number.multipliedReportingOverflow(by: 10)
            number = overflow || scaled > .max - UInt64(digit) ? .max : scaled + UInt64(digit)
        }
        return number
    }
}

// MARK: Messages of other dialects

extension NativeDialect {
    /// The dialect of a message; nil: it is of none, or of several.
    static func kind(of line: ParsedLine, _ memory: DialectMemory, _ scratch: inout EscapeScratch) -> DialectID? {
        var reader = NativeDialect(line, memory)
        _ = reader.decode(&scratch)
        if let foreign = reader.foreignDialect { return foreign }
        return reader.present & Self.kinds != 0 || reader.has(.callbackID) ? .native : nil
    }

    /// Takes a field into account that the native dialect does not know.
    private mutating func noteForeign(_ name: UnsafeRawBufferPointer, _ index: Int) {
        guard let entry = memory._withUnsafeGuaranteedRef({ $0.names.find(name) }) else { return }
        let field = entry.pointee.field
        foreignTwice |= foreignPresent & field.bit
        foreignPresent |= field.bit
        marked |= entry.pointee.marked
        hinted |= entry.pointee.hinted
        places[field.number] = UInt32(truncatingIfNeeded: index)
    }

    /// The one foreign dialect whose fields there are.
    private var foreignDialect: DialectID? {
        // Hints count where nothing else tells what the message is.
        let isNative = present & (Self.kinds | EnvelopeField.callbackID.bit) != 0
        let bits = marked != 0 ? marked : isNative ? 0 : hinted
        guard bits != 0, bits & (bits - 1) == 0 else { return nil }
        return DialectID(number: UInt8(truncatingIfNeeded: bits.trailingZeroBitCount + 1))
    }

    /// The message, where it is none of the native dialect; nil: it is.
    private func foreignMessage(_ twice: UInt16, _ scratch: inout EscapeScratch) -> DecodedItem? {
        guard marked != 0 || foreignDialect != nil else { return nil }
        guard let id = foreignDialect, let dialect = Dialects.of(id), dialect._withUnsafeGuaranteedRef(isAlone) else {
            let problem = MessageProblem(
                error: BridgeError(.messageInvalid, mixture), callbackID: readableID(&scratch))
            return memory._withUnsafeGuaranteedRef { $0.keep(problem) }
        }
        return memory._withUnsafeGuaranteedRef { memory in
            memory.workspace.reset()
            let fields = DialectFields(
                line: line, dialect: id, workspace: memory.workspace, present: UInt32(present) | foreignPresent,
                twice: UInt32(twice) | foreignTwice, places: UnsafePointer(places))
            return dialect._withUnsafeGuaranteedRef { Self.read(fields, $0, memory) }
        }
    }

    private static func read(_ fields: DialectFields, _ dialect: Dialect, _ memory: DialectMemory) -> DecodedItem {
        do throws(DialectMismatch) {
            if fields.twice != 0 { throw DialectMismatch("a field stands twice") }
            switch try dialect.read(fields) {
            case .call: return .call(UnsafePointer(memory.workspace.call))
            case .other(let message): return memory.keep(message)
            }
        } catch {
            let name = type(of: dialect).name
            let reason = "\(error.reason) (\(name); seen: \(fields.names.joined(separator: ", ")))"
            return memory.keep(
                MessageProblem(
                    error: BridgeError(.messageInvalid, reason), callbackID: fields.readableID(dialect.idField),
                    dialect: fields.dialect))
        }
    }

    /// Whether the native dialect's fields that there are have a place in a message of this dialect.
    private func isAlone(_ dialect: Dialect) -> Bool {
        let kinds = present & Self.kinds
        return kinds == 0 || kinds & ~dialect.sharedFields.reduce(0) { $0 | $1.bit } == 0
    }

    private var mixture: String {
        let foreign = Dialects.all.dropFirst().filter { marked & UInt16($0.bit >> 1) != 0 }
        let native = EnvelopeField.allCases.filter { present & Self.kinds & $0.bit != 0 }.map { "\($0.name)" }
        let names =
            foreign.map(\.name) + (native.isEmpty ? [] : ["the native dialect (\(native.joined(separator: ", ")))"])
        let seen = line.members.prefix(8).map { member in
            String(decoding: line.slice(member.key_start, member.key_length).prefix(32), as: UTF8.self)
        }
        return "a message is of one dialect, this one has fields of \(names.joined(separator: " and ")): "
            + seen.joined(separator: ", ")
    }
}
