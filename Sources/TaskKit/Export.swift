// The C side of a plugin: the table of functions that the daemon calls.
internal import CTaskPlugin

/// The table of a plugin made of `parts`. Nothing of it is ever released: a plugin's library is never unloaded, and the
/// daemon may call it until the process ends.
func exportedTable(_ parts: PluginParts) -> UnsafePointer<trestle_plugin> {
    let manifest = parts.manifest().bytes
    let kept = UnsafeMutableRawBufferPointer.allocate(byteCount: manifest.count, alignment: 1)
    kept.copyBytes(from: manifest)

    var plugin = trestle_plugin()
    plugin.size = UInt32(MemoryLayout<trestle_plugin>.size)
    plugin.abi = TRESTLE_ABI
    plugin.context = Unmanaged.passRetained(PluginRuntime(parts)).toOpaque()
    plugin.manifest = trestle_bytes(UnsafeRawBufferPointer(kept))
    // `!` on every argument below: the header promises them.
    plugin.attach = { runtime($0).attach(Host($1!)) }
    plugin.configure = { runtime($0).configure($1!.pointee) }
    plugin.start = { runtime($0).start($1!.pointee) }
    plugin.launch = { runtime($0).launch($1!.pointee) }
    plugin.call = { runtime($0).call($1!.pointee) }
    plugin.cancel = { context, call, _ in runtime(context).cancel(call) }
    plugin.session = { runtime($0).session($1, $2!.pointee) }
    plugin.stop = { runtime($0).stop($1!.pointee) }

    let table = UnsafeMutablePointer<trestle_plugin>.allocate(capacity: 1)
    table.initialize(to: plugin)
    return UnsafePointer(table)
}

private func runtime(_ context: UnsafeMutableRawPointer?) -> PluginRuntime {
    Unmanaged<PluginRuntime>.fromOpaque(context!).takeUnretainedValue()  // `!`: the table's own context
}

/// The result of what has nothing to tell but that it is done: `{}`.
private struct Done: Encodable, Sendable {}

extension PluginRuntime {
    fileprivate func call(_ request: trestle_request) {
        guard parts.tasks.indices.contains(Int(request.index)) else {
            let message = "The plugin \(parts.name) has no task number \(request.index)."
            return host.fail(request.call, BridgeError(.internal, message))
        }
        parts.tasks[Int(request.index)].start(self, request)
    }

    fileprivate func configure(_ request: trestle_request) {
        do {
            try readConfiguration(request.options.buffer)
            [UInt8]("{}".utf8).withUnsafeBytes { host.reply(request.call, $0) }
        } catch let error as JSONMismatch {
            host.fail(request.call, BridgeError(configuration: error))
        } catch let error as BridgeError {
            host.fail(request.call, error)
        } catch {
            host.fail(request.call, BridgeError(.configurationInvalid, "\(error)"))
        }
    }

    private func readConfiguration(_ section: UnsafeRawBufferPointer) throws {
        if let configuration = parts.configurations.first { return try configuration.read(section) }
        // Without a configuration every key is unknown.
        struct Empty: Decodable {}
        _ = try JSONCoding.decode(Empty.self, from: section, unknownKeys: .refuse)
    }

    fileprivate func start(_ request: trestle_request) {
        withStartOptions(of: request) { runtime, context in
            for hook in runtime.parts.startHooks { try await hook(context) }
        }
    }

    fileprivate func launch(_ request: trestle_request) {
        guard parts.launchWorkers.indices.contains(Int(request.index)) else {
            let message = "The plugin \(parts.name) has no launch worker number \(request.index)."
            return host.fail(request.call, BridgeError(.internal, message))
        }
        let worker = parts.launchWorkers[Int(request.index)]
        withStartOptions(of: request) { _, context in try await worker.body(context) }
    }

    private func withStartOptions(
        of request: trestle_request,
        _ body: @escaping @Sendable (PluginRuntime, PluginContext) async throws -> Void
    ) {
        do throws(JSONMismatch) {
            keep(startOptions: try JSONCoding.decode(StartOptions.self, from: request.options.buffer))
        } catch {
            return host.fail(request.call, BridgeError(error))
        }
        perform(request.call, CancelMark()) {
            try await body(self, PluginContext(runtime: self))
            return Done()
        }
    }

    fileprivate func session(_ change: UInt32, _ description: trestle_caller) {
        guard !parts.sessionHooks.isEmpty, let change = SessionChange(change) else { return }
        let caller = caller(description)
        for hook in parts.sessionHooks { hook(change, caller) }
    }

    fileprivate func stop(_ request: trestle_request) {
        perform(request.call, CancelMark()) {
            for hook in self.parts.stopHooks.reversed() { await hook() }
            return Done()
        }
    }
}

extension BridgeError {
    /// A section of the configuration that does not fit: `configuration.invalid`, with the keys that would have been
    /// known where the fault is an unknown one.
    fileprivate init(configuration mismatch: JSONMismatch) {
        var error = BridgeError(mismatch)
        error.code = .configurationInvalid
        if let known = mismatch.knownKeys {
            var data = error.data?.objectValue ?? JSONObject()
            data["known"] = .array(known.map { .string($0) })
            error.data = .object(data)
        }
        self = error
    }
}
