// Show what a reference points to, while the pointer or the focus is on it.
//
// The previews of a page lie in a script of their own (_ext/previews.py), which is loaded at the
// first reference to that page. Escape hides a preview; the pointer may move into it; nothing on
// the page moves.
window.previews = {};
(() => {
  "use strict";

  const TARGET = /^#(equation-|fig-|cite-|ex\d+(-\w+)?$)/; // _ext/previews.py has the same
  const root = new URL(document.documentElement.dataset.content_root, location.href);
  const box = document.createElement("div");
  box.id = "preview";
  box.className = "preview";
  box.setAttribute("role", "tooltip");
  box.hidden = true;

  let shown = null; // the link whose preview is in the box
  let timer = 0;
  const loaded = new Map();

  const load = (page) => {
    if (!loaded.has(page)) {
      loaded.set(page, new Promise((resolve) => {
        const script = document.createElement("script");
        script.src = new URL("_static/previews/" + page.replace(/html$/, "js"), root);
        script.onload = script.onerror = resolve;
        document.head.append(script);
      }));
    }
    return loaded.get(page);
  };

  const framework = () => {
    const checked = document.querySelector(".framework-tabs > input:checked + label");
    let chosen = checked?.dataset.syncId;
    try {
      chosen ??= localStorage.getItem("sphinx-design-tab-id-framework");
    } catch {
      // storage is off
    }
    return chosen ?? "torch";
  };

  const fill = (content) => {
    box.innerHTML = content;
    for (const image of box.querySelectorAll("img")) {
      if ((image.dataset.framework ?? framework()) === framework()) {
        image.src = new URL(image.dataset.src, root);
      } else {
        image.remove();
      }
    }
  };

  // Under the line that holds the link, or above it where there is more room.
  const place = (link) => {
    const line = [...link.getClientRects()].at(-1);
    const page = document.documentElement;
    const above = line.top > page.clientHeight - line.bottom;
    box.style.maxHeight = `${Math.max(above ? line.top : page.clientHeight - line.bottom, 100) - 20}px`;
    const left = Math.min(line.left, page.clientWidth - box.offsetWidth - 8);
    box.style.left = `${Math.max(left, 8) + scrollX}px`;
    box.style.top = `${(above ? line.top - box.offsetHeight - 4 : line.bottom + 4) + scrollY}px`;
  };

  const hide = () => {
    clearTimeout(timer);
    shown?.removeAttribute("aria-describedby");
    shown = null;
    box.hidden = true;
  };

  const show = async (link) => {
    const page = decodeURI(new URL(link.href).pathname.slice(root.pathname.length));
    await load(page);
    const content = window.previews[page]?.[decodeURIComponent(link.hash.slice(1))];
    if (!content || !(link.matches(":hover") || link === document.activeElement)) return;
    hide();
    shown = link;
    fill(content);
    box.hidden = false;
    place(link);
    link.setAttribute("aria-describedby", box.id);
  };

  const later = (action, delay) => {
    clearTimeout(timer);
    timer = setTimeout(action, delay);
  };

  const linkOf = (event) => {
    const link = event.target.closest?.("main a.reference.internal");
    return link && TARGET.test(link.hash) ? link : null;
  };

  addEventListener("DOMContentLoaded", () => {
    document.body.append(box);
    box.addEventListener("pointerenter", () => clearTimeout(timer));
    box.addEventListener("pointerleave", () => later(hide, 200));
  });
  // A touch follows the link.
  addEventListener("pointerover", (event) => {
    const link = event.pointerType === "mouse" && linkOf(event);
    if (link && link !== shown) later(() => show(link), 150);
    else if (link) clearTimeout(timer);
  });
  addEventListener("pointerout", (event) => {
    if (linkOf(event)) later(hide, 200);
  });
  addEventListener("focusin", (event) => {
    const link = linkOf(event);
    if (link?.matches(":focus-visible")) show(link);
  });
  addEventListener("focusout", (event) => {
    if (linkOf(event)) hide();
  });
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });
})();
