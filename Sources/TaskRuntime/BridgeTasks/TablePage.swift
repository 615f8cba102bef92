import BridgeJSON

/// Which part of a table is asked for: the options of every task that answers one.
struct PageRequest: Decodable {
    /// How many entries are wanted, at most.
    var limit: Int?
    /// Where the page before ended; nil: the first page.
    var cursor: String?

    /// The number of the entry at which the page before ended; 0: this is the first page.
    ///
    /// - Throws: `options.invalid`.
    func number() throws(BridgeError) -> UInt64 {
        guard let cursor else { return 0 }
        guard let number = UInt64(cursor) else { throw Self.badCursor(cursor) }
        return number
    }

    /// What is said of a cursor that no page of the table had.
    static func badCursor(_ cursor: String) -> BridgeError {
        BridgeError(
            JSONMismatch(path: "$.cursor", expected: "a cursor of this table", got: "\"\(cursor.prefix(64))\""))
    }
}

/// One page of a table, as text.
///
/// Bounded in the entries that are looked at and in bytes: a page takes the loop less than a millisecond, however long
/// the table is and whichever client has filled it. Where there is more, it has a cursor.
struct TablePage {
    /// So many entries are looked at for one page. Those that the caller may not see count as well.
    static let maximumEntries = 128
    /// A page ends before this, unless its first entry alone is longer.
    static let maximumBytes = 256 << 10
    /// What a message has room for, beside ids and cursor.
    fileprivate static func roomBytes(in messageBytes: Int) -> Int { messageBytes - min(2_048, messageBytes / 4) }

    private let maximumShown: Int
    private let maximumBytes: Int
    private var text: [UInt8]
    private var lookedAt = 0
    private var shown = 0
    private var lastPosition = ""
    private var hasMore = false

    /// An empty page.
    ///
    /// - Parameters:
    ///   - member: The name of the list.
    ///   - head: Members of the result that stand before the list.
    ///   - messageBytes: The longest message that there may be.
    /// - Throws: `options.invalid`.
    init(
        _ member: String, behind head: JSONObject = [:], _ request: PageRequest, messageBytes: Int
    ) throws(BridgeError) {
        let limit = request.limit ?? Self.maximumEntries
        guard (1...Self.maximumEntries).contains(limit) else {
            throw BridgeError(
                JSONMismatch(
                    path: "$.limit", expected: "an integer from 1 to \(Self.maximumEntries)", got: "number \(limit)"))
        }
        maximumShown = limit
        text = JSON.object(head).bytes
        text.removeLast()
        if !head.isEmpty { text.append(UInt8(ascii: ",")) }
        JSONText.appendQuoted(member, to: &text)
        text += ":[".utf8
        maximumBytes = max(text.count, min(Self.maximumBytes, Self.roomBytes(in: messageBytes)))
    }

    /// Takes the next entry of the table in.
    ///
    /// - Parameters:
    ///   - position: The entry's position in the table's order, for the cursor.
    ///   - entry: Makes its text; nil: it is not for this caller.
    /// - Returns: False where the page was full: the entry is one of the next page's.
    mutating func add(_ position: @autoclosure () -> String, _ entry: () -> [UInt8]?) -> Bool {
        guard lookedAt < Self.maximumEntries, shown < maximumShown else { return end() }
        lookedAt += 1
        if let entry = entry() {
            if shown > 0 {
                guard text.count + entry.count < maximumBytes else { return end() }
                text.append(UInt8(ascii: ","))
            }
            text += entry
            shown += 1
        }
        lastPosition = position()
        return true
    }

    private mutating func end() -> Bool {
        hasMore = true
        return false
    }

    /// The result, complete.
    consuming func finished() -> [UInt8] {
        text.append(UInt8(ascii: "]"))
        if hasMore {
            text += #","cursor":"#.utf8
            JSONText.appendQuoted(lastPosition, to: &text)
        }
        text.append(UInt8(ascii: "}"))
        return text
    }
}

extension TaskRuntime {
    /// A page of the entries of a table, in their order.
    ///
    /// - Parameters:
    ///   - position: An entry's position in that order, for the cursor.
    ///   - text: An entry as it is shown; nil: it is not for this caller.
    ///   - name: What is shown, with `cut`, of an entry that is longer than a message.
    func page<Entry>(
        _ member: String, behind head: JSONObject = [:], _ request: PageRequest, of entries: some Sequence<Entry>,
        position: (Entry) -> String, text: (Entry) -> [UInt8]?, name: (Entry) -> JSONObject = { _ in [:] }
    ) throws(BridgeError) -> [UInt8] {
        var page = try TablePage(member, behind: head, request, messageBytes: quotas.limits.messageBytes)
        for entry in entries {
            let isTaken = page.add(position(entry)) {
                guard let text = text(entry) else { return nil }
                guard text.count > TablePage.roomBytes(in: quotas.limits.messageBytes) else { return text }
                var cut = name(entry)
                cut["cut"] = true
                return JSON.object(cut).bytes
            }
            if !isTaken { break }
        }
        return page.finished()
    }
}
