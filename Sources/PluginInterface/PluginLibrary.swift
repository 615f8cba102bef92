// PluginInterface: the C interface between daemon and plugin, on the side of the program that loads a plugin:
// libraries, and the conversion of bytes and errors.
package import CTaskPlugin
import Glibc

/// The reason why a file cannot be used as a plugin.
package struct PluginLoadError: Error, Sendable, CustomStringConvertible {
    /// The end of a sentence. The code that shows it adds the name of the file.
    package var description: String
}

/// A plugin's shared library. It is never unloaded, because threads, registered types and callbacks may still point
/// into its code.
package struct PluginLibrary {
    /// The plugin's table. Valid until the process ends.
    package let table: UnsafePointer<trestle_plugin>

    /// The text of the plugin's manifest.
    package var manifest: UnsafeRawBufferPointer { table.pointee.manifest.buffer }

    /// Loads the library and gets its table. Loop thread, because the library's entry point runs.
    ///
    /// - Parameter copy: A file with the same content that is loaded instead. A path that was loaded before is not
    ///   loaded again, even if the file has changed.
    package init(path: String, copy: String? = nil) throws(PluginLoadError) {
        try PluginFile.check(path)
        let loadedPath = copy ?? path
        guard let library = dlopen(loadedPath, RTLD_NOW | RTLD_LOCAL) else {
            throw PluginLoadError(description: "it cannot be loaded: \(Self.lastError(besides: loadedPath))")
        }
        guard let symbol = dlsym(library, TRESTLE_PLUGIN_ENTRY) else {
            throw PluginLoadError(description: "it is not a plugin: it exports no function \(TRESTLE_PLUGIN_ENTRY)")
        }
        typealias Entry = @convention(c) () -> UnsafePointer<trestle_plugin>?
        // The plugin interface defines the name; a library that exports it guarantees this signature.
        let entry = unsafeBitCast(symbol, to: Entry.self)
        guard let table = entry() else {
            throw PluginLoadError(description: "its function \(TRESTLE_PLUGIN_ENTRY) returned no table")
        }
        try self.init(table)
    }

    /// A plugin whose table exists without a library, for tests.
    package init(table: UnsafeRawPointer) throws(PluginLoadError) {
        try self.init(table.assumingMemoryBound(to: trestle_plugin.self))
    }

    private init(_ table: UnsafePointer<trestle_plugin>) throws(PluginLoadError) {
        try Self.checkVersion(table)
        self.table = table
    }

    /// Returns whether the plugin was built with a header that has the function, or the last field.
    func has(_ field: PartialKeyPath<trestle_plugin>) -> Bool {
        guard let offset = MemoryLayout<trestle_plugin>.offset(of: field) else { return false }
        return Int(table.pointee.size) >= offset + MemoryLayout<UnsafeRawPointer>.size
    }

    /// Whether it gets only the ends of sessions that have called it.
    package var hearsOnlyCallers: Bool {
        has(\.session_scope) && table.pointee.session_scope == UInt32(TRESTLE_SESSIONS_CALLERS)
    }

    /// Whether it has a function for questions to interceptors.
    package var canIntercept: Bool { pointer(to: .intercept) != nil }

    private static func checkVersion(_ table: UnsafePointer<trestle_plugin>) throws(PluginLoadError) {
        // Every version of the table begins with size and version. The rest is read only after this check.
        guard table.pointee.abi == TRESTLE_ABI else {
            throw PluginLoadError(
                description:
                    "it was built for version \(table.pointee.abi) of the plugin interface, this daemon speaks "
                    + "version \(TRESTLE_ABI): build it again with this daemon's TaskKit or trestle_plugin.h")
        }
        // Fields that were added later are read only if the table is long enough.
        let expected = MemoryLayout<trestle_plugin>.offset(of: \.save_sessions) ?? MemoryLayout<trestle_plugin>.size
        guard table.pointee.size >= UInt32(expected) else {
            throw PluginLoadError(
                description: "its table has \(table.pointee.size) bytes, the plugin interface requires \(expected)")
        }
        guard table.pointee.manifest.data != nil, table.pointee.attach != nil, table.pointee.call != nil else {
            throw PluginLoadError(description: "its table lacks the manifest, attach or call")
        }
    }

    private static func lastError(besides path: String) -> String {
        guard let message = dlerror() else { return "no reason was given" }
        let text = String(cString: message)
        return text.hasPrefix(path + ": ") ? String(text.dropFirst(path.count + 2)) : text
    }
}
