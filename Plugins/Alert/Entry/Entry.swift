// The entry point of libAlertPlugin.so.
import AlertTasks
import TaskKit

/// Called by the daemon, once.
@c public func trestle_plugin_entry() -> PluginTable {
    Plugin.alert().export()
}
