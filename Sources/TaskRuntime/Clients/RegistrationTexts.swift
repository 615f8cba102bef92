import BridgeJSON
import BridgeMessage

/// The descriptions in the options of `bridge.register`, divided into one text for each task, in steps.
struct RegistrationTexts {
    private let walk: MemberWalk?

    /// - Parameter text: The value of `descriptions`; `nil` if it is missing.
    init(_ text: UnsafeRawBufferPointer?) {
        walk = text.flatMap { $0.elementsEqual("null".utf8) ? nil : MemberWalk($0) }
    }

    /// Returns the texts, in the order of the names; `nil` if the budget was spent before the end.
    ///
    /// - Throws: `options.invalid` if the value is not an object with at most one description for each name.
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

    /// Collects the texts. Each is cut one byte beyond the maximum length, so that a longer one is detected later.
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
                JSONMismatch(path: "$.descriptions", expected: "an object", got: "invalid JSON: \(fault)"))
        }
        if let refusal { throw refusal }
        return found
    }

    /// Decodes a name. A name has at most 128 bytes, each of which is written with at most six.
    private static func name(_ key: UnsafeRawBufferPointer) -> String? {
        key.count > 1024 ? nil : (try? JSON(parsing: [0x22] + key + [0x22]))?.stringValue
    }
}
