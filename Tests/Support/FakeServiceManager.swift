import Glibc

/// A service manager as a service sees it: a datagram socket, at a path or at an abstract name.
public final class FakeServiceManager {
    /// The value of `$NOTIFY_SOCKET`.
    public let address: String
    /// The descriptors that a service has stored, as received by ``keep(until:within:)``.
    public private(set) var stored: [(name: String, descriptor: Int32)] = []
    private let descriptor: Int32
    private let folder: String

    /// The reason why a test cannot continue.
    public struct Failure: Error, CustomStringConvertible {
        /// The reason, as a sentence.
        public let description: String
    }

    /// Creates a service manager that listens.
    public init(isAbstract: Bool = false) throws(Failure) {
        var template = Array("/tmp/trestle-notify-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure(description: "no directory can be made") }
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        self.folder = folder
        // The name of a new directory is unique.
        address = isAbstract ? "@\(folder)" : "\(folder)/notify"
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(address.utf8)
        if isAbstract { bytes[0] = 0 }
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: bytes) }
        let length = MemoryLayout<sa_family_t>.size + bytes.count + (isAbstract ? 0 : 1)
        let status = withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(length)) }
        }
        guard status == 0 else { throw Failure(description: "\(address) cannot be bound") }
    }

    deinit {
        for entry in stored { close(entry.descriptor) }
        close(descriptor)
        unlink("\(folder)/notify")
        rmdir(folder)
    }

    /// Returns the next datagram with its descriptors, which the caller closes.
    ///
    /// - Parameter milliseconds: The maximum wait.
    public func receive(within milliseconds: Int32 = 0) throws(Failure) -> (text: String, descriptors: [Int32]) {
        var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&state, 1, milliseconds) == 1 else { throw Failure(description: "nothing has come") }
        guard let (data, descriptors) = receiveWithDescriptors(descriptor) else {
            throw Failure(description: "nothing can be received, \(errno)")
        }
        return (String(decoding: data, as: UTF8.self), descriptors)
    }

    /// Reads until a message satisfies the condition. Like a manager with a descriptor store, it stores descriptors by
    /// their names, closes those that the service removes, and closes other descriptors, such as barriers.
    @discardableResult
    public func keep(until isLast: (String) -> Bool, within milliseconds: Int32) throws(Failure) -> String {
        while true {
            let (text, descriptors) = try receive(within: milliseconds)
            let lines = text.split(separator: "\n").map(String.init)
            let name = lines.first { $0.hasPrefix("FDNAME=") }.map { String($0.dropFirst(7)) } ?? "stored"
            if lines.contains("FDSTORE=1") {
                stored += descriptors.map { (name, $0) }
            } else {
                for descriptor in descriptors { close(descriptor) }
            }
            if lines.contains("FDSTOREREMOVE=1") {
                for entry in stored where entry.name == name { close(entry.descriptor) }
                stored.removeAll { $0.name == name }
            }
            if isLast(text) { return text }
        }
    }

    /// Replaces each stored descriptor by the one that `make` returns. `make` takes ownership of its argument.
    public func replaceStored(_ make: (Int32) throws -> Int32) rethrows {
        stored = try stored.map { ($0.name, try make($0.descriptor)) }
    }

    /// Removes the socket, as if the manager had died.
    public func vanish() { unlink("\(folder)/notify") }

    /// Returns the text of the next datagram.
    public func text(within milliseconds: Int32 = 0) throws(Failure) -> String {
        try receive(within: milliseconds).text
    }
}
