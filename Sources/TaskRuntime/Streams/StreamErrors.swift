import BridgeJSON

extension BridgeError {
    static var streamNotFound: BridgeError {
        BridgeError(
            .streamNotFound, "there is no such stream, or it is not this caller's; a stream that has ended is removed")
    }

    static var noStreamBytes: BridgeError {
        BridgeError(
            .streamInvalid,
            "the option base64 is missing or is not base 64 with padding (RFC 4648); the stream has ended")
    }

    /// The error if the caller requested one side and has the other one.
    static func otherEnd(_ own: StreamSide) -> BridgeError {
        BridgeError(.streamInvalid, "the caller has the \(own.rawValue)'s end of this stream")
    }

    /// The maximum length of an error that ends a stream.
    private static var maximumStreamErrorBytes: Int { 4 << 10 }

    /// Checks the length of an error that ends a stream.
    ///
    /// - Throws: `options.invalid` if the error is too long.
    func checkIsShort() throws(BridgeError) {
        let bytes = json.bytes.count
        guard bytes > Self.maximumStreamErrorBytes else { return }
        throw .streamError("\(bytes) bytes")
    }

    /// Returns the error for an invalid `error` option.
    static func streamError(_ got: String) -> BridgeError {
        BridgeError(
            JSONMismatch(
                path: "$.error",
                expected:
                    "an object with the strings code and message, of at most \(maximumStreamErrorBytes) bytes",
                got: got))
    }

    static var streamsOfLeaving: BridgeError {
        BridgeError(
            .pluginUnavailable, "the plugin is about to stop, and makes streams only for calls that it works on",
            data: ["started": false])
    }

    static var streamsStopping: BridgeError {
        BridgeError(
            .daemonStopping, "the daemon is stopping and begins no more streams", data: ["started": false],
            isTransient: true)
    }
}

extension StreamFault {
    /// The side that ended the stream, as named in messages.
    var by: String { side?.rawValue ?? "daemon" }
}

extension StreamFailure {
    /// Returns the error for the side that is answered.
    func error(for side: StreamSide) -> BridgeError {
        switch self {
        case .broken(let reason, let bytes): reason.error(for: side, bytes: bytes)
        case .closed: BridgeError(.streamInvalid, "this side has closed the stream already")
        case .busy:
            BridgeError(
                .busy, "another read of the stream waits; one at a time is allowed", data: ["started": false],
                isTransient: true)
        case .begun:
            BridgeError(
                .streamInvalid, "this side has already used its end: bridge.stream.attach must be its first call")
        case .attached:
            BridgeError(.streamInvalid, "the writer's end is a pipe: write to the pipe, not with bridge.stream.write")
        case .uncounted:
            BridgeError(
                .streamInvalid,
                "the option bytes is missing: a writer whose end is a pipe must send the number of bytes that it wrote")
        }
    }
}

extension StreamBreak {
    /// Returns the error for the side that is answered. A side that broke the stream by a mistake receives the mistake,
    /// the other side `stream.closed`.
    func error(for side: StreamSide, bytes: UInt64) -> BridgeError {
        if let mistake, side == self.side || self.side == nil && mistake.code == .streamUnclaimed { return mistake }
        let (by, given) = (fault.by, fault.error)
        var data: JSONObject = ["by": .string(by), "bytes": .number(JSONNumber(bytes))]
        if let given { data["error"] = given.json }
        let reason = given.map { ": \($0.message)" } ?? ""
        return BridgeError(
            .streamClosed, "the \(by) ended the stream after \(bytes) bytes, before it was complete\(reason)",
            data: .object(data), isTransient: given?.isTransient ?? false)
    }

    /// The fault as it is reported to the sides: with the given error, or the error that corresponds to the mistake.
    var fault: StreamFault {
        if case .left(let error) = cause { return StreamFault(side: side, error: error) }
        return StreamFault(side: side, error: mistake)
    }

    private var mistake: BridgeError? {
        switch cause {
        case .left(let error): error.flatMap { Self.mistakes.contains($0.code) ? $0 : nil }
        case .exceeded(let roomBytes):
            BridgeError(
                .quotaExceeded, "the writer sent more than the \(roomBytes) bytes that the stream had room for",
                data: ["room": .number(JSONNumber(roomBytes))])
        case .crowded(let maximum):
            BridgeError(.quotaExceeded, "the writer sent more than the \(maximum) writes that may be unanswered")
        case .miscounted(let bytes):
            BridgeError(
                .streamInvalid,
                "the \(side?.rawValue ?? "writer") counted \(bytes) bytes, but another number was written")
        }
    }

    private static let mistakes: [ErrorCode] = [.streamInvalid, .streamUnclaimed]
}
