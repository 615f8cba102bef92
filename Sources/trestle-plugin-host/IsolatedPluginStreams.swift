import BridgeJSON
import CTaskPlugin
import PluginInterface

/// Makes the plugin's calls about streams as calls of the daemon's tasks, with base64. Loop thread only.
struct IsolatedPluginStreams {
    /// The host, which exists as long as the process.
    unowned let host: IsolatedPluginHost

    /// The maximum length of the options of a write beside the bytes.
    private static let otherBytes = 128
    /// The number of bytes that fit in a write. The plugin gets no larger room.
    private var writtenBytes: Int { (host.messageBytes - Self.otherBytes) / 4 * 3 }

    /// Makes a call.
    ///
    /// - Returns: The call's handle.
    func make(_ use: PluginStreamUse) -> UInt64 {
        switch use.work {
        case .make(let isReader, let type, let totalBytes, let attaches):
            var options: JSONObject = ["side": isReader ? "read" : "write"]
            options["type"] = type.map(JSON.string)
            options["bytes"] = totalBytes.map { .number(JSONNumber($0)) }
            if attaches { options["attach"] = true }
            return call("new", JSON.object(options).bytes, use) { result, answer in made(result, use, answer) }
        case .write(let bytes, let isEnd): return write(bytes, isEnd, use)
        case .read(let maximumBytes):
            let wanted = maximumBytes.map { ["bytes": .number(JSONNumber($0))] as JSONObject }
            return call("read", options(use, wanted ?? [:]), use, Self.giveRead)
        case .attach:
            return call("attach", options(use, sided(use)), use) { result, answer in attached(result, use, answer) }
        case .close(let bytes, let error): return close(bytes, error, use, receipt)
        }
    }

    private func attached(_ result: JSON, _ use: PluginStreamUse, _ answer: PluginStreamAnswer) {
        guard let end = host.own.takeDescriptor() else { return noDescriptor(use, answer) }
        let totalBytes = result["totalBytes"].map(Self.count)
        answer.give(.success(.attached(end, type: result["type"]?.stringValue, totalBytes: totalBytes)))
    }

    /// Closes a stream whose descriptor the daemon has passed but the system has not delivered.
    private func noDescriptor(_ use: PluginStreamUse, _ answer: PluginStreamAnswer) {
        let error = BridgeError(.streamClosed, "the system passed no descriptor for the stream")
        _ = close(nil, error, use) { _, _ in answer.give(.failure(error)) }
    }

    private func write(_ bytes: UnsafeRawBufferPointer, _ isEnd: Bool, _ use: PluginStreamUse) -> UInt64 {
        guard bytes.count <= writtenBytes else { return refuse(bytes.count, use) }
        var text = options(use, isEnd ? ["end": true] : [:])
        // Replaces the closing brace by the last member.
        text.removeLast()
        text.reserveCapacity(text.count + Base64Coding.textBytes(of: bytes.count) + Self.otherBytes)
        text += Array(#","base64":""#.utf8)
        Base64Coding.encode(bytes, to: &text)
        text += Array(#""}"#.utf8)
        return call("write", text, use, isEnd ? receipt : room)
    }

    /// Ends the stream of a writer that has sent more than its room, as the daemon would.
    private func refuse(_ count: Int, _ use: PluginStreamUse) -> UInt64 {
        let error = BridgeError(
            .quotaExceeded,
            "the writer sent \(count) bytes, more than the \(writtenBytes) that the stream had room for",
            data: ["room": .number(JSONNumber(writtenBytes))])
        return close(nil, error, use) { _, answer in answer.give(.failure(error)) }
    }

    private func close(
        _ bytes: UInt64?, _ error: BridgeError?, _ use: PluginStreamUse,
        _ give: @escaping (JSON, PluginStreamAnswer) -> Void
    ) -> UInt64 {
        var more = sided(use)
        more["bytes"] = bytes.map { .number(JSONNumber($0)) }
        more["error"] = error?.json
        return call("close", options(use, more), use, give)
    }

    private func options(_ use: PluginStreamUse, _ more: JSONObject) -> [UInt8] {
        var options = more
        options["stream"] = .string(use.name)
        return JSON.object(options).bytes
    }

    /// Returns options with the side that the plugin specifies; empty if it specifies none.
    private func sided(_ use: PluginStreamUse) -> JSONObject {
        var options: JSONObject = [:]
        options["side"] = Self.sides[use.side].map(JSON.string)
        return options
    }

    private static let sides = [Int(TRESTLE_STREAM_WRITER): "write", Int(TRESTLE_STREAM_READER): "read"]

    /// - Parameter give: Passes the result to the plugin.
    private func call(
        _ task: String, _ options: [UInt8], _ use: PluginStreamUse,
        _ give: @escaping (JSON, PluginStreamAnswer) -> Void
    ) -> UInt64 {
        let answer = use.answer
        return host.own.make(
            "bridge.stream.\(task)", options, for: use.call, timeoutNanoseconds: use.timeoutNanoseconds
        ) { outcome in
            switch outcome {
            case .failure(let error): answer.give(.failure(error))
            case .success(let result): give((try? JSON(parsing: result)) ?? .null, answer)
            }
        }
    }

    // MARK: Results

    private func made(_ result: JSON, _ use: PluginStreamUse, _ answer: PluginStreamAnswer) {
        let name = result["stream"]?.stringValue ?? ""
        let isAttached = result["attached"] == true
        let end = isAttached ? host.own.takeDescriptor() : nil
        if isAttached, end == nil {
            var made = use
            made.name = name
            return noDescriptor(made, answer)
        }
        answer.give(.success(.made(name: name, roomBytes: roomBytes(result), end)))
    }

    private func room(_ result: JSON, _ answer: PluginStreamAnswer) {
        answer.give(.success(.room(bytes: roomBytes(result))))
    }

    private func roomBytes(_ result: JSON) -> Int { min(writtenBytes, Int(clamping: result["room"]?.int64Value ?? 0)) }

    private static func giveRead(_ result: JSON, _ answer: PluginStreamAnswer) {
        if result["end"] == true { return answer.give(.success(.end(bytes: count(result["bytes"])))) }
        var text = result["base64"]?.stringValue ?? ""
        let bytes = text.withUTF8 { Base64Coding.decode(UnsafeRawBufferPointer($0)) } ?? []
        bytes.withUnsafeBytes {
            let totalBytes = result["totalBytes"].map { Self.count($0) }
            answer.give(.success(.bytes($0, type: result["type"]?.stringValue, totalBytes: totalBytes)))
        }
    }

    private func receipt(_ result: JSON, _ answer: PluginStreamAnswer) {
        let sides = ["writer": TRESTLE_STREAM_WRITER, "reader": TRESTLE_STREAM_READER]
        let by = result["by"]?.stringValue ?? ""
        let side = result["complete"] == true ? 0 : Int((sides[by] ?? TRESTLE_STREAM_DAEMON))
        answer.give(
            .success(
                .receipt(
                    bytes: Self.count(result["bytes"]), side: side,
                    result["error"].flatMap { BridgeError(json: $0) })))
    }

    private static func count(_ value: JSON?) -> UInt64 { UInt64(clamping: value?.int64Value ?? 0) }
}
