internal import BridgeClient
internal import BridgeJSON
internal import MainLoop
internal import WebContainer
internal import WebKitViews

struct CertificateOptions: Codable, Sendable {
    var host: String
    var sha256: String
}

struct DownloadOptions: Codable, Sendable {
    var download: Int
}

struct PoolState: Codable, Sendable {
    var warm: Int
    var visible: Int
    var starting: Int
    var warmStarts: Int
    var coldStarts: Int
    var maximum: Int
    var processes: [ProcessState]
    var longTurns: LongTurnsState
}

/// The statistics of long turns of the main loop.
struct LongTurnsState: Codable, Sendable {
    var count: Int
    var longestUs: Int
    var longestOwnUs: Int
    var longestByClockUs: Int
    /// The number of long turns by the work that used most of each.
    var work: [String: Int]

    init(_ turns: LongTurns) {
        count = turns.count
        longestUs = Int(turns.longest / .microseconds(1))
        longestOwnUs = Int(turns.longestOwn / .microseconds(1))
        longestByClockUs = Int(turns.longestByClock / .microseconds(1))
        work = turns.counts
    }
}

struct ProcessState: Codable, Sendable {
    var pid: Int32
    /// The memory in bytes; `nil` if unknown.
    var memory: Int?
}

extension ControlPlane {
    func provideEngine() async throws(BridgeError) {
        try await provide("web.tls.allow", "Trusts a certificate for its host, until the container ends.") {
            (plane, options: CertificateOptions, call) in
            try plane.admit(call)
            return try plane.allow(options)
        }
        try await provide("web.downloads.list", "Lists the running downloads.") { (plane, _: NoOptions, call) in
            try plane.admit(call)
            return ["downloads": .array(plane.container.downloads?.list ?? [])] as JSON
        }
        try await provide("web.downloads.cancel", "Ends a download.") { (plane, options: DownloadOptions, call) in
            try plane.admit(call)
            guard plane.container.downloads?.cancel(options.download) == true else {
                throw BridgeError("download.not_found", "the download \(options.download) is not running")
            }
            return [:] as JSON
        }
        try await provide("web.pool", "Counts views, the memory of their processes, and long turns of the main loop.") {
            (plane, _: NoOptions, call) in
            try plane.admit(call)
            let (pool, processes) = (plane.container.pool, await WebProcess.all())
            return PoolState(
                warm: pool.warm, visible: pool.open, starting: pool.missing, warmStarts: pool.warmStarts,
                coldStarts: pool.coldStarts, maximum: pool.maximum,
                processes: processes.map { ProcessState(pid: $0.pid, memory: $0.memory) },
                longTurns: LongTurnsState(MainLoop.longTurns))
        }
    }

    private func allow(_ options: CertificateOptions) throws -> JSON {
        let sha256 = options.sha256.lowercased()
        guard sha256.utf8.count == 64, sha256.allSatisfy(\.isHexDigit), !options.host.isEmpty else {
            throw BridgeError(.optionsInvalid, "sha256 has 64 hexadecimal digits", data: ["path": "$.sha256"])
        }
        guard container.allowCertificate(options.host, sha256: sha256) else {
            throw BridgeError(.quotaExceeded, "too many hosts have a certificate that was allowed")
        }
        return [:]
    }

    func engine<R: Sendable>(_ body: @MainActor () async throws(EngineError) -> R) async throws -> R {
        do throws(EngineError) {
            return try await body()
        } catch {
            throw BridgeError("engine.failed", "the engine failed: \(error)")
        }
    }
}
