import BridgeMessage
import Testing

@Suite("JSON from plugins")
struct JSONCheckTests {
    private let check = JSONCheck()

    private func cut(_ text: String, levelsAround: Int = 1) -> (members: [String], fault: String?) {
        var members: [String] = []
        let fault = Array(text.utf8).withUnsafeBytes { bytes in
            check.cut(bytes, levelsAround: levelsAround) { name, value in
                members.append("\(String(decoding: name, as: UTF8.self))=\(String(decoding: value, as: UTF8.self))")
            }
        }
        return (members, fault)
    }

    private func nested(_ levels: Int) -> String {
        String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
    }

    @Test("An object is split into its members, in order and with their original text")
    func members() {
        let found = cut(#" { "a" : [1, 2.50] ,"b":{"c":"}"},"a":null, "\u0061":"x\n" } "#)
        #expect(found.members == ["a=[1, 2.50]", #"b={"c":"}"}"#, "a=null", #"\u0061="x\n""#])
        #expect(found.fault == nil)
        #expect(cut("{}").members == [] && cut("{}").fault == nil)
    }

    @Test(
        "A value that is not an object is reported with its type",
        arguments: [("[1]", "it is an array, not an object"), ("7", "it is a number, not an object")])
    func others(text: String, reason: String) {
        #expect(cut(text).members == [])
        #expect(cut(text).fault == reason)
    }

    @Test(
        "Text that is not JSON has no members",
        arguments: ["", "{", #"{"a":1"#, #"{"a":tru}"#, #"{"a":1} 2"#, "{\"a\":\"\u{1}\"}"])
    func faults(text: String) {
        #expect(cut(text).members == [])
        #expect(cut(text).fault != nil)
    }

    @Test("The allowed depth of a value depends on the levels around it")
    func depth() {
        for (levelsAround, maximum) in [(0, 127), (1, 126)] {
            #expect(cut(#"{"a":\#(nested(maximum))}"#, levelsAround: levelsAround).fault == nil)
            #expect(
                cut(#"{"a":\#(nested(maximum + 1))}"#, levelsAround: levelsAround).fault?.contains("nested deeper")
                    == true
            )
            let fits = Array(nested(maximum + 1).utf8).withUnsafeBytes {
                check.fault(in: $0, levelsAround: levelsAround)
            }
            #expect(fits == nil)
        }
    }

    @Test("A decoder that allows more levels reports the lines that have them; another refuses them")
    func decoder() {
        let deep = #"{"task":"a","options":\#(nested(128))}"#
        for (text, extra, isGood, isDeep) in [
            (#"{"task":"a","options":\#(nested(127))}"#, 1, true, false), (deep, 1, true, true),
            (deep, 0, false, false),
            (#"{"task":"a","options":\#(nested(129))}"#, 1, false, true),
        ] {
            let decoder = MessageDecoder(extraDepth: extra)
            let bytes = Array(text.utf8) + Array(repeating: 0, count: MessageSplitter.paddingBytes)
            let wasGood = bytes.withUnsafeBytes { bytes in
                if case .call? = decoder.item(of: .line(UnsafeRawBufferPointer(rebasing: bytes[..<text.utf8.count]))) {
                    true
                } else {
                    false
                }
            }
            #expect(wasGood == isGood && decoder.isDeep == isDeep)
        }
    }
}
