import BridgeJSON

/// Capacitor's messages: `{"callbackId", "pluginId", "methodName", "options"}` calls the task `pluginId.methodName` and
/// is answered `{"callbackId", "pluginId", "methodName", "save", "success", "data" or "error"}`. `save` says that more
/// will come: it is true for progress.
///
/// Source of the form: `core/native-bridge.ts` of https://github.com/ionic-team/capacitor
final class CapacitorDialect: Dialect {
    override class var name: String { "Capacitor" }
    /// An answer to a call of a task that the client provides bears it.
    override var sharedFields: [EnvelopeField] { [.error] }
    private let pluginID, methodName, save, success: FieldID

    required init(_ names: inout FieldNames) {
        pluginID = names.mark("pluginId")
        methodName = names.mark("methodName")
        save = names.field("save")
        success = names.field("success")
        super.init(&names)
    }

    override func read(_ fields: DialectFields) throws(DialectMismatch) -> DialectMessage {
        if fields.has(success) { return .other(try answer(fields)) }
        let plugin = try fields.string(pluginID)
        let method = try fields.string(methodName)
        guard !fields.has(.error), !fields.has(save) else { throw DialectMismatch(success, "there in an answer") }
        return try fields.call(
            task(plugin, method, fields.workspace), fields.value(.options) ?? DialectText.emptyObject,
            id: wantsNone(fields) ? nil : try fields.id(FieldID(.callbackID)))
    }

    private func task(
        _ plugin: UnsafeRawBufferPointer, _ method: UnsafeRawBufferPointer, _ workspace: DialectWorkspace
    ) -> UnsafeRawBufferPointer {
        let name = workspace.take(plugin.count + 1 + method.count)
        name.copyMemory(from: plugin)
        name[plugin.count] = UInt8(ascii: ".")
        UnsafeMutableRawBufferPointer(rebasing: name[(plugin.count + 1)...]).copyMemory(from: method)
        return UnsafeRawBufferPointer(name)
    }

    /// -1 is Capacitor's word for no callback.
    private func wantsNone(_ fields: DialectFields) -> Bool {
        guard let id = fields.value(.callbackID), id.count == 2 || id.count == 4 else { return false }
        return id.elementsEqual("-1".utf8) || id.elementsEqual("\"-1\"".utf8)
    }

    private func answer(_ fields: DialectFields) throws(DialectMismatch) -> BridgeMessage {
        let id = try fields.answeredID(FieldID(.callbackID))
        let isGood = try fields.boolean(success) == true
        let data = fields.value(.data) ?? DialectText.null
        if isGood, try fields.boolean(save) == true {
            return .progress(ProgressMessage(callbackID: id, value: data, sequence: 0))
        }
        let error = fields.value(.error) ?? DialectText.null
        return .callback(CallbackMessage(callbackID: id, result: isGood ? data : nil, error: isGood ? nil : error))
    }

    // MARK: Writing

    override func write(result: UnsafeRawBufferPointer, to address: CallbackAddress, _ output: OutputBuffer) {
        guard let name = plainName(address.task) else {
            begin(address, output)
            return output.append(#","save":false,"success":true,"data":"#, result, "}\n", DialectText.nothing, "")
        }
        output.append(
            #"{"callbackId":"#, address.id ?? DialectText.null, #","pluginId":""#, name.plugin, #"","methodName":""#)
        output.append("", name.method, #"","save":false,"success":true,"data":"#, result, "}\n")
    }

    override func write(error: BridgeError, to address: CallbackAddress, _ output: OutputBuffer) {
        begin(address, output)
        output.append(#","save":false,"success":false,"error":"#)
        output.append(json: error)
        output.append("}\n")
    }

    override func write(
        progress: UnsafeRawBufferPointer, sequence: UInt64, to address: CallbackAddress, _ output: OutputBuffer
    ) {
        begin(address, output)
        output.append(#","save":true,"success":true,"data":"#)
        output.append(progress)
        output.append("}\n")
    }

    private func begin(_ address: CallbackAddress, _ output: OutputBuffer) {
        output.append(#"{"callbackId":"#)
        output.append(address.id ?? DialectText.null)
        if !address.task.isEmpty { write(task: address.task, output) }
    }

    override func write(_ call: OutgoingCall, _ output: OutputBuffer) {
        output.append(#"{"callbackId":""#)
        if let id = call.id { output.append(decimal: id) } else { output.append("-1") }
        output.append("\"")
        let name = (try? JSON(parsing: call.quotedTask))?.stringValue ?? ""
        Array(name.utf8).withUnsafeBytes { write(task: $0, output) }
        output.append(extrasOf: call)
        output.append(#","options":"#)
        output.append(call.options)
        output.append("}\n")
    }

    /// A task's name in two parts, at its last dot. A name without one is nobody's method, but some page may have
    /// registered it, and some may call it.
    @inline(__always)
    private func parts(_ task: UnsafeRawBufferPointer) -> (
        plugin: UnsafeRawBufferPointer, method: UnsafeRawBufferPointer
    ) {
        var start = task.count
        while start > 0, task[start - 1] != UInt8(ascii: ".") { start -= 1 }
        return (task.slice(0, max(0, start - 1)), task.slice(start, task.count - start))
    }

    /// The parts of a name that stands for itself in JSON, as almost all do; nil: it does not, or there is none.
    @inline(__always)
    private func plainName(
        _ task: UnsafeRawBufferPointer
    ) -> (plugin: UnsafeRawBufferPointer, method: UnsafeRawBufferPointer)? {
        !task.isEmpty && OutputBuffer.needsNoEscape(task) ? parts(task) : nil
    }

    private func write(task: UnsafeRawBufferPointer, _ output: OutputBuffer) {
        let (plugin, method) = parts(task)
        output.append(#","pluginId":"#)
        output.append(quoted: plugin)
        output.append(#","methodName":"#)
        output.append(quoted: method)
    }
}
