/// A script of the profile that runs in documents.
public struct PageScript: Sendable, Hashable {
    /// The moment at which a script runs.
    public enum Moment: String, Sendable, CaseIterable, Codable {
        /// Before any script of the document.
        case start
        /// When the document has been parsed.
        case end
    }

    /// The frames in which a script runs.
    public enum Frames: String, Sendable, CaseIterable, Codable {
        /// Only the top frame.
        case top
        /// All frames.
        case all
    }

    /// The world in which a script runs.
    public enum World: String, Sendable, CaseIterable, Codable {
        /// The world of the page's own scripts.
        case page
        /// The world of scripts of clients and profiles, isolated from the page's.
        case isolated
    }

    /// The maximum number of scripts of a profile.
    public static let maximum = 64
    /// The maximum number of bytes of all scripts of a profile.
    public static let maximumBytes = 1 << 20

    /// The path of its file: absolute, or relative to the profile's folder.
    public var file: String
    /// The content of the file; empty until it has been read.
    public var source = ""
    /// The moment at which it runs.
    public var moment = Moment.start
    /// The frames in which it runs.
    public var frames = Frames.top
    /// The world in which it runs.
    public var world = World.page
    /// The origins of its documents; `nil` for all.
    public var origins: [PageOrigin]?

    /// Creates a script for the top frame of all documents, whose file has not been read.
    ///
    /// - Parameter file: The path of its file.
    public init(file: String) { self.file = file }
}
