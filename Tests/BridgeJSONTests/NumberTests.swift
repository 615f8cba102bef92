import BridgeJSON
import Testing

@Suite("Numbers", .timeLimit(.minutes(20)))
struct NumberTests {
    @Test(
        "A number keeps its original text",
        arguments: [
            "0", "-0", "0.0", "-0.00", "1.50", "1e400", "-1E-400", "12345678901234567890123",
            "0.1000000000000000055511",
            "1E+2", "9007199254740993",
        ])
    func text(_ text: String) throws {
        #expect(JSONNumber(text: text)?.text == text)
        #expect(try JSON(parsing: text).text == text)
        #expect(try JSON(parsing: "[\(text)]").text == "[\(text)]")
    }

    @Test(
        "A whole number is read as exactly that integer, in any notation",
        arguments: [
            ("0", 0), ("-0", 0), ("0e999999999999999999999", 0), ("-0.000e-5", 0), ("7", 7), ("1.0", 1), ("2e3", 2000),
            ("1.5e1", 15), ("120e-1", 12), ("-1200E-2", -12), ("9223372036854775807", .max),
            ("-9223372036854775808", .min), ("9007199254740993.0", 9_007_199_254_740_993),
            ("9223372036854775807.000", .max), ("9.223372036854775807e18", .max), ("922337203685477580700e-2", .max),
            ("0.00012e5", 12),
        ] as [(String, Int64)])
    func integers(_ text: String, _ value: Int64) throws {
        let number = try #require(JSONNumber(text: text))
        #expect(number.int64 == value)
        #expect(number.uint64 == UInt64(exactly: value))
    }

    @Test(
        "A number that is not an integer, or does not fit 64 bits, has no integer value",
        arguments: [
            "1.5", "1e-1", "0.1", "9223372036854775808.5", "1e400", "1e999999999999999999999", "-1e99",
            "1e-999999999999999999999", "1.00000000000000000000000001", "9007199254740992.5", "18446744073709551616",
            "184467440737095516160e-1", "1e20",
        ])
    func noIntegers(_ text: String) throws {
        let number = try #require(JSONNumber(text: text))
        #expect(number.int64 == nil)
        #expect(number.uint64 == nil)
    }

    @Test("Unsigned 64 bits and small types have their own bounds")
    func bounds() throws {
        #expect(JSONNumber(text: "18446744073709551615")?.uint64 == .max)
        #expect(JSONNumber(text: "18446744073709551615")?.int64 == nil)
        #expect(JSONNumber(text: "-1")?.uint64 == nil)
        #expect(JSONNumber(text: "255.0")?.integer(as: UInt8.self) == 255)
        #expect(JSONNumber(text: "256")?.integer(as: UInt8.self) == nil)
        #expect(JSONNumber(text: "-129")?.integer(as: Int8.self) == nil)
        #expect(JSONNumber(text: "-1.28e2")?.integer(as: Int8.self) == -128)
    }

    @Test(
        "Doubles are rounded to the nearest, and are infinite beyond their range",
        arguments: [
            ("0.1", 0.1), ("-2.5", -2.5), ("1e400", .infinity), ("-1e400", -.infinity), ("1e-400", 0),
            ("9007199254740993", 9_007_199_254_740_992), ("5e-324", .leastNonzeroMagnitude),
            ("1.7976931348623157e308", .greatestFiniteMagnitude),
            ("2.2250738585072014e-308", .leastNormalMagnitude),
        ])
    func doubles(_ text: String, _ value: Double) throws {
        #expect(try #require(JSONNumber(text: text)).double == value)
    }

    @Test("Integers and doubles are written so that they are read back unchanged")
    func written() throws {
        for value in [0, -0.0, 0.1, 1e16, 1e22, .leastNonzeroMagnitude, .pi, .greatestFiniteMagnitude, -1.5] as [Double]
        {
            let number = try #require(JSONNumber(value))
            #expect(JSONNumber(text: number.text)?.double.bitPattern == value.bitPattern)
        }
        #expect(JSONNumber(Double.nan) == nil)
        #expect(JSONNumber(Double.infinity) == nil)
        #expect(JSONNumber(UInt64.max).text == "18446744073709551615")
        #expect(JSONNumber(Int64.min).text == "-9223372036854775808")
    }

    @Test("A floating-point literal is a number, and infinity traps")
    func literals() async {
        let json: JSON = ["pi": 3.25, "small": -1e-7, "whole": 2.0]
        #expect(json.text == #"{"pi":3.25,"small":-1e-07,"whole":2.0}"#)
        await #expect(processExitsWith: .failure) { _ = JSON(floatLiteral: .infinity) }
    }

    @Test("Numbers are equal if their texts are")
    func equality() throws {
        #expect(try JSON(parsing: "1.0") != JSON(parsing: "1"))
        #expect(try JSON(parsing: "1.0") == JSON(parsing: "1.0"))
    }
}
