import Glibc

/// The Python package `trestle_bridge` that came with the daemon. Plugin processes find it without further ado.
enum PythonPackage {
    /// The directory that holds it; nil: it did not come with this daemon.
    static let folder = "/proc/self/exe".resolvedPath.flatMap { folder(executable: $0) }

    /// The environment of a plugin process, with that directory behind those that it names itself.
    static func added(to environment: [String: String]) -> [String: String] {
        guard let folder else { return environment }
        var environment = environment
        let own = environment["PYTHONPATH"].flatMap { $0.isEmpty ? nil : $0 }
        environment["PYTHONPATH"] = [own, folder].compactMap { $0 }.joined(separator: ":")
        return environment
    }

    /// Of an installation, else of the checkout that the daemon was built in, with a scratch path of its own or
    /// without.
    static func folder(executable: String) -> String? {
        let programFolder = executable.parentFolder
        return ["/../share/trestle/python", "/../../../Clients/Python", "/../../../../Clients/Python"]
            .map { programFolder + $0 }.first { access("\($0)/trestle_bridge/__init__.py", R_OK) == 0 }?.resolvedPath
    }
}
