import BridgeJSON

/// What members of manifests and settings were called before. A daemon that gets an old name refuses it and shows the
/// new one, instead of ignoring it.
public enum RenamedName {
    private static let names = [
        "open": "public", "optionVerbs": "optionPermissions", "failure": "onFailure", "reconfigurable": "reloadable",
        "worker_timeout": "plugin_timeout",
    ]

    /// What a name is called now; nil: it is no old one.
    public static func current(of name: String) -> String? { names[name] }

    /// The end of an error sentence about an unknown name; nil: it is no old one.
    public static func hint(for name: String) -> String? { current(of: name).map { "; it is called \($0) now" } }

    /// The sentence about the first old name among the members of an object or of a list of objects; nil: there is
    /// none.
    static func fault(in json: JSON?, _ what: String) -> String? {
        let objects = json?.arrayValue ?? json.map { [$0] } ?? []
        for object in objects {
            for key in object.objectValue?.keys ?? [] {
                if let current = current(of: key) {
                    return "\(what) has the member \(key), which is called \(current) now"
                }
            }
        }
        return nil
    }
}
