// policy.d: the folder of all policy files.
import EventLoop
import FileTrust
import Glibc
import TOMLDocument
import TaskRuntime

/// The rules in force and their warnings.
struct PolicyRules: Sendable, Equatable {
    /// The rules of all files, in the order of the files.
    var rules: [PolicyRule] = []
    /// The group that may use public tasks; `nil` if it does not exist on this machine.
    var publicGroup: UInt32?
    /// Valid contents of the files that are probably mistakes.
    var warnings: [ConfigurationProblem] = []

    /// Creates an empty policy without a group.
    init() {}

    /// Reads every `*.toml` of a folder, in the order of their names. Blocks.
    ///
    /// - Parameter isNamed: Whether a setting names the folder, which must then exist.
    /// - Throws: The problems of all files.
    init(
        folder: String, isNamed: Bool, accounts: AccountNames = .system
    ) throws(ConfigurationErrors) {
        publicGroup = accounts.gid(Policy.groupName)
        var problems: [ConfigurationProblem] = []
        for name in try Self.names(in: folder, isNamed: isNamed) {
            let path = "\(folder)/\(name)"
            do throws(FileTrust.Doubt) { try FileTrust.check(path) } catch {
                problems.append(
                    ConfigurationProblem(source: path, reason: "it grants rights and must be protected: \(error)"))
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
        do throws(SystemError) {
            return try FolderContents.names(in: folder).filter { $0.hasSuffix(".toml") && !$0.hasPrefix(".") }.sorted()
        } catch {
            if error.code == ENOENT, !isNamed { return [] }
            let reason = "the policy cannot be read: \(String(cString: strerror(error.code)))"
            throw ConfigurationErrors(problems: [ConfigurationProblem(source: folder, reason: reason)])
        }
    }
}
