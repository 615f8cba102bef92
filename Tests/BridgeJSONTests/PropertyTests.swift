import BridgeJSON
import TestSupport
import Testing

@Suite("Random JSON")
struct PropertyTests {
    @Test("A value is read back from its compact and its printed text", arguments: 0..<20 as Range<UInt64>)
    func roundTrip(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            let json = generator.json(depth: 4)
            #expect(try JSON(parsing: json.bytes) == json)
            #expect(try JSON(parsing: json.bytes).bytes == json.bytes)
            #expect(try JSON(parsing: JSONPrinter().print(json)).bytes == json.bytes)
        }
    }

    @Test("Mutated text is read or refused, and never traps", arguments: 0..<20 as Range<UInt64>)
    func mutations(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: 1000 + seed)
        var readCount = 0
        for _ in 0..<200 {
            let bytes = generator.mutate(generator.json(depth: 3).bytes)
            do throws(JSONSyntaxError) {
                let json = try JSON(parsing: bytes)
                readCount += 1
                let again = try JSON(parsing: json.bytes)
                #expect(again.bytes == json.bytes)
            } catch {
                #expect((0...bytes.count).contains(error.offset), "\(error) in \(bytes)")
            }
        }
        // The mutations are neither all fatal nor all harmless.
        #expect(readCount > 2 && readCount < 198)
    }

    @Test("Typed decoding of mutated text ends in a value or a mismatch", arguments: 0..<10 as Range<UInt64>)
    func mutatedTypes(_ seed: UInt64) throws {
        struct Person: Codable {
            enum Kind: String, Codable, CaseIterable { case child, adult }
            var name: String
            var age: UInt8?
            var kind: Kind
            var friends: [Person]
            var more: [String: Double]
        }
        let good = Array(
            #"{"name":"A","age":7,"kind":"adult","friends":[{"name":"B","kind":"child","friends":[],"more":{}}],"more":{"x":1.5}}"#
                .utf8)
        var generator = SeededGenerator(seed: 2000 + seed)
        for _ in 0..<200 {
            let bytes = generator.mutate(good)
            do throws(JSONMismatch) {
                let person = try decode(Person.self, bytes)
                #expect((try? JSONCoding.encode(person)) != nil)
            } catch {
                #expect(error.path.hasPrefix("$"))
            }
        }
    }
}
