// The entry point of libLoginPlugin.so.
import LoginTasks
import TaskKit

/// Called by the daemon, once.
@c public func trestle_plugin_entry() -> UnsafePointer<trestle_plugin> {
    Plugin.login().export()
}
