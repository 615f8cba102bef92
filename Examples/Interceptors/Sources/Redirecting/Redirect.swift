// redirect: calls of one task become calls of another. For tasks that are called something else now, or that another
// plugin does better.
import Synchronization
import TaskKit

/// The plugin, ready for the daemon or for a test.
public func makeRedirect() -> Plugin {
    let routes = Routes()
    return Plugin("redirect", version: "1.0.0")
        .configuration(
            PluginConfiguration(Routes.Section()), describing: Routes.Section.settings, reloadable: true,
            onChange: { section in routes.take(section) }
        )
        .interceptor(Redirect(routes: routes))
}

struct Redirect: Interceptor {
    static let name = "redirect.routes"
    static let summary = "Sends calls of a task to another one."

    let routes: Routes
    var tasks: [String] { routes.tasks }

    func intercept(_ call: InterceptedCall) async throws -> Decision {
        routes.target(of: call.task).map { .redirect(to: $0) } ?? .pass
    }
}

/// Which task's calls go where.
final class Routes: Sendable {
    /// The plugin's section of the configuration.
    struct Section: Codable, Sendable {
        /// From the name of a task to that of the one that does its work.
        var tasks: [String: String]?

        /// What operators read about the settings.
        static let settings: [String: JSON] = [
            "tasks": ["description": "From the name of a task to that of the one that does its work."]
        ]
    }

    private let section = Mutex(Section())

    func take(_ new: Section) { section.withLock { $0 = new } }

    var tasks: [String] { section.withLock { $0.tasks ?? [:] }.keys.sorted() }

    func target(of task: String) -> String? { section.withLock { $0.tasks?[task] } }
}
