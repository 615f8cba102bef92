import BridgeClient
import BridgeJSON

/// Records traffic.
struct RecordingRun: Sendable {
    let client: Bridge
    /// The options of `bridge.monitor`.
    let filter: JSON
    /// The duration of the recording; `nil` records until the Swift task is cancelled.
    let duration: Duration?
    let writer: RecordingWriter

    /// An event that marks the end: no recorded traffic follows it.
    private static let mark = "trestle.record.end"

    /// Records until the time has passed, the Swift task is cancelled, or the connection is lost. Writes everything
    /// that was sent until then.
    ///
    /// - Parameter progress: Shows the number of calls.
    func run(_ progress: ProgressLine) async throws {
        // Subscribes first, so that no line is missed.
        let events = try await client.subscribe(to: "bridge.traffic", Self.mark)
        _ = try await client.callJSON("bridge.monitor", filter)
        let (ended, end) = AsyncStream<Never>.makeStream()
        // Not a child task: it continues after a cancellation, to receive the remaining events.
        let reading = Task {
            defer { end.finish() }
            try await read(events, progress)
        }
        await wait(for: ended)
        await Task { await stop(events) }.value
        let result = await reading.result
        progress.end()
        // Also if the daemon has ended meanwhile.
        try await writer.finish()
        try result.get()
    }

    private func read(_ events: EventStream, _ progress: ProgressLine) async throws {
        var streams = RecordedStreams()
        for try await event in events {
            switch event.name {
            case Self.mark: if event.data == ownMark { return }
            case "bridge.traffic", "bridge.events_dropped":
                try await writer.add(event: event.name, await streams.masked(event.data) { await places(of: $0) })
                let calls = await writer.calls
                progress.show("\(calls) calls")
            default: break
            }
        }
    }

    /// Returns the places of streams in the options and the result of a task; none if the daemon does not describe it.
    private func places(of task: String) async -> RecordedStreams.Places {
        guard let description = try? await client.callJSON("bridge.describe", ["task": .string(task)]) else {
            return RecordedStreams.Places()
        }
        return RecordedStreams.Places(
            options: StreamSchema(description["options"]), result: StreamSchema(description["result"]))
    }

    private var ownMark: JSON { client.daemon?.session.json ?? .null }

    private func wait(for ended: AsyncStream<Never>) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in ended {} }
            if let duration { group.addTask { try? await Task.sleep(for: duration) } }
            await group.next()
            group.cancelAll()
        }
    }

    private func stop(_ events: EventStream) async {
        do {
            _ = try await client.callJSON("bridge.monitor", ["stop": true])
            try await client.publish(Self.mark, ownMark)
        } catch {
            // No more events will arrive: the connection is lost, or the mark is not allowed.
            await events.end()
        }
    }
}
