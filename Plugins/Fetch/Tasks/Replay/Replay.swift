import Glibc
import HTTPRules
import Synchronization
import TaskKit

/// A recording that answers requests.
final class Replay: Sendable {
    /// The handling of requests that were not recorded.
    enum Mode: String, Codable, Sendable, CaseIterable {
        /// The requests fail.
        case strict
        /// The requests continue to the next stage.
        case elseLoad = "else-load"
    }

    /// A recorded response.
    struct Response: Sendable {
        var head: ResponseHead
        var sha256: String
    }

    private struct Key: Hashable {
        var method: String
        var url: String
    }

    let folder: RecordingFolder
    let mode: Mode
    let entryCount: Int
    /// The responses to each request, in their order.
    private let responses: [Key: [Response]]
    /// The number of responses that each request has already received.
    private let given = Mutex<[Key: Int]>([:])

    /// The fields about the coding of the body. The body is stored decoded.
    private static let codingFields: Set<String> = ["content-encoding", "content-length", "transfer-encoding"]

    /// Reads a recording. Waits for the disk.
    ///
    /// - Throws: `recording.not_found`, `recording.invalid`, `storage.failed`.
    init(_ folder: RecordingFolder, _ mode: Mode) throws(BridgeError) {
        guard folder.exists else { throw .noRecording(folder.name) }
        (self.folder, self.mode) = (folder, mode)
        var bytes: [UInt8] = []
        let file = try RecordedFile(folder.harPath, O_RDONLY)
        while case let more = try file.read(upTo: 256 << 10), !more.isEmpty {
            bytes += more
            guard bytes.count <= Recording.maximumHARBytes else {
                throw .invalidRecording(folder.name, "it is too long")
            }
        }
        guard let entries = (try? JSON(parsing: bytes))?["log"]?["entries"]?.arrayValue else {
            throw .invalidRecording(folder.name, "it is not a HAR")
        }
        var responses: [Key: [Response]] = [:]
        for entry in entries {
            guard let (key, response) = Self.response(entry) else {
                throw .invalidRecording(folder.name, "it has an invalid entry")
            }
            responses[key, default: []].append(response)
        }
        (self.responses, entryCount) = (responses, entries.count)
    }

    private static func response(_ entry: JSON) -> (Key, Response)? {
        guard let request = entry["request"], let method = request["method"]?.stringValue,
            let url = request["url"]?.stringValue, let answer = entry["response"],
            let status = answer["status"]?.int64Value, (200...999).contains(status),
            let sha256 = answer["content"]?["_file"]?.stringValue?.split(separator: "/").last,
            RecordingFolder.isHash(sha256)
        else { return nil }
        var headers = HeaderList()
        for pair in answer["headers"]?.arrayValue ?? [] {
            guard let name = pair["name"]?.stringValue, let value = pair["value"]?.stringValue,
                let field = HeaderField(name: name, value: value)
            else { return nil }
            guard !codingFields.contains(name.lowercased()), value != HAREntry.mask else { continue }
            headers.append(field)
        }
        let head = ResponseHead(
            status: Int(status), reason: answer["statusText"]?.stringValue ?? "", version: "", headers: headers)
        return (Key(method: method, url: url), Response(head: head, sha256: String(sha256)))
    }

    /// Returns the next response to a request. After the last one it returns the last one again; `nil` if there is
    /// none.
    func response(to hop: Hop) -> Response? {
        let key = Key(method: hop.method, url: hop.url.text)
        guard let list = responses[key] else { return nil }
        let index = given.withLock { given in
            let index = given[key, default: 0]
            given[key] = index + 1
            return index
        }
        return list[min(index, list.count - 1)]
    }
}

extension BridgeError {
    static func noRecording(_ name: String) -> BridgeError {
        BridgeError("recording.not_found", "there is no recording \(name)")
    }

    static func invalidRecording(_ name: String, _ what: String) -> BridgeError {
        BridgeError("recording.invalid", "the recording \(name) cannot be replayed: \(what)")
    }
}
