// The entry point of libPersistencePlugin.so.
import PersistenceTasks
import TaskKit

/// Called once by the daemon.
@c public func trestle_plugin_entry() -> PluginTable {
    Plugin.persistence().export()
}
