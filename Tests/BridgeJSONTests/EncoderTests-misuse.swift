import BridgeJSON
import Testing

// Misuses of an encoder, and values whose encoding a test defines.
extension EncoderTests {
    /// A value whose encoding a test defines.
    struct Custom: Encodable {
        let write: (any Encoder) throws -> Void

        init(_ write: @escaping (any Encoder) throws -> Void) { self.write = write }

        func encode(to encoder: any Encoder) throws { try write(encoder) }
    }

    enum Key: String, CodingKey { case a, b, c, quoted = "\"\n" }

    private func misuse(_ write: @escaping (any Encoder) throws -> Void) -> String? {
        do throws(JSONEncodingError) {
            _ = try JSONCoding.encode(["a": [Custom(write)]])
            return nil
        } catch {
            return error.path
        }
    }

    @Test("A value that is written twice is an error with its position")
    func misuses() {
        #expect(
            misuse { encoder in
                var single = encoder.singleValueContainer()
                try single.encode(1)
                try single.encode(2)
            } == "$.a[0]")
        #expect(
            misuse { encoder in
                _ = encoder.container(keyedBy: Key.self)
                _ = encoder.unkeyedContainer()
            } == "$.a[0]")
        #expect(
            misuse { encoder in
                var list = encoder.unkeyedContainer()
                try list.encode(1)
                var single = encoder.singleValueContainer()
                try single.encodeNil()
            } == "$.a[0]")
        #expect(
            misuse { encoder in
                try 1.encode(to: encoder)
                var object = encoder.container(keyedBy: Key.self)
                try object.encode(1, forKey: .a)
            } == "$.a[0]")
        #expect(
            misuse { encoder in
                var object = encoder.container(keyedBy: Key.self)
                _ = object.nestedContainer(keyedBy: Key.self, forKey: .b)
                _ = object.nestedUnkeyedContainer(forKey: .b)
            } == "$.a[0].b")
        #expect(
            misuse { encoder in
                var list = encoder.unkeyedContainer()
                let parent = list.superEncoder()
                try 1.encode(to: parent)
                try 2.encode(to: parent)
            } == "$.a[0][0]")
    }

    @Test("A misuse whose error is caught does not affect other values")
    func caughtMisuse() throws {
        let written = try text { encoder in
            var list = encoder.unkeyedContainer()
            try? list.encode(
                Custom { encoder in
                    _ = encoder.unkeyedContainer()
                    _ = encoder.container(keyedBy: Key.self)
                })
            try list.encode(1)
        }
        #expect(written == "[1]")
    }

    @Test("A container is refused after its value has ended, and while a part of it is written")
    func kept() throws {
        final class Keeper { var container: KeyedEncodingContainer<Key>? }
        let keeper = Keeper()
        let keeping = Custom { encoder in
            var container = encoder.container(keyedBy: Key.self)
            keeper.container = container
            try container.encode(1, forKey: .a)
        }
        let using = Custom { encoder in
            var container = keeper.container
            #expect(throws: JSONEncodingError.self) { try container?.encode(2, forKey: .b) }
            try true.encode(to: encoder)
        }
        #expect(try JSONCoding.encode([keeping, using]) == Array(#"[{"a":1},true]"#.utf8))
        var container = keeper.container
        #expect(throws: JSONEncodingError.self) { try container?.encode(3, forKey: .c) }
        let waiting = Custom { encoder in
            var container = encoder.container(keyedBy: Key.self)
            keeper.container = container
            try container.encode(using, forKey: .a)
        }
        #expect(try JSONCoding.encode(waiting) == Array(#"{"a":true}"#.utf8))
    }
}
