import ArgumentParser
import BridgeClient
import BridgeJSON
import Glibc

/// `trestle explain`
struct ExplainCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Shows whether a caller is allowed to do something, and which rule decides.",
        discussion: """
            Without --as, --session or --plugin, the caller is the user who runs the command, with all groups that \
            this machine knows.
            The exit status is 0 if it is allowed, and 1 if it is denied. docs/policy.md describes the rules.

            EXAMPLES
              trestle explain Alert
              trestle explain persistence.create --as ada --origin https://notes.example
              trestle explain subscribe record.changed --as 1000
              trestle explain store 1000:https://notes.example --as ada
              trestle explain login.status --plugin notes
            """)

    @OptionGroup var common: CommonOptions
    @ParentCommand var root: Trestle

    @Argument(
        help: ArgumentHelp(
            "The task that is called; or, before NAME, a verb: register, serve, publish, subscribe, store, …",
            valueName: "task | verb"))
    var subject: String

    @Argument(
        help: ArgumentHelp("The object of the verb: a task, an event, an origin, a namespace.", valueName: "name"))
    var name: String?

    @Option(help: ArgumentHelp("A user, by name or number.", valueName: "user"))
    var `as`: String?

    @Option(help: ArgumentHelp("Groups, by number, instead of the user's own.", valueName: "gid"))
    var group: [UInt32] = []

    @Option(help: ArgumentHelp("The origin that the session represents."))
    var origin: String?

    @Option(help: ArgumentHelp("The account that is logged in to the session."))
    var account: String?

    @Option(help: ArgumentHelp("The systemd unit that the program runs in."))
    var unit: String?

    @Option(help: ArgumentHelp("A session, by its number.", valueName: "number"))
    var session: UInt64?

    @Option(help: ArgumentHelp("A plugin that acts in its own name.", valueName: "name"))
    var plugin: String?

    /// The verbs of rules that have a name, except call.
    private static let verbs: Set = [
        "register", "serve", "publish", "replace", "subscribe", "address", "origin", "reach", "store",
    ]

    func validate() throws {
        guard [`as` != nil, session != nil, plugin != nil].count(where: { $0 }) < 2 else {
            throw ValidationError("--as, --session and --plugin exclude each other")
        }
        if name == nil, Self.verbs.contains(subject) {
            throw ValidationError(
                "\(subject) is a verb and needs a name: trestle explain \(subject) NAME; about a task of this name: "
                    + "trestle explain call \(subject)")
        }
    }

    func run() async throws {
        let question = try question()
        try await withClient { client in
            let answer = try await client.callJSON("bridge.explain", question)
            if screen.isForPeople {
                screen.write(ExplainText.report(answer))
            } else {
                screen.write(line: answer)
            }
            if answer["allowed"] != true { throw ExitCode(1) }
        }
    }

    private func question() throws -> JSON {
        var question: JSONObject = [:]
        if let name {
            (question["verb"], question["name"]) = (.string(subject), .string(name))
        } else {
            question["task"] = .string(subject)
        }
        question["origin"] = origin.map { .string($0) }
        question["user"] = account.map { .string($0) }
        question["unit"] = unit.map { .string($0) }
        question["plugin"] = plugin.map { .string($0) }
        question["session"] = session.map { .number(JSONNumber($0)) }
        if let name = `as` {
            guard let account = Account(name) else { throw ValidationError("there is no user \(name) on this machine") }
            question["uid"] = .number(JSONNumber(UInt64(account.uid)))
            question["groups"] = Self.numbers(account.groups)
        }
        if !group.isEmpty { question["groups"] = Self.numbers(group) }
        return .object(question)
    }

    private static func numbers(_ ids: [UInt32]) -> JSON { .array(ids.map { .number(JSONNumber(UInt64($0))) }) }
}

/// A user of this machine with their groups.
private struct Account {
    var uid: UInt32
    var groups: [UInt32] = []

    /// - Parameter name: A name, or a number, which need not belong to a user.
    init?(_ name: String) {
        let entry = UInt32(name).map { getpwuid($0) } ?? getpwnam(name)
        guard let entry else {
            guard let number = UInt32(name) else { return nil }
            uid = number
            return
        }
        uid = entry.pointee.pw_uid
        var count: Int32 = 64
        groups = [UInt32](repeating: 0, count: Int(count))
        if getgrouplist(entry.pointee.pw_name, entry.pointee.pw_gid, &groups, &count) < 0 {
            groups = [UInt32](repeating: 0, count: Int(count))
            _ = getgrouplist(entry.pointee.pw_name, entry.pointee.pw_gid, &groups, &count)
        }
        groups = Array(groups.prefix(Int(count)))
    }
}

/// The text of a decision.
enum ExplainText {
    /// Returns lines that state the caller, the decision and the rule.
    static func report(_ answer: JSON) -> String {
        let who = answer["who"]?.stringValue ?? "it"
        let may = answer["allowed"] == true ? "may" : "may not"
        let verb = answer["verb"]?.stringValue ?? "call"
        let name = answer["name"]?.stringValue ?? ""
        var lines = ["\(who) \(may) \(verb) \(name)"]
        if let file = answer["file"]?.stringValue, let line = answer["line"]?.int64Value {
            lines.append("rule:       \(answer["rule"]?.stringValue ?? "") (\(file):\(line))")
        } else {
            lines.append("rule:       \(answer["rule"]?.stringValue ?? "")")
        }
        if let admitted = answer["admitted"]?.arrayValue?.compactMap(\.stringValue) {
            lines.append("admits:     \(admitted.isEmpty ? "no user" : admitted.joined(separator: "; "))")
        }
        if let permission = answer["permission"]?.stringValue, permission != name {
            lines.append("permission: \(permission)")
        }
        if answer["known"] == false { lines.append("note:       there is no task \(name) at the moment") }
        return lines.map { PlainText.line($0) + "\n" }.joined()
    }
}
