// The entry point of libLoginPlugin.so.
import LoginTasks
import TaskKit

/// Called by the daemon, once.
@c public func trestle_plugin_entry() -> PluginTable {
    Plugin.login().export()
}
