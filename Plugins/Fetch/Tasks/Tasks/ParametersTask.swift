import HTTPRules
import TaskKit

/// `http.parameters`: the parameters for requests to a URL, for a container that adds them to its own requests.
struct ParametersTask: ImmediateTask {
    static let name = "http.parameters"
    static let summary = "Returns the public parameters for a URL."

    struct Options: Codable, Sendable {
        var url: String
    }

    struct Result: Codable, Sendable {
        var query: JSON
        var headers: JSON
    }

    let service: FetchService

    func run(_ options: Options, _ call: Call) throws -> Result {
        let url: WebURL
        do throws(AddressRefusal) { url = try WebURL(options.url) } catch { throw BridgeError.invalidURL(error) }
        let values = PublicParameters.Values(caller: call.caller, install: service.install.text)
        let found = service.settings.parameters.parameters(for: url, values)
        return Result(query: Self.pairs(found.query), headers: Self.pairs(found.headers))
    }

    private static func pairs(_ pairs: [(String, String)]) -> JSON {
        .array(pairs.map { [.string($0.0), .string($0.1)] })
    }
}
