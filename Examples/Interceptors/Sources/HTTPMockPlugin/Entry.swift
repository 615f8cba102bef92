import HTTPMocking
import TaskKit

/// Called once by the daemon.
@c public func trestle_plugin_entry() -> PluginTable {
    makeHTTPMock().export()
}
