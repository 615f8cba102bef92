// The entry point of libEchoPlugin.so.
import EchoTasks
import TaskKit

/// Called once by the daemon.
@c public func trestle_plugin_entry() -> PluginTable {
    Plugin.echo().export()
}
