import Testing

@testable import GreeterPlugin

@Test("The plugin passes its own check")
func conforms() throws {
    try makeGreeter().check()
}
