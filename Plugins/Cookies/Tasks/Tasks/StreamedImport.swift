import HTTPRules
import TaskKit

/// An import whose file arrives as a stream. It is processed part by part, each in its user's turn.
struct StreamedImport: Sendable {
    /// The maximum number of refused lines. All of them fit into the answer.
    static let maximumProblems = 1000

    let lane: CookieLane
    let profile: ProfileID
    let format: CookieFormat

    func run(_ reader: ByteReader, _ call: Call) async throws(BridgeError) -> JSON {
        var file = ReadFile(reader)
        if format == .webkit {
            let beginning = try await file.read(atLeast: WebKitDatabase.markBytes)
            if WebKitDatabase.isDatabase(beginning) {
                return try await addDatabase(try await file.rest(upTo: WebKitDatabase.maximumBytes), call).json
            }
        }
        var outcome = ImportOutcome(places: .line)
        var parts = LineParts()
        while let bytes = try await file.next(upTo: NetscapeCookieFile.maximumBytes) {
            parts.append(bytes)
            while let part = try parts.next() { outcome = try await add(part, to: outcome, call) }
        }
        if let part = parts.last() { outcome = try await add(part, to: outcome, call) }
        return outcome.json
    }

    private func addDatabase(_ file: [UInt8], _ call: Call) async throws(BridgeError) -> ImportOutcome {
        let profile = profile
        let now = try await lane.step(of: call) { engine throws(BridgeError) in (engine.store.now, profile) }
        let read = try? await call.blocking {
            Result { () throws(BridgeError) in try WebKitDatabase.read(file, at: now) }
        }
        guard let read else { throw BridgeError(.callCancelled, "the call was cancelled") }
        var outcome = ImportOutcome(places: .row)
        for part in try read.get().parts(of: LineParts.partLines) {
            outcome = try await add(to: outcome, call) { _ in part }
        }
        return outcome
    }

    private func add(
        _ part: LineParts.Part, to outcome: ImportOutcome, _ call: Call
    ) async throws(BridgeError) -> ImportOutcome {
        let format = format
        return try await add(to: outcome, call) { engine in
            let now = engine.store.now
            return format == .json
                ? ImportedCookies(jsonLines: part.bytes, from: part.firstLine, at: now)
                : ImportedCookies(netscape: part.bytes, from: part.firstLine, engine.suffixes, at: now)
        }
    }

    private func add(
        to outcome: ImportOutcome, _ call: Call, _ cookies: @escaping @Sendable (CookieEngine) -> ImportedCookies
    ) async throws(BridgeError) -> ImportOutcome {
        let profile = profile
        let added = try await lane.step(of: call) { engine throws(BridgeError) in
            var outcome = outcome
            try outcome.add(cookies(engine), to: profile, &engine)
            return (outcome, profile)
        }
        guard added.problems.count <= Self.maximumProblems else {
            throw .unfit(
                "$.stream", expected: "a file of the format \(format.rawValue)",
                got: "more than \(Self.maximumProblems) lines that are not accepted as cookies")
        }
        return added
    }
}

/// A file that arrives as a stream, and whose beginning can be read in advance.
private struct ReadFile {
    private var iterator: ByteReader.Iterator
    private var beginning: [UInt8] = []
    private var count = 0

    init(_ reader: ByteReader) { iterator = reader.makeAsyncIterator() }

    /// Returns the next bytes; `nil` at the end.
    ///
    /// - Throws: `options.invalid`, if there are more than `maximum` bytes.
    mutating func next(upTo maximum: Int) async throws(BridgeError) -> [UInt8]? {
        if !beginning.isEmpty {
            defer { beginning = [] }
            return beginning
        }
        guard let bytes = try await iterator.next(isolation: nil) else { return nil }
        count += bytes.count
        guard count <= maximum else {
            throw .unfit("$.stream", expected: "at most \(maximum) bytes", got: "more of them")
        }
        return bytes
    }

    /// Returns the beginning without consuming it. It is shorter if the file is.
    mutating func read(atLeast wanted: Int) async throws(BridgeError) -> [UInt8] {
        while beginning.count < wanted, let bytes = try await iterator.next(isolation: nil) {
            count += bytes.count
            beginning += bytes
        }
        return beginning
    }

    /// Returns all bytes that were not consumed.
    mutating func rest(upTo maximum: Int) async throws(BridgeError) -> [UInt8] {
        var all: [UInt8] = []
        while let bytes = try await next(upTo: maximum) { all += bytes }
        return all
    }
}
