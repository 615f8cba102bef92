import HTTPRules
import Synchronization
import TaskKit

/// `http.fetch`: sends a request and returns its response.
struct FetchTask: BridgeTask {
    static let name = "http.fetch"
    static let summary = "Sends an HTTP request and returns the response, its body as a value or as a stream."
    static let settings = TaskSettings(optionBytes: 262_144)
    static let optionsSchema: JSON? = FetchOptions.schema
    static let resultSchema: JSON? = FetchResult.schema

    typealias Progress = TransferProgress

    let service: FetchService

    func run(_ options: FetchOptions, _ call: Call) async throws -> JSON {
        service.metrics.fetches.add()
        do throws(BridgeError) {
            guard let left = call.timeRemaining else { return try await fetch(options, call, onPhase: nil) }
            let deadline = FetchDeadline()
            return try await deadline.bound(call, left) { () async throws(BridgeError) in
                try await fetch(options, call, onPhase: { deadline.note($0) })
            }
        } catch {
            service.metrics.failures.add()
            if error.code == .httpRefused { service.metrics.refusals.add() }
            throw error
        }
    }

    private func fetch(
        _ options: FetchOptions, _ call: Call, onPhase: (@Sendable (TransferProgress.Phase) -> Void)?
    ) async throws(BridgeError) -> JSON {
        let settings = service.settings
        let reach = Reach(call.caller, service.suffixes)
        var first = try firstHop(options, reach)
        var request = try makeRequest(options, settings)
        request.onPhase = onPhase
        if call.wantsProgress { request.onProgress = { call.reportProgress($0) } }
        request.cookies = try cookies(options, from: first.url, reach)
        request.authenticates = options.authenticates
        if options.har { try call.caller.requireProgram("the option har of \(Self.name)") }
        request.isTraced = options.har
        let files = FileAccess(folders: settings.downloadFolders, owner: service.owner)
        let target = try options.saveTo.map { path throws(BridgeError) in
            try files.place(path, option: "$.saveTo", for: call.caller)
        }
        let source = try options.file.map { file throws(BridgeError) in
            try files.place(file.path, option: FileBody.option, for: call.caller)
        }
        let onProgress = request.onProgress
        let plugin = call.plugin
        let ticket = try await service.quota.ticket(
            for: call.caller.uid, settings,
            onWait: {
                onPhase?(.queued)
                onProgress?(TransferProgress(phase: .queued, sent: 0, received: 0))
            },
            post: { plugin.post($0) })
        let saved = try await savedFile(target, options, call)
        let upload = try await upload(options, source, call)
        first.body = upload?.body
        let context = LoadContext(call: call, settings: settings, request: request, reach: reach, ticket: ticket)
        let response = try await Loader(way: service.way, context: context).load(first)
        let reading = BodyReading(response, ticket: ticket, upload: upload, metrics: service.metrics)
        let result = FetchResult(
            response, reading, saved, isPage: reach.isPage, har: options.har ? context.chain.trace : nil)
        return try await result.json(options, settings, call)
    }

    /// Creates the file for the body before the request is sent; returns `nil` if the body is not saved.
    private func savedFile(
        _ place: FilePlace?, _ options: FetchOptions, _ call: Call
    ) async throws(BridgeError) -> BodySaving? {
        guard let place else { return nil }
        let threads = service.fileThreads
        let file = try await threads.fetchJob(of: call.caller.uid) { () throws(BridgeError) in
            try SavedFile(place, replaces: options.replaces)
        }
        return BodySaving(file, threads, of: call.caller.uid)
    }

    private func upload(
        _ options: FetchOptions, _ place: FilePlace?, _ call: Call
    ) async throws(BridgeError) -> Upload? {
        if let body = options.body { return Upload(body, call) }
        guard let place else { return nil }
        let threads = service.fileThreads
        let file = try await threads.fetchJob(of: call.caller.uid) { () throws(BridgeError) in try SentFile(place) }
        return Upload(file, type: options.file?.type, threads, call)
    }

    private func makeRequest(_ options: FetchOptions, _ settings: FetchSettings) throws(BridgeError) -> FetchRequest {
        FetchRequest(
            redirect: options.redirect, cache: options.cache, cacheKey: options.key,
            maximumBodyBytes: options.maximumBytes ?? settings.bodyBytes,
            integrity: try integrity(options.integrity),
            connectTimeout: options.connectTimeout ?? settings.connectTimeout,
            idleTimeout: options.idleTimeout ?? settings.idleTimeout)
    }

    private func firstHop(_ options: FetchOptions, _ reach: Reach) throws(BridgeError) -> Hop {
        let url: WebURL
        do throws(AddressRefusal) { url = try WebURL(options.url) } catch { throw .invalidURL(error) }
        var headers = try RequestCheck(isPage: reach.isPage).fields(options.headers)
        if let range = options.range { _ = headers.append(name: "Range", value: range.text) }
        return Hop(url: url, method: options.method, headers: headers, body: nil)
    }

    private func cookies(_ options: FetchOptions, from url: WebURL, _ reach: Reach) throws(BridgeError) -> CookieUse {
        guard !reach.isPage || options.profile == nil else {
            throw BridgeError(.permissionDenied, "a page uses the profile default, and must not name one")
        }
        var use = CookieUse.standard(url, reach)
        use.credentials = options.credentials ?? use.credentials
        use.profile = options.profile ?? .standard
        return use
    }

    private func integrity(_ text: String?) throws(BridgeError) -> IntegrityMetadata? {
        guard let text else { return nil }
        do throws(IntegrityMetadata.Fault) { return try IntegrityMetadata(text) } catch {
            throw .invalidOption(
                "$.integrity", expected: "hashes, such as sha256-… in base 64", got: "something else")
        }
    }
}
