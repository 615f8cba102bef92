import Glibc

/// The Python package `trestle_bridge` that is shipped with the daemon. Plugin processes find it without configuration.
enum PythonPackage {
    /// The directory that contains it; `nil` if it was not shipped with this daemon.
    static let folder = "/proc/self/exe".resolvedPath.flatMap { folder(executable: $0) }

    /// Returns the environment of a plugin process, with that directory added to the end of its PYTHONPATH.
    static func added(to environment: [String: String]) -> [String: String] {
        guard let folder else { return environment }
        var environment = environment
        let own = environment["PYTHONPATH"].flatMap { $0.isEmpty ? nil : $0 }
        environment["PYTHONPATH"] = [own, folder].compactMap { $0 }.joined(separator: ":")
        return environment
    }

    /// Returns the directory of an installation, else of the checkout in which the daemon was built, with or without a
    /// scratch path of its own.
    static func folder(executable: String) -> String? {
        let programFolder = executable.parentFolder
        return ["/../share/trestle/python", "/../../../Clients/Python", "/../../../../Clients/Python"]
            .map { programFolder + $0 }.first { access("\($0)/trestle_bridge/__init__.py", R_OK) == 0 }?.resolvedPath
    }
}
