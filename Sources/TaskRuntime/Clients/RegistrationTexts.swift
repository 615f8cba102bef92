import BridgeJSON
import BridgeMessage

/// What the options of `bridge.register` say of tasks, cut into a text for each of them, in steps.
struct RegistrationTexts {
    private let walk: MemberWalk?

    /// - Parameter text: the value of `descriptions`; nil: there is none.
    init(_ text: UnsafeRawBufferPointer?) {
        walk = text.flatMap { $0.elementsEqual("null".utf8) ? nil : MemberWalk($0) }
    }

    /// The texts, in the order of the names; nil: the budget was spent before.
    ///
    /// - Throws: `options.invalid`, where something else stands there than one description for each of some of the
    ///   names.
    func cut(
        _ names: [String], until budget: StepBudget
    ) throws(BridgeError) -> [(task: String, text: [UInt8])]? {
        guard let walk else { return [] }
        while !walk.step() {
            if budget.isSpent { return nil }
        }
        let found = try Self.texts(walk, of: Set(names))
        return names.compactMap { name in found[name].map { (name, $0) } }
    }

    /// Reads one name more than there may be at most.
    private static func texts(_ walk: MemberWalk, of names: Set<String>) throws(BridgeError) -> [String: [UInt8]] {
        var found: [String: [UInt8]] = [:]
        var refusal: BridgeError?
        let fault = walk.members { key, value in
            guard refusal == nil else { return }
            guard let name = name(key), names.contains(name) else {
                let shown = String(decoding: key.prefix(64), as: UTF8.self)
                return refusal = TaskRegistration.refusal(shown, "", "a task among $.tasks", "another")
            }
            guard found[name] == nil else {
                return refusal = TaskRegistration.refusal(name, "", "one description of the task", "several")
            }
            found[name] = Array(value.prefix(TaskRegistration.maximumDescriptionBytes + 1))
        }
        if let fault {
            throw BridgeError(
                JSONMismatch(path: "$.descriptions", expected: "an object", got: "what is none: \(fault)"))
        }
        if let refusal { throw refusal }
        return found
    }

    /// A name has 128 bytes at most, each of which is written with six at most.
    private static func name(_ key: UnsafeRawBufferPointer) -> String? {
        key.count > 1024 ? nil : (try? JSON(parsing: [0x22] + key + [0x22]))?.stringValue
    }
}
