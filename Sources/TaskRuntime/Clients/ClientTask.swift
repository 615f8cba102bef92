import BridgeJSON
import BridgeMessage
import Logging

/// The callers from which a client accepts calls of a task that it registered.
enum ProviderScope: String, Codable, CaseIterable {
    /// Accepts calls of any caller.
    case any
    /// Accepts only calls that name its session.
    case session
}

/// A client's description of a task that it provides.
public struct ProvidedDescription: Codable, Sendable, Equatable {
    /// One sentence for users.
    public var summary: String?
    /// JSON Schema of the options. They are checked against it before a call is forwarded.
    public var options: JSON?
    /// JSON Schema of the result.
    public var result: JSON?
    /// JSON Schema of the progress.
    public var progress: JSON?

    var schemas: TaskSchemas { TaskSchemas(options: options, result: result, progress: progress) }
}

/// A task that clients provide: holds its providers and selects the one that gets a call.
final class ClientTask: TaskProvider {
    /// This `unowned(unsafe)` reference is safe: the runtime owns both objects. A counted reference would cost time
    /// with every call.
    private unowned(unsafe) let clients: ClientTasks
    @exclusivity(unchecked) var registrations = Registrations()

    init(_ clients: ClientTasks) { self.clients = clients }

    var providerName: String { "client" }
    var isOfClients: Bool { true }
    var isEmpty: Bool { registrations.isEmpty }
    /// The sessions that provide the task, the newest last.
    var providers: [(session: Session, provision: Provision)] { registrations.all.map { ($0.session, $0.provision) } }

    /// Returns the session that gets a caller's call, and its description of the task; `nil` if no session would get
    /// it.
    ///
    /// - Parameters:
    ///   - caller: The calling session; `nil` for a plugin or the daemon.
    ///   - target: The session that the call names.
    func provider(
        of task: TaskEntry, for caller: Session?, naming target: Session? = nil
    ) -> (session: Session, description: KeptDescription?)? {
        // `try?`: only a call reports why there is none.
        guard let chosen = try? registration(of: task.name, for: caller, naming: target) else { return nil }
        return (chosen.session, chosen.provision.description)
    }

    /// Returns the task as an OpenRPC method for a caller. If its provider describes it, the text is made once, because
    /// each `rpc.discover` lists the methods of all tasks.
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

    /// Registers a session as a provider, or changes its registration. A session that registers again counts as the
    /// newest.
    func register(_ session: Session, _ provision: Provision) {
        unregister(session)
        registrations.insert(session, provision)
        clients.quotas.holdDescription(provision.description?.heldBytes ?? 0, for: session)
    }

    func unregister(_ session: Session) {
        guard let left = registrations.remove(session) else { return }
        clients.quotas.holdDescription(-(left.provision.description?.heldBytes ?? 0), for: session)
    }

    /// Returns the number of bytes that are held for the session's description.
    func heldBytes(of session: Session) -> Int { registrations[session]?.provision.description?.heldBytes ?? 0 }

    // MARK: Calls

    func start(_ call: Call, of task: TaskEntry, options: UnsafeRawBufferPointer) {
        do throws(BridgeError) {
            let registration = try provider(for: call)
            switch registration.provision.optionsSchema {
            case .none: break
            case .read(let check): if !clients.calls.fits(call, options, check) { return }
            case .unread(let text):
                clients.calls.read(text, for: call, options) { [weak self] found in
                    self?.take(found, of: registration, in: task)
                }
                return
            }
            call.record.pointee.providerDialect = registration.provision.dialect
            forward(call, of: task, options, to: registration.session)
        } catch {
            clients.calls.end(call, .failure(error))
        }
    }

    /// Stores the schema of a registration from the previous daemon, after it has been read. If this daemon rejects the
    /// schema, the task is unregistered with a warning, not used without a check.
    private func take(
        _ found: Result<OptionsSchema, JSONSchemaError>, of registration: Registration, in task: TaskEntry
    ) {
        guard case .unread = registration.provision.optionsSchema else { return }
        switch found {
        case .success(let schema): registration.provision.optionsSchema = schema
        case .failure(let error):
            guard registrations[registration.session] === registration else { return }
            clients.calls.log.warning(
                "session \(registration.session.number) no longer provides the task \(task.name): its schema \(error)",
                metadata: registration.session.logMetadata)
            clients.unregister(task.name, by: registration.session)
        }
    }

    private func provider(for call: Call) throws(BridgeError) -> Registration {
        let target = call.hasExtras ? call.target ?? call.namer : nil
        let caller = call.record.pointee.session?.takeUnretainedValue()
        return try registration(of: call.task?.name ?? "of that name", for: caller, naming: target)
    }

    /// Returns the registration of the session that the call names; else the newest one of the caller's owner; else the
    /// newest one that the policy allows to serve others.
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
        if caller != nil, let serving = registrations.newestServing(task(), clients.rights) { return serving }
        if let newest = registrations.newest() {
            if caller == nil { return newest }
            throw BridgeError(
                .permissionDenied, "the task is provided only by sessions that may not serve others",
                data: ["rule": .string(newest.mayServe(task(), clients.rights).rule)])
        }
        guard registrations.haveOpen else {
            // This happens while an interceptor decides about the call, or before an ending session has removed all its
            // tasks.
            throw BridgeError(
                .taskNotFound, "the client that provided the task has disconnected, or no longer provides it")
        }
        throw BridgeError(.taskNotFound, "the task answers only calls that name its session")
    }

    /// Returns the newest registration of the caller's user or of its origin.
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
        guard session.output.count < clients.quotas.limits.unreadBytes,
            session.output.count <= Session.uncountedBytes || !clients.quotas.isOverQuota(session)
        else {
            let error = BridgeError(
                .busy, "the client that provides the task does not read its calls", data: ["started": false],
                isTransient: true, retryAfter: .seconds(1))
            return clients.calls.end(call, .failure(error))
        }
        call.state = .running
        let calls = clients.calls
        if calls.monitor.isWatched { calls.monitor.showForward(of: call, task, to: session) }
        var outgoing = OutgoingCall(quotedTask: task.quotedName, options: options)
        outgoing.isOneLine = call.origin == .session
        outgoing.timeoutNanoseconds = calls.nanosecondsLeft(to: call)
        if !call.isOneWay {
            outgoing.id = calls.hand(call, to: session)
            outgoing.wantsProgress = call.takesProgress
            if calls.isDraining { session.transport?.readOn() }
        }
        calls.events.catchUp(session)
        let dialect = call.record.pointee.providerDialect
        if let caller = call.record.pointee.session {
            outgoing.caller = caller._withUnsafeGuaranteedRef { $0.callerBytes }
            MessageEncoder.call(outgoing, in: dialect, to: session.output)
        } else {
            clients.ownCallerJSON.bytes.withUnsafeBytes {
                outgoing.caller = $0
                MessageEncoder.call(outgoing, in: dialect, to: session.output)
            }
        }
        calls.output.markDirty(session)
        if call.isOneWay { Array("null".utf8).withUnsafeBytes { calls.end(call, result: $0, isOneLine: true) } }
    }

    func abandon(_ call: Call, reason: CancelReason) {
        guard let session = call.record.pointee.provider?.takeUnretainedValue(), session.phase == .open else { return }
        MessageEncoder.cancel(
            id: call.record.pointee.providerID, in: call.record.pointee.providerDialect, to: session.output)
        clients.calls.output.markDirty(session)
    }

    func schemaTexts(of task: TaskEntry, for caller: Session?) -> SchemaTexts {
        provider(of: task, for: caller)?.description?.schemaTexts ?? SchemaTexts()
    }

    func describe(_ task: TaskEntry, to caller: Session?, _ done: @escaping (TaskSchemas) -> Void) {
        done(provider(of: task, for: caller)?.description?.schemas ?? TaskSchemas())
    }
}

extension ErrorCode {
    /// A client requests to provide a task whose name belongs to a plugin or to the daemon.
    static let taskExists: ErrorCode = "task.exists"
}
