// policy.d: all files of rules.
import FileTrust
import Glibc
import TOMLDocument
import TaskRuntime

/// The rules in force, and where they come from.
struct PolicyRules: Sendable, Equatable {
    /// Of all files, in the order of these.
    var rules: [PolicyRule] = []
    /// The group that may use what is open; nil: there is none on this machine.
    var openGroup: UInt32?
    /// What is allowed in the files, and will hardly be meant.
    var warnings: [ConfigurationProblem] = []

    /// No rules, and no group.
    init() {}

    /// Reads every `*.toml` of a folder, in the order of their names. Blocks.
    ///
    /// - Parameter isNamed: whether somebody has named the folder, which must then exist.
    /// - Throws: everything that is wrong with any of them.
    init(
        folder: String, isNamed: Bool, accounts: AccountNames = .system
    ) throws(ConfigurationErrors) {
        openGroup = accounts.gid(Policy.groupName)
        var problems: [ConfigurationProblem] = []
        for name in try Self.names(in: folder, isNamed: isNamed) {
            let path = "\(folder)/\(name)"
            do throws(FileTrust.Doubt) { try FileTrust.check(path) } catch {
                problems.append(ConfigurationProblem(source: path, reason: "it gives rights, and \(error)"))
                continue
            }
            do throws(TOMLError) {
                let file = PolicyFile(try TOMLDocument(contentsOf: path), accounts)
                rules += file.rules
                problems += file.problems
                warnings += file.warnings
            } catch {
                problems.append(ConfigurationProblem(error))
            }
        }
        guard problems.isEmpty else { throw ConfigurationErrors(problems: problems) }
        warnings += PolicyReview(rules).warnings
    }

    private static func names(in folder: String, isNamed: Bool) throws(ConfigurationErrors) -> [String] {
        guard let stream = opendir(folder) else {
            let code = errno
            if code == ENOENT, !isNamed { return [] }
            let reason = "the policy cannot be read: \(String(cString: strerror(code)))"
            throw ConfigurationErrors(problems: [ConfigurationProblem(source: folder, reason: reason)])
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(".toml"), !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }
}
