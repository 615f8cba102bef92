import Glibc
import HTTPRules
import TaskKit

/// `http.offline`
struct OfflineTask: ImmediateTask {
    static let name = "http.offline"
    static let summary = "Switches the user's fetches offline, or online again."

    struct Options: Codable, Sendable {
        var on: Bool?
    }

    struct Result: Codable, Sendable {
        var on: Bool
    }

    let replays: ReplayRegistry

    func run(_ options: Options, _ call: Call) throws -> Result {
        try call.caller.requireProgram(Self.name)
        if let on = options.on { replays.setOffline(on, for: call.caller.uid) }
        return Result(on: replays.isOffline(call.caller.uid))
    }
}

/// `http.record`
struct RecordTask: BridgeTask {
    static let name = "http.record"
    static let summary = "Starts or stops a recording of the user's fetches."

    struct Options: Codable, Sendable {
        var name: String
        var on: Bool?
        var match: [String]?
        var replace: Bool?
    }

    struct Result: Codable, Sendable {
        var name: String
        var on: Bool
        var entries: Int
        var bytes: Int64
        /// The number of responses that are missing because a limit was exceeded or the disk failed.
        var missing: Int
    }

    let replays: ReplayRegistry

    func run(_ options: Options, _ call: Call) async throws -> Result {
        try call.caller.requireProgram(Self.name)
        let user = call.caller.uid
        guard options.on ?? true else {
            return result(try replays.end(options.name, of: user), isOn: false)
        }
        let choice = try URLChoice(options.match ?? [])
        let recording = try await replays.begin(options.name, choice, replaces: options.replace ?? false, of: user)
        return result(recording, isOn: true)
    }

    private func result(_ recording: Recording, isOn: Bool) -> Result {
        let state = recording.state
        return Result(
            name: recording.folder.name, on: isOn, entries: state.entries, bytes: state.harBytes + state.bodyBytes,
            missing: state.missing)
    }
}

/// `http.replay`
struct ReplayTask: BridgeTask {
    static let name = "http.replay"
    static let summary = "Starts or stops answering the user's fetches from a recording."

    struct Options: Codable, Sendable {
        var name: String
        var on: Bool?
        var mode: Replay.Mode?
    }

    struct Result: Codable, Sendable {
        var name: String
        var on: Bool
        var entries: Int
    }

    let replays: ReplayRegistry

    func run(_ options: Options, _ call: Call) async throws -> Result {
        try call.caller.requireProgram(Self.name)
        let user = call.caller.uid
        guard options.on ?? true else {
            guard let replay = replays.replay(of: user), replay.folder.name == options.name else {
                throw BridgeError.noRecording(options.name)
            }
            replays.setReplay(nil, for: user)
            return Result(name: options.name, on: false, entries: replay.entryCount)
        }
        let folder = try replays.folder(options.name, of: user)
        let replay = try await replays.run(of: user) { () throws(BridgeError) in
            try Replay(folder, options.mode ?? .strict)
        }
        replays.setReplay(replay, for: user)
        return Result(name: options.name, on: true, entries: replay.entryCount)
    }
}

/// `http.recordings.list`
struct ListRecordingsTask: BridgeTask {
    static let name = "http.recordings.list"
    static let summary = "Lists the user's recordings."

    typealias Options = Empty

    struct Result: Codable, Sendable {
        struct Entry: Codable, Sendable {
            var name: String
            var bytes: Int64
            /// Whether the recording is running.
            var on: Bool
        }

        var recordings: [Entry]
    }

    let replays: ReplayRegistry

    func run(_ options: Empty, _ call: Call) async throws -> Result {
        try call.caller.requireProgram(Self.name)
        let running = replays.recording(of: call.caller.uid)?.folder.name
        let recordings = try await replays.recordings(of: call.caller.uid)
        return Result(
            recordings: recordings.map { .init(name: $0.name, bytes: $0.byteCount, on: $0.name == running) })
    }
}

/// `http.recordings.read`
struct ReadRecordingTask: BridgeTask {
    static let name = "http.recordings.read"
    static let summary = "Returns the HAR of a recording, or one of its bodies, as a stream."
    private static let chunkBytes = 64 << 10

    struct Options: Codable, Sendable {
        var name: String
        var body: String?
    }

    static let resultSchema: JSON? = [
        "type": "object", "properties": ["stream": ["type": "string", "format": "trestle-stream"]],
        "required": ["stream"],
    ]

    let replays: ReplayRegistry

    func run(_ options: Options, _ call: Call) async throws -> JSON {
        try call.caller.requireProgram(Self.name)
        let folder = try replays.folder(options.name, of: call.caller.uid)
        if let body = options.body, !RecordingFolder.isHash(body) {
            throw BridgeError.invalidOption(
                "$.body", expected: "64 hexadecimal digits in lower case", got: "something else")
        }
        let path = options.body.map { folder.bodyPath($0) } ?? folder.harPath
        let file = try await replays.run(of: call.caller.uid) { () throws(BridgeError) in
            guard folder.exists, access(path, F_OK) == 0 else { throw BridgeError.noRecording(options.name) }
            return try RecordedFile(path, O_RDONLY)
        }
        let type = options.body == nil ? "application/json" : "application/octet-stream"
        let (replays, user) = (replays, call.caller.uid)
        let stream = try await call.makeStream(type: type, totalBytes: nil) { out in
            while true {
                let bytes = try await replays.run(of: user) { () throws(BridgeError) in
                    try file.read(upTo: Self.chunkBytes)
                }
                guard !bytes.isEmpty else { return }
                try await out.write(bytes)
            }
        }
        return ["stream": .string(stream.name)]
    }
}

/// `http.recordings.remove`
struct RemoveRecordingTask: BridgeTask {
    static let name = "http.recordings.remove"
    static let summary = "Removes a recording."

    struct Options: Codable, Sendable {
        var name: String
    }

    typealias Result = Empty

    let replays: ReplayRegistry

    func run(_ options: Options, _ call: Call) async throws -> Empty {
        try call.caller.requireProgram(Self.name)
        try await replays.remove(options.name, of: call.caller.uid)
        return Empty()
    }
}
