// The conversion from toml++'s document to the Swift tree.
import CTomlplusplus

/// Builds the tree from the visitor's calls, with its own stack instead of recursion.
struct TOMLTreeBuilder {
    struct Failure: Error {
        var position: TOMLPosition?
        var reason: String
    }

    static let tooDeep = "tables or arrays nested deeper than \(TOMLDocument.maximumDepth) levels"

    /// An array or table whose items are not complete.
    private struct OpenContainer {
        var isTable: Bool
        var key: TOMLKey?
        var position: TOMLPosition
        var entries: [TOMLTable.Entry] = []
        var items: [TOMLValue] = []

        consuming func close() -> TOMLValue {
            TOMLValue(isTable ? .table(TOMLTable(entries)) : .array(items), at: position)
        }
    }

    private struct TOMLKey {
        var text: String
        var position: TOMLPosition
    }

    private var open: [OpenContainer] = []
    private var root: TOMLTable?
    private var failure: Failure?

    /// The tree, or the failure. Valid after `read`.
    var result: Result<TOMLTable, Failure> {
        if let failure { return .failure(failure) }
        return .success(root ?? TOMLTable())
    }

    mutating func read(_ text: UnsafeBufferPointer<CChar>) {
        withUnsafeMutablePointer(to: &self) { builder in
            // The visitor's context is this builder, which outlives the call: `toml_read` keeps no reference.
            var visitor = toml_visitor(
                context: builder,
                enter: { context, node in
                    guard let context, let node else { return false }
                    return context.assumingMemoryBound(to: TOMLTreeBuilder.self).pointee.enter(node.pointee)
                },
                leave: { context in
                    context?.assumingMemoryBound(to: TOMLTreeBuilder.self).pointee.leave()
                },
                fail: { context, position, reason in
                    context?.assumingMemoryBound(to: TOMLTreeBuilder.self).pointee.fail(at: position, String(reason))
                })
            toml_read(toml_text(data: text.baseAddress, size: text.count), &visitor)
        }
    }

    private mutating func enter(_ node: toml_node) -> Bool {
        let key = node.has_key ? TOMLKey(text: String(node.key), position: TOMLPosition(node.key_place)) : nil
        let position = TOMLPosition(node.place)
        if node.kind == TOML_KIND_TABLE || node.kind == TOML_KIND_ARRAY {
            guard open.count < TOMLDocument.maximumDepth else {
                failure = Failure(position: key?.position ?? position, reason: Self.tooDeep)
                return false
            }
            open.append(OpenContainer(isTable: node.kind == TOML_KIND_TABLE, key: key, position: position))
        } else {
            append(TOMLValue(Self.scalar(node), at: position), key)
        }
        return true
    }

    private mutating func leave() {
        guard let container = open.popLast() else { return }
        let key = container.key
        append(container.close(), key)
    }

    private mutating func fail(at position: toml_place, _ reason: String) {
        // toml++ begins every reason with these words; the rest ("key-value pair: expected '=', …") is sufficient.
        let opening = "Error while parsing "
        let rest = reason.hasPrefix(opening) ? String(reason.dropFirst(opening.count)) : reason
        failure = Failure(position: position.line > 0 ? TOMLPosition(position) : nil, reason: rest)
    }

    private mutating func append(_ value: TOMLValue, _ key: TOMLKey?) {
        guard !open.isEmpty else {
            root = value.table
            return
        }
        if let key {
            let entry = TOMLTable.Entry(key: key.text, keyPosition: key.position, value: value)
            open[open.count - 1].entries.append(entry)
        } else {
            open[open.count - 1].items.append(value)
        }
    }

    private static func scalar(_ node: toml_node) -> TOMLValue.Content {
        switch node.kind {
        case TOML_KIND_INTEGER: .integer(node.integer)
        case TOML_KIND_FLOAT: .float(node.real)
        case TOML_KIND_BOOLEAN: .boolean(node.boolean)
        case TOML_KIND_DATE: .date(String(node.text))
        default: .string(String(node.text))
        }
    }
}

extension TOMLPosition {
    fileprivate init(_ position: toml_place) {
        self.init(line: Int(position.line), column: Int(position.column))
    }
}

extension String {
    fileprivate init(_ text: toml_text) {
        let bytes = UnsafeRawBufferPointer(start: text.data, count: text.size)
        self.init(decoding: bytes, as: UTF8.self)
    }
}
