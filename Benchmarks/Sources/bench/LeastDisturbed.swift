import Glibc

/// Measures until a result is accepted, or until the host of this virtual machine took no processor time meanwhile.
///
/// The choice among the results depends only on the time that the host took, not on their figures.
///
/// - Parameter attempts: The maximum of measurements.
/// - Returns: The result of the measurement during which the host took the smallest share.
func leastDisturbed<Value>(
    attempts: Int, _ measure: () throws -> Value, accept: (Value) -> Bool = { _ in false }
) throws -> Value {
    var best = try withStolenShare(measure)
    for _ in 1..<attempts where best.stolenShare > 0 && !accept(best.value) {
        let next = try withStolenShare(measure)
        if next.stolenShare < best.stolenShare { best = next }
    }
    return best.value
}

/// Measures, and returns with the result the share of the processors' time that the host took meanwhile.
private func withStolenShare<Value>(_ measure: () throws -> Value) throws -> (value: Value, stolenShare: Double) {
    let (start, stolen) = (monotonicNanoseconds(), Machine.stolenTicks)
    let value = try measure()
    let elapsedTicks = Double(monotonicNanoseconds() - start) / 1e9 * Double(sysconf(Int32(_SC_CLK_TCK)))
    let processors = Double(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    return (value, Double(Machine.stolenTicks - stolen) / (elapsedTicks * processors))
}
