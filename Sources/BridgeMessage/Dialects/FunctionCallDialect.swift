import BridgeJSON

/// A function and its value: `{"funName": "getMobileCode", "value": "…", "callbackId": "c1"}`. A value that is an
/// object is the options, any other is the option `value`. It is answered in the native dialect.
final class FunctionCallDialect: Dialect {
    override class var name: String { "function call" }
    private let funName, value: FieldID

    required init(_ names: inout FieldNames) {
        funName = names.mark("funName")
        value = names.field("value")
        super.init(&names)
    }

    override func read(_ fields: DialectFields) throws(DialectMismatch) -> DialectMessage {
        try fields.call(try fields.string(funName), options(fields), id: try fields.id(FieldID(.callbackID)))
    }

    private func options(_ fields: DialectFields) -> UnsafeRawBufferPointer {
        guard let value = fields.value(value) else { return DialectText.emptyObject }
        if value.first == UInt8(ascii: "{") { return value }
        var bytes = Array(#"{"value":"#.utf8)
        bytes.append(contentsOf: value)
        bytes.append(UInt8(ascii: "}"))
        return fields.text(bytes)
    }

    override func write(_ call: OutgoingCall, _ output: OutputBuffer) {
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
