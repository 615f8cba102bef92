import BridgeJSON

/// WebViewJavascriptBridge, as pages in hybrid apps for iOS and Android speak it: `{"handlerName", "data",
/// "callbackId"}` is a call, or an event where it has no id; `{"responseId", "responseData"}` ends one. The bridge
/// itself has no errors: here one is a response of `{"error": {…}}` alone. Nor has it progress: `{"responseId",
/// "progress", "sequence"}`.
///
/// Source of the form: https://github.com/marcuswestin/WebViewJavascriptBridge
final class WebViewJavascriptBridgeDialect: Dialect {
    override class var name: String { "WebViewJavascriptBridge" }
    private let handlerName, responseID, responseData: FieldID

    required init(_ names: inout FieldNames) {
        handlerName = names.mark("handlerName")
        responseID = names.mark("responseId")
        responseData = names.hint("responseData")
        super.init(&names)
    }

    override func read(_ fields: DialectFields) throws(DialectMismatch) -> DialectMessage {
        guard fields.has(handlerName) else { return .other(try response(fields)) }
        guard !fields.has(responseID), !fields.has(responseData) else {
            throw DialectMismatch("the field handlerName goes neither with responseId nor with responseData")
        }
        return try fields.call(
            try fields.string(handlerName), fields.value(.data) ?? DialectText.emptyObject,
            id: try fields.id(FieldID(.callbackID)))
    }

    private func response(_ fields: DialectFields) throws(DialectMismatch) -> BridgeMessage {
        guard fields.has(responseID) else {
            throw DialectMismatch("a message has the field handlerName, or responseId and responseData")
        }
        let id = try fields.answeredID(responseID)
        if let progress = fields.value(.progress) {
            return .progress(
                ProgressMessage(callbackID: id, value: progress, sequence: try fields.natural(.sequence) ?? 0))
        }
        let data = fields.value(responseData) ?? DialectText.null
        if let error = fields.member("error", of: data, isOnly: true)?.text, error.first == UInt8(ascii: "{") {
            return .callback(CallbackMessage(callbackID: id, result: nil, error: error))
        }
        return .callback(CallbackMessage(callbackID: id, result: data, error: nil))
    }

    // MARK: Writing

    override func write(result: UnsafeRawBufferPointer, to address: CallbackAddress, _ output: OutputBuffer) {
        output.append(
            #"{"responseId":"#, address.id ?? DialectText.null, #","responseData":"#, result, "}\n")
    }

    override func write(error: BridgeError, to address: CallbackAddress, _ output: OutputBuffer) {
        begin(address, output)
        output.append(#","responseData":{"error":"#)
        output.append(json: error)
        output.append("}}\n")
    }

    override func write(
        progress: UnsafeRawBufferPointer, sequence: UInt64, to address: CallbackAddress, _ output: OutputBuffer
    ) {
        begin(address, output)
        output.append(#","progress":"#)
        output.append(progress)
        output.append(#","sequence":"#)
        output.append(decimal: sequence)
        output.append("}\n")
    }

    private func begin(_ address: CallbackAddress, _ output: OutputBuffer) {
        output.append(#"{"responseId":"#)
        output.append(address.id ?? DialectText.null)
    }

    override func writeEvent(_ name: String, data: UnsafeRawBufferPointer, _ output: OutputBuffer) {
        output.append(#"{"handlerName":"#)
        output.append(quoted: name)
        output.append(#","data":"#)
        output.append(data)
        output.append("}\n")
    }

    override func write(_ call: OutgoingCall, _ output: OutputBuffer) {
        output.append(#"{"handlerName":"#)
        output.append(call.quotedTask)
        if let id = call.id {
            // The bridge's ids are strings.
            output.append(#","callbackId":""#)
            output.append(decimal: id)
            output.append("\"")
        }
        output.append(extrasOf: call)
        output.append(#","data":"#)
        output.append(call.options)
        output.append("}\n")
    }

    override func writeCancel(_ id: UInt64, _ output: OutputBuffer) {
        output.append(#"{"handlerName":"bridge.cancel","data":{"callbackId":""#)
        output.append(decimal: id)
        output.append("\"}}\n")
    }
}
