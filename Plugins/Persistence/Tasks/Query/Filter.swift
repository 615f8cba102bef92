import TaskKit

/// The condition for the records of a query: every test of every field must pass.
///
/// A missing field passes no test, and neither does a value whose type differs from the test's. So `$ne` means "has
/// another value of the same type".
struct Filter: Sendable {
    private struct Condition: Sendable {
        var path: FieldPath
        var tests: [Test]
    }

    private enum Test: Sendable {
        case equal(JSON)
        case notEqual(JSON)
        /// The order of the value relative to the operand must be one of these.
        case ordered([Comparison.Order], JSON)
        case oneOf([JSON])
        case prefix([UInt8])
    }

    private var conditions: [Condition] = []

    /// Creates a filter that matches every record.
    init() {}

    var isEmpty: Bool { conditions.isEmpty }

    func matches(_ record: JSON) -> Bool {
        conditions.allSatisfy { condition in
            guard let value = condition.path.value(in: record) else { return false }
            return condition.tests.allSatisfy { Self.passes(value, $0) }
        }
    }

    private static func passes(_ value: JSON, _ test: Test) -> Bool {
        switch test {
        case .equal(let operand):
            return Comparison.areEqual(value, operand)
        case .notEqual(let operand):
            return Comparison.haveSameType(value, operand) && !Comparison.areEqual(value, operand)
        case .ordered(let wanted, .number(let operand)):
            guard case .number(let number) = value else { return false }
            return Comparison.compare(number, operand).map(wanted.contains) ?? false
        case .ordered(let wanted, .string(let operand)):
            guard case .string(let text) = value else { return false }
            return wanted.contains(Comparison.compare(text, operand))
        case .ordered:
            return false
        case .oneOf(let operands):
            return operands.contains { Comparison.areEqual(value, $0) }
        case .prefix(let prefix):
            guard case .string(let text) = value else { return false }
            return text.utf8.starts(with: prefix)
        }
    }
}

// MARK: Reading the option `where`

extension Filter {
    /// - Throws: `options.invalid` with the path in the options.
    init(parsing json: JSON) throws(BridgeError) {
        guard case .object(let fields) = json else {
            throw .unfit("$.where", expected: "object", got: json.typeName)
        }
        var count = 0
        for (name, operand) in fields {
            let path = "$.where.\(name)"
            guard !name.hasPrefix("$"), let field = FieldPath(parsing: name) else {
                throw .unfit(path, expected: "a field's name, its parts joined by dots", got: "\"\(name)\"")
            }
            let tests = try Self.tests(operand, path)
            count += tests.count
            guard count <= Limits.conditions else {
                throw .unfit("$.where", expected: "at most \(Limits.conditions) conditions", got: "more")
            }
            conditions.append(Condition(path: field, tests: tests))
        }
    }

    /// Returns the tests of a field: from a value, or from an object of operators.
    private static func tests(_ operand: JSON, _ path: String) throws(BridgeError) -> [Test] {
        guard case .object(let members) = operand, members.contains(where: { $0.key.hasPrefix("$") }) else {
            return [.equal(operand)]
        }
        var tests: [Test] = []
        for (name, operand) in members { tests.append(try test(name, operand, "\(path).\(name)")) }
        return tests
    }

    private static func test(_ name: String, _ operand: JSON, _ path: String) throws(BridgeError) -> Test {
        switch name {
        case "$eq": return .equal(operand)
        case "$ne": return .notEqual(operand)
        case "$gt": return .ordered([.after], try ordered(operand, path))
        case "$gte": return .ordered([.after, .same], try ordered(operand, path))
        case "$lt": return .ordered([.before], try ordered(operand, path))
        case "$lte": return .ordered([.before, .same], try ordered(operand, path))
        case "$in":
            guard case .array(let choices) = operand, choices.count <= Limits.choices else {
                throw .unfit(path, expected: "array of at most \(Limits.choices) values", got: operand.typeName)
            }
            return .oneOf(choices)
        case "$prefix":
            guard case .string(let prefix) = operand else {
                throw .unfit(path, expected: "string", got: operand.typeName)
            }
            return .prefix(Array(prefix.utf8))
        default:
            throw .unfit(
                path, expected: "one of: $eq, $ne, $gt, $gte, $lt, $lte, $in, $prefix", got: "\"\(name)\"")
        }
    }

    /// Checks that the operand has an order: only numbers and strings have one.
    private static func ordered(_ operand: JSON, _ path: String) throws(BridgeError) -> JSON {
        switch operand {
        case .number, .string: operand
        default: throw .unfit(path, expected: "number or string", got: operand.typeName)
        }
    }
}
