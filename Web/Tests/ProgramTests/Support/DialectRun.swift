import BridgeClient
import BridgeJSON
import TestSupport

extension WebRun {
    /// Returns rules that permit the first origin everything that tests of other bridges need.
    static func dialectRules(_ origins: [String]) -> String {
        """
        [[rule]]
        allow = ["register", "subscribe", "serve", "call"]
        names = ["test*", "App.resume", "bridge.ping"]
        origin = "\(origins[0])"
        """
    }

    /// Starts trestle-web with a page of the first origin and a profile with additional settings.
    ///
    /// - Parameters:
    ///   - page: The page's name.
    ///   - settings: Lines at the top of the profile.
    func start(_ page: String, settings: String) throws {
        let origin = server.origins[0]
        try write(
            profile: "allow = [\"\(origin)\"]\nbridge = [\"\(origin)\"]\n\(settings)\n[pool]\nwarm = 0\n",
            named: "dialects")
        try start("--profile", "dialects", "\(origin)/\(page)")
    }

    /// Runs the body of an async function in the only page.
    @discardableResult
    func evaluate(_ script: String) async throws -> JSON {
        try await bridge.call("web.evaluate", ["script": .string(script)] as JSON, as: JSON.self)["result"] ?? JSON.null
    }
}
