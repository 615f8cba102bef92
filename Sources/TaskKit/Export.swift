// The C side of a plugin: the table of functions that the daemon calls.
//
// Structs of the interface are used in place, field by field. They are never copied whole and never passed to generic
// code. The daemon may have been built against an older header, whose struct is shorter. Also, the Swift runtime keeps
// one description per name of a C struct: that of the library that it loaded first. So generic code could use the size
// of `trestle_plugin` from another plugin's header.
internal import CTaskPlugin

/// Creates the table of a plugin that consists of `parts`. The table is never released: a plugin's library is never
/// unloaded, and the daemon may call it until the process ends.
func exportedTable(_ parts: PluginParts) -> PluginTable {
    let manifest = parts.manifest().bytes
    let kept = UnsafeMutableRawBufferPointer.allocate(byteCount: manifest.count, alignment: 1)
    kept.copyBytes(from: manifest)

    let size = MemoryLayout<trestle_plugin>.size
    let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: MemoryLayout<trestle_plugin>.alignment)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: size)
    let table = memory.assumingMemoryBound(to: trestle_plugin.self)
    table.pointee.size = UInt32(size)
    table.pointee.abi = TRESTLE_ABI
    // Never released.
    table.pointee.context = Unmanaged.passRetained(PluginRuntime(parts)).toOpaque()
    table.pointee.manifest = trestle_bytes(UnsafeRawBufferPointer(kept))
    // `!` on every argument below: the header guarantees them.
    table.pointee.attach = { runtime($0).attach(Host($1!)) }
    table.pointee.configure = { runtime($0).configure($1!) }
    table.pointee.reconfigure = { runtime($0).reconfigure($1!) }
    table.pointee.start = { runtime($0).start($1!) }
    table.pointee.launch = { runtime($0).launch($1!) }
    table.pointee.call = { context, request in
        // Without reference counting, because this runs for every call.
        Unmanaged<PluginRuntime>.fromOpaque(context!)._withUnsafeGuaranteedRef { $0.call(request!) }
    }
    table.pointee.cancel = { context, call, _ in runtime(context).cancel(call) }
    // Without the function, a plugin process is not woken for each session that opens or closes.
    if !parts.sessionHooks.isEmpty || !parts.sessionEndHooks.isEmpty {
        table.pointee.session = { runtime($0).session($1, $2!) }
    }
    if parts.sessionHooks.isEmpty { table.pointee.session_scope = UInt32(TRESTLE_SESSIONS_CALLERS) }
    table.pointee.stop = { runtime($0).stop($1!) }
    if !parts.interceptors.isEmpty { table.pointee.intercept = { runtime($0).intercept($1!) } }
    table.pointee.describe = { runtime($0).describe($1!) }
    if !parts.handovers.isEmpty {
        table.pointee.save_sessions = { runtime($0).saveSessions($1!) }
        table.pointee.restore_sessions = { runtime($0).restoreSessions($1!) }
    }
    return UnsafePointer(table)
}

private func runtime(_ context: UnsafeMutableRawPointer?) -> PluginRuntime {
    Unmanaged<PluginRuntime>.fromOpaque(context!).takeUnretainedValue()  // `!`: the table's own context
}

extension PluginRuntime {
    fileprivate func call(_ request: UnsafePointer<trestle_request>) {
        let index = Int(request.pointee.number)
        guard index < starts.count else { return refuse(request) }
        starts[index]._withUnsafeGuaranteedRef { $0.body(self, request) }
    }

    @inline(never)
    private func refuse(_ request: UnsafePointer<trestle_request>) {
        let message = "the plugin \(parts.name) has no task number \(request.pointee.number)"
        host.fail(request.pointee.call, BridgeError(.internal, message))
    }

    fileprivate func configure(_ request: UnsafePointer<trestle_request>) {
        answer(request) { try $0.read($1) }
    }

    fileprivate func reconfigure(_ request: UnsafePointer<trestle_request>) {
        let takes = request.pointee.number == UInt32(TRESTLE_RECONFIGURE_TAKE)
        let interceptsAnew = takes && !parts.interceptors.isEmpty
        answer(request, interceptsAnew: interceptsAnew) {
            try takes && $0.isReloadable ? $0.read($1) : $0.check($1)
        }
    }

    /// Passes the section of a request to the plugin's configuration, and answers with the outcome.
    private func answer(
        _ request: UnsafePointer<trestle_request>, interceptsAnew: Bool = false,
        _ read: (ConfigurationSection, UnsafeRawBufferPointer) throws -> Void
    ) {
        do {
            if let configuration = parts.configurations.first {
                try read(configuration, request.pointee.options.buffer)
            } else {
                try refuseAnyKey(request.pointee.options.buffer)
            }
            let answer = interceptsAnew ? interceptedTasks : .object([:])
            answer.bytes.withUnsafeBytes { host.reply(request.pointee.call, $0) }
        } catch let error as JSONMismatch {
            host.fail(request.pointee.call, BridgeError(configuration: error))
        } catch let error as BridgeError {
            host.fail(request.pointee.call, error)
        } catch {
            host.fail(request.pointee.call, BridgeError(.configurationInvalid, "\(error)"))
        }
    }

    /// Without a configuration every key is unknown.
    private func refuseAnyKey(_ section: UnsafeRawBufferPointer) throws {
        let json = (try? JSON(parsing: section)) ?? .null
        guard let key = json.objectValue?.first(where: { _ in true })?.key else { return }
        throw JSONMismatch(
            path: "$.\(key)", expected: "no configuration", got: "unknown key", knownKeys: [])
    }

    fileprivate func describe(_ request: UnsafePointer<trestle_request>) {
        parts.description().bytes.withUnsafeBytes { host.reply(request.pointee.call, $0) }
    }

    fileprivate func start(_ request: UnsafePointer<trestle_request>) {
        withStartOptions(of: request) { runtime, context in
            for hook in runtime.parts.startHooks { try await hook(context) }
            return runtime.interceptedTasks
        }
    }

    fileprivate func launch(_ request: UnsafePointer<trestle_request>) {
        guard parts.launchWorkers.indices.contains(Int(request.pointee.number)) else {
            let message = "the plugin \(parts.name) has no launch worker number \(request.pointee.number)"
            return host.fail(request.pointee.call, BridgeError(.internal, message))
        }
        let worker = parts.launchWorkers[Int(request.pointee.number)]
        withStartOptions(of: request) { _, context in
            try await worker.body(context)
            return .object([:])
        }
    }

    private func withStartOptions(
        of request: UnsafePointer<trestle_request>,
        _ body: @escaping @Sendable (PluginRuntime, PluginContext) async throws -> JSON
    ) {
        do throws(JSONMismatch) {
            keep(startOptions: try StartOptions(JSONCoding.decode(JSON.self, from: request.pointee.options.buffer)))
        } catch {
            return host.fail(request.pointee.call, BridgeError(error))
        }
        perform(request, answer: { try await body(self, PluginContext(runtime: self)) })
    }

    fileprivate func session(_ change: UInt32, _ description: UnsafePointer<trestle_caller>) {
        guard let change = SessionChange(change) else { return }
        let caller = caller(description)
        for hook in parts.sessionHooks { hook(change, caller) }
        guard change == .closed else { return }
        for hook in parts.sessionEndHooks { hook(caller) }
    }

    fileprivate func stop(_ request: UnsafePointer<trestle_request>) {
        perform(request, hook: { for hook in self.parts.stopHooks.reversed() { await hook() } })
    }
}

extension BridgeError {
    /// Creates the error for a section of the configuration that does not fit: `configuration.invalid` with the data of
    /// `options.invalid`.
    fileprivate init(configuration mismatch: JSONMismatch) {
        self.init(
            .configurationInvalid, "the configuration does not fit: \(mismatch)", data: BridgeError(mismatch).data)
    }
}
