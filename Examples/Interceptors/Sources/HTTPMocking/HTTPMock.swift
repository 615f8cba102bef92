// httpmock: answers HTTP requests from a file, without a server. For testing a page without its server.
import Foundation
import Synchronization
import TaskKit

/// Creates the plugin, for the daemon or for a test.
public func makeHTTPMock() -> Plugin {
    let responses = Responses()
    return Plugin("httpmock", version: "1.0.0")
        .configuration(
            PluginConfiguration(Responses.Section()), describing: Responses.Section.settings,
            onChange: { section in responses.take(section) }
        )
        .onStart { context in try await responses.read(in: context) }
        .interceptor(HTTPMock(responses: responses))
}

struct HTTPMock: Interceptor {
    static let name = "httpmock.responses"
    static let summary = "Answers HTTP requests from a file."

    let responses: Responses
    /// Without a file, no request is intercepted.
    var tasks: [String] { responses.isEmpty ? [] : ["http.load"] }

    func intercept(_ call: InterceptedCall) async throws -> Decision {
        let request = try call.options(as: Request.self)
        guard let response = responses.response(to: request) else { return .pass }
        return .answer(response)
    }
}

/// The part of a request that is compared.
struct Request: Codable, Sendable {
    var method: String?
    var url: String
}

/// A response, in the form of a result of `http.load`.
struct Response: Codable, Sendable {
    var status: Int
    var headers: [String: String]?
    /// `{text}`, `{json}` or `{base64}`.
    var body: JSON?
    /// The value of `from` in the result of the fetch.
    var from: String?
}

/// The responses in the file.
final class Responses: Sendable {
    /// The plugin's section of the configuration.
    struct Section: Codable, Sendable {
        /// The absolute path of the file; `nil` for no mocking.
        var file: String?

        /// The descriptions of the settings, for operators.
        static let settings: [String: JSON] = [
            "file": ["description": "A JSON file with the responses."]
        ]
    }

    /// One response. If several match a request, the first is used.
    struct Entry: Codable, Sendable {
        /// The URL, or a prefix of URLs followed by `*`.
        var url: String
        /// The method; `nil` for any.
        var method: String?
        var response: Response

        func fits(_ request: Request) -> Bool {
            guard method == nil || method == request.method else { return false }
            return url.hasSuffix("*") ? request.url.hasPrefix(url.dropLast()) : request.url == url
        }
    }

    private let file = Mutex<String?>(nil)
    private let entries = Mutex<[Entry]>([])

    func take(_ section: Section) { file.withLock { $0 = section.file } }

    func read(in context: PluginContext) async throws {
        guard let path = file.withLock({ $0 }) else { return }
        let read = try await context.blocking {
            let text = try String(contentsOfFile: path, encoding: .utf8)
            return try JSONCoding.decode([Entry].self, from: JSON(parsing: text))
        }
        entries.withLock { $0 = read }
        context.log.notice("\(read.count) responses come from \(path).")
    }

    var isEmpty: Bool { entries.withLock { $0.isEmpty } }

    func response(to request: Request) -> Response? {
        let entry = entries.withLock { $0.first { $0.fits(request) } }
        guard var response = entry?.response else { return nil }
        response.from = response.from ?? "httpmock"
        return response
    }
}
