import BridgeJSON
import BridgeMessage

/// The descriptions in the options of `bridge.register`, divided into one text for each task, in steps.
struct RegistrationTexts {
    private let walk: MemberWalk?
    private var isWalked = false
    /// The names, as a set; `nil` before the first text is taken.
    private var wanted: Set<String>?
    private var found: [String: [UInt8]] = [:]

    /// - Parameter text: The value of `descriptions`; `nil` if it is missing.
    init(_ text: UnsafeRawBufferPointer?) {
        walk = text.flatMap { $0.elementsEqual("null".utf8) ? nil : MemberWalk($0) }
    }

    /// Returns the texts, in the order of the names; `nil` if the budget was spent before the end.
    ///
    /// - Throws: `options.invalid` if the value is not an object with at most one description for each name.
    mutating func cut(
        _ names: [String], until budget: StepBudget
    ) throws(BridgeError) -> [(task: String, text: [UInt8])]? {
        guard let walk else { return [] }
        while !isWalked {
            isWalked = walk.step()
            if budget.isSpent { return nil }
        }
        let wanted = wanted ?? Set(names)
        self.wanted = wanted
        while try !takeNext(of: walk, wanted) {
            if budget.isSpent { return nil }
        }
        return names.compactMap { name in found[name].map { (name, $0) } }
    }

    /// Takes the next texts, and returns true if there are no more. Each is cut one byte beyond the maximum length, so
    /// that a longer one is detected later.
    private mutating func takeNext(of walk: MemberWalk, _ names: Set<String>) throws(BridgeError) -> Bool {
        var refusal: BridgeError?
        let isDone: Bool
        do throws(MemberWalk.NoObject) {
            isDone = try walk.nextMembers { key, value in
                if refusal == nil { refusal = take(key, value, names) }
            }
        } catch {
            let got = TextKind.name(of: walk.text)
            throw BridgeError(JSONMismatch(path: "$.descriptions", expected: "an object", got: got))
        }
        if let refusal { throw refusal }
        return isDone
    }

    /// Takes one text. Returns the reason if it is refused.
    private mutating func take(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ names: Set<String>
    ) -> BridgeError? {
        guard let name = Self.name(key), names.contains(name) else {
            let shown = String(decoding: key.prefix(64), as: UTF8.self)
            return TaskRegistration.refusal(shown, "", "a task among $.tasks", "another")
        }
        guard found[name] == nil else {
            return TaskRegistration.refusal(name, "", "one description of the task", "several")
        }
        found[name] = Array(value.prefix(TaskRegistration.maximumDescriptionBytes + 1))
        return nil
    }

    /// Decodes a name. A name has at most 128 bytes, each of which is written with at most six.
    private static func name(_ key: UnsafeRawBufferPointer) -> String? {
        key.count > 1024 ? nil : (try? JSON(parsing: [0x22] + key + [0x22]))?.stringValue
    }
}
