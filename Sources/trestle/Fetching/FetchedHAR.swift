import BridgeJSON
import Glibc

/// The HAR of a fetch: the daemon's data about the requests, with the body as received here.
final class FetchedHAR {
    /// The maximum size of a body in the file; a longer one is left out, because readers load the file as a whole.
    static let maximumBodyBytes = 16 << 20

    private let result: JSON
    private var bytes: [UInt8] = []
    private var count = 0
    private let begin = ContinuousClock.now
    /// The reason why the body is not complete; `nil` if it is complete or was not read.
    private var failure: String?
    private var isRead = false

    /// - Parameter result: The result of `http.fetch` with the option `har`.
    init(_ result: JSON) { self.result = result }

    /// Adds bytes of the body, in order.
    func note(_ more: [UInt8]) {
        count += more.count
        if count <= Self.maximumBodyBytes { bytes += more }
    }

    /// Ends the body.
    func end(_ error: (any Error)? = nil) {
        isRead = true
        failure = error.map { "the body is not complete: \($0)" }
    }

    /// The complete HAR; `nil` if the daemon sent no data about the requests.
    var json: JSON? {
        guard var har = result["har"]?.objectValue, var log = har["log"]?.objectValue else { return nil }
        var entries = log["entries"]?.arrayValue ?? []
        // If the last entry is missing, the body belongs to none of the entries.
        if isRead, log["comment"] == nil, let last = entries.popLast() { entries.append(completed(last)) }
        log["entries"] = .array(entries)
        har["log"] = .object(log)
        return .object(har)
    }

    private func completed(_ entry: JSON) -> JSON {
        guard var members = entry.objectValue, var response = members["response"]?.objectValue,
            var content = response["content"]?.objectValue, var timings = members["timings"]?.objectValue
        else { return entry }
        content["size"] = .number(JSONNumber(count))
        if count > Self.maximumBodyBytes {
            content["comment"] = "the body is left out: it is too long"
        } else if let text = String(validating: bytes, as: UTF8.self) {
            content["text"] = .string(text)
        } else {
            var text: [UInt8] = []
            bytes.withUnsafeBytes { Base64Coding.encode($0, to: &text) }
            content["text"] = .string(String(decoding: text, as: UTF8.self))
            content["encoding"] = "base64"
        }
        if let failure { content["comment"] = .string(failure) }
        response["content"] = .object(content)
        members["response"] = .object(response)
        let received = (ContinuousClock.now - begin).components
        let milliseconds = received.seconds * 1000 + received.attoseconds / 1_000_000_000_000_000
        timings["receive"] = .number(JSONNumber(milliseconds))
        members["timings"] = .object(timings)
        members["time"] = .number(JSONNumber((timings["wait"]?.int64Value ?? 0) + milliseconds))
        return .object(members)
    }

    /// Writes it to a file.
    ///
    /// - Throws: ``UsageFailure`` if a file of this name was created meanwhile, or ``FileFailure``.
    func write(to file: OutputFile, overwrites: Bool) throws {
        guard let json else { return }
        try file.write(Array((json.text + "\n").utf8))
        try file.finish(overwrites: overwrites)
    }
}
