import BridgeJSON
import WebOrigins

// Options that require a permission of their own. They are checked with the call's options: after its interceptors and
// before its task, for all providers and callers.
extension Rights {
    /// Checks the names in a call's options that require a permission.
    ///
    /// - Throws: `permission.denied` if the caller may not name one of them.
    func check(
        namesIn options: UnsafeRawBufferPointer, of call: Call, _ rights: [OptionRight]
    ) throws(BridgeError) {
        for right in rights where !mayNameAnything(call, right.verb) { try check(right, options, of: call) }
    }

    private func mayNameAnything(_ call: Call, _ verb: PolicyVerb) -> Bool {
        (call.session?.isTrusted ?? true) && policy.rules(about: verb).isEmpty
    }

    private func check(
        _ right: OptionRight, _ options: UnsafeRawBufferPointer, of call: Call
    ) throws(BridgeError) {
        let names: [String]
        do throws(JSONMismatch) { names = try right.option.values(in: options) } catch { throw BridgeError(error) }
        guard !names.isEmpty, let subject = subject(call) else { return }
        for name in names {
            if right.verb == .reach { try checkOrigin(name, right) }
            let decision = policy.decide(right.verb, name, for: subject)
            guard !decision.isAllowed else { continue }
            // Cuts by scalars: a single character may be as long as the whole text.
            let shown = String(name.unicodeScalars.prefix(256))
            let what =
                right.verb == .reach
                ? "reach \(shown)" : "name the \(right.option.key) \(shown) to \(call.task?.name ?? "a task")"
            throw denial(subject, what, decision)
        }
    }

    /// Checks that a name is an origin. Any other text would match no rule, not even one that denies.
    private func checkOrigin(_ name: String, _ right: OptionRight) throws(BridgeError) {
        do throws(AddressRefusal) { _ = try WebOrigin(name) } catch {
            throw BridgeError(
                JSONMismatch(
                    path: "$.\(right.option.key)", expected: "an origin, such as https://api.example",
                    got: "one that cannot be used: \(error.description)"))
        }
    }

    /// Returns the subject of a call: the session that it is made for, or the plugin that makes it in its own name;
    /// `nil` for the daemon.
    private func subject(_ call: Call) -> PolicySubject? {
        if let session = call.session { return subject(session) }
        return call.pluginName.map { PolicySubject(plugin: $0, daemonUID: policy.daemonUID) }
    }
}
