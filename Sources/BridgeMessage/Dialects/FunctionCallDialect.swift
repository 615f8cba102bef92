import BridgeJSON

/// A function and its value: `{"funName": "getMobileCode", "value": "…", "callbackId": "c1"}`. An object as value is
/// the options; any other value becomes the option `value`. The answer is in the native dialect, with the function's
/// name from `callback` or `callbackFunction`.
struct FunctionCallDialect: NamedCallbackDialect {
    func recognition(of message: ForeignMessage) -> Recognition { message.has(.funName) ? .certain : .none }

    func read(_ message: ForeignMessage) throws(DialectMismatch) -> ForeignMeaning {
        try message.call(try message.string(.funName), options(message), id: try namedID(of: message))
    }

    func id(of message: ForeignMessage) throws(DialectMismatch) -> CallbackID? {
        let id = try message.id(.callbackID)
        return (try? namedID(of: message)) ?? id
    }

    private func namedID(of message: ForeignMessage) throws(DialectMismatch) -> CallbackID? {
        let id = try message.id(.callbackID)
        for field in [EnvelopeField.callback, .callbackFunction] {
            guard let name = message.value(field), name.first != UInt8(ascii: "n") else { continue }
            return try NamedCallback.id(id, member: field.name, name: name, message.reader, message.dialect)
        }
        return id
    }

    private func options(_ message: ForeignMessage) -> UnsafeRawBufferPointer {
        guard let value = message.value(.value) else { return DialectText.emptyObject }
        if value.first == UInt8(ascii: "{") { return value }
        return message.reader.text(Array(#"{"value":"#.utf8) + value + [UInt8(ascii: "}")])
    }

    func write(_ call: OutgoingCall, _ output: OutputBuffer) {
        output.append(#"{"funName":"#)
        output.append(call.quotedTask)
        if let id = call.id {
            output.append(#","callbackId":"#)
            output.append(decimal: id)
        }
        output.append(extrasOf: call)
        output.append(#","value":"#)
        output.append(call.options)
        output.append("}\n")
    }
}
