// In the porter's world: links with the schemes of URL calls, clicked in the top frame, are calls instead of
// navigations.
document.addEventListener("click", (event) => {
    const link = event.composedPath().find((element) => element instanceof HTMLAnchorElement && element.href);
    if (!link || !schemes.includes(link.protocol.slice(0, -1))) return;
    event.preventDefault();
    post("l", JSON.stringify({ url: link.href }));
}, true);
