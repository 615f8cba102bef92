import BridgeClient
import BridgeJSON

extension PluginSession {
    /// Connects a client to a daemon.
    ///
    /// - Throws: A ``BridgeError`` if no daemon listens there.
    static func live(_ socketPath: String) async throws -> PluginSession {
        let client = try await Bridge.connect(
            socket: socketPath, configuration: .init(client: "test", reconnect: nil))
        let events = EventBox()
        return PluginSession(
            Face(
                call: { task, options, timeout in
                    let stream = try await client.callWithProgress(
                        task, options, progress: JSON.self, as: JSON.self,
                        timeout: timeout.map { .after($0) } ?? .standard)
                    return try await withTaskCancellationHandler {
                        var progress: [JSON] = []
                        for await value in stream { progress.append(value) }
                        return (progress, try await stream.result)
                    } onCancel: {
                        Task { await stream.cancel() }
                    }
                },
                provide: { task, serve in
                    try await client.register(task) { (options: JSON, _) in try await serve(options) }
                },
                subscribe: { patterns in
                    let stream = try await client.subscribe(to: patterns)
                    Task {
                        // This task ends with the connection.
                        do { for try await event in stream { await events.put((event.name, event.data)) } } catch {}
                    }
                },
                nextEvent: { await events.next() }, leave: { await client.close() }))
    }
}

/// The received events that no caller has taken yet.
private actor EventBox {
    private var events: [(name: String, data: JSON)] = []
    private var waiting: [CheckedContinuation<(name: String, data: JSON), Never>] = []

    func put(_ event: (name: String, data: JSON)) {
        if waiting.isEmpty { events.append(event) } else { waiting.removeFirst().resume(returning: event) }
    }

    func next() async -> (name: String, data: JSON) {
        if !events.isEmpty { return events.removeFirst() }
        return await withCheckedContinuation { waiting.append($0) }
    }
}
