// PluginInterface: the C interface between daemon and plugin, seen from the side of the program that loads a plugin:
// libraries, and bytes and errors on their way over it.
package import CTaskPlugin
import Glibc

/// Why a file cannot be used as a plugin, in a sentence.
package struct PluginLoadError: Error, Sendable, CustomStringConvertible {
    /// The sentence's end; the file is named by the code that shows it.
    package var description: String
}

/// A plugin's shared library, loaded for good: code that has run in a process is never unmapped again (threads,
/// registered types and callbacks may still point into it).
package struct PluginLibrary {
    /// The plugin's table; valid until the process ends.
    package let table: UnsafePointer<trestle_plugin>

    /// The plugin's manifest, as it wrote it.
    package var manifest: UnsafeRawBufferPointer { table.pointee.manifest.buffer }

    /// Loads the library and asks it for its table. Loop thread, because the library's entry point runs.
    ///
    /// - Parameter copy: a file of the same content, to be loaded instead: what has been loaded from a path before is
    ///   not loaded from there again, whatever the file holds now.
    package init(path: String, copy: String? = nil) throws(PluginLoadError) {
        try PluginFile.check(path)
        let loadedPath = copy ?? path
        guard let library = dlopen(loadedPath, RTLD_NOW | RTLD_LOCAL) else {
            throw PluginLoadError(description: "it cannot be loaded: \(Self.lastError(besides: loadedPath))")
        }
        guard let symbol = dlsym(library, TRESTLE_PLUGIN_ENTRY) else {
            throw PluginLoadError(description: "it is no plugin: it exports no function \(TRESTLE_PLUGIN_ENTRY)")
        }
        typealias Entry = @convention(c) () -> UnsafePointer<trestle_plugin>?
        // The name is the plugin interface's own; who exports it promises this signature.
        let entry = unsafeBitCast(symbol, to: Entry.self)
        guard let table = entry() else {
            throw PluginLoadError(description: "its function \(TRESTLE_PLUGIN_ENTRY) returned no table")
        }
        try self.init(table)
    }

    /// A plugin's table that is at hand without a library of its own, as tests have it.
    package init(table: UnsafeRawPointer) throws(PluginLoadError) {
        try self.init(table.assumingMemoryBound(to: trestle_plugin.self))
    }

    private init(_ table: UnsafePointer<trestle_plugin>) throws(PluginLoadError) {
        try Self.checkVersion(table)
        self.table = table
    }

    /// Whether the plugin was built against a header that has the function.
    func has(_ function: PartialKeyPath<trestle_plugin>) -> Bool {
        guard let offset = MemoryLayout<trestle_plugin>.offset(of: function) else { return false }
        return Int(table.pointee.size) >= offset + MemoryLayout<UnsafeRawPointer>.size
    }

    /// Whether it can be asked about calls.
    package var canIntercept: Bool { pointer(to: .intercept) != nil }

    private static func checkVersion(_ table: UnsafePointer<trestle_plugin>) throws(PluginLoadError) {
        // Size and version stand at the start of every version of the table; the rest is looked at only then.
        guard table.pointee.abi == TRESTLE_ABI else {
            throw PluginLoadError(
                description:
                    "it was built for version \(table.pointee.abi) of the plugin interface, this daemon speaks "
                    + "version \(TRESTLE_ABI): build it again with this daemon's TaskKit or trestle_plugin.h")
        }
        // What was added since is looked at only where the table is long enough.
        let expected = MemoryLayout<trestle_plugin>.offset(of: \.save_sessions) ?? MemoryLayout<trestle_plugin>.size
        guard table.pointee.size >= UInt32(expected) else {
            throw PluginLoadError(
                description: "its table has \(table.pointee.size) bytes, the plugin interface asks for \(expected)")
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
