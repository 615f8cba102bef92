import BridgeJSON
import BridgeMessage
import Logging

/// Whose calls a client takes for a task that it registered.
enum ProviderScope: String, Codable, CaseIterable {
    /// Any caller's.
    case any
    /// Only those that name its session.
    case session
}

/// What a client says of a task that it provides.
public struct ProvidedDescription: Codable, Sendable, Equatable {
    /// One sentence for a person.
    public var summary: String?
    /// JSON Schema of the options, against which they are checked before a call is handed over.
    public var options: JSON?
    /// JSON Schema of the result.
    public var result: JSON?
    /// JSON Schema of the progress.
    public var progress: JSON?

    var schemas: TaskSchemas { TaskSchemas(options: options, result: result, progress: progress) }
}

/// A task that clients provide: which of them do, and which of them gets a call.
final class ClientTask: TaskProvider {
    /// Unsafe in form only: the runtime owns this, and a counted reference would cost time with every call.
    private unowned(unsafe) let runtime: TaskRuntime
    @exclusivity(unchecked) var registrations = Registrations()

    init(runtime: TaskRuntime) { self.runtime = runtime }

    var providerName: String { "client" }
    var isEmpty: Bool { registrations.isEmpty }
    /// Who provides it, the newest last.
    var providers: [(session: Session, provision: Provision)] { registrations.all.map { ($0.session, $0.provision) } }

    /// The session that gets a caller's call, and what it says of the task; nil: none would get it.
    ///
    /// - Parameters:
    ///   - caller: nil: a plugin, or the daemon.
    ///   - target: the session that the call names.
    func provider(
        of task: TaskEntry, for caller: Session?, naming target: Session? = nil
    ) -> (session: Session, description: KeptDescription?)? {
        // `try?`: a call says why there is none.
        guard let chosen = try? registration(of: task.name, for: caller, naming: target) else { return nil }
        return (chosen.session, chosen.provision.description)
    }

    /// The task as a method for a caller. Where its provider describes it, the text is made once: a document of all
    /// tasks has as many as there are, and is made for each `rpc.discover`.
    func method(of task: TaskEntry, for caller: Session?) -> [UInt8] {
        guard let chosen = try? registration(of: task.name, for: caller, naming: nil),
            let description = chosen.provision.description
        else { return OpenRPCDocument.method(task, task.description.summary, SchemaTexts()) }
        if let known = chosen.method { return known }
        let method = OpenRPCDocument.method(
            task, description.summary ?? task.description.summary, description.schemaTexts)
        if method.count <= description.maximumMethodBytes { chosen.method = method }
        return method
    }

    /// Enters a session, or changes what it says. One that registers anew counts as the newest.
    func register(_ session: Session, _ provision: Provision) {
        unregister(session)
        registrations.insert(session, provision)
        runtime.holdDescription(provision.description?.heldBytes ?? 0, for: session)
    }

    func unregister(_ session: Session) {
        guard let left = registrations.remove(session) else { return }
        runtime.holdDescription(-(left.provision.description?.heldBytes ?? 0), for: session)
    }

    /// What is held for the session's description.
    func heldBytes(of session: Session) -> Int { registrations[session]?.provision.description?.heldBytes ?? 0 }

    // MARK: Calls

    func start(_ call: Call, of task: TaskEntry, options: UnsafeRawBufferPointer) {
        do throws(BridgeError) {
            let registration = try provider(for: call)
            switch registration.provision.optionsSchema {
            case .none: break
            case .read(let check): if !runtime.fits(call, options, check) { return }
            case .unread(let text):
                runtime.read(text, for: call, options) { [weak self] found in
                    self?.take(found, of: registration, in: task)
                }
                return
            }
            call.record.pointee.providerDialect = registration.provision.dialect
            forward(call, of: task, options, to: registration.session)
        } catch {
            runtime.end(call, .failure(error))
        }
    }

    /// The schema of a session that the daemon before had registered has been read. One that this daemon does not take
    /// is never left out in silence: the session no longer provides the task.
    private func take(
        _ found: Result<OptionsSchema, JSONSchemaError>, of registration: Registration, in task: TaskEntry
    ) {
        guard case .unread = registration.provision.optionsSchema else { return }
        switch found {
        case .success(let schema): registration.provision.optionsSchema = schema
        case .failure(let error):
            guard registrations[registration.session] === registration else { return }
            runtime.log.warning(
                "session \(registration.session.number) provides the task \(task.name) no more: its schema \(error)",
                metadata: registration.session.logMetadata)
            runtime.unregister(task.name, by: registration.session)
        }
    }

    private func provider(for call: Call) throws(BridgeError) -> Registration {
        let target = call.hasExtras ? call.target ?? call.namer : nil
        let caller = call.record.pointee.session?.takeUnretainedValue()
        return try registration(of: call.task?.name ?? "of that name", for: caller, naming: target)
    }

    /// The session that the call names, else the newest of the caller's own, else the newest that the policy lets serve
    /// others.
    private func registration(
        of task: @autoclosure () -> String, for caller: Session?, naming target: Session?
    ) throws(BridgeError) -> Registration {
        if let target {
            guard let named = registrations[target], named.isOpen else {
                throw BridgeError(.taskNotFound, "session \(target.number) provides no task \(task())")
            }
            return named
        }
        if let caller, let own = own(of: caller) { return own }
        // A plugin's own call may go to any provider of the task.
        if caller != nil, let serving = registrations.newestServing(task(), runtime) { return serving }
        if let newest = registrations.newest() {
            if caller == nil { return newest }
            throw BridgeError(
                .permissionDenied, "the task is provided only by sessions that may not serve others",
                data: ["rule": .string(newest.mayServe(task(), runtime).rule)])
        }
        guard registrations.haveOpen else {
            // While an interceptor was asked about the call, or its session has not left all its tasks yet.
            throw BridgeError(.taskNotFound, "the client that provided the task has gone, or provides it no more")
        }
        throw BridgeError(.taskNotFound, "the task is provided to calls that name its session only")
    }

    /// The newest that takes a session's calls for being its user's, or its origin's.
    private func own(of caller: Session) -> Registration? {
        let owner = caller.owner
        let local = registrations.newest(of: owner.local)
        guard owner.origin != nil, let same = registrations.newest(of: owner) else { return local }
        guard let local, local.order > same.order else { return same }
        return local
    }

    private func forward(
        _ call: Call, of task: TaskEntry, _ options: UnsafeRawBufferPointer, to session: Session
    ) {
        guard session.output.count < runtime.limits.unreadBytes,
            session.output.count <= TaskRuntime.uncountedBytes || !runtime.isOverQuota(session)
        else {
            let error = BridgeError(
                .busy, "the client that provides the task does not read its calls", data: ["started": false],
                isTransient: true, retryAfter: .seconds(1))
            return runtime.end(call, .failure(error))
        }
        call.state = .running
        if runtime.isMonitored { runtime.showForward(of: call, task, to: session) }
        var outgoing = OutgoingCall(quotedTask: task.quotedName, options: options)
        outgoing.isOneLine = call.origin == .session
        outgoing.timeoutNanoseconds = runtime.nanosecondsLeft(to: call)
        if !call.isOneWay {
            outgoing.id = runtime.calls.hand(call, to: session)
            outgoing.wantsProgress = call.takesProgress
            if runtime.isDraining { session.transport?.readOn() }
        }
        let dialect = call.record.pointee.providerDialect
        if let caller = call.record.pointee.session {
            outgoing.caller = caller._withUnsafeGuaranteedRef { $0.callerBytes }
            MessageEncoder.call(outgoing, in: dialect, to: session.output)
        } else {
            runtime.ownCallerJSON.bytes.withUnsafeBytes {
                outgoing.caller = $0
                MessageEncoder.call(outgoing, in: dialect, to: session.output)
            }
        }
        runtime.markDirty(session)
        if call.isOneWay { Array("null".utf8).withUnsafeBytes { runtime.end(call, result: $0, isOneLine: true) } }
    }

    func abandon(_ call: Call, reason: CancelReason) {
        guard let session = call.record.pointee.provider?.takeUnretainedValue(), session.phase == .open else { return }
        MessageEncoder.cancel(
            id: call.record.pointee.providerID, in: call.record.pointee.providerDialect, to: session.output)
        runtime.markDirty(session)
    }

    func schemaTexts(of task: TaskEntry, for caller: Session?) -> SchemaTexts {
        provider(of: task, for: caller)?.description?.schemaTexts ?? SchemaTexts()
    }

    func describe(_ task: TaskEntry, to caller: Session?, _ done: @escaping (TaskSchemas) -> Void) {
        done(provider(of: task, for: caller)?.description?.schemas ?? TaskSchemas())
    }
}

// What clients that provide tasks send back.
extension TaskRuntime {
    /// Who calls, where it is the daemon or one of its plugins.
    var ownCallerJSON: JSON {
        ["session": 0, "uid": .number(JSONNumber(UInt64(policy.daemonUID))), "origin": "local", "user": nil]
    }

    func receive(_ callback: CallbackMessage, from session: Session) {
        guard let call = forwardedCall(callback.callbackID, session) else {
            guard callback.isValid else {
                let error = BridgeError(
                    .messageInvalid, "a message has one of the fields task, result, error, progress, cancel and event")
                return answer(MessageProblem(error: error, callbackID: callback.callbackID), to: session)
            }
            return dropReply("a client answered a call that it does not have", session.logMetadata)
        }
        // The result is a part of a line, and so bears no line break.
        if callback.isValid, let result = callback.result { return end(call, result: result, isOneLine: true) }
        end(call, error: error(of: callback))
    }

    private func error(of callback: CallbackMessage) -> BridgeError {
        guard callback.isValid else {
            return BridgeError(.replyInvalid, "the provider answered with neither or both of result and error")
        }
        guard let text = callback.error, text.count <= TaskDescription.usualOptionBytes else {
            return BridgeError(
                .replyInvalid,
                "the provider answered with an error of more than \(TaskDescription.usualOptionBytes) bytes")
        }
        guard let json = try? JSON(parsing: text), let error = BridgeError(json: json) else {
            return BridgeError(
                .replyInvalid, "the provider answered with an error that is no object with code and message")
        }
        return error
    }

    func receive(_ progress: ProgressMessage, from session: Session) {
        guard let call = forwardedCall(progress.callbackID, session) else { return }
        self.progress(call, progress.value)
    }

    /// The call that the session knows under this id of ours.
    func forwardedCall(_ id: CallbackID, _ session: Session) -> Call? {
        guard let number = id.number else { return nil }
        return calls.call(number, of: session)
    }

    /// A reply came that no caller waits for: it is counted, and reported at the debug level, or at another one.
    public func dropReply(
        _ what: @autoclosure () -> String, _ metadata: @autoclosure () -> Logger.Metadata,
        level: Logger.Level = .debug
    ) {
        counters.droppedReplies += 1
        log.log(level: level, "a reply was dropped: \(what())", metadata: metadata())
    }

    // MARK: Registration

    /// So much more is held for descriptions of tasks that the session provides.
    func holdDescription(_ bytes: Int, for session: Session) {
        session.descriptionBytes += bytes
        descriptionBytes += bytes
    }

    /// The task of a name that clients provide; nil: there is no task of the name.
    ///
    /// - Throws: `task.exists`, where the name is a plugin's or the daemon's.
    func clientTask(named name: String) throws(BridgeError) -> ClientTask? {
        guard let entry = registry.find(name) else { return nil }
        guard let task = entry.provider as? ClientTask else {
            throw BridgeError(
                .taskExists, "the task \(name) belongs to \(entry.provider.providerName) and cannot be taken")
        }
        return task
    }

    /// A new task for clients to provide, which can be called once it is entered.
    func newClientTask(_ name: String) -> (entry: TaskEntry, task: ClientTask) {
        // Options go to the client as text.
        let description = TaskDescription(name: name, summary: "Provided by a client.", optionBytes: .max)
        let task = ClientTask(runtime: self)
        return (TaskEntry(description, index: 0, provider: task), task)
    }

    /// The session provides a task from now on.
    ///
    /// - Throws: `task.exists`, where the name is a plugin's or the daemon's.
    func register(_ name: String, by session: Session, _ provision: Provision) throws(BridgeError) {
        let task = try clientTask(named: name)
        register(name, by: session, provision, in: task ?? enter(newClientTask(name)))
    }

    /// The session provides a task from now on, which is entered.
    func register(_ name: String, by session: Session, _ provision: Provision, in task: ClientTask) {
        task.register(session, provision)
        session.setProvides(name, true)
    }

    /// Enters a task of clients.
    func enter(_ new: (entry: TaskEntry, task: ClientTask)) -> ClientTask {
        registry.insert(new.entry)
        return new.task
    }

    /// The session no longer provides the task. Calls that it works on go on.
    func unregister(_ name: String, by session: Session) {
        session.setProvides(name, false)
        guard let entry = registry.find(name), let task = entry.provider as? ClientTask else { return }
        task.unregister(session)
        if task.isEmpty { registry.remove(entry) }
    }
}

extension ErrorCode {
    /// A client wants to provide a task whose name belongs to a plugin or to the daemon.
    static let taskExists: ErrorCode = "task.exists"
}
