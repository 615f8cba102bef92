import BridgeJSON

/// Answers that name a function of the page: `"callback": "onCode"`, or `"callbackFunction"`, in a message or in the
/// query of a URL. The answer has the same member. A message with such a name requests an answer even without an id.
enum NamedCallback {
    /// The names of the member.
    static let members: [StaticString] = ["callback", "callbackFunction"]
    /// The maximum length of a function's name.
    private static let maximumBytes = 128

    /// Returns the id of a message that names a function: an object whose members become part of the answer.
    ///
    /// - Parameters:
    ///   - id: The message's own id; nil if it has none.
    ///   - name: The function's name, as a JSON string.
    static func id(
        _ id: CallbackID?, member: StaticString, name: UnsafeRawBufferPointer, _ reader: ForeignReader,
        _ dialect: DialectID
    ) throws(DialectMismatch) -> CallbackID {
        guard name.first == UInt8(ascii: "\""), name.count > 2, name.count <= maximumBytes + 2 else {
            throw DialectMismatch(
                "the field \(member) must be the name of a function, of at most \(maximumBytes) bytes")
        }
        var text = Array("{".utf8)
        if let id { text += Array(#""callbackId":"#.utf8) + id.text + [UInt8(ascii: ",")] }
        text += Array("\"\(member)\":".utf8) + name + [UInt8(ascii: "}")]
        // Without an id of its own, a message gets a unique one: pages use the same function in many messages.
        let content = id?.content ?? reader.text(Array("\(reader.takeNumber()) \(member)".utf8))
        return CallbackID(
            text: reader.text(text), content: content, isString: id?.isString ?? true, dialect: dialect)
    }

    /// Returns the members of an id from this type, with the opening brace; nil for an id of the usual form.
    static func members(of id: UnsafeRawBufferPointer?) -> UnsafeRawBufferPointer? {
        guard let id, id.first == UInt8(ascii: "{") else { return nil }
        return id.slice(0, id.count - 1)
    }
}

/// A dialect with native answers that also contain the function's name from the message.
protocol NamedCallbackDialect: Dialect {}

extension NamedCallbackDialect {
    func write(result: UnsafeRawBufferPointer, to address: CallbackAddress, _ output: OutputBuffer) {
        guard let members = NamedCallback.members(of: address.id) else {
            return MessageEncoder.callback(
                id: address.id ?? DialectText.null, result: result, isOneLine: true, to: output)
        }
        output.append(members)
        output.append(#","result":"#)
        output.append(result)
        output.append("}\n")
    }

    func write(error: BridgeError, to address: CallbackAddress, _ output: OutputBuffer) {
        guard let members = NamedCallback.members(of: address.id) else {
            return MessageEncoder.callback(id: address.id, error: error, to: output)
        }
        output.append(members)
        output.append(#","error":"#)
        output.append(json: error)
        output.append("}\n")
    }

    func write(
        progress: UnsafeRawBufferPointer, sequence: UInt64, to address: CallbackAddress, _ output: OutputBuffer
    ) {
        guard let members = NamedCallback.members(of: address.id) else {
            return MessageEncoder.progress(
                id: address.id ?? DialectText.null, value: progress, sequence: sequence, to: output)
        }
        output.append(members)
        output.append(#","progress":"#)
        output.append(progress)
        output.append(#","sequence":"#)
        output.append(decimal: sequence)
        output.append("}\n")
    }
}
