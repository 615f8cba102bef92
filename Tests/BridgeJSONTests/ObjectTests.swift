import BridgeJSON
import Testing

@Suite("Objects")
struct ObjectTests {
    @Test("Members keep their order")
    func order() throws {
        let text = #"{"z":1,"a":2,"m":3}"#
        let json = try JSON(parsing: text)
        #expect(json.text == text)
        #expect(json.objectValue?.keys == ["z", "a", "m"])
    }

    @Test("The last of equal keys counts, at the position of the first")
    func duplicates() throws {
        #expect(try JSON(parsing: #"{"a":1,"b":2,"a":3}"#).text == #"{"a":3,"b":2}"#)
        #expect(try JSON(parsing: #"{"a":1,"\u0061":2}"#).text == #"{"a":2}"#)
    }

    @Test("Keys are compared by their bytes: two compositions of a letter are two keys", arguments: [0, 40])
    func exactKeys(_ others: Int) throws {
        var object = JSONObject()
        for number in 0..<others { object["other \(number)"] = 0 }
        object["\u{E9}"] = 1
        object["e\u{301}"] = 2
        #expect(object.count == others + 2)
        #expect(object["\u{E9}"] == 1)
        #expect(object["e\u{301}"] == 2)
        object["\u{E9}"] = nil
        #expect(object["\u{E9}"] == nil)
        #expect(object["e\u{301}"] == 2)
        let text = "{\"\u{E9}\":1,\"e\u{301}\":2}"
        #expect(Array(try JSON(parsing: text).text.utf8) == Array(text.utf8))
        #expect(try JSON(parsing: "{\"\u{E9}\":1}") != JSON(parsing: "{\"e\u{301}\":1}"))
    }

    @Test("Objects are equal and hash alike in any order of their members")
    func equality() throws {
        let one = try JSON(parsing: #"{"a":1,"b":{"c":[],"d":null}}"#)
        let other = try JSON(parsing: #"{"b":{"d":null,"c":[]},"a":1}"#)
        #expect(one == other)
        #expect(one.hashValue == other.hashValue)
        #expect(try one != JSON(parsing: #"{"a":1,"b":{"c":[]}}"#))
        #expect(try one != JSON(parsing: #"{"a":2,"b":{"c":[],"d":null}}"#))
    }

    @Test("Setting a member to nil removes it, in small and large objects", arguments: [3, 15, 16, 17, 200])
    func removal(_ count: Int) {
        var object = JSONObject()
        for number in 0..<count { object["\(number)"] = .number(JSONNumber(number)) }
        for number in stride(from: 0, to: count, by: 2) { object["\(number)"] = nil }
        object["missing"] = nil
        let left = stride(from: 1, to: count, by: 2).map { "\($0)" }
        #expect(object.count == left.count)
        #expect(object.keys == left)
        #expect(object.map(\.key) == left)
        #expect(left.allSatisfy { object[$0] == .number(JSONNumber(Int($0) ?? -1)) })
        #expect((0..<count).allSatisfy { $0 % 2 == 1 || object["\($0)"] == nil })
        // A key that is set again comes last.
        object["0"] = "again"
        #expect(object.keys == left + ["0"])
        #expect(object["0"] == "again")
        for key in object.keys { object[key] = nil }
        #expect(object.isEmpty)
        #expect(object == [:])
        #expect(object.keys == [])
    }

    @Test("100,000 keys are read, found, changed and removed in linear time")
    func manyKeys() throws {
        let count = 100_000
        let text = "{" + (0..<count).map { "\"key\($0)\":\($0)" }.joined(separator: ",") + "}"
        var object = try #require(try JSON(parsing: text).objectValue)
        #expect(object.count == count)
        #expect(object["key99999"] == 99_999)
        #expect(JSON.object(object).text == text)
        for number in 0..<count { object["key\(number)"] = .null }
        #expect(object.count == count)
        for number in 0..<count { object["key\(number)"] = nil }
        #expect(object.isEmpty)
        for number in 0..<count { object["key\(number)"] = true }
        #expect(object["key0"] == true)
    }

    @Test("Objects are values: a copy does not change with the original")
    func copies() {
        var object: JSONObject = ["a": 1]
        let copy = object
        object["a"] = 2
        object["b"] = 3
        #expect(copy == ["a": 1])
    }

    @Test("Values are accessed by key and index; nil if there is no such value")
    func access() throws {
        let json: JSON = ["list": [1, "two", nil], "flag": true, "pi": 3]
        #expect(json["list"]?[1] == "two")
        #expect(json["list"]?[2]?.isNull == true)
        #expect(json["list"]?[3] == nil)
        #expect(json["list"]?[-1] == nil)
        #expect(json["none"] == nil)
        #expect(json[0] == nil)
        #expect(json["flag"]?.boolValue == true)
        #expect(json["pi"]?.int64Value == 3)
        #expect(json["pi"]?.doubleValue == 3)
        #expect(json["pi"]?.stringValue == nil)
        #expect(json["list"]?.arrayValue?.count == 3)
        let values: [JSON] = [nil, true, 1, "", [], [:]]
        #expect(values.map(\.typeName) == ["null", "boolean", "number", "string", "array", "object"])
    }
}
