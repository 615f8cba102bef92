import BridgeJSON
import BridgeMessage

// The differences in the routing of calls in other dialects than the native one.
extension Router {
    /// Forwards a call to its provider, as ``CallEngine/dispatch(_:of:options:)`` does.
    func dispatch(foreign call: Call, of task: TaskEntry, _ message: UnsafePointer<CallMessage>) {
        if message.pointee.dialect == .jsonRPC, call.hasID,
            let batch = call.record.pointee.session?._withUnsafeGuaranteedRef({ $0.openBatch })
        {
            call.extras.batch = batch
            batch.waitingCalls += 1
        }
        if message.pointee.hasPositionalOptions {
            dispatchPositional(call, of: task, options: message.pointee.options)
        } else {
            calls.dispatch(call, of: task, options: message.pointee.options)
        }
    }

    /// Forwards a call to its provider once the names of its parameters are known.
    private func dispatchPositional(_ call: Call, of task: TaskEntry, options: UnsafeRawBufferPointer) {
        // Names are assigned on the loop, so the length is limited, independent of the task's own limit.
        guard options.count <= TaskDescription.usualOptionBytes else {
            let handle = call.handle
            calls.noteBegin(of: call, task, options: options)
            refusePositional(call, options.count)
            return calls.settle(call, handle, options.count)
        }
        let handle = call.handle
        let values = Array(options)
        calls.noteBegin(of: call, task, options: options)
        let begin = { [unowned self] (parameters: TaskParameters) in
            // The call may have ended meanwhile, or its plugin may have been replaced.
            guard let call = calls.call(handle), let task = calls.successor(of: call) else { return }
            do throws(BridgeError) {
                let named = try PositionalOptions.named(values, for: task.name, parameters)
                named.withPadding { calls.start(call, of: task, options: $0) }
            } catch {
                calls.end(call, error: error)
            }
        }
        if let client = task.provider as? ClientTask {
            begin(parameters(of: client, naming: call, of: task))
        } else {
            task.provider.describe(task, to: call.session) { begin($0.parameters) }
        }
        calls.settle(call, handle, values.count)
    }

    private func refusePositional(_ call: Call, _ bytes: Int) {
        do throws(BridgeError) {
            try CallEngine.checkLength(bytes, TaskDescription.usualOptionBytes)
        } catch {
            var error = error
            error.message += "; name the parameters of longer ones"
            calls.end(call, error: error)
        }
    }

    /// Returns the parameters of a client's task from the description of the session that gets the call. The call stays
    /// with this session even if another one would get it after the interceptors: the names apply to no other session.
    private func parameters(of client: ClientTask, naming call: Call, of task: TaskEntry) -> TaskParameters {
        guard let provider = client.provider(of: task, for: call.session, naming: call.target) else {
            return TaskParameters(of: nil)
        }
        call.extras.namer = provider.session
        call.extras.namedTask = task.number
        return provider.description?.parameters ?? TaskParameters(of: nil)
    }
}
