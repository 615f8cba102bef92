import CBridgeJSON

/// Names to look for among the keys of a line's top level, while its grammar is checked. Constant after its creation,
/// and therefore usable on any thread.
///
/// `@unchecked`: the table is constant.
final class MemberNames: @unchecked Sendable {  // constant; see above
    fileprivate let table: OpaquePointer

    /// - Parameter names: The number of each name is its index.
    init(_ names: [StaticString]) {
        guard let table = bridge_json_names_create() else { fatalError("no memory for a table of names") }
        self.table = table
        for (number, name) in names.enumerated() {
            let isAdded = name.withUTF8Buffer { name in
                name.withMemoryRebound(to: CChar.self) {
                    bridge_json_names_add(table, $0.baseAddress, $0.count, UInt8(truncatingIfNeeded: number))
                }
            }
            precondition(isAdded, "the name \(name) is too long, or there are too many")
        }
    }

    deinit { bridge_json_names_destroy(table) }
}

extension MemberNames? {
    /// The table, for the functions in C; nil if no names are looked for.
    var pointer: OpaquePointer? { self?.table }
}
