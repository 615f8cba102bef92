// The entry point of libAlertPlugin.so.
import AlertTasks
import TaskKit

/// Returns the plugin's table. The daemon calls this once.
@c public func trestle_plugin_entry() -> PluginTable {
    Plugin.alert().export()
}
