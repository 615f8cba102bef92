import Glibc
import HTTPRules
import Synchronization
import TaskKit

/// Answers requests from a replay, and records the responses to others.
struct ReplayStage: HopStage {
    private static let chunkBytes = 64 << 10

    let replays: ReplayRegistry

    func concerns(_ hop: Hop, _ context: LoadContext) -> Bool { replays.isActive(context.user) }

    func load(_ hop: Hop, _ context: LoadContext, _ next: HopWay) async throws(BridgeError) -> HopResponse {
        if let replay = replays.replay(of: context.user) {
            if let recorded = replay.response(to: hop) { return try response(recorded, replay, context) }
            guard replay.mode == .elseLoad else {
                throw BridgeError(
                    .httpCacheMiss,
                    "the recording \(replay.folder.name) has no response to \(hop.method) "
                        + "\(hop.url.text)")
            }
        }
        guard let recording = replays.recording(of: context.user), recording.choice.contains(hop.url) else {
            return try await next.load(hop, context)
        }
        return try await record(hop, context, next, recording)
    }

    private func response(
        _ recorded: Replay.Response, _ replay: Replay, _ context: LoadContext
    ) throws(BridgeError) -> HopResponse {
        let file = Mutex<RecordedFile?>(nil)
        let (call, path) = (context.call, replay.folder.bodyPath(recorded.sha256))
        let read: @Sendable () async throws(BridgeError) -> [UInt8] = { () async throws(BridgeError) in
            do {
                return try await call.plugin.blocking {
                    try file.withLock { file in
                        if file == nil { file = try RecordedFile(path, O_RDONLY) }
                        return try file?.read(upTo: Self.chunkBytes) ?? []
                    }
                }
            } catch let error as BridgeError {
                throw error
            } catch {
                throw .fetchCancelled
            }
        }
        let body = try LocalBody(recorded.head.headers, context.request, read: read)
        return HopResponse(head: recorded.head, body: body, from: "replay")
    }

    private func record(
        _ hop: Hop, _ context: LoadContext, _ next: HopWay, _ recording: Recording
    ) async throws(BridgeError) -> HopResponse {
        let (begin, wall) = (ContinuousClock.now, timespec.wall)
        var response = try await next.load(hop, context)
        let (wait, head, from) = (ContinuousClock.now - begin, response.head, response.from)
        let body = RecordedBody(response.body, recording, replays.threads, of: context.user) { body, receive in
            HAREntry(hop: hop, head: head, body: body, from: from, begin: wall, wait: wait, receive: receive)
        }
        if head.isRedirect, context.request.redirect != .manual { await body.endUnread() }
        response.body = body
        return response
    }
}

/// Refuses requests of users who are offline.
struct OfflineStage: HopStage {
    let replays: ReplayRegistry

    func concerns(_ hop: Hop, _ context: LoadContext) -> Bool { replays.isOffline(context.user) }

    func load(_ hop: Hop, _ context: LoadContext, _ next: HopWay) async throws(BridgeError) -> HopResponse {
        throw BridgeError(
            "http.offline",
            "the fetches of this user are offline, and nothing that is stored answers; http.offline "
                + "changes that", data: ["started": false])
    }
}
