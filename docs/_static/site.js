// What a style sheet cannot do: make whatever scrolls sideways reachable by keyboard.
document.addEventListener("DOMContentLoaded", () => {
  const mark = () => {
    for (const box of document.querySelectorAll(".math-scroll, .pst-scrollable-table-container, .table-scroll, .live-view")) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };
  mark();
  addEventListener("resize", mark);
  // Folds and tabs lay out their content when they open.
  document.addEventListener("toggle", mark, true);
  document.addEventListener("change", mark);
});
