import BridgeJSON
import BridgeMessage

// Calls in other dialects than the native one: what is different on their way in and out.
extension TaskRuntime {
    /// Hands a call to its provider, as ``dispatch(_:of:options:)`` does.
    func dispatchForeign(_ call: Call, of task: TaskEntry, _ message: UnsafePointer<CallMessage>) {
        if message.pointee.dialect == .jsonRPC, call.hasID,
            let batch = call.record.pointee.session?._withUnsafeGuaranteedRef({ $0.openBatch })
        {
            call.extras.batch = batch
            batch.waitingCalls += 1
        }
        if message.pointee.hasPositionalOptions {
            dispatchPositional(call, of: task, options: message.pointee.options)
        } else {
            dispatch(call, of: task, options: message.pointee.options)
        }
    }

    /// Hands a call to its provider once it is known what its parameters mean.
    private func dispatchPositional(_ call: Call, of task: TaskEntry, options: UnsafeRawBufferPointer) {
        // Names are given on the loop, whatever the task itself may take.
        guard options.count <= TaskDescription.usualOptionBytes else {
            let handle = call.handle
            noteBegin(of: call, task, options: options)
            refusePositional(call, options.count)
            return settle(call, handle, options.count)
        }
        let handle = call.handle
        let values = Array(options)
        noteBegin(of: call, task, options: options)
        let begin = { [unowned self] (parameters: TaskParameters) in
            // It may have ended meanwhile, or another plugin taken the place of its own.
            guard let call = calls.call(handle), let task = successor(of: call) else { return }
            do throws(BridgeError) {
                let named = try PositionalOptions.named(values, for: task.name, parameters)
                named.withPadding { start(call, of: task, options: $0) }
            } catch {
                end(call, error: error)
            }
        }
        if let client = task.provider as? ClientTask {
            begin(parameters(of: client, naming: call, of: task))
        } else {
            task.provider.describe(task, to: call.session) { begin($0.parameters) }
        }
        settle(call, handle, values.count)
    }

    private func refusePositional(_ call: Call, _ bytes: Int) {
        do throws(BridgeError) {
            try Self.checkLength(bytes, TaskDescription.usualOptionBytes)
        } catch {
            var error = error
            error.message += "; name the parameters of longer ones"
            end(call, error: error)
        }
    }

    /// A client's task's parameters, as the session says that gets the call. It gets it also when interceptors have
    /// been asked and another one would: what it calls the parameters holds for no other session.
    private func parameters(of client: ClientTask, naming call: Call, of task: TaskEntry) -> TaskParameters {
        guard let provider = client.provider(of: task, for: call.session, naming: call.target) else {
            return TaskParameters(of: nil)
        }
        call.extras.namer = provider.session
        call.extras.namedTask = task.number
        return provider.description?.parameters ?? TaskParameters(of: nil)
    }

    /// Where a call's answer goes. The task is the one that the caller named.
    func address(of call: Call) -> CallbackAddress {
        CallbackAddress(
            call.record.pointee.dialect, id: call.record.pointee.id.text,
            task: (call.passage?.original ?? call.task)?.nameBytes ?? UnsafeRawBufferPointer(start: nil, count: 0))
    }

    /// Writes the end of a call that came in another dialect.
    func writeForeign(_ call: Call, to session: Session, _ write: (CallbackAddress, OutputBuffer) -> Void) {
        let address = address(of: call)
        guard let batch = call.record.pointee.extras?.batch else {
            write(address, session.output)
            return markDirty(session)
        }
        batch.waitingCalls -= 1
        if batch.answeredBytes < limits.unreadBytes {
            batch.add { write(address, $0) }
        } else {
            let error = BridgeError(
                .resultTooLarge,
                "the results of the batch are longer than the \(limits.unreadBytes) bytes that may wait")
            batch.add { MessageEncoder.callback(to: address, error: error, $0) }
        }
        count(batch, of: session)
        finish(batch, of: session)
    }

    /// Writes an answer to a message that began no call.
    func write(to session: Session, _ dialect: DialectID, _ write: (OutputBuffer) -> Void) {
        if let batch = session.openBatch, dialect == .jsonRPC {
            batch.add(write)
            count(batch, of: session)
        } else {
            write(session.output)
        }
        markDirty(session)
    }

    // MARK: Batches of JSON-RPC

    /// Begins a batch, where it is one of JSON-RPC's: its items are answered by one array.
    ///
    /// - Parameter isRPC: what its first item is; nil: no message.
    /// - Returns: nil where it is none. Where its first item is no message, it is one if the session has spoken nothing
    ///   else, or nothing yet.
    public func openBatch(isRPC: Bool?, of session: Session) -> RPCBatch? {
        guard isRPC ?? session.mayMeanRPC else { return nil }
        let batch = RPCBatch()
        session.openBatch = batch
        return batch
    }

    /// Items follow later.
    public func suspendBatch(of session: Session) { session.openBatch = nil }

    /// Items of a suspended batch follow.
    public func resume(_ batch: RPCBatch, of session: Session) { session.openBatch = batch }

    /// All items have been received.
    public func close(_ batch: RPCBatch, of session: Session) {
        session.openBatch = nil
        batch.isComplete = true
        finish(batch, of: session)
    }

    private func finish(_ batch: RPCBatch, of session: Session) {
        guard batch.isComplete, batch.waitingCalls == 0, session.takesMessages else { return }
        forget(batch, of: session)
        batch.write(to: session.output)
        markDirty(session)
    }
}

/// The answers to a batch of JSON-RPC, until all of them are there.
public final class RPCBatch {
    /// Calls whose answers are to come.
    var waitingCalls = 0
    /// Whether all items have been received.
    var isComplete = false
    /// How much of the answers has been counted.
    var countedBytes = 0
    private let answers = OutputBuffer()

    /// The length of the answers so far.
    var answeredBytes: Int { answers.count }

    /// Takes in an answer, which `write` writes as a line.
    func add(_ write: (OutputBuffer) -> Void) {
        answers.append(UInt8(ascii: answers.isEmpty ? "[" : ","))
        write(answers)
        // The line's end.
        answers.removeLast()
    }

    /// Moves the array; nothing, where nothing was to be answered.
    func write(to output: OutputBuffer) {
        guard !answers.isEmpty else { return }
        answers.append("]\n")
        output.take(from: answers)
    }
}

/// Options without names.
enum PositionalOptions {
    /// So many names are listed where there are more elements.
    private static let maximumListed = 32

    /// The elements of an array as the task's options: an object by the names of its parameters, or the one element
    /// itself where it takes the whole; as they are, where nothing is known of its parameters.
    ///
    /// - Throws: `options.invalid`, where there are more elements than parameters, or not the one.
    static func named(
        _ options: [UInt8], for task: String, _ parameters: TaskParameters
    ) throws(BridgeError) -> [UInt8] {
        let names = parameters.names
        guard parameters.takesWhole || !names.isEmpty, let values = (try? JSON(parsing: options))?.arrayValue else {
            return options
        }
        guard !parameters.takesWhole else { return try whole(values, for: task) }
        guard values.count <= names.count else {
            throw BridgeError(
                JSONMismatch(
                    path: "$[\(names.count)]",
                    expected: "the end: \(task) takes \(names.prefix(maximumListed).joined(separator: ", "))",
                    got: "\(values.count) parameters"))
        }
        var object = JSONObject()
        for (name, value) in zip(names, values) { object[name] = value }
        return JSON.object(object).bytes
    }

    /// The one element, which is the options.
    private static func whole(_ values: [JSON], for task: String) throws(BridgeError) -> [UInt8] {
        guard values.count == 1 else {
            var error = BridgeError(
                JSONMismatch(path: "$", expected: "one parameter", got: "\(values.count) parameters"))
            error.message = "\(task) takes one parameter, not \(values.count)"
            throw error
        }
        return values[0].bytes
    }
}
