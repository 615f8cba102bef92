// The entry point of libPersistencePlugin.so.
import PersistenceTasks
import TaskKit

/// Returns the plugin's table. The daemon calls this once.
@c public func trestle_plugin_entry() -> PluginTable {
    Plugin.persistence().export()
}
