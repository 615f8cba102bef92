// The body of a function. It returns the current document as a text of at most `limit` UTF-16 units, and null if the
// text is longer. The copy has text, styles and pictures, and nothing that runs or is loaded.
const copy = document.documentElement.cloneNode(true);
/** Calls `body` with each element and its copy. */
const each = (selector, body) => {
    const copies = copy.querySelectorAll(selector);
    document.documentElement.querySelectorAll(selector).forEach((element, index) => body(element, copies[index]));
};
let room = limit;
/** Returns a picture as a data URL; empty if it belongs to another origin, or there is no room. */
const drawn = (element, width, height) => {
    try {
        const canvas = document.createElement("canvas");
        Object.assign(canvas, { width, height });
        canvas.getContext("2d").drawImage(element, 0, 0, width, height);
        const data = canvas.toDataURL();
        if (data.length > room) return "";
        room -= data.length;
        return data;
    } catch {
        return "";
    }
};
const style = (sheet) => {
    const made = document.createElement("style");
    try {
        made.textContent = [...sheet.cssRules].map(({ cssText }) => cssText).join("\n");
        if (sheet.media.mediaText) made.media = sheet.media.mediaText;
    } catch {
        // A style sheet of another origin, whose rules are not accessible.
    }
    return made;
};
const pictures = [];
each("img, canvas", (element, its) => {
    const isImage = element instanceof HTMLImageElement;
    const [width, height] = isImage
        ? [element.naturalWidth, element.naturalHeight] : [element.width, element.height];
    pictures.push([element, its, width, height]);
});
each("a[href], area[href]", (element, its) => its.setAttribute("href", element.href));
each("link[rel~=stylesheet]", (element, its) => element.sheet && its.replaceWith(style(element.sheet)));
for (const [element, its, width, height] of pictures) {
    const image = document.createElement("img");
    for (const name of ["id", "class", "style", "alt", "width", "height"]) {
        if (its.hasAttribute(name)) image.setAttribute(name, its.getAttribute(name));
    }
    if (width > 0 && height > 0) image.src = drawn(element, width, height);
    its.replaceWith(image);
}
for (const sheet of document.adoptedStyleSheets ?? []) copy.append(style(sheet));
copy.querySelectorAll(
    "script, noscript, iframe, frame, frameset, object, embed, base, link, source, audio, video, meta[http-equiv]",
).forEach((element) => element.remove());
for (const element of [copy, ...copy.querySelectorAll("*")]) {
    for (const { name } of [...element.attributes]) if (/^on/i.test(name)) element.removeAttribute(name);
}
copy.querySelectorAll("input[type=password]").forEach((element) => element.removeAttribute("value"));
const text = copy.outerHTML;
return text.length > limit ? null : { text, time: new Date().toLocaleString() };
