import CSystemdBus
import EventLoop
import Glibc

/// A message of sd-bus; released with this value. Not bound to a thread, but only one at a time may use it.
struct MessageHandle: ~Copyable {
    let raw: OpaquePointer

    /// Takes over the caller's reference.
    init(adopting raw: OpaquePointer) { self.raw = raw }

    /// Adds a reference to a message of sd-bus, such as one in a callback.
    init(sharing raw: OpaquePointer) { self.raw = sd_bus_message_ref(raw) }

    deinit { sd_bus_message_unref(raw) }

    // MARK: Reading

    /// Reads the message from its beginning.
    /// - Throws: `message` if it violates D-Bus's rules.
    func content() throws(BusError) -> BusMessage {
        try check(sd_bus_message_rewind(raw, 1), "read a message")
        var body: [BusValue] = []
        while let value = try next() { body.append(value) }
        return BusMessage(sender: sd_bus_message_get_sender(raw).map { String(cString: $0) } ?? "", body: body)
    }

    /// The error that the message contains; `nil` if it is not an error.
    var failure: BusError? {
        guard let error = sd_bus_message_get_error(raw) else { return nil }
        return .refused(
            name: error.pointee.name.map { String(cString: $0) } ?? "",
            message: error.pointee.message.map { String(cString: $0) } ?? "")
    }

    /// Returns the next value; `nil` at the end of the message or of the entered container.
    private func next() throws(BusError) -> BusValue? {
        var kind: CChar = 0
        var contents: UnsafePointer<CChar>?
        guard try check(sd_bus_message_peek_type(raw, &kind, &contents), "read a message") > 0 else { return nil }
        let signature = contents.map { String(cString: $0) } ?? ""
        switch (UInt8(bitPattern: kind), signature) {
        case (UInt8(ascii: "y"), _): return .byte(try basic("y", UInt8(0)))
        // sd-bus represents a boolean as an int.
        case (UInt8(ascii: "b"), _): return .boolean(try basic("b", Int32(0)) != 0)
        case (UInt8(ascii: "i"), _): return .int32(try basic("i", Int32(0)))
        case (UInt8(ascii: "u"), _): return .uint32(try basic("u", UInt32(0)))
        case (UInt8(ascii: "s"), _): return .string(try string())
        case (UInt8(ascii: "a"), "s"): return .strings(try strings())
        case (UInt8(ascii: "a"), "{sv}"): return .properties(try properties())
        default:
            try check(sd_bus_message_skip(raw, nil), "read a message")
            return .other
        }
    }

    private func basic<Value: BitwiseCopyable>(_ type: Unicode.Scalar, _ zero: Value) throws(BusError) -> Value {
        var value = zero
        try check(sd_bus_message_read_basic(raw, CChar(type.value), &value), "read a message")
        return value
    }

    /// Reads a text. sd-bus owns it, has checked that it is UTF-8, and keeps it as long as the message exists.
    private func string() throws(BusError) -> String {
        var text: UnsafePointer<CChar>?
        try check(sd_bus_message_read_basic(raw, CChar(UInt8(ascii: "s")), &text), "read a message")
        return text.map { String(cString: $0) } ?? ""
    }

    private func strings() throws(BusError) -> [String] {
        var texts: [String] = []
        try within("a", "s") { () throws(BusError) in
            while case .string(let text)? = try next() { texts.append(text) }
        }
        return texts
    }

    private func properties() throws(BusError) -> [String: BusValue] {
        var result: [String: BusValue] = [:]
        try within("a", "{sv}") { () throws(BusError) in
            while try check(sd_bus_message_at_end(raw, 0), "read a message") == 0 {
                try within("e", "sv") { () throws(BusError) in
                    let name = try string()
                    result[name] = try variant()
                }
            }
        }
        return result
    }

    private func variant() throws(BusError) -> BusValue {
        var contents: UnsafePointer<CChar>?
        try check(sd_bus_message_peek_type(raw, nil, &contents), "read a message")
        var value = BusValue.other
        try within("v", contents.map { String(cString: $0) } ?? "") { () throws(BusError) in
            value = try next() ?? .other
        }
        return value
    }

    private func within(
        _ type: Unicode.Scalar, _ contents: String, _ body: () throws(BusError) -> Void
    ) throws(BusError) {
        try check(sd_bus_message_enter_container(raw, CChar(type.value), contents), "read a message")
        try body()
        try check(sd_bus_message_exit_container(raw), "read a message")
    }

    // MARK: Writing

    /// Appends values to a message that has not been sent.
    /// - Throws: `message` for a value that D-Bus cannot represent.
    func append(_ values: [BusValue]) throws(BusError) {
        for value in values { try append(value) }
    }

    private func append(_ value: BusValue) throws(BusError) {
        switch value {
        case .byte(let value): try append("y", value)
        case .boolean(let value): try append("b", Int32(value ? 1 : 0))
        case .int32(let value): try append("i", value)
        case .uint32(let value): try append("u", value)
        case .string(let text): try append(text)
        case .strings(let texts):
            try inside("a", "s") { () throws(BusError) in for text in texts { try append(text) } }
        case .properties(let properties): try append(properties)
        case .other: throw BusError(status: -EINVAL, "write a message")
        }
    }

    private func append<Value: BitwiseCopyable>(_ type: Unicode.Scalar, _ value: Value) throws(BusError) {
        let status = withUnsafePointer(to: value) { sd_bus_message_append_basic(raw, CChar(type.value), $0) }
        try check(status, "write a message")
    }

    private func append(_ text: String) throws(BusError) {
        guard !text.utf8.contains(0) else { throw BusError(status: -EILSEQ, "write a message") }
        let status = text.withCString { sd_bus_message_append_basic(raw, CChar(UInt8(ascii: "s")), $0) }
        try check(status, "write a message")
    }

    private func append(_ properties: [String: BusValue]) throws(BusError) {
        try inside("a", "{sv}") { () throws(BusError) in
            for (name, value) in properties {
                try inside("e", "sv") { () throws(BusError) in
                    try append(name)
                    try inside("v", value.signature) { () throws(BusError) in try append(value) }
                }
            }
        }
    }

    private func inside(
        _ type: Unicode.Scalar, _ contents: String, _ body: () throws(BusError) -> Void
    ) throws(BusError) {
        try check(sd_bus_message_open_container(raw, CChar(type.value), contents), "write a message")
        try body()
        try check(sd_bus_message_close_container(raw), "write a message")
    }
}

extension BusValue {
    /// The type signature in D-Bus syntax.
    fileprivate var signature: String {
        switch self {
        case .byte: "y"
        case .boolean: "b"
        case .int32: "i"
        case .uint32: "u"
        case .string: "s"
        case .strings: "as"
        case .properties: "a{sv}"
        case .other: ""
        }
    }
}

/// Checks the status of an sd-bus function, which is a negated `errno` on failure.
@discardableResult
func check(
    _ status: Int32, _ operation: String, as make: (SystemError) -> BusError = BusError.message
) throws(BusError) -> Int32 {
    guard status >= 0 else { throw BusError(status: status, operation, as: make) }
    return status
}
