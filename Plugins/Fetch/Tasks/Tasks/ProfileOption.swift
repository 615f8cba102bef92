import HTTPRules
import TaskKit

/// The option `profile`.
extension ProfileName {
    init(option text: String) throws(JSONMismatch) {
        guard let name = ProfileName(text) else {
            throw JSONMismatch(
                path: "$.profile", expected: Self.form, got: "an invalid string of \(text.utf8.count) bytes")
        }
        self = name
    }

    /// Creates the name from an option.
    ///
    /// - Parameter text: The option; `nil` for the default profile.
    /// - Throws: `options.invalid`.
    init(ofOptions text: String?) throws(BridgeError) {
        guard let text else {
            self = .standard
            return
        }
        do throws(JSONMismatch) { self = try ProfileName(option: text) } catch { throw BridgeError(error) }
    }
}
