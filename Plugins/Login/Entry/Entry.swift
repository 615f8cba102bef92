// The entry point of libLoginPlugin.so.
import LoginTasks
import TaskKit

/// Returns the plugin's table. The daemon calls this once.
@c public func trestle_plugin_entry() -> PluginTable {
    Plugin.login().export()
}
