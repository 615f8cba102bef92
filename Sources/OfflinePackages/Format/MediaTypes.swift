/// The media types of files, by file name extension.
enum MediaTypes {
    private static let types: [String: String] = [
        "avif": "image/avif", "css": "text/css; charset=utf-8", "csv": "text/csv; charset=utf-8",
        "gif": "image/gif", "htm": "text/html; charset=utf-8", "html": "text/html; charset=utf-8",
        "ico": "image/vnd.microsoft.icon", "jpeg": "image/jpeg", "jpg": "image/jpeg",
        "js": "text/javascript; charset=utf-8", "json": "application/json", "map": "application/json",
        "md": "text/markdown; charset=utf-8", "mjs": "text/javascript; charset=utf-8", "mp3": "audio/mpeg",
        "mp4": "video/mp4", "ogg": "audio/ogg", "otf": "font/otf", "pdf": "application/pdf", "png": "image/png",
        "svg": "image/svg+xml", "ttf": "font/ttf", "txt": "text/plain; charset=utf-8", "wasm": "application/wasm",
        "wav": "audio/wav", "webm": "video/webm", "webmanifest": "application/manifest+json", "webp": "image/webp",
        "woff": "font/woff", "woff2": "font/woff2", "xml": "application/xml",
    ]

    /// The type of a file with an unknown extension.
    private static let unknown = "application/octet-stream"

    static func type(of path: String) -> String {
        let name = path.utf8.split(separator: UInt8(ascii: "/")).last ?? path.utf8[...]
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return unknown }
        return types[String(decoding: name[dot...].dropFirst(), as: UTF8.self).lowercased()] ?? unknown
    }
}
