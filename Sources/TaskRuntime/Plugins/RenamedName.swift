import BridgeJSON

/// Former names of members of manifests and settings. The daemon refuses a former name and shows the current one,
/// instead of ignoring it.
public enum RenamedName {
    private static let names = [
        "open": "public", "optionVerbs": "optionPermissions", "failure": "onFailure", "reconfigurable": "reloadable",
        "worker_timeout": "plugin_timeout",
    ]

    /// Returns the current name of a member; `nil` if the name is not a former one.
    public static func current(of name: String) -> String? { names[name] }

    /// Returns the end of an error message about an unknown name; `nil` if the name is not a former one.
    public static func hint(for name: String) -> String? { current(of: name).map { "; use \($0)" } }

    /// Returns a message about the first former name among the members of an object or of a list of objects; `nil` if
    /// there is none.
    static func fault(in json: JSON?, _ what: String) -> String? {
        let objects = json?.arrayValue ?? json.map { [$0] } ?? []
        for object in objects {
            for key in object.objectValue?.keys ?? [] {
                if let current = current(of: key) {
                    return "\(what) has the unknown member \(key); use \(current)"
                }
            }
        }
        return nil
    }
}
