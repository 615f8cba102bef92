import BridgeJSON

/// WebViewJavascriptBridge, the protocol of pages in hybrid apps for iOS and Android. `{"handlerName", "data",
/// "callbackId"}` is a call, or an event without an id; `{"responseId", "responseData"}` ends a call. The bridge itself
/// has no errors: here an error is a response that consists of `{"error": {…}}` only. It has no progress either:
/// `{"responseId", "progress", "sequence"}`.
///
/// Source of the form: https://github.com/marcuswestin/WebViewJavascriptBridge
struct WebViewJavascriptBridgeDialect: Dialect {
    func recognition(of message: ForeignMessage) -> Recognition {
        if message.has(.handlerName) || message.has(.responseID) { return .certain }
        return message.has(.responseData) ? .possible : .none
    }

    func read(_ message: ForeignMessage) throws(DialectMismatch) -> ForeignMeaning {
        // Since 2016 a page's response also contains the name of its handler.
        if message.has(.responseID) { return .other(try response(message)) }
        guard message.has(.handlerName), !message.has(.responseData) else {
            throw DialectMismatch("a message has the field handlerName, or responseId and responseData")
        }
        return try message.call(try message.string(.handlerName), data(of: message), id: try id(of: message))
    }

    /// Returns the options. A page that calls a handler without data sends null.
    private func data(of message: ForeignMessage) -> UnsafeRawBufferPointer {
        guard let data = message.value(.data), data.first != UInt8(ascii: "n") else { return DialectText.emptyObject }
        return data
    }

    private func response(_ message: ForeignMessage) throws(DialectMismatch) -> BridgeMessage {
        let id = try message.answeredID(.responseID)
        if let progress = message.value(.progress) {
            return .progress(
                ProgressMessage(callbackID: id, value: progress, sequence: try message.natural(.sequence) ?? 0))
        }
        let data = message.value(.responseData) ?? DialectText.null
        if let error = message.reader.member("error", of: data, isOnly: true)?.text, error.first == UInt8(ascii: "{") {
            return .callback(CallbackMessage(callbackID: id, result: nil, error: error))
        }
        return .callback(CallbackMessage(callbackID: id, result: data, error: nil))
    }

    // MARK: Writing

    func write(result: UnsafeRawBufferPointer, to address: CallbackAddress, _ output: OutputBuffer) {
        output.append(
            #"{"responseId":"#, address.id ?? DialectText.null, #","responseData":"#, result, "}\n")
    }

    func write(error: BridgeError, to address: CallbackAddress, _ output: OutputBuffer) {
        begin(address, output)
        output.append(#","responseData":{"error":"#)
        output.append(json: error)
        output.append("}}\n")
    }

    func write(
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

    func writeEvent(_ name: String, data: UnsafeRawBufferPointer, _ output: OutputBuffer) {
        output.append(#"{"handlerName":"#)
        output.append(quoted: name)
        output.append(#","data":"#)
        output.append(data)
        output.append("}\n")
    }

    func write(_ call: OutgoingCall, _ output: OutputBuffer) {
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

    func writeCancel(_ id: UInt64, _ output: OutputBuffer) {
        output.append(#"{"handlerName":"bridge.cancel","data":{"callbackId":""#)
        output.append(decimal: id)
        output.append("\"}}\n")
    }
}
