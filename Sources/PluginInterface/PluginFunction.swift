package import CTaskPlugin

/// A function of a plugin's table that takes a request.
package enum PluginFunction {
    case configure, reconfigure, start, launch, call, intercept, describe, stop, saveSessions, restoreSessions

    /// The type of such a function.
    package typealias Pointer = @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<trestle_request>?) -> Void
}

extension PluginLibrary {
    /// Returns the function; `nil` if the plugin does not have it, or was built with a header without it. In this case
    /// the request counts as answered with `{}`.
    ///
    /// The table is read field by field, as a plugin's table may be shorter than this program's struct.
    @inline(__always)
    package func pointer(to function: PluginFunction) -> PluginFunction.Pointer? {
        switch function {
        case .call: table.pointee.call
        case .configure: table.pointee.configure
        case .start: table.pointee.start
        case .launch: table.pointee.launch
        case .stop: table.pointee.stop
        case .reconfigure: has(\.reconfigure) ? table.pointee.reconfigure : nil
        case .intercept: has(\.intercept) ? table.pointee.intercept : nil
        case .describe: has(\.describe) ? table.pointee.describe : nil
        case .saveSessions: has(\.save_sessions) ? table.pointee.save_sessions : nil
        case .restoreSessions: has(\.restore_sessions) ? table.pointee.restore_sessions : nil
        }
    }
}
