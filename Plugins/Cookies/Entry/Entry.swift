// The entry point of libCookiesPlugin.so.
import CookiesTasks
import TaskKit

/// Called once by the daemon.
@c public func trestle_plugin_entry() -> PluginTable {
    Plugin.cookies().export()
}
