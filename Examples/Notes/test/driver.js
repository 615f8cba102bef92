// Beside the page, in tests: lets a client of the daemon look at the page and use it, by a task that it provides.

(() => {
    const shown = (item) => ({
        text: item.querySelector("textarea").value,
        isUnsaved: item.querySelector("textarea").classList.contains("unsaved"),
        conflict: item.querySelector(".conflict:not([hidden]) p")?.textContent,
    });
    const item = (index) => document.querySelectorAll("#notes li")[index];
    const actions = {
        look: () => ({
            state: document.querySelector("#state").textContent,
            problem: document.querySelector("#problem:not([hidden])")?.textContent,
            notes: [...document.querySelectorAll("#notes li")].map(shown),
            isEmpty: !document.querySelector("#empty").hidden,
            buttonHeights: [...document.querySelectorAll("button")].filter(({ offsetParent }) => offsetParent)
                .map(({ offsetHeight }) => offsetHeight),
        }),
        add(text) {
            document.querySelector("#new input").value = text;
            document.querySelector("#new").requestSubmit();
        },
        /** As if a user were typing: nothing is saved before the user makes a pause, or leaves the field. */
        type(index, text) {
            item(index).querySelector("textarea").value = text;
        },
        pause: (index) => void item(index).querySelector("textarea").dispatchEvent(new Event("input")),
        leave: (index) => void item(index).querySelector("textarea").dispatchEvent(new Event("change")),
        press(index, label) {
            [...item(index).querySelectorAll("button")].find(({ textContent }) => textContent === label).click();
        },
    };
    globalThis.WebBridge.register("page.do", ([action, ...values]) => actions[action](...values) ?? null);
})();
