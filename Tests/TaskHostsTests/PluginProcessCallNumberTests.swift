import Testing
import PluginInterface

@Suite("Numbers of the calls that a plugin process receives")
struct PluginProcessCallNumberTests {
    @Test(
        "contain the index of their slot, increase with each use of it, and are exact as doubles",
        arguments: [0, 1, 65_535, (1 << 20) - 1])
    func grow(index: Int) {
        var number = PluginProcessCallNumber(0)
        for _ in 0..<1_000 {
            let next = PluginProcessCallNumber(index: index, after: number)
            #expect(next.index == index)
            #expect(next.value > number.value)
            #expect(UInt64(exactly: Double(next.value)) == next.value)
            number = next
        }
    }

    @Test("restart after the last use of a slot, and are never 0", arguments: [0, 7])
    func wrap(index: Int) {
        let last = PluginProcessCallNumber((1 << 53) - 1 << 20 | UInt64(index))
        let next = PluginProcessCallNumber(index: index, after: last)
        #expect(next.index == index)
        #expect(next.value == 1 << 20 | UInt64(index))
    }

    @Test("that a process invents have an index within the bound", arguments: [0, 1, UInt64.max, 1 << 63, 0x000F_FFFF])
    func foreign(value: UInt64) {
        #expect((0..<(1 << 20)).contains(PluginProcessCallNumber(value).index))
    }
}
