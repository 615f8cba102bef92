import BridgeJSON
public import BridgeMessage

/// A call that a plugin makes to a task of the bridge.
public struct PluginCall {
    /// The call on whose behalf it is made; `nil` if the plugin calls in its own name.
    public var parent: CallHandle?
    /// The task's name. Borrowed until the call has been made.
    public var task: UnsafeRawBufferPointer
    /// The options, JSON that is checked here. Borrowed; readable for 64 bytes past their end.
    public var options: UnsafeRawBufferPointer
    /// The session that must have registered the task; `nil` for any provider.
    public var session: UInt64?
    /// The time limit.
    public var deadline: TaskDeadline
    /// Called with intermediate results; `nil` if none are requested.
    public var onProgress: ((UInt64, UnsafeRawBufferPointer) -> Void)?
    /// Called once, at the end.
    public var completion: (CallOutcome) -> Void
    /// The plugin process that makes the call; `nil` if the plugin runs in the daemon's process.
    public var holder: StreamHolder?
    /// Receives a descriptor that comes with the result, right before `completion` is called; `nil` if it cannot
    /// receive one.
    public var descriptorReceiver: (any DescriptorReceiver)?

    /// Creates a call.
    public init(
        parent: CallHandle?, task: UnsafeRawBufferPointer, options: UnsafeRawBufferPointer, session: UInt64?,
        deadline: TaskDeadline, onProgress: ((UInt64, UnsafeRawBufferPointer) -> Void)?,
        holder: StreamHolder? = nil, descriptorReceiver: (any DescriptorReceiver)? = nil,
        completion: @escaping (CallOutcome) -> Void
    ) {
        self.parent = parent
        self.task = task
        self.options = options
        self.session = session
        self.deadline = deadline
        self.onProgress = onProgress
        self.completion = completion
        self.holder = holder
        self.descriptorReceiver = descriptorReceiver
    }
}

extension PluginDirectory {
    /// Makes a call for a plugin. `completion` is called at its end, before this returns if the call ends immediately.
    ///
    /// - Returns: The call's handle, for ``TaskRuntime/cancelPluginCall(_:)``.
    func call(_ request: PluginCall, by plugin: PluginInstance) -> CallHandle {
        calls.turns.note(.plugin, plugin.number)
        let task: TaskEntry
        let target: Session?
        let parent: Call?
        do throws(BridgeError) {
            parent = try livingParent(request.parent)
            target = try sessions.target(request.session)
            task = try admit(request.task, for: parent, by: plugin)
            if let target, !task.provider.isOfClients {
                throw BridgeError(.taskNotFound, "session \(target.number) provides no task \(task.name)")
            }
            try calls.quotas.admit(callOf: task, by: plugin)
            try check(request.options, of: plugin)
        } catch {
            calls.noteRefusal(of: request.task, error, nil)
            request.completion(.failure(error))
            return CallHandle(rawValue: 0)
        }
        let call = begin(
            task, for: parent, request.deadline, wantsProgress: request.onProgress != nil, by: plugin, request.holder)
        let extras = call.extras
        if let parent, parent.origin == .question {
            extras.interception = calls.interception(ofCallBehind: parent, of: task)
        }
        extras.target = target
        extras.completion = request.completion
        extras.onProgress = request.onProgress
        extras.descriptorReceiver = request.descriptorReceiver
        let handle = call.handle
        calls.dispatch(call, of: task, options: request.options)
        return handle
    }

    /// Checks the options of a plugin's call. Their length comes first: a check takes time in proportion to it.
    private func check(_ options: UnsafeRawBufferPointer, of plugin: PluginInstance) throws(BridgeError) {
        let maximum = calls.quotas.limits.messageBytes
        guard options.count <= maximum else {
            throw BridgeError(
                .messageTooLarge,
                "\(plugin.providerName) sent options of \(options.count) bytes, and a message has at most \(maximum)")
        }
        if let fault = calls.check.fault(in: options) {
            throw BridgeError(
                .optionsInvalid, "\(plugin.providerName) sent options that are not valid JSON: \(fault)")
        }
    }

    /// Returns the task that a plugin calls.
    ///
    /// - Throws: `task.not_found`, or an error if the plugin may not call the task in its own name.
    func admit(
        _ name: UnsafeRawBufferPointer, for parent: Call?, by plugin: PluginInstance
    ) throws(BridgeError) -> TaskEntry {
        guard let task = tasks.find(name)?.takeUnretainedValue() else { throw suggestions.notFound(name, for: nil) }
        if parent == nil { try rights.checkCall(of: task, byPlugin: plugin.name) }
        return task
    }

    /// Enters a call of a plugin.
    ///
    /// - Parameter holder: The plugin process that makes the call; `nil` if the plugin runs in the daemon's process.
    func begin(
        _ task: TaskEntry, for parent: Call?, _ deadline: TaskDeadline, wantsProgress: Bool, by plugin: PluginInstance,
        _ holder: StreamHolder? = nil
    ) -> Call {
        let now = calls.clock.now
        let call = calls.begin(
            CallRequest(
                origin: .plugin, task: .passUnretained(task), session: parent?.record.pointee.session,
                wantsProgress: wantsProgress, startedAt: now, deadline: self.deadline(deadline, of: task, from: now)))
        let extras = call.extras
        extras.pluginName = plugin.name
        extras.maker = plugin
        extras.holder = holder ?? plugin.streamHolder
        plugin.ownCallsInFlight += 1
        extras.parent = parent?.handle
        extras.rootNumber = parent?.rootNumber ?? 0
        extras.ancestry = parent?.ancestry ?? []
        parent?.extras.children.append(call.handle)
        return call
    }

    /// Ends a call that a plugin made, if it is still in flight.
    func cancel(_ handle: CallHandle) {
        calls.cancel(handle, BridgeError(.callCancelled, "the plugin cancelled the call"))
    }

    /// Returns the call on whose behalf another is made.
    ///
    /// - Throws: `call.cancelled` if that call has ended.
    func livingParent(_ handle: CallHandle?) throws(BridgeError) -> Call? {
        guard let handle else { return nil }
        guard let parent = calls.call(handle) else {
            throw BridgeError(
                .callCancelled, "the parent call has ended", data: ["started": false])
        }
        return parent
    }

    private func deadline(_ deadline: TaskDeadline, of task: TaskEntry, from now: RuntimeInstant) -> RuntimeInstant {
        switch deadline {
        case .standard: calls.deadline(of: task, milliseconds: 0, from: now)
        case .after(let duration): now.advanced(by: duration)
        case .none: .never
        }
    }
}
