// Open the folds around the target of a link, and all of them on paper.
(() => {
  "use strict";

  const openAround = () => {
    const id = decodeURIComponent(location.hash.slice(1));
    const target = id && document.getElementById(id);
    if (!target) return;
    const own = target.querySelector(":scope > details.fold");
    const around = [];
    for (let fold = own ?? target.closest("details.fold"); fold; fold = fold.parentElement.closest("details.fold")) {
      around.push(fold);
    }
    if (around.some((fold) => !fold.open)) {
      around.forEach((fold) => { fold.open = true; });
      target.scrollIntoView();
    }
  };

  let closed = [];
  addEventListener("DOMContentLoaded", openAround);
  addEventListener("hashchange", openAround);
  // A second click on the same link changes no hash.
  addEventListener("click", (event) => {
    const link = event.target.closest?.('a[href*="#"]');
    if (link && link.hash === location.hash && link.pathname === location.pathname) openAround();
  });
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    closed.forEach((fold) => { fold.open = true; });
  });
  addEventListener("afterprint", () => {
    closed.forEach((fold) => { fold.open = false; });
  });
})();
