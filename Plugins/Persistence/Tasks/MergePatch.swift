import TaskKit

/// JSON Merge Patch, RFC 7396: a patch is an object that looks like what it changes. Its members replace those of the
/// same name, `null` removes them, and objects are merged likewise, one inside the other.
enum MergePatch {
    /// The target as the patch changes it. What the patch does not mention stays as it is, number texts included.
    static func apply(_ patch: JSON, to target: JSON) -> JSON {
        guard case .object(let members) = patch else { return patch }
        var result = target.objectValue ?? JSONObject()
        for (name, value) in members {
            // `none` in full: a bare nil could as well be the JSON null.
            result[name] = value.isNull ? Optional.none : apply(value, to: result[name] ?? .null)
        }
        return .object(result)
    }
}
