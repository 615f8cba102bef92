// Attacks on the store's lanes. Users that do not call the store should not notice them; users that call it wait for
// their turn.

private func transaction(_ operations: some Sequence<String>) -> String {
    callLine("persistence.transaction", #"{"operations":["# + operations.joined(separator: ",") + "]}")
}

extension AttackField {
    /// Creates 40,000 records, of one user.
    fileprivate func fillTable() throws {
        let filling = try connect()
        for part in 0..<40 {
            let creates = (0..<1000).map {
                #"{"create":{"table":"t","record":{"n":\#(part * 1000 + $0),"text":"\#(String(repeating: "x", count: 100))"}}}"#
            }
            let answer = try ask(filling, transaction(creates))
            guard answer.contains(#""result""#) else { throw Failure("records: \(answer)") }
        }
    }
}

private func patchLargeRecords(_ field: AttackField) throws -> Assault {
    let connection = try field.connect()
    let text = String(repeating: "x", count: 1_000_000)
    let answer = try field.ask(
        connection, callLine("persistence.create", #"{"table":"t","key":"a","record":{"text":"\#(text)"}}"#))
    guard answer.contains(#""result""#) else { throw Failure("a record: \(answer)") }
    let patches = (0..<1000).map { #"{"update":{"table":"t","key":"a","patch":{"n":\#($0)}}}"# }
    return .message(transaction(patches), on: connection, of: field)
}

private func queryManyRecords(_ field: AttackField) throws -> Assault {
    try field.fillTable()
    let query = callLine("persistence.query", #"{"table":"t","where":{"text":"none"},"order":["-n","text"]}"#) + "\n"
    let connections = try (0..<8).map { _ in try field.connect() }
    return Assault(lineBytes: query.utf8.count, bytes: query.utf8.count * connections.count) {
        try field.strike(connections, Array(query.utf8))
    }
}

let persistenceAttacks = [
    Attack(name: "transaction of 1,000 patches of 1 MB", setUp: patchLargeRecords),
    Attack(name: "eight queries over 40,000 records", setUp: queryManyRecords),
    Attack(name: "transaction of 1,000 patches of 1 MB, another writes", victim: .create, setUp: patchLargeRecords),
    Attack(name: "eight queries over 40,000 records, another queries", victim: .query, setUp: queryManyRecords),
    Attack(name: "eight queries over 40,000 records, another writes", victim: .create, setUp: queryManyRecords),
]
