// redirect: turns calls of one task into calls of another. For tasks that were renamed, or that another plugin does
// better.
import Synchronization
import TaskKit

/// Creates the plugin, for the daemon or for a test.
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

/// The map from tasks to the tasks that replace them.
final class Routes: Sendable {
    /// The plugin's section of the configuration.
    struct Section: Codable, Sendable {
        /// The names of tasks, with the name of the task that replaces each.
        var tasks: [String: String]?

        /// The descriptions of the settings, for operators.
        static let settings: [String: JSON] = [
            "tasks": ["description": "From the name of a task to that of the one that does its work."]
        ]
    }

    private let section = Mutex(Section())

    func take(_ new: Section) { section.withLock { $0 = new } }

    var tasks: [String] { section.withLock { $0.tasks ?? [:] }.keys.sorted() }

    func target(of task: String) -> String? { section.withLock { $0.tasks?[task] } }
}
