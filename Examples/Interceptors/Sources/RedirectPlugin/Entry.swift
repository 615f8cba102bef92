import Redirecting
import TaskKit

/// Called once by the daemon.
@c public func trestle_plugin_entry() -> UnsafePointer<trestle_plugin> {
    makeRedirect().export()
}
