import BridgeClient
import BridgeJSON
import TestSupport

extension WebRun {
    /// Rules that let the first origin do what tests of other bridges need.
    static func dialectRules(_ origins: [String]) -> String {
        """
        [[rule]]
        allow = ["register", "subscribe", "serve", "call"]
        names = ["test*", "App.resume", "bridge.ping"]
        origin = "\(origins[0])"
        """
    }

    /// Starts trestle-web with a page of the first origin, and a profile that says more.
    ///
    /// - Parameters:
    ///   - page: The page's name.
    ///   - settings: Lines of the profile, at its top.
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
