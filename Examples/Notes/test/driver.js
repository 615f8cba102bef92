// Loaded beside the page in tests: provides a task by which a client of the daemon inspects and operates the page.

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
        /** Types like a user: nothing is saved before a pause, or before the field loses the focus. */
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
