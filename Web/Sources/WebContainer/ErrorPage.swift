/// The page that is shown where there is none.
enum ErrorPage {
    static func text(_ title: String, _ message: String, _ uri: String) -> String {
        """
        <!doctype html><meta charset="utf-8"><title>\(escaped(title))</title>
        <style>body { font: 1.2em sans-serif; margin: 20vh auto; max-width: 30em; overflow-wrap: anywhere; }</style>
        <h1>\(escaped(title))</h1><p>\(escaped(message))</p><p><a id="retry" href="\(escaped(uri))">Try again</a></p>
        """
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
    }
}
